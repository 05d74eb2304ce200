"""Separable allocation, input first: of packets that leave their queues first in, first out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from hdnhw.machine.timing import CLASS_SLOTS
from hdnhw.rtl.allocator import Allocator, Grant, Way
from hdnhw.rtl.arbiter import Order, first_in_order, service_order
from hdnhw.rtl.bits import any_of, equals, number_of
from hdnhw.rtl.buffer import FifoBuffer


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


def _is_ready(head: Value, ways: Sequence[Way], available: Sequence[Sequence[Value]]) -> Value:
    """Return whether a packet has a credit for the way that it takes."""
    return any_of(bit & available[output][vc] for bit, (output, vc) in zip(head, ways, strict=True))


class SeparableAllocator(Allocator):
    """Each input chooses one of its packets, each output one of the inputs.

    Among its virtual channels whose packet has a credit, an input offers the one that has sent longest ago. Among the
    inputs that offer a packet for the same virtual channel, the one comes first from which it was sent to longest ago;
    among these, an output takes the one whose buffer class is the latest, as its packet blocks none of an earlier one.
    Of one class, and in one of :data:`hdnhw.machine.timing.CLASS_SLOTS` slots of all, it takes the one whose virtual
    channel it has sent to longest ago. So a packet that waits moves up whenever another is served, and one without a
    credit delays only what stands behind it in its queue. Where no input has two virtual channels, one order for the
    whole router does: the input that has sent longest ago is first.
    """

    buffer = FifoBuffer

    @property
    def _chooses(self) -> bool:
        return any(len(queues) > 1 for queues in self.inputs)

    @property
    def _cuts(self) -> frozenset[str]:
        return self._timing.allocation_cuts(chooses=self._chooses)

    @property
    def _serve_phase(self) -> int:
        """The phase after the commit, so that orders look at what is held: it is there before they are used again."""
        return (self._timing.commit_phase + 1) % self._timing.packet_length

    @property
    def _is_reset_behind_want(self) -> bool:
        """Whether a register that is reset follows what inputs want: the first commit after reset grants nothing."""
        return "grant" in self._cuts

    def _elaborate_grants(
        self, m: Module, available: list[list[Value]], following: list[Grant], held: list[Grant]
    ) -> None:
        numbers = range(len(self.inputs))
        offers = [self._elaborate_input(m, number, available) for number in numbers]
        served = following if self._serve_phase == self._timing.commit_phase else held
        order = None
        if not self._chooses:
            sends = {number: self._sends(number, served) for number in numbers}
            order = self._elaborate_order(m, "order", sends, Const(1))
        in_turn = self._elaborate_in_turn(m)
        for output, grant in enumerate(following):
            self._elaborate_output(m, output, offers, available[output], order, in_turn, grant, served[output])
            self._elaborate_commit(m, held[output], grant)
        for number, offer in enumerate(offers):
            self._elaborate_pops(m, number, offer.choice, self._sends(number, following), self._sends(number, held))

    def _stage(self, m: Module, cut: str, name: str, value: Value, **options: Any) -> Signal:
        """Return the value behind a register if the slot has time for one at that cut, else as a wire."""
        signal = Signal(len(value), name=name, **options)
        m.d["sync" if cut in self._cuts else "comb"] += signal.eq(value)
        return signal

    def _elaborate_input(self, m: Module, number: int, available: list[list[Value]]) -> _Offer:
        """Virtual-channel allocation: choose the queue whose packet the input offers."""
        ways, queues = self.inputs[number], getattr(self, f"queues_{number}")
        heads = [getattr(queues, f"way_{queue}") for queue in range(len(ways))]
        if not self._chooses:  # credits are looked at when the outputs choose
            return _Offer(Const(1), dict(zip(ways[0], heads[0], strict=True)))
        if len(ways) == 1:  # no choice: it wants what its packet takes, if that has a credit
            allowed = [bit & available[output][vc] for bit, (output, vc) in zip(heads[0], ways[0], strict=True)]
            cut = "want" if "want" in self._cuts else "credit"
            want = self._stage(m, cut, f"want_{number}", Cat(allowed), reset_less=self._is_reset_behind_want)
            return _Offer(Const(1), dict(zip(ways[0], want, strict=True)))
        ready = [_is_ready(head, own, available) for head, own in zip(heads, ways, strict=True)]
        if self._timing.gives_notice:
            told = [_is_ready(getattr(queues, f"told_{queue}"), own, available) for queue, own in enumerate(ways)]
            ready = [
                one | (getattr(queues, f"tells_{queue}") & other)
                for queue, (one, other) in enumerate(zip(ready, told, strict=True))
            ]
        asking = self._stage(m, "credit", f"ready_{number}", Cat(ready), reset_less=True)
        update = self.at[self._timing.update_phase]
        order = service_order(m, queues.pop, update=update, name=f"queue_order_{number}")
        first = first_in_order(dict(enumerate(asking)), order)
        choice = self._stage(m, "choice", f"choice_{number}", Cat(first.values()), reset_less=True)
        m.d.comb += queues.read_vc.eq(number_of(first, len(queues.read_vc)))
        wanted = {
            way: any_of(choice[queue] & heads[queue][own.index(way)] for queue, own in enumerate(ways) if way in own)
            for way in sorted({way for own in ways for way in own})
        }
        want = self._stage(m, "want", f"want_{number}", Cat(wanted.values()), reset_less=self._is_reset_behind_want)
        return _Offer(choice, dict(zip(wanted, want, strict=True)))

    def _elaborate_output(
        self,
        m: Module,
        output: int,
        offers: Sequence[_Offer],
        available: list[Value],
        order: Order | None,
        in_turn: Value,
        following: Grant,
        served: Grant,
    ) -> None:
        """Switch allocation: choose one of the inputs that want an output, in `order` or in orders of its own.

        What is behind the register is reset, as long slots commit in the first phase too. By `served`, orders learn who
        sends.
        """
        wanted = sorted({way for offer in offers for way in offer.want if way[0] == output})
        requests = {
            vc: {number: offer.want[output, vc] for number, offer in enumerate(offers) if (output, vc) in offer.want}
            for _, vc in wanted
        }
        if len(requests) > 1:
            self._elaborate_choice(m, output, requests, in_turn, following, served)
            return
        ((vc, request),) = requests.items()
        if order is None:
            order = self._elaborate_order(m, f"order_{output}", dict(zip(request, ~served.idle, strict=True)), Const(1))
        lost = ~Cat(first_in_order(request, order).values())
        if not self._chooses:
            lost = Mux(available[0], lost, -1)[: len(request)]
        m.d["sync" if "grant" in self._cuts else "comb"] += following.idle.eq(lost)
        m.d.comb += following.valid.eq(~following.idle.all())
        if following.vc is not None:
            m.d.comb += following.vc.eq(vc)

    def _elaborate_choice(
        self,
        m: Module,
        output: int,
        requests: Mapping[int, Mapping[int, Value]],
        in_turn: Value,
        following: Grant,
        served: Grant,
    ) -> None:
        """Choose the first of the inputs for each virtual channel, and one of the virtual channels."""
        assert following.vc is not None
        assert served.vc is not None
        numbers = {vc: f"{output}_{vc}" for vc in requests}
        firsts = {vc: Signal(len(requests[vc]), name=f"first_{name}") for vc, name in numbers.items()}
        chosen = {vc: Signal(name=f"chosen_{name}") for vc, name in numbers.items()}
        domain = m.d["sync" if "grant" in self._cuts else "comb"]
        sent = dict(zip(self.inputs_of(output), ~served.idle, strict=True))
        for vc, name in numbers.items():
            own = {number: sent[number] for number in requests[vc]}
            order = self._elaborate_order(m, f"order_{name}", own, equals(served.vc, vc))
            domain += firsts[vc].eq(Cat(first_in_order(requests[vc], order).values()))
        used = {vc: served.valid & equals(served.vc, vc) for vc in requests}
        order = self._elaborate_vc_order(m, output, used, in_turn)
        asked = {vc: Cat(request.values()).any() for vc, request in requests.items()}
        domain += [chosen[vc].eq(first) for vc, first in first_in_order(asked, order).items()]
        wins = [
            any_of(
                chosen[vc] & firsts[vc][list(request).index(number)]
                for vc, request in requests.items()
                if number in request
            )
            for number in self.inputs_of(output)
        ]
        m.d.comb += [
            following.idle.eq(~Cat(wins)),
            following.valid.eq(any_of(chosen.values())),
            following.vc.eq(number_of(chosen, len(following.vc))),
        ]

    def _elaborate_in_turn(self, m: Module) -> Value:
        """Return whether outputs serve their classes in turn in the slot that is allocated, if any has several."""
        if all(num_vcs <= self.machine.plan.lanes for num_vcs, _ in self.outputs):
            return Const(1)
        slot, in_turn = self._elaborate_slots(m, CLASS_SLOTS, "class_slot"), Signal()
        with m.If(self.at[self._timing.commit_phase]):
            m.d.sync += in_turn.eq(slot == CLASS_SLOTS - 2)
        return in_turn

    def _elaborate_vc_order(self, m: Module, output: int, served: Mapping[int, Value], in_turn: Value) -> Order:
        """Return the order of an output's virtual channels: of two classes the later first, else by service."""
        lanes = self.machine.plan.lanes
        order = dict(self._elaborate_order(m, f"vc_order_{output}", served, Const(1)))
        for one, other in order:
            if one // lanes > other // lanes:
                before = Signal(name=f"before_{output}_{one}_{other}", init=1)
                m.d["sync" if "grant" in self._cuts else "comb"] += before.eq(order[one, other] | ~in_turn)
                order[one, other], order[other, one] = before, ~before
        return order

    def _elaborate_pops(self, m: Module, number: int, choice: Value, following: Value, held: Value) -> None:
        """Tell an input which of its packets leaves, from what is granted or, if there is time, a phase later."""
        pop, length = getattr(self, f"queues_{number}").pop, self._timing.packet_length
        if length == 1:
            m.d.comb += pop.eq(Mux(following, choice, 0))
            return
        late = self._chooses and length > 2
        with m.If(self.at[(self._timing.commit_phase + late) % length]):
            m.d.sync += pop.eq(Mux(held if late else following, choice, 0))
