"""The queues of a router's inputs: each packet comes out when its turn is there, on its way, flit for flit unchanged.

The rig marks one packet, any one of a queue, and watches one bit of one of its flits, any one, of any value. It counts
the packets before the marked one. When these have left and one more leaves, that is the marked one: from when it is the
first on, its own way is offered, and the watched bit is in its place in the slot in which it leaves.

The memories of flits and of decisions forget all words but the one that the rig watches. Hints say how the marked
packet, pointers and memories hang together; they are claims like others, but one that does not hold is only dropped.
"""

from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise

from hdnhw.machine.crc import check_width
from hdnhw.proofs.parts import RouterPart
from hdnhw.proofs.rig import RigError
from hdnhw.rtl.bits import flit_codes, index_width
from hdnhw.rtl.buffer import Ways
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.verilog.fabric import EmittedFabric


class InputRig(RouterPart):
    """A rig around the queue of one virtual channel of a network port.

    Parameters
    ----------
    fabric : EmittedFabric
    shape, bit : int
        See :class:`RouterPart`.
    port, vc : int
    """

    def __init__(self, fabric: EmittedFabric, shape: int, bit: int, port: int, vc: int) -> None:
        super().__init__(fabric, shape, bit)
        self._port, self._vc, self._own = port, vc, self._name(port)
        self._queue = f"{self._own}.decisions_{vc}"
        self._widths = [len(self._ways(port, each)) for each in range(self._num_vcs(port))]
        self._slots = self._machine.injection_buffers
        if port != self._local:
            self._slots = self._machine.input_buffers(port)
        self._slot_bits = (self._slots - 1).bit_length()
        self._know_value()
        self._one_of("spot", self._constant("spots", self._length), self._length, default=True)
        self._ignored = self._die() if self._machine.spec.dead_pins else ""
        self._enter()
        is_late = self._machine.is_block_ram or (port == self._local and self._machine.spec.crc)
        self._written = self._delayed("written", "watched", int(is_late), reset="0")
        self._forget(f"{self._own}.flits", self._written, "word")
        self._leave()
        self._follow()
        self._offer()
        self._hint_all()

    def _know_value(self) -> None:
        """Have a value that the watched bit has."""
        self._constant("value")

    def _die(self) -> str:
        """Let any channels be dead, in any cycles; return whether what comes in by this one is not seen."""
        self._cut("dead_ahead", self._free("f_dead_ahead", self._local))
        return "" if self._port == self._local else self._ignore(self._port)

    def _enter(self) -> None:
        """Let a neighbor send what it has credits for; the virtual channel comes a cycle before the rest."""
        num_vcs, before = len(self._widths), self._stages[-2]
        self._channel()
        self._wire("pushed", self._at(self._push_phase))
        seen = f"on && !{self._ignored}" if self._ignored else "on"
        for each in range(num_vcs):
            self._wire(f"comes_{each}", f"{seen} && on_vc == {each}")
            leaves = f"(counted && leaves[{each}])"
            self._register(
                f"held_{each}", f"held_{each} + (pushed && comes_{each}) - {leaves}", width=self._slots.bit_length()
            )
        self._mark(f"head && comes_{self._vc}")
        self._take_a_slot(self._timing.head_phase)
        credit = self._output_pin(f"{self._own}_i__credit", "credit", num_vcs)
        self.claims.append(("a credit is given for another packet than leaves", f"!counted || {credit} == leaves"))
        self._route("head && on", "on_vc")
        word = self._data(self._bit, "watched", self._machine.word_width)
        self._pins += [f".{self._own}_i__valid(on)", *self._word(f"{self._own}_i", "word", word)]
        if num_vcs > 1:
            self._wire("vc", f"{before} ? {before}_vc : {self._free('f_junk', 4)}", width=4)
            self._pins.append(f".{self._own}_i__vc(vc[{(num_vcs - 1).bit_length() - 1}:0])")

    def _mark(self, begins: str) -> None:
        """Mark a packet that begins, or not; one at a time."""
        self._wire("marks", f"{self._free('f_marks')} && {begins} && !coming && !inside && !leaving")

    def _take_a_slot(self, first: int) -> None:
        """Let the flits of the marked packet come in a row, from a phase on; it is in the queue when it is pushed."""
        self._first_phase = first
        self._register("coming", f"!{self._at(first - 1)} && (marks || coming)")
        self._wire("enters", "pushed && (marks || coming)")
        self._wire("watched", "(marks || coming) && |(spot & at)")

    def _channel(self) -> None:
        """Make the registers of the channel, of which the last is what comes out."""
        offers, vc = self._free("f_offers"), self._free("f_vc", 4)
        used, stages = self._used_vcs, self._stages
        commit = self._at(self._timing.commit_phase)
        room = {each: f"held_{each} + (pushed && comes_{each}) < {self._slots}" for each in used}
        can = " || ".join(f"{vc} == {each} && {room[each]}" for each in used)
        self._register("ahead", f"{commit} ? {offers} && !fresh && ({can}) : ahead")
        self._register("ahead_vc", f"{commit} ? {vc} : ahead_vc", width=4, reset="")
        for before, after in pairwise(stages):
            self._register(after, before)
            self._register(f"{after}_vc", f"{before}_vc", width=4, reset="")

    @property
    def _stages(self) -> list[str]:
        """The registers of the channel."""
        return ["ahead", *(f"wire_{stage}" for stage in range(self._timing.channel_registers)), "on"]

    @property
    def _used_vcs(self) -> list[int]:
        """The virtual channels by which packets come."""
        return [each for each in range(len(self._widths)) if self._shape.ways(self._port, each)]

    def _route(self, begins: str, vc: str) -> None:
        """Put the rig in place of the route unit: whose head flit comes takes one of the ways that it may take.

        In other cycles the unit may say anything.
        """
        ports, bits = self._local + 1, index_width(max(self._plan.num_vcs))
        pick = self._free("f_way", max(self._widths))
        take, onward = self._free("f_take", ports), self._free("f_onward", bits)
        later = self._timing.registers_routes
        routed, routed_vc = begins, vc
        if later:
            routed = self._register("routed", begins)
            routed_vc = self._register("routed_vc", vc, width=4, reset="")
        for each, width in enumerate(self._widths):
            picked = self._one_of(f"now_{each}", pick, width, default=True)
            if later:
                picked = self._register(f"picked_{each}", picked, width=width, reset="")
            ways, here = self._ways(self._port, each), f"{routed} && {routed_vc} == {each}"
            takes = self._selected([1 << out for out, _ in ways], picked, ports)
            vcs = self._selected([to for _, to in ways], picked, bits)
            take, onward = f"({here} ? {takes} : {take})", f"({here} ? {vcs} : {onward})"
        if self._machine.spec.crc and self._port != self._local:
            take, onward = self._divert(routed, routed_vc, take, onward)
        self._wire("take", take, width=ports)
        self._wire("onward", onward, width=bits)
        self._know_way(begins, vc)
        self._cut(f"{self._own}.route.take", "take")
        if max(self._plan.num_vcs) > 1:
            self._cut(f"{self._own}.route.vc", "onward")

    def _divert(self, routed: str, vc: str, take: str, onward: str) -> tuple[str, str]:
        """Let packets that are ejected be so because of errors; return what the route unit says.

        The head flit may be wrong, or its destination impossible: then the unit may say anything; or it says what no
        packet of the virtual channel takes.
        """
        ports, later = self._local + 1, self._timing.registers_routes
        ejected, others = [], []
        for each in range(len(self._widths)):
            ways, here = self._ways(self._port, each), f"{routed} && {vc} == {each}"
            picked = f"{'picked' if later else 'now'}_{each}[{ways.index((self._local, 0))}]"
            ejected.append(f"({here} && {picked})")
            others.append(f"({{{ports}{{{here}}}}} & {self._not_taken(ways)})")
        self._wire("ejected", " || ".join(ejected))
        self._wire("may_err", f"ejected || !({routed})")
        wrong, junk = self._wire("is_wrong", f"may_err && {self._free('f_wrong')}"), self._free("f_said", ports)
        self._cut(f"{self._own}.checker.{'was_wrong' if later else 'wrong'}", wrong)
        if self._machine.address.has_holes:
            self._wire("possible", f"!(may_err && {self._free('f_impossible')})")
            self._cut(f"{self._own}.route.possible", "possible")
            wrong = f"({wrong} || !possible)"
        self._happens(f"ejected && {wrong}")
        self._wire("strays", f"ejected && {self._free('f_strays')}")
        said = f"(ejected && {wrong} ? {junk} : strays ? {junk} & ({' | '.join(others)}) : {take})"
        return said, f"(strays || (ejected && {wrong}) ? f_onward : {onward})"

    def _not_taken(self, ways: Ways) -> str:
        """Return the outputs that no way has, and those that several have while the virtual channel is of none."""
        vcs = [[vc for to, vc in ways if to == out] for out in range(self._local + 1)]
        bits = ["1'd0" if len(own) == 1 else " && ".join(f"f_onward != {vc}" for vc in own) or "1'd1" for own in vcs]
        return f"{{{', '.join(reversed(bits))}}}"

    def _know_way(self, _begins: str, _vc: str) -> None:
        """Know the marked packet's way: where it meets a dead channel, it is ejected."""
        own, width, ways = self._vc, self._widths[self._vc], self._ways(self._port, self._vc)
        if not self._machine.spec.dead_pins:
            self._register("own_way", f"marks ? now_{own} : own_way", width=width, reset="")
            return
        later = self._timing.registers_routes
        picked, when = (f"picked_{own}", self._register("marked", "marks")) if later else (f"now_{own}", "marks")
        dead = " || ".join(
            f"{picked}[{place}] && f_dead_ahead[{out}]" for place, (out, _) in enumerate(ways) if out != self._local
        )
        ejected, meets = 1 << ways.index((self._local, 0)), self._wire("meets", dead or "0")
        self._register("own_way", f"{when} ? (meets ? {ejected} : {picked}) : own_way", width=width, reset="")
        if dead:
            self._happens(f"{when} && {meets}")

    def _leave(self) -> None:
        """Let the switch take packets that are there and have been read."""
        num_vcs = len(self._widths)
        for each, width in enumerate(self._widths):
            self._look(f"way_{each}", f"{self._own}.queues__way_{each}", width)
        wants, junk = self._free("f_wants"), self._free("f_leaves", num_vcs)
        can = [f"{wants} && way_{each} != 0" for each in range(num_vcs)]
        now = self._at(self._read_phase)
        self._register("is_read", f"{now} || is_read")
        if num_vcs > 1:
            bits = (num_vcs - 1).bit_length()
            reads = self._free("f_reads", bits)
            self._register("read", f"{now} ? {reads} : read", width=bits)
            can = [f"{each} && is_read && read == {number}" for number, each in enumerate(can)]
            self._cut(f"{self._own}.queues__read_vc", reads)
        self._wire("leaves_now", f"{{{', '.join(f'({each})' for each in reversed(can))}}}", width=num_vcs)
        told = "counted ? leaves_now"
        if self._timing.registers_routes:
            self._register("left", "leaves_now", width=num_vcs, reset="")
            told = f"{self._at(self._timing.update_phase - 1)} ? leaves_now : counted ? left"
        self._wire("leaves", f"{told} : {junk}", width=num_vcs)
        self._cut(f"{self._own}.queues__pop", "leaves")

    def _follow(self) -> None:
        """Follow the marked packet, and claim what holds for it."""
        gone, alike = self._gone(), self._alike
        self._wire("goes", f"{gone} && inside && before == 0")
        self._register("inside", "enters || (inside && !goes)")
        self._register("before", f"enters ? {alike} - {gone} : before - {gone}", width=self._slots.bit_length())
        self._register("leaving", "counted ? goes : leaving")
        first = self._timing.credit_phase + 1
        self._look("flit", f"{self._own}.flit", self._machine.word_width)
        self._late = self._delayed("late", f"flit[{self._bit}]", first - self._flit_phase)
        due = " || ".join(f"{self._watches(flit)} && {self._at(first + flit)}" for flit in range(self._length))
        self.claims += [
            ("a credit is given for a packet that is not there", f"!{gone} || {alike} != 0"),
            ("a packet leaves its buffer changed", f"!leaving || !({due}) || {self._late} == value"),
        ]
        self._happens("leaving")
        self._happens(f"enters && {alike} == {min(1, self._slots - 1)}")

    def _gone(self) -> str:
        """Return the condition that a packet leaves which the marked one may have to wait for, or that one."""
        return f"(counted && leaves[{self._vc}])"

    @property
    def _alike(self) -> str:
        """How many such packets there are."""
        return f"held_{self._vc}"

    def _offer(self) -> None:
        """Claim what the switch looks at."""
        own, way = self._vc, f"way_{self._vc}"
        self._register("is_updated", self._at(self._timing.update_phase), reset="1")
        self._register("is_pushed", self._at(self._push_phase), reset="1")
        self._register("is_reset", "0", reset="1")
        self._register("way_before", way, width=self._widths[own], reset="")
        comes = "(is_pushed && way_before == 0)"
        self.claims += [
            ("the way that is offered changes before the update", f"is_updated || {way} == way_before || {comes}"),
            ("a way is offered after reset", f"!is_reset || {way} == 0"),
            ("a packet is offered another way than its own", f"!inside || before != 0 || {way} == own_way"),
        ]

    def _watches(self, flit: int) -> str:
        """Return the condition that this flit of the marked packet is watched."""
        return f"spot[{(flit + self._first_phase) % self._length}]"

    def _hint_all(self) -> None:
        """Give hints about what the text has; what it has not is left out."""
        if self._slots == 1:
            return
        for hint in (*self._queue_hints(), self._hint_codes, self._hint_writing, self._hint_reading):
            with suppress(RigError):
                hint()

    def _queue_hints(self) -> list[Callable[[], None]]:
        """Return what gives hints about the queue of decisions."""
        return [self._hint_pointers, self._hint_decisions, self._hint_ahead]

    def _hint_pointers(self) -> None:
        """A queue's pointers are as far apart as it holds packets, but the one that still comes."""
        bits = self._slot_bits
        self._look("read_slot", f"{self._queue}.read_slot", bits)
        self._look("write_slot", f"{self._queue}.write_slot", bits)
        self._wire("own_slot", "read_slot + before", width=bits)
        self._hint(f"write_slot == {bits}'(read_slot + held_{self._vc} - {self._unclosed()})")
        self._hint(f"!inside || before < held_{self._vc}")

    def _unclosed(self) -> str:
        """Return the condition that the last packet has been counted, but not been written whole."""
        closes = self._at(self._timing.tail_phase - (len(self._widths) > 1 and self._timing.registers_flits))
        return self._register("unclosed", f"pushed && comes_{self._vc} ? 1'd1 : {closes} ? 1'd0 : unclosed")

    def _hint_ahead(self) -> None:
        """A queue of four or more knows how many packets it has, and keeps the decision of the second."""
        self._look("second", f"{self._queue}.second", self._widths[self._vc])
        self._register("is_settled", "!is_updated", reset="0")
        self._hint("is_updated || !is_settled || !inside || before != 1 || second == own_way")
        self._look("there", f"{self._queue}.there", self._slots)
        self._hint(f"there == (1 << held_{self._vc}) - 1")
        self._look("following", f"{self._queue}.following", self._slot_bits)
        self._hint(f"is_updated || following == {self._slot_bits}'(read_slot + 1)")

    def _hint_decisions(self) -> None:
        """The memory of decisions has that of the marked packet in its place.

        In short slots what it says is offered in the same cycle: there it remembers all words, as the way of another
        packet must stand still, too.
        """
        memory = f"{self._queue}.memory"
        if not self._timing.registers_flits:
            self._peek(memory, "own_slot", "decision")
            self._look("decision_word", "rig_decision_word", self._widths[self._vc])
            self._hint("!inside || decision_word == own_way")
            return
        self._forget(memory, "enters", "decision")
        self._look("decision_addr", "rig_decision_addr", self._slot_bits)
        self._look("decision_word", "rig_decision_word", self._widths[self._vc])
        self._hint("!inside || decision_addr == own_slot")
        self._hint("!inside || decision_word == own_way")

    def _hint_codes(self) -> None:
        """The codes of flits go with the phases; what comes over a channel is counted from the second slot on."""
        codes, length = flit_codes(self._length), self._length
        bits = index_width(length)
        own = " | ".join(f"({bits}'d{codes[flit]} & {{{bits}{{{self._watches(flit)}}}}})" for flit in range(length))
        self._wire("own_code", own, width=bits)
        self._look("reads", f"{self._own}.reads", bits)
        self._register("is_second", f"at[{length - 1}] || is_second")
        self._hint(f"reads == ({self._code_in_phase(codes, self._lead)})")
        self._hint_coming(codes, bits)

    def _hint_coming(self, codes: list[int], bits: int) -> None:
        """What the input says of the flit that comes."""
        for stage in range(self._timing.channel_cycles + self._lead):
            self._look(f"incoming_{stage}", f"{self._own}.incoming_{stage}", bits)
            due = self._code_in_phase(codes, self._lead - stage - 1)
            self._hint(f"!is_second || incoming_{stage} == ({due})")

    def _hint_writing(self) -> None:
        """The word that is remembered is the watched one, in the marked packet's buffer."""
        bits = (len(self._widths) - 1).bit_length() + self._slot_bits + index_width(self._length)
        self._look("word_addr", "rig_word_addr", bits)
        self._look("word_word", "rig_word_word", self._machine.word_width)
        self._register("is_written", f"{self._written} || (is_written && (coming || inside || leaving))")
        self._hint(f"!is_written || !inside || word_addr == {self._word_in('own_slot')}")
        self._hint(f"!is_written || !({self._stays()}) || word_word[{self._bit}] == value")
        self._hint(f"!(inside || leaving) || coming || is_written || {self._written}")
        if self._written != "watched":
            self._look("write_addr", f"{self._own}.write_addr", bits)
            self._look("write_data", f"{self._own}.write_data", self._machine.word_width)
            own = self._word_in(f"({self._is_placed} ? own_slot : write_slot)")
            self._hint(f"!{self._written} || write_addr == {own}")
            self._hint(f"!{self._written} || write_data[{self._bit}] == value")

    def _word_in(self, slot: str) -> str:
        """Return the address of the watched word of a packet in a packet buffer."""
        vc_bits = (len(self._widths) - 1).bit_length()
        above = f"{vc_bits}'d{self._vc}, " if vc_bits else ""
        return f"{{{above}{slot}, own_code}}"

    def _slot_of(self, address: str) -> str:
        """Return the packet buffer of a word's address."""
        bits = index_width(self._length)
        return f"{address}[{bits + self._slot_bits - 1}:{bits}]"

    _is_placed = "inside"
    """Whether the packet buffer of the marked packet is known, or is that of the packet that comes."""

    def _stays(self) -> str:
        """Return the condition that the watched word has not been overwritten.

        A buffer that a packet leaves may get the next packet's flits behind those that have been read.
        """
        return "coming || inside" if self._port == self._local else "coming || inside || leaving"

    def _left_slot(self) -> str:
        """Return the packet buffer that the marked packet is leaving."""
        return self._slot_of("word_addr")

    def _hint_reading(self) -> None:
        """What is read is the first packet's; behind the memory the watched bit goes from register to register."""
        length, first = self._length, self._read_phase + 1
        early = (self._timing.credit_phase - first) % length
        waiting = self._in_phases(*range(first, first + early + 1))
        self._look("reading_slot", f"{self._own}.reading_slot", self._slot_bits)
        if len(self._widths) > 1:
            self._look("reading_vc", f"{self._own}.reading_vc", (len(self._widths) - 1).bit_length())
            self._hint(f"!leaving || {waiting} || reading_vc == {self._vc}")
        self._hint(f"!leaving || {waiting} || reading_slot == {self._left_slot()}")
        self._hint_read(waiting)
        stages = [f"late_{stage}" for stage in range(self._timing.credit_phase + 1 - self._flit_phase)]
        if self._lead:
            self._look("read_data", f"{self._own}.flits_read_data", self._machine.word_width)
            inner = [f"{self._own}.flit_register_{stage}" for stage in range(self._lead - 1)]
            names = [self._look(f"stage_{n}", net, self._machine.word_width) for n, net in enumerate(inner)]
            stages = [f"{name}[{self._bit}]" for name in ["read_data", *names, "flit"]] + stages
        else:
            stages = [f"flit[{self._bit}]", *stages]
        for stage, bit in enumerate(stages, 1):
            there = " || ".join(
                f"{self._watches(flit)} && {self._at(first + stage + flit)} && "
                f"{'waits' if stage + flit <= early else 'leaving'}"
                for flit in range(length)
            )
            self._hint(f"!({there}) || {bit} == value")

    def _hint_read(self, waiting: str) -> None:
        """From when it is read to when it leaves the marked packet `waits`, in phases of `waiting`."""
        is_own = "is_read"
        if len(self._widths) > 1:
            self._hint("!is_read || reading_vc == read")
            is_own = f"is_read && read == {self._vc}"
        self._hint(f"!({is_own}) || !{waiting} || reading_slot == read_slot")
        self._wire("waits", f"inside && before == 0 && {is_own}")


