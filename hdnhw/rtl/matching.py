"""Iterative matching, output first: of packets in virtual output queues."""

from collections.abc import Mapping
from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from hdnhw.machine.timing import TURN_SLOTS
from hdnhw.rtl.allocator import Allocator, Grant, Way
from hdnhw.rtl.arbiter import Order, first_in_order
from hdnhw.rtl.bits import any_of, equals, number_of
from hdnhw.rtl.buffer import VoqBuffer, ways_of_input

Pairs = Mapping[tuple[int, int], Value]
"""A bit for each (input, output)."""

Requests = Mapping[tuple[int, Way], Value]
"""A bit for each (input, way)."""


@dataclass(frozen=True)
class _Round:
    """What is granted in a round.

    Attributes
    ----------
    grant : Pairs
        Whether an output takes an input.
    vc : dict of Way to Value
        Whether an output sends to a virtual channel; nothing of outputs that have one.
    """

    grant: Pairs
    vc: Mapping[Way, Value]


@dataclass(frozen=True)
class _Orders:
    """Who comes first: inputs at each way, virtual channels at each output, outputs at each input."""

    inputs: Mapping[Way, Order]
    vcs: Mapping[int, Order]
    outputs: Mapping[int, Order]


def _name(of: str, key: tuple[int, Way]) -> str:
    """Return a signal's name."""
    number, (output, vc) = key
    return f"{of}_{number}_{output}_{vc}"


def _first_and_chosen(
    output: int, requests: Requests, orders: _Orders
) -> tuple[dict[tuple[int, Way], Value], dict[Way, Value]]:
    """Return which input comes first at each way of an output, and which of its ways the output chooses."""
    asked: dict[Way, dict[int, Value]] = {}
    for (number, way), request in requests.items():
        if way[0] == output:
            asked.setdefault(way, {})[number] = request
    firsts = {
        (number, way): first
        for way, requesters in asked.items()
        for number, first in first_in_order(requesters, orders.inputs[way]).items()
    }
    if len(asked) == 1:
        return firsts, dict.fromkeys(asked, Const(1))
    some = {vc: Cat(requesters.values()).any() for (_, vc), requesters in asked.items()}
    return firsts, {(output, vc): each for vc, each in first_in_order(some, orders.vcs[output]).items()}


def _granted(output: int, firsts: Requests, chosen: Mapping[Way, Value]) -> dict[tuple[int, int], Value]:
    """Return which input an output takes: that which comes first at the way that it chooses."""
    grants: dict[tuple[int, int], Value] = {}
    for (number, way), first in firsts.items():
        if way[0] == output:
            grants[number, output] = grants.get((number, output), Const(0)) | (first & chosen[way])
    return grants


