"""The queues and the switch of a router with virtual output queues, of which packets are matched in two early rounds.

An input offers all ways that its packets take; the switch takes a packet of one of them, if any, in a slot. Packets of
one virtual channel that go one way leave in their order. The rig has one way, any one, and marks only packets of it:
it counts those of them that are there, and among the packets taken on it, knows the marked one by its turn.

What is offered counts in two phases, before each round: a packet that was there then stays until it is taken.
"""

import re
from collections.abc import Callable
from itertools import combinations, pairwise, permutations

from hdnhw.proofs.inputs import GaplessRig, InjectionRig, InputRig
from hdnhw.proofs.rig import RigError, at_most_one
from hdnhw.proofs.switch import SwitchRig
from hdnhw.rtl.bits import flit_codes, index_width
from hdnhw.rtl.buffer import ways_of_input


class _Matched(InputRig):
    """A rig around virtual output queues."""

    def _mark(self, begins: str) -> None:
        super()._mark(f"{begins} && now_{self._vc} == own_way")

    def _know_way(self, begins: str, vc: str) -> None:
        """Have one way for ever, and know of each packet that comes whether it takes it."""
        own, number = self._ways(self._port, self._vc), len(self._widths)
        self._all_ways = ways_of_input([self._ways(self._port, each) for each in range(number)])
        self._one_of("own_way", self._constant("ways", len(own)), len(own), default=True)
        for each in range(number):
            ways = self._ways(self._port, each)
            takes = [f"now_{each}[{k}] && own_way[{own.index(way)}]" for k, way in enumerate(ways) if way in own]
            comes = f"({begins}) && {vc} == {each}"
            self._register(f"is_alike_{each}", f"{comes} ? {' || '.join(takes) or 0} : is_alike_{each}", reset="")

    def _of_own_way(self, bits: str) -> str:
        """Return which of some bits, one for each way of the input, is that of the rig's way."""
        own = self._ways(self._port, self._vc)
        return f"({' || '.join(f'own_way[{k}] && {bits}[{self._all_ways.index(way)}]' for k, way in enumerate(own))})"

    def _leave(self) -> None:
        """Let the switch take a packet of a way that is offered."""
        count, phases, free = len(self._all_ways), self._timing.match_phases, self._free("f_takes", len(self._all_ways))
        self._look("offers", f"{self._own}.queues__ways", count)
        seen = []
        for turn, phase in enumerate(self._timing.grant_phases):
            sampled = self._at(phase - 1)
            seen.append(self._register(f"seen_{turn}", f"{sampled} ? offers : seen_{turn}", width=count))
            self._one_of(f"taken_{turn}", f"could_{turn}", count, default=False)
            self._wire(f"could_{turn}", f"seen_{turn} & {free}", width=count)
        first, second = map(self._at, phases)
        self._wire("granted", f"{first} ? taken_0 : {second} && took == 0 ? taken_1 : {count}'d0", width=count)
        self._register("took", f"{self._at(0)} ? {count}'d0 : took | granted", width=count)
        self._cut(f"{self._own}.queues__take", "granted")
        self._look("leaves", f"{self._own}.pops", len(self._widths))
        self._wire("took_own", self._of_own_way("took"))
        for each in range(len(self._widths)):
            joins, gone = self._joining(each), f"(counted && took_own && leaves[{each}])"
            self._register(
                f"alike_{each}", f"alike_{each} + ({joins} && is_alike_{each}) - {gone}", width=self._slots.bit_length()
            )

    def _joining(self, vc: int) -> str:
        """Return the condition that a packet comes into the queues of a virtual channel."""
        return "joins" if self._port == self._local else f"(pushed && comes_{vc})"

    def _full(self) -> str:
        """Return the condition that injection may say that it is full: it says so up to the update phase."""
        full = f"(held_0 == {self._slots} || was_full)"
        self._register("was_full", f"!{self._at(self._timing.update_phase)} && {full}")
        return full

    def _gone(self) -> str:
        return f"(counted && took_own && leaves[{self._vc}])"

    @property
    def _alike(self) -> str:
        return f"alike_{self._vc}"

    def _offer(self) -> None:
        """Claim that those packets are offered that are there, and that one leaves if one is taken."""
        there = " || ".join(f"alike_{each} != 0" for each in range(len(self._widths)))
        comes = " || ".join(f"{self._joining(each)} && is_alike_{each}" for each in range(len(self._widths)))
        first, second = (self._at(phase - 1) for phase in self._timing.grant_phases)
        offered = self._of_own_way("offers")
        several = " || ".join(f"leaves[{i}] && leaves[{j}]" for i, j in combinations(range(len(self._widths)), 2))
        self.claims += [
            ("what is offered in the first round is not what is there", f"!{first} || {offered} == ({there})"),
            (
                "what is offered in the second round is not what is there",
                f"!{second} || {offered} == ({there} || {comes})",
            ),
            ("a packet is taken and none leaves, or one leaves that is not", "!counted || (|leaves) == (|took)"),
        ]
        if several:
            self.claims.append(("two packets leave an input", f"!counted || !({several})"))

    def _queue_hints(self) -> list[Callable[[], None]]:
        hints = [self._hint_entries, self._hint_free, self._hint_numbers, self._hint_order, self._hint_unnamed]
        return [*hints, self._hint_place, self._hint_unread]

    def _hint_unnamed(self) -> None:
        """Three registers of the queues have no names of their own in the text: they stand in the order of the source.

        They are: which buffers have a packet, and of the packet that came before, its way's number and its buffer.
        """
        unnamed = rf"^  reg (?:\[\d+:0\] )?\\({re.escape(self._queue)}\.signal\w*) "
        found = re.findall(unnamed, self._text, re.MULTILINE)
        if len(found) != 3:
            raise RigError(f"{self._queue} has other registers without names")
        widths = (self._slots, index_width(self._widths[self._vc]), self._slots)
        for name, net, bits in zip(("is_valid", "code_before", "buffer_before"), found, widths, strict=True):
            self._look(name, net, bits)
        self._hint("is_valid == there")
        self._hint(f"buffer_before == {{{', '.join(f'fresh_{each}' for each in reversed(self._buffers))}}}")
        for each in self._buffers:
            self._hint(f"!fresh_{each} || code_before == number_{each}")

    def _hint_entries(self) -> None:
        """A packet buffer has the way of its packet, and is empty behind it; packets come into empty ones."""
        queue, own = self._queue, self._vc
        self._buffers = range(self._slots)
        self._hint(f"at == {self._look('own_at', f'{self._own}.at', self._length)}")
        for each in self._buffers:
            self._look(f"entry_{each}", f"{queue}.way_{each}", self._widths[own])
            self._hint(at_most_one(f"entry_{each}"))
        self._look("write_slot", f"{queue}.write_slot", self._slot_bits)
        self._wire("there", f"{{{', '.join(f'|entry_{each}' for each in reversed(self._buffers))}}}", width=self._slots)
        self._register("own_slot", "enters ? write_slot : own_slot", width=self._slot_bits, reset="")
        vcs = len(self._widths)
        forgotten = " || ".join(["counted", *map(self._at, range(self._timing.match_phases[1] + 2, self._length))])
        self._wire("popped", f"{forgotten} ? leaves : {vcs}'d0", width=vcs)  # and credits have not been counted
        self._wire("popped_own", f"popped[{own}] && took_own")
        self._wire("is_there", "inside && !(popped_own && before == 0)")
        self._hint("!is_there || there[own_slot]")
        for each in self._buffers:
            self._hint(f"!is_there || own_slot != {each} || entry_{each} == own_way")

    def _hint_free(self) -> None:
        """The packet buffer of the packet that comes next is free, and so is the one that follows."""
        queue, every = self._queue, f"{self._slots}'d{(1 << self._slots) - 1}"
        self._look("following", f"{queue}.following", self._slot_bits)
        self._look("is_following", f"{queue}.is_following", 1)
        self._hint("!is_following || !there[following]")
        update, tail = self._timing.update_phase, self._timing.tail_phase
        self._hint(
            f"!{self._in_phases(tail, update)} || is_following || (there | ({self._slots}'d1 << write_slot)) == {every}"
        )
        self._hint(f"!{self._in_phases(*range(tail + 1, update + 1))} || there == {every} || !there[write_slot]")
        if self._port == self._local:
            full = self._wire("is_full", f"there == {every} || was_full")
            self._hint(f"{full} || !there[write_slot]")
            self._look("says_full", f"{queue}.was_full", 1)
            self._hint("says_full == was_full")
            self._hint(f"!coming || !{full}")
            self._hint(f"!{self._at(update)} || !is_following || following != write_slot || {full}")
            self._hint(f"!popped[0] || held_0 != {self._slots} || was_full")

    def _total(self, bits: list[str]) -> str:
        """Return how many of some bits are set."""
        width = self._slots.bit_length()
        return "(" + " + ".join(f"{width}'({bit})" for bit in bits) + ")"

    def _hint_numbers(self) -> None:
        """There are as many as have come and not left."""
        own = self._vc
        self._hint(f"{self._total([f'there[{each}]' for each in self._buffers])} == held_{own} - popped[{own}]")
        alike = self._total([f"entry_{each} == own_way" for each in self._buffers])
        self._hint(f"{alike} == alike_{own} - popped_own")
        self._hint(f"!inside || before < alike_{own}")
        self._hint("!leaving || !inside")
        self._hint(f"held_{own} <= {self._slots} && alike_{own} <= held_{own}")

    def _hint_order(self) -> None:
        """Of two packets that go one way, one waits for the other, and nobody waits in a circle or for another way."""
        own, width = self._vc, index_width(self._widths[self._vc])
        for each in self._buffers:
            self._look(f"waits_{each}", f"{self._queue}.waits_{each}", self._slots - 1)
            self._look(f"code_{each}", f"{self._queue}.code_{each}", width)
            number = self._selected(range(self._widths[own]), f"entry_{each}", width)
            self._wire(f"number_{each}", number, width=width)
            self._register(f"fresh_{each}", f"{self._joining(own)} && write_slot == {each}")
            self._wire(f"set_{each}", f"there[{each}] && !fresh_{each}")
            self._hint(f"!fresh_{each} || (there[{each}] && {self._at(self._timing.update_phase + 1)})")
            self._hint(f"!set_{each} || code_{each} == number_{each}")
        for one, other in combinations(self._buffers, 2):
            self._hint(f"!fresh_{one} || !fresh_{other}")
        for one, other in permutations(self._buffers, 2):
            alike = f"set_{other} && entry_{one} == entry_{other}"
            self._hint(f"!set_{one} || !{self._wait(one, other)} || ({alike} && !{self._wait(other, one)})")
            self._hint(f"!set_{one} || !({alike}) || {self._wait(one, other)} || {self._wait(other, one)}")
        for i, j, k in permutations(self._buffers, 3):
            all_set = f"set_{i} && set_{j} && set_{k}"
            self._hint(f"!({all_set}) || !{self._wait(i, j)} || !{self._wait(j, k)} || {self._wait(i, k)}")
        for each in self._buffers:
            waiting = self._total([f"waits_{each}[{n}]" for n in range(self._slots - 1)])
            self._hint(f"!is_there || own_slot != {each} || fresh_{each} || {waiting} == before - popped_own")
            self._hint(f"!is_there || own_slot != {each} || !fresh_{each} || before == alike_{own} - 1'd1")

    def _wait(self, one: int, other: int) -> str:
        return f"waits_{one}[{other - (other > one)}]"

    def _hint_place(self) -> None:
        """What is offered is there, and what is taken is the first packet of its way, and is found where it is."""
        (first, second), update, vcs = self._timing.match_phases, self._timing.update_phase, len(self._widths)
        own, slot = self._ways(self._port, self._vc), f"[{vcs + self._slot_bits - 1}:{vcs}]"
        self._wire("first_one", "inside && before == 0")
        self._look("gathered", f"{self._own}.gathered", vcs + self._slot_bits)
        self._look("going", f"{self._own}.leaves", vcs)
        self._look("going_slot", f"{self._queue}.pop_slot", self._slot_bits)
        self._look("out", f"{self._queue}.out", len(own))
        changed = self._in_phases(update + 1, second + 2)
        self._hint(f"{changed} || out == ({' | '.join(f'entry_{each}' for each in self._buffers)})")
        if vcs == 1:
            early, late = self._timing.grant_phases
            for bits, phases, there in (
                ("seen_0", range(early, first + 1), "set_{}"),
                ("seen_1", range(late, second + 1), "there[{}]"),
                ("took", range(first + 1, second + 2), "set_{}"),
            ):
                for k in range(len(own)):
                    some = " || ".join(f"{there.format(each)} && entry_{each}[{k}]" for each in self._buffers)
                    self._hint(f"!{self._in_phases(*phases)} || !{bits}[{k}] || {some}")
        gathers, now = self._in_phases(*range(first + 1, second + 1)), self._at(second + 1)
        is_new = " || ".join(f"own_slot == {each} && fresh_{each}" for each in self._buffers)
        for k, way in enumerate(own):
            number = self._all_ways.index(way)
            place = self._look(f"place_{k}", f"{self._own}.place_{number}", vcs + self._slot_bits)
            several = sum(way in self._ways(self._port, each) for each in range(vcs)) > 1
            is_here = f"{place}[{self._vc}]" if several else "1'd1"
            some = " || ".join(f"set_{each} && entry_{each}[{k}]" for each in self._buffers)
            for when, what, where in (
                (self._at(first), f"{is_here} && ({some})", f"{place}{slot}"),
                (self._at(second), f"{is_here} && ({some})", f"{place}{slot}"),
                (gathers, f"took[{number}] && gathered[{self._vc}]", f"gathered{slot}"),
                (now, f"took[{number}] && going[{self._vc}]", "going_slot"),
            ):
                right = " || ".join(
                    f"{where} == {each} && entry_{each}[{k}] && set_{each} && waits_{each} == 0"
                    for each in self._buffers
                )
                self._hint(f"!{when} || !({what}) || {right}")
            waits = f"own_way[{k}] && first_one && !({self._at(update + 1)} && ({is_new})) && {is_here}"
            self._hint(f"!{self._in_phases(first, second)} || !({waits}) || {place}{slot} == own_slot")
        vc, some = f"gathered[{vcs - 1}:0]", f"!first_one || !took_own || !gathered[{self._vc}]"
        self._hint(f"!{gathers} || {some} || gathered{slot} == own_slot")
        self._hint(f"!{gathers} || took == 0 || ({vc} != 0 && {at_most_one(vc)})")
        self._hint(f"!{gathers} || took != 0 || gathered == 0")
        self._hint(f"!{gathers} || !took_own || !gathered[{self._vc}] || {self._alike} != 0")
        self._hint(f"!{self._in_phases(*range(1, first + 1))} || took == 0")
        self._hint(f"{now} || going == 0")
        self._hint(f"!{now} || leaves == 0")
        self._hint(f"!{now} || !first_one || !took_own || !going[{self._vc}] || going_slot == own_slot")
        self._hint(f"!{now} || !going[{self._vc}] || there[going_slot]")
        self._hint(f"!{now} || (going != 0) == (took != 0) && {at_most_one('going')}")

    def _hint_unread(self) -> None:
        """The watched word is written once, where its packet is, and stands there until it has been read."""
        flits, is_late = range(self._length), self._written != "watched"
        now = [self._is_now(flit) for flit in flits]
        passed = [f"{self._watches(i)} && {now[j]}" for i in flits for j in flits[i + is_late :]]
        self._hint(f"!coming || ({' || '.join(passed)}) == ({self._written} || is_written)")
        self._hint(f"!(is_written && coming) || word_addr == {self._word_in('write_slot')}")
        self._hint(f"!(leaving && is_written && {self._unread()}) || word_addr == {self._word_in('own_slot')}")
        if is_late:
            self._look("writes", f"{self._own}.write_en", 1)
            self._hint(f"!{self._written} || writes")
            self._hint(f"!(writes && is_written && ({self._stays()}) && write_addr == word_addr)")

    def _is_now(self, flit: int) -> str:
        """Return the condition that this flit of a packet comes."""
        return self._at(flit + self._first_phase)

    _is_placed = "(inside || leaving)"

    def _stays(self) -> str:
        return f"coming || inside || (leaving && {self._unread()})"

    def _unread(self) -> str:
        """Return the condition that the watched flit of a packet that leaves has not been read."""
        flits = range(self._length)
        before = [self._in_phases(*range(1, flit - self._lead + 1)) for flit in flits]
        return f"({' || '.join(f'{self._watches(flit)} && {before[flit]}' for flit in flits)})"

    def _left_slot(self) -> str:
        return "own_slot"

    def _hint_read(self, waiting: str) -> None:
        now = self._at(self._timing.match_phases[1] + 1)
        leaves = f"({now} ? going[{self._vc}] : leaves[{self._vc}])"
        self._wire("waits", f"first_one && took_own && {leaves}")
        self._hint(f"!waits || !{waiting} || reading_slot == own_slot")
        if len(self._widths) > 1:
            self._hint(f"!waits || !{waiting} || reading_vc == {self._vc}")