class _LocalRig(InputRig):
    """A rig around the queue of injection."""

    def __init__(self, fabric: EmittedFabric, shape: int, bit: int) -> None:
        super().__init__(fabric, shape, bit, len(fabric.machine.network.ports), 0)

    def _know_value(self) -> None:
        """Have a value that the watched bit has; that of a check bit depends on the flit."""
        place = self._bit - self._machine.spec.flit_width
        if place < 0:
            super()._know_value()
            return
        self._wire("made", self._check("f_payload"), width=check_width(self._machine.spec.flit_width))
        self._register("value", f"watched ? made[{place}] : value", reset="")

    @property
    def _routed(self) -> tuple[str, str]:
        """When the route of a packet is there, and whether it is possible."""
        return ("routed", "good") if self._timing.registers_routes else ("begins", "is_good")

    def _begin(self, begins: str) -> None:
        """Let a packet begin, and mark it or not; what is impossible is dropped, and not the marked packet."""
        possible = self._free("f_possible") if self._machine.address.has_holes else "1'd1"
        self._output_pin("inject__ready", "ready")
        self._wire("taken", f"{self._free('f_offers')} && ready")
        self._wire("begins", begins)
        self._mark("begins")
        self._wire("is_good", f"marks || {possible}")
        self._register("good", "begins ? is_good : good", reset="")
        self._route("begins", "0")
        if self._machine.address.has_holes:
            routed, good = self._routed
            self._wire("possible", f"{routed} ? {good} : {possible}")
            self._cut("injection.route.possible", "possible")

    def _full(self) -> str:
        """Return the condition that the queue may say that it is full."""
        return f"held_0 == {self._slots}"

    def _hold(self, ends: str, good: str) -> None:
        """Count the packets that come into the queue when one `ends`, and those that are not `good` and dropped."""
        self._wire("joins", f"{ends} && {good}")
        self._register("held_0", "held_0 + joins - (counted && leaves[0])", width=self._slots.bit_length())
        self._count("dropped", f"{ends} && !{good}", "dropped", width=DROPPED_WIDTH)
        if self._machine.address.has_holes:
            self._happens("dropped_now")
        width = self._machine.spec.flit_width
        payload = self._free("f_payload", width) if self._bit >= width else self._data(self._bit, "watched", width)
        self._pins += [".inject__valid(f_offers)", f".inject__payload({payload})"]


