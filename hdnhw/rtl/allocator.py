"""Virtual-channel and switch allocation: which packet leaves by which output in the next slot."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.arbiter import Order, first_in_order, service_order
from hdnhw.rtl.bits import equals
from hdnhw.rtl.ports import QueueSignature
from hdnhw.timing import SlotTiming

__all__ = ["CreditCounter", "SwitchAllocator"]


def _any(bits: Iterable[Value]) -> Value:
    return reduce(or_, bits, Const(0))


class CreditCounter(wiring.Component):
    """Free packet slots of one virtual channel downstream.

    Parameters
    ----------
    slots : int
        Packet slots; all are free after reset.

    Members
    -------
    update : In(1)
        Whether `give` and `spend` count in this cycle.
    give, spend : In(1)
        A slot has become free; a packet has been granted.
    available : Out(1)
        Whether a packet may be sent.
    """

    def __init__(self, *, slots: int) -> None:
        self._slots = slots
        super().__init__({"update": In(1), "give": In(1), "spend": In(1), "available": Out(1)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        if self._slots > 4:
            free = Signal(range(self._slots + 1), init=self._slots)
            with m.If(self.update):
                m.d.sync += free.eq(free + self.give - self.spend)
            m.d.comb += self.available.eq(free.any())
            return m
        free = Signal(self._slots, init=-1)  # ones in as many low bits as slots are free
        stays, more, less = self.give | ~self.spend, self.give & ~self.spend, ~self.give
        below, above = Cat(Const(1, 1), free[:-1]), Cat(free[1:], Const(0, 1))
        with m.If(self.update):
            m.d.sync += [free[i].eq(free[i] & stays | below[i] & more | above[i] & less) for i in range(self._slots)]
        m.d.comb += self.available.eq(free[0])
        return m


Way = tuple[int, int]
"""An output, and a virtual channel there."""


@dataclass(frozen=True)
class _Offer:
    """What one input offers.

    Attributes
    ----------
    choice : Value
        The queue whose packet it is, one-hot.
    want : dict of Way to Value
        For each way that packets of the input take, whether this one takes it.
    """

    choice: Value
    want: dict[Way, Value]


@dataclass(frozen=True)
class _Grant:
    """Who sends by one output in a slot, see the members of :class:`SwitchAllocator`."""

    idle: Signal
    valid: Signal
    vc: Signal | None


class SwitchAllocator(wiring.Component):
    """A separable allocator, once a slot: each input chooses one of its packets, each output one of the inputs.

    Among its virtual channels whose packet has a credit, an input offers the one that has sent longest ago. Among the
    inputs that offer a packet for the same virtual channel, the one comes first from which it was sent to longest ago;
    among these, an output takes the one whose virtual channel it has sent to longest ago. So a packet that waits moves
    up whenever another is served, and one without a credit delays only what stands behind it in its queue. Where no
    input has two virtual channels, one order for the whole router does: the input that has sent longest ago is first.

    Requests stand still from the sample phase on, so that long slots spread the logic over several cycles; what is
    granted takes effect when the slot ends.

    Parameters
    ----------
    inputs : sequence of sequences of sequences of Way
        For each input and each of its virtual channels, the ways that its packets take.
    outputs : sequence of (int, int)
        For each output, its virtual channels and the packet slots of each downstream. The last one is ejection.
    timing : SlotTiming

    Members
    -------
    at : In(L)
        Phase of the slot, one-hot.
    queues_I : In(QueueSignature)
        The queues of input I.
    credit_O : In
        Credits coming back at output O, a bit a virtual channel, looked at in the update phase; of ejection, in every.
    idle_O : Out
        One bit for each input that can reach output O, low while its packet leaves by that output; means nothing while
        `valid_O` is low.
    valid_O : Out(1)
        Whether a packet leaves by output O in this slot.
    vc_O : Out
        Virtual channel of that packet; absent for an output with one.
    """

    def __init__(
        self, *, inputs: Sequence[Sequence[Sequence[Way]]], outputs: Sequence[tuple[int, int]], timing: SlotTiming
    ) -> None:
        self._inputs, self._outputs, self._timing = inputs, tuple(outputs), timing
        self._chooses = any(len(queues) > 1 for queues in inputs)
        self._cuts = timing.allocation_cuts(chooses=self._chooses)
        members: dict[str, Any] = {"at": In(timing.packet_length)}
        for number, queues in enumerate(inputs):
            members[f"queues_{number}"] = In(QueueSignature([len(ways) for ways in queues]))
        for number, (num_vcs, _) in enumerate(self._outputs):
            members[f"credit_{number}"] = In(num_vcs)
            members[f"idle_{number}"] = Out(len(self.inputs_of(number)), init=-1)
            members[f"valid_{number}"] = Out(1)
            if num_vcs > 1:
                members[f"vc_{number}"] = Out(range(num_vcs))
        super().__init__(members)

    def inputs_of(self, output: int) -> list[int]:
        """Return the inputs that can reach `output`, in the order of the bits of its ``idle``."""
        return [
            number
            for number, queues in enumerate(self._inputs)
            if any(output == way[0] for ways in queues for way in ways)
        ]

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        numbers = range(len(self._outputs))
        held = [self._held(output) for output in numbers]
        following = [self._following(output) for output in numbers]
        # What is counted as sent in the update phase: one flit a packet leaves no time to hold it before.
        counted = following if self._timing.packet_length == 1 else held
        available = [self._elaborate_credits(m, output, counted[output]) for output in numbers]
        offers = [self._elaborate_input(m, number, available) for number in range(len(self._inputs))]
        sends = [self._sends(number, following) for number in range(len(self._inputs))]
        order = None if self._chooses else self._elaborate_order(m, "order", dict(enumerate(sends)), Const(1))
        for output in numbers:
            self._elaborate_output(m, output, offers, available[output], order, following[output])
            self._elaborate_commit(m, held[output], following[output])
        for number, offer in enumerate(offers):
            self._elaborate_pops(m, number, offer.choice, sends[number], self._sends(number, held))
        return m

    def _held(self, output: int) -> _Grant:
        return _Grant(*(getattr(self, f"{name}_{output}", None) for name in ("idle", "valid", "vc")))

    def _following(self, output: int) -> _Grant:
        num_vcs = self._outputs[output][0]
        idle = Signal(len(self.inputs_of(output)), name=f"next_idle_{output}", init=-1)
        vc = Signal(range(num_vcs), name=f"next_vc_{output}") if num_vcs > 1 else None
        return _Grant(idle, Signal(name=f"next_valid_{output}"), vc)

    def _sends(self, number: int, grants: Sequence[_Grant]) -> Value:
        """Tell whether an input sends."""
        outputs = sorted({output for ways in self._inputs[number] for output, _ in ways})
        return _any(~grants[output].idle[self.inputs_of(output).index(number)] for output in outputs)

    def _stage(self, m: Module, cut: str, name: str, value: Value, **options: Any) -> Signal:
        """Return the value behind a register if the slot has time for one at that cut, else as a wire."""
        signal = Signal(len(value), name=name, **options)
        m.d["sync" if cut in self._cuts else "comb"] += signal.eq(value)
        return signal

    def _elaborate_credits(self, m: Module, output: int, counted: _Grant) -> list[Value]:
        """Count the credits of an output; return for each virtual channel whether a packet may be sent."""
        num_vcs, slots = self._outputs[output]
        update, give = self.at[self._timing.update_phase], getattr(self, f"credit_{output}")
        if output == len(self._outputs) - 1 and self._timing.packet_length > 1:
            pending, now = Signal(num_vcs, name="pending"), Signal(num_vcs, name="given")
            m.d.comb += now.eq(pending | give)
            m.d.sync += pending.eq(Mux(update, 0, now))
            give = now
        available = []
        for vc in range(num_vcs):
            m.submodules[f"credits_{output}_{vc}"] = counter = CreditCounter(slots=slots)
            m.d.comb += [
                counter.update.eq(update),
                counter.give.eq(give[vc]),
                counter.spend.eq(counted.valid if counted.vc is None else counted.valid & equals(counted.vc, vc)),
            ]
            available.append(counter.available)
        return available

    def _elaborate_input(self, m: Module, number: int, available: list[list[Value]]) -> _Offer:
        """Virtual-channel allocation: choose the queue whose packet the input offers."""
        ways, queues = self._inputs[number], getattr(self, f"queues_{number}")
        heads = [getattr(queues, f"way_{queue}") for queue in range(len(ways))]
        if not self._chooses:  # credits are looked at when the outputs choose
            return _Offer(Const(1), dict(zip(ways[0], heads[0], strict=True)))
        ready = [
            _any(bit & available[output][vc] for bit, (output, vc) in zip(head, own, strict=True))
            for head, own in zip(heads, ways, strict=True)
        ]
        choice = self._stage(m, "credit", f"ready_{number}", Cat(ready), reset_less=True)
        if len(ways) > 1:
            update = self.at[self._timing.update_phase]
            order = service_order(m, queues.pop, update=update, name=f"queue_order_{number}")
            first = first_in_order(dict(enumerate(choice)), order)
            choice = self._stage(m, "choice", f"choice_{number}", Cat(first.values()), reset_less=True)
            m.d.comb += queues.read_vc.eq(_number(dict(enumerate(choice)), len(queues.read_vc)))
        wanted = {
            way: _any(choice[queue] & heads[queue][own.index(way)] for queue, own in enumerate(ways) if way in own)
            for way in sorted({way for own in ways for way in own})
        }
        want = self._stage(m, "want", f"want_{number}", Cat(wanted.values()), reset_less=True)
        return _Offer(choice, dict(zip(wanted, want, strict=True)))

    def _elaborate_order(self, m: Module, name: str, served: Mapping[int, Value], update: Value) -> Order:
        """Return the order by service of some numbers; what is granted counts when it is committed."""
        numbers, commit = list(served), self.at[self._timing.commit_phase]
        order = service_order(m, Cat(served.values()), update=commit & update, name=name)
        return {(numbers[i], numbers[j]): before for (i, j), before in order.items()}

    def _elaborate_output(
        self,
        m: Module,
        output: int,
        offers: Sequence[_Offer],
        available: list[Value],
        order: Order | None,
        following: _Grant,
    ) -> None:
        """Switch allocation: choose one of the inputs that want an output, in `order` or in orders of its own.

        What is behind the register is reset, as long slots commit in the first phase too.
        """
        wanted = sorted({way for offer in offers for way in offer.want if way[0] == output})
        requests = {
            vc: {number: offer.want[output, vc] for number, offer in enumerate(offers) if (output, vc) in offer.want}
            for _, vc in wanted
        }
        if len(requests) > 1:
            self._elaborate_choice(m, output, requests, following)
            return
        ((vc, request),) = requests.items()
        if order is None:
            order = self._elaborate_order(
                m, f"order_{output}", dict(zip(request, ~following.idle, strict=True)), Const(1)
            )
        lost = ~Cat(first_in_order(request, order).values())
        if not self._chooses:
            lost = Mux(available[0], lost, -1)[: len(request)]
        m.d["sync" if "grant" in self._cuts else "comb"] += following.idle.eq(lost)
        m.d.comb += following.valid.eq(~following.idle.all())
        if following.vc is not None:
            m.d.comb += following.vc.eq(vc)

    def _elaborate_choice(
        self, m: Module, output: int, requests: Mapping[int, Mapping[int, Value]], following: _Grant
    ) -> None:
        """Choose the first of the inputs for each virtual channel, and one of the virtual channels."""
        numbers = {vc: f"{output}_{vc}" for vc in requests}
        firsts = {vc: Signal(len(requests[vc]), name=f"first_{name}") for vc, name in numbers.items()}
        chosen = {vc: Signal(name=f"chosen_{name}") for vc, name in numbers.items()}
        domain = m.d["sync" if "grant" in self._cuts else "comb"]
        for vc, name in numbers.items():
            order = self._elaborate_order(
                m, f"order_{name}", dict(zip(requests[vc], firsts[vc], strict=True)), chosen[vc]
            )
            domain += firsts[vc].eq(Cat(first_in_order(requests[vc], order).values()))
        order = self._elaborate_order(m, f"vc_order_{output}", chosen, Const(1))
        asked = {vc: Cat(request.values()).any() for vc, request in requests.items()}
        domain += [chosen[vc].eq(first) for vc, first in first_in_order(asked, order).items()]
        wins = [
            _any(
                chosen[vc] & firsts[vc][list(request).index(number)]
                for vc, request in requests.items()
                if number in request
            )
            for number in self.inputs_of(output)
        ]
        m.d.comb += [
            following.idle.eq(~Cat(wins)),
            following.valid.eq(_any(chosen.values())),
            following.vc.eq(_number(chosen, len(following.vc))),
        ]

    def _elaborate_commit(self, m: Module, held: _Grant, following: _Grant) -> None:
        """Hold through a slot what was granted before it; long slots, which commit in the first phase, reset less."""
        commit = self.at[self._timing.commit_phase]
        for now, then in ((held.idle, following.idle), (held.vc, following.vc)):
            if now is not None:
                keeps = Signal(
                    len(now), name=f"held_{now.name}", init=now.init, reset_less=self._timing.registers_flits
                )
                m.d.comb += now.eq(keeps)
                with m.If(commit):
                    m.d.sync += keeps.eq(then)
        with m.If(commit):
            m.d.sync += held.valid.eq(following.valid)

    def _elaborate_pops(self, m: Module, number: int, choice: Value, following: Value, held: Value) -> None:
        """Tell an input which of its packets leaves, from what is granted or, if there is time, a phase later."""
        pop, length = getattr(self, f"queues_{number}").pop, self._timing.packet_length
        if length == 1:
            m.d.comb += pop.eq(Mux(following, choice, 0))
            return
        late = self._chooses and length > 2
        with m.If(self.at[(self._timing.commit_phase + late) % length]):
            m.d.sync += pop.eq(Mux(held if late else following, choice, 0))


def _number(chosen: Mapping[int, Value], width: int) -> Value:
    """Return the number of the bit that is set, 0 if none is."""
    return Cat(_any(each for number, each in chosen.items() if number >> bit & 1) for bit in range(width))