class MatchedInputRig(_Matched):
    """A rig around the queues of one virtual channel of a network port."""

    def _queue_hints(self) -> list[Callable[[], None]]:
        return [*super()._queue_hints(), self._hint_channel, self._hint_incoming, self._hint_slot]

    def _hint_channel(self) -> None:
        """What the channel and the route unit say of the packet that comes."""
        own, picked = self._vc, f"picked_{self._vc}"
        begins = self._timing.commit_phase + 1
        for moves, (before, after) in enumerate(pairwise(self._stages), begins):
            self._hint(f"{self._at(moves)} || ({after} == {before} && (!{after} || {after}_vc == {before}_vc))")
        for stage in self._stages:
            self._hint(f"!{stage} || {' || '.join(f'{stage}_vc == {each}' for each in self._used_vcs)}")
        comes = self._in_phases(*range(begins, self._push_phase + 1))
        self._hint(f"!{comes} || !ahead || ahead_vc != {own} || held_{own} < {self._slots}")
        self._hint(f"!coming || (on && on_vc == {own} && !head)")
        self._hint(f"!(coming && pushed) || ({picked} == own_way && !inside && !leaving)")
        self._hint("routed == (pushed && on) && (!routed || routed_vc == on_vc)")
        self._hint(f"!routed || ({picked} != 0 && {at_most_one(picked)})")
        self._hint(f"!routed || routed_vc != {own} || is_alike_{own} == ({picked} == own_way)")
        self._hint(f"{self._look('pushes', f'{self._queue}.push', 1)} == (pushed && comes_{own})")

    def _hint_incoming(self) -> None:
        """The codes of the flits that come are known some cycles after reset, before the first packet comes."""
        if self._written == "watched":
            return
        codes, bits = flit_codes(self._length), index_width(self._length)
        names = [f"incoming_{stage}" for stage in range(self._timing.channel_cycles + self._lead)]
        known = "1'd1"
        for stage, name in enumerate([*names, f"write_addr[{bits - 1}:0]"]):
            before, known = known, self._register(f"known_{stage}", known)
            self._hint(f"!{known} || {before}")
            self._hint(f"!{known} || {name} == ({self._code_in_phase(codes, self._lead - stage - 1)})")
            self._hint(f"{known} || {self._in_phases(*range(stage + 1))}")
        self._hint(f"fresh || {known} || {self._in_phases(*range(self._timing.head_phase + 1, len(names) + 1))}")
        self._hint(f"!(is_second || ahead || on || coming) || {known}")

    def _hint_slot(self) -> None:
        """The marked packet is in the buffer that is written while it comes, and in another one behind that."""
        ends = self._in_phases(*range(self._timing.credit_phase + 1, self._timing.tail_phase + 1))
        other = f"on && on_vc == {self._vc} && !coming && (inside || (leaving && {ends}))"
        self._hint(f"!({other}) || write_slot != own_slot")
        self._hint("!(coming && (inside || leaving)) || own_slot == write_slot")
        self._hint("!coming || pushed || inside || leaving")
        self._hint(f"!(coming && leaving) || {ends}")
        self._hint(f"!{self._written} || coming || ({self._at(self._first_phase)} && (inside || leaving))")