class MatchingAllocator(Allocator):
    """Outputs grant and inputs accept, in rounds: what is left unmatched by the first goes into the second.

    An input requests each way that any of its packets takes and that has a credit. Among the inputs that request the
    same way, an output takes the one that has sent there longest ago, and among its ways the one that it has sent to
    longest ago; injection comes last, but first once by each way in :data:`hdnhw.machine.timing.TURN_SLOTS`
    slots. Among the outputs that take it, an input accepts the one by which it has sent longest ago.

    As an input that is taken by any output accepts one, the second round is among the others, whatever they accept: it
    needs not wait for that. In long slots the first round is of packets that were there in the slot before, made before
    it is known what comes in, and the same logic makes the second.

    References: N. McKeown, The iSLIP Scheduling Algorithm for Input-Queued Switches, IEEE/ACM Transactions on
    Networking 7(2), 1999, for matching in rounds.
    """

    buffer = VoqBuffer

    def _elaborate_grants(
        self, m: Module, available: list[list[Value]], following: list[Grant], held: list[Grant]
    ) -> None:
        orders = self._elaborate_orders(m, following)
        match = self._elaborate_phases if self._timing.matches_early else self._elaborate_rounds
        ways = match(m, self._wanted(available), orders)
        matched = self._elaborate_matched(m, ways) if self._timing.matches_early else ways
        for output, grant in enumerate(following):
            self._elaborate_following(m, output, matched, grant)
            self._elaborate_commit(m, held[output], grant)
        for number, queues in enumerate(self.inputs):
            take = Cat(ways[number, way] for way in ways_of_input(queues))
            m.d.comb += getattr(self, f"queues_{number}").take.eq(take)

    def _wanted(self, available: list[list[Value]]) -> dict[tuple[int, Way], Value]:
        """Return which ways inputs want that have a credit."""
        return {
            (number, (output, vc)): bit & available[output][vc]
            for number, queues in enumerate(self.inputs)
            for bit, (output, vc) in zip(getattr(self, f"queues_{number}").ways, ways_of_input(queues), strict=True)
        }

    def _elaborate_phases(self, m: Module, wanted: Requests, orders: _Orders) -> Requests:
        """Match in two rounds by the same logic, a phase for each step; return what inputs have accepted in a round.

        Outputs take inputs in the phases in which they grant alone: after others nothing is accepted, and no request is
        held back.
        """
        requests = {key: Signal(name=_name("request", key), reset_less=True) for key in wanted}
        accepted = {key: Signal(name=_name("accepted", key)) for key in wanted}
        goes = Signal()
        m.d.sync += goes.eq(any_of(self.at[phase - 1] for phase in self._timing.grant_phases))
        firsts: dict[tuple[int, Way], Value] = {}
        chosen: dict[Way, Value] = {}
        for output in range(len(self.outputs)):
            is_matched = any_of(bit for (_, way), bit in accepted.items() if way[0] == output)
            first, choice = self._elaborate_output(m, output, requests, orders, ~goes | is_matched)
            firsts |= first
            chosen |= choice
        grants = {
            pair: each for output in range(len(self.outputs)) for pair, each in _granted(output, firsts, chosen).items()
        }
        for key, request in requests.items():
            is_taken = any_of(grant for (number, _), grant in grants.items() if number == key[0])
            m.d.sync += request.eq(Mux(is_taken, 0, wanted[key]))
        for (number, way), bit in accepted.items():
            order = orders.outputs[number]
            own = {output: grant for (one, output), grant in grants.items() if one == number and output != way[0]}
            sooner = [grant & order[output, way[0]] for output, grant in own.items()]
            half = (len(sooner) + 1) // 2  # half of them by the register's reset: it is the slowest path
            accepts = firsts[number, way] & chosen[way] & ~any_of(sooner[half:])
            m.d.sync += bit.eq(Mux(any_of(sooner[:half]), 0, accepts))
        return accepted

    def _elaborate_output(
        self, m: Module, output: int, requests: Requests, orders: _Orders, stops: Value
    ) -> tuple[Requests, Mapping[Way, Value]]:
        """Put which input comes first at each way, and which way an output chooses, behind registers.

        With `stops` the output takes none. One that has a single way need not choose it.
        """
        first, choice = _first_and_chosen(output, requests, orders)
        firsts = {key: Signal(name=_name("first", key)) for key in first}
        is_single = len(choice) == 1
        m.d.sync += [firsts[key].eq(Mux(stops, 0, first[key]) if is_single else first[key]) for key in firsts]
        if is_single:
            return firsts, choice
        chosen = {way: Signal(name=f"chosen_{way[0]}_{way[1]}") for way in choice}
        m.d.sync += [chosen[way].eq(Mux(stops, 0, choice[way])) for way in chosen]
        return firsts, chosen

    def _elaborate_matched(self, m: Module, accepted: Requests) -> Requests:
        """Gather what is accepted in the rounds of a slot."""
        matched: dict[tuple[int, Way], Value] = {}
        for key, bit in accepted.items():
            matched[key] = Signal(name=_name("matched", key))
            m.d.sync += matched[key].eq(Mux(self.at[0], 0, matched[key] | bit))
        return matched

    def _elaborate_rounds(self, m: Module, wanted: Requests, orders: _Orders) -> Requests:
        """Match all at once, with registers where there is time for them; in two rounds, if there is for the second."""
        requests: dict[tuple[int, Way], Value] = {}
        for number in range(len(self.inputs)):
            own = {key: want for key, want in wanted.items() if key[0] == number}
            requests |= zip(own, self._stage(m, "request", f"request_{number}", Cat(own.values())), strict=True)
        first = self._elaborate_round(m, requests, orders, "grant", "granted")
        accepts = self._accepts(first.grant, orders)
        accepted = self._stage(m, "accept", "accepted", Cat(accepts.values()))
        rounds: list[tuple[_Round, Pairs]] = [(first, dict(zip(accepts, accepted, strict=True)))]
        if self._timing.matching_rounds == 2:
            rounds.append(self._elaborate_second_round(m, requests, first, accepts, orders))
        return {
            (number, way): any_of(match[number, way[0]] & round_.vc.get(way, Const(1)) for round_, match in rounds)
            for number, way in requests
        }

    def _pairs(self) -> list[tuple[int, int]]:
        return [(number, output) for output in range(len(self.outputs)) for number in self.inputs_of(output)]

    def _elaborate_orders(self, m: Module, following: list[Grant]) -> _Orders:
        pairs = self._pairs()
        sent = {pair: ~following[pair[1]].idle[self.inputs_of(pair[1]).index(pair[0])] for pair in pairs}
        inputs, vcs, outputs, renew = {}, {}, {}, self._elaborate_turns(m)
        for way in sorted({way for own in self.inputs for queue in own for way in queue}):
            grant = following[way[0]]
            served = {n: sent[n, way[0]] for n, own in enumerate(self.inputs) if any(way in queue for queue in own)}
            inputs[way] = self._elaborate_input_order(m, way, served, grant, renew)
        for output, grant in enumerate(following):
            ways = sorted(way for way in inputs if way[0] == output)
            if len(ways) > 1:
                served = {vc: grant.valid & equals(grant.vc, vc) for _, vc in ways}
                vcs[output] = self._elaborate_order(m, f"vc_order_{output}", served, Const(1))
        for number in range(len(self.inputs)):
            served = {output: sent[number, output] for one, output in pairs if one == number}
            outputs[number] = self._elaborate_order(m, f"output_order_{number}", served, Const(1))
        return _Orders(inputs, vcs, outputs)

    def _elaborate_turns(self, m: Module) -> Value:
        """Count slots; return, valid when a slot is committed, whether injection has its turns anew behind it."""
        slot = self._elaborate_slots(m, TURN_SLOTS, "turn_slot")
        if self._timing.packet_length == 1:
            return slot.all()
        is_last = Signal(name="is_last_turn_slot")
        m.d.sync += is_last.eq(slot.all())
        return is_last

    def _elaborate_input_order(
        self, m: Module, way: Way, served: Mapping[int, Value], grant: Grant, renew: Value
    ) -> Order:
        """Return the order of inputs at a way: by service, but injection first if it has its turn, else last."""
        injection, (output, vc) = len(self.inputs) - 1, way
        network = {number: each for number, each in served.items() if number != injection}
        update = Const(1) if grant.vc is None else equals(grant.vc, vc)
        order: dict[tuple[int, int], Value] = {}
        if network:
            order |= self._elaborate_order(m, f"order_{output}_{vc}", network, update)
        if injection in served:
            turn = Signal(name=f"turn_{output}_{vc}", init=1)
            with m.If(self.at[self._timing.commit_phase]):
                m.d.sync += turn.eq(renew | (turn & ~(served[injection] & update)))
            order |= {(injection, number): turn for number in network}
            order |= {(number, injection): ~turn for number in network}
        return order

    def _stage(self, m: Module, cut: str, name: str, value: Value) -> Signal:
        """Return the value behind a register if the slot has time for one at that cut, else as a wire."""
        signal = Signal(len(value), name=name)
        m.d["sync" if cut in self._timing.matching_cuts else "comb"] += signal.eq(value)
        return signal

    def _elaborate_round(self, m: Module, requests: Requests, orders: _Orders, cut: str, name: str) -> _Round:
        """Let each output take an input, and a virtual channel where it has several."""
        grants: dict[tuple[int, int], Value] = {}
        vcs: dict[Way, Value] = {}
        for output in range(len(self.outputs)):
            firsts, chosen = _first_and_chosen(output, requests, orders)
            if len(chosen) > 1:
                staged = self._stage(m, cut, f"{name}_vc_{output}", Cat(chosen.values()))
                vcs |= dict(zip(chosen, staged, strict=True))
            granted = _granted(output, firsts, chosen)
            staged = self._stage(m, cut, f"{name}_{output}", Cat(granted.values()))
            grants |= dict(zip(granted, staged, strict=True))
        return _Round(grants, vcs)

    def _accepts(self, grants: Pairs, orders: _Orders) -> Pairs:
        """Let each input accept one of the outputs that take it."""
        match: dict[tuple[int, int], Value] = {}
        for number in range(len(self.inputs)):
            own = {output: grant for (one, output), grant in grants.items() if one == number}
            match |= {(number, output): each for output, each in first_in_order(own, orders.outputs[number]).items()}
        return match

    def _elaborate_second_round(
        self,
        m: Module,
        requests: Requests,
        first: _Round,
        accepts: Pairs,
        orders: _Orders,
    ) -> tuple[_Round, Pairs]:
        """Match the inputs that no output takes in the first round with the outputs that none accepts."""
        numbers, outputs = range(len(self.inputs)), range(len(self.outputs))
        taken = [any_of(each for (one, _), each in first.grant.items() if one == number) for number in numbers]
        left = {(number, way): request & ~taken[number] for (number, way), request in requests.items()}
        second = self._elaborate_round(m, left, orders, "accept", "next_granted")
        matches = Cat(any_of(each for (_, one), each in accepts.items() if one == output) for output in outputs)
        matched = self._stage(m, "accept", "matched", matches)
        grants = {pair: grant & ~matched[pair[1]] for pair, grant in second.grant.items()}
        return second, self._accepts(grants, orders)

    def _elaborate_following(self, m: Module, output: int, ways: Requests, grant: Grant) -> None:
        domain = m.d["sync" if self._timing.registers_flits else "comb"]
        wins = [
            any_of(each for (one, way), each in ways.items() if (one, way[0]) == (number, output))
            for number in self.inputs_of(output)
        ]
        domain += [grant.idle.eq(~Cat(wins)), grant.valid.eq(any_of(wins))]
        if grant.vc is not None:
            vcs = sorted({way[1] for _, way in ways if way[0] == output})
            chosen = {vc: any_of(each for (_, way), each in ways.items() if way == (output, vc)) for vc in vcs}
            domain += grant.vc.eq(number_of(chosen, len(grant.vc)))