class InjectionRig(_LocalRig):
    """A rig around the queue of injection: flits come from the terminal whenever they like."""

    def _enter(self) -> None:
        """Let a terminal send."""
        last = self._length - 1
        self._first_phase = 0
        self._begin("taken && position[0]")
        self._wire("ends", f"taken && position[{last}]")
        self._register(
            "position", f"taken ? {{position[{last - 1}:0], position[{last}]}} : position", width=last + 1, reset="1"
        )
        self._register("coming", "!ends && (marks || coming)")
        self._wire("enters", "ends && coming")
        self._wire("watched", "taken && (marks || coming) && |(spot & position)")
        room = f"{self._full()} || (position[{last}] && !{self._at(self._timing.injection_phase)})"
        self.claims += [
            ("injection takes nothing although it has room", f"{room} || ready"),
            ("injection takes a flit although it has no room", f"!taken || held_0 != {self._slots}"),
        ]
        self._hold("ends", "good")

    def _unclosed(self) -> str:
        return "1'd0"

    def _hint_coming(self, codes: list[int], bits: int) -> None:
        self._look("taking", f"{self._own}.position", bits)
        self._hint(f"taking == ({self._selected(codes, 'position')})")

    def _queue_hints(self) -> list[Callable[[], None]]:
        return [*super()._queue_hints(), self._hint_kept]

    def _hint_kept(self) -> None:
        """The router keeps the way of a packet while it comes."""
        kept = self._delayed("was_coming", "coming", 2 + self._timing.registers_routes, reset="0")
        self._look("kept", f"{self._queue}.i", self._widths[0])
        self._hint(f"!coming || !{kept} || kept == own_way")