class MatchedInjectionRig(_Matched, InjectionRig):
    """A rig around the queues of injection."""

    def _queue_hints(self) -> list[Callable[[], None]]:
        return [*super()._queue_hints(), self._hint_taking, self._hint_kept, self._hint_slot]

    def _is_now(self, flit: int) -> str:
        return f"position[{flit}]"

    def _hint_taking(self) -> None:
        """Registers that say which flit of a packet is due; three have no names of their own in the text."""
        last = self._length - 1
        self._hint(f"position != 0 && {at_most_one('position')}")
        self._hint("position[0] || !is_full")
        found = re.findall(r"^  reg \\(injection\.signal\w*)  = 1'h(.);", self._text, re.MULTILINE)
        if [initial for _, initial in found] == ["0", "0", "1"]:
            delays, tail, head = (self._look(f"taking_{n}", net, 1) for n, (net, _) in enumerate(found))
            self._hint(f"{head} == position[0]")
            self._hint(f"{tail} == position[{last}]")
            self._hint(f"{delays} == (position[{last}] && !{self._at(self._timing.injection_phase)})")

    def _hint_kept(self) -> None:
        """The route of the packet that comes is kept until its tail is there."""
        own, ports, bits = self._ways(self._port, 0), self._local + 1, index_width(max(self._plan.num_vcs))
        chosen = self._register("chosen", "begins ? now_0 : chosen", width=len(own), reset="")
        self._hint(f"position[0] || ({chosen} != 0 && {at_most_one(chosen)})")
        self._hint(f"position[0] || is_alike_0 == ({chosen} == own_way)")
        self._hint(f"!coming || (!position[0] && !inside && {chosen} == own_way)")
        decision = self._look("decision", f"{self._queue}.i", len(own))
        self._hint(f"position[0] || position[1] || position[2] || {decision} == {chosen}")
        loads = self._look("loads", f"{self._own}.routed", 1)
        self._hint(f"!{loads} || position[0] || position[1]")
        self._hint(f"!{loads} || position[0] || (routed && picked_0 == {chosen})")
        kept = {"take": (ports, [1 << out for out, _ in own])}
        if max(self._plan.num_vcs) > 1:
            kept["vc"] = bits, [to for _, to in own]
        for name, (width, values) in kept.items():
            register = self._look(f"{name}_kept", f"{self._own}.kept_{name}", width)
            self._hint(f"position[0] || {loads} || {register} == ({self._selected(values, chosen, width)})")
        if self._machine.address.has_holes:
            possible = self._look("possible_kept", f"{self._own}.kept_possible", 1)
            self._hint(f"position[0] || {loads} || {possible} == good")
        else:
            self._hint("position[0] || good")

    def _hint_slot(self) -> None:
        """A buffer that a packet leaves gets the next one's flits behind those that have been read."""
        self._hint("!leaving || (!coming && is_written)")
        self._hint(f"!{self._written} || coming || inside")
        codes, bits = flit_codes(self._length), index_width(self._length)
        slot = self._slot_of("write_addr")
        for phase in range(1, self._length):
            begun = " || ".join(f"position[{k}]" for k in range(max(1, phase - 1)))
            self._hint(f"!(leaving && {self._at(phase)} && write_slot == own_slot) || {begun}")
            done = " || ".join(f"write_addr[{bits - 1}:0] == {codes[k]}" for k in range(phase - 2)) or "1'd0"
            self._hint(f"!(leaving && {self._at(phase)} && writes && {slot} == own_slot) || {done}")
        if self._written != "watched":
            self._hint(f"!({self._written} && inside) || {self._at(self._timing.update_phase + 1)}")


class MatchedGaplessRig(_Matched, GaplessRig):
    """A rig around the queues of injection of gapless packets."""


class MatchedSwitchRig(SwitchRig):
    """A rig around all of a router but its queues: see :class:`hdnhw.proofs.parts.RouterPart`."""

    def _input(self, port: int) -> None:
        """Let an input offer ways, and claim that packets are taken only of those, and of one in a slot."""
        name, phases = self._name(port), self._timing.match_phases
        ways = ways_of_input([self._ways(port, vc) for vc in range(self._num_vcs(port))])
        count, free = len(ways), self._free(f"f_ways_{name}", len(ways))
        seen = []
        for turn, phase in enumerate(self._timing.grant_phases):
            own = f"seen_{name}_{turn}"
            seen.append(self._register(own, f"{self._at(phase - 1)} ? offers_{name} : {own}", width=count))
        stay = f"({self._at(self._timing.update_phase)} ? {seen[0]} : {count}'d0)"
        self._cut(f"{name}.queues__ways", self._wire(f"offers_{name}", f"{free} | {stay}", width=count))
        take = self._look(f"take_{name}", f"{name}.queues__take", count)
        left = self._register(f"left_{name}", f"{self._at(0)} ? {count}'d0 : left_{name} | {take}", width=count)
        first, second = map(self._at, phases)
        self.claims += [
            (f"{name} is told to send between the rounds", f"{first} || {second} || {take} == 0"),
            (f"{name} is told to send two packets", f"{at_most_one(take)} && ({take} == 0 || {left} == 0)"),
            (f"{name} is told to send a packet that is not there", f"!{first} || ({take} & ~{seen[0]}) == 0"),
            (f"{name} is told to send a packet that has not come", f"!{second} || ({take} & ~{seen[1]}) == 0"),
        ]
        for place, way in enumerate(ways):
            self._join(port, way, name=f"{name}_{place}", leaves=f"{left}[{place}]", offers=f"{seen[1]}[{place}]")