class GaplessRig(_LocalRig):
    """A rig around the queue of injection of gapless packets: one begins in its phase, and takes a slot.

    Each flit is what stands on the stream in its cycle, whether it is valid or not.
    """

    def _enter(self) -> None:
        """Let a terminal send."""
        phase = self._timing.injection_phase
        first, last = self._at(phase), self._at(phase - 1)
        self._begin(f"taken && {first}")
        self._register("takes", f"{first} ? begins : takes")
        self._wire("pushed", self._at(self._timing.update_phase))
        self._take_a_slot(phase)
        self.claims += [
            ("injection takes nothing although it has room", f"!{first} || {self._full()} || ready"),
            ("injection takes a flit although it has no room", f"!{first} || held_0 != {self._slots} || !ready"),
            ("injection stops within a packet, or takes what is none", f"{first} || ready == takes"),
        ]
        self._register("has_gap", f"!{first} && (has_gap || (takes && !taken))")
        self._count("paused", f"{last} && takes && (has_gap || !taken)", "paused", width=DROPPED_WIDTH)
        self._hold(*self._routed)

    def _unclosed(self) -> str:
        closes = self._at(self._timing.injection_phase - 1)
        return self._register("unclosed", f"joins ? 1'd1 : {closes} ? 1'd0 : unclosed")

    def _hint_coming(self, codes: list[int], bits: int) -> None:
        phase = self._timing.injection_phase
        self._look("taking", f"{self._own}.position", bits)
        self._register("is_set", f"{self._at(phase - 1)} || is_set")
        self._hint(f"!is_set || taking == ({self._code_in_phase(codes, -phase)})")
