"""Virtual-channel and switch allocation: which packet leaves by which output in the next slot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from amaranth.hdl import Cat, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine.machine import Machine
from hdnhw.rtl.arbiter import Order, service_order
from hdnhw.rtl.bits import any_of, equals, stepped
from hdnhw.rtl.buffer import InputBuffer

MOST_UNARY = 4
"""Packet buffers of a virtual channel up to which those that are free are counted by as many ones."""


class CreditCounter(wiring.Component):
    """Free packet buffers of one virtual channel downstream.

    Parameters
    ----------
    buffers : int
        Packet buffers; all are free after reset.

    Members
    -------
    update : In(1)
        Whether `give` and `spend` count in this cycle.
    give, spend : In(1)
        A packet buffer has become free; a packet has been granted.
    available : Out(1)
        Whether a packet may be sent.
    """

    def __init__(self, *, buffers: int) -> None:
        self._buffers = buffers
        super().__init__({"update": In(1), "give": In(1), "spend": In(1), "available": Out(1)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        if self._buffers > MOST_UNARY:
            free = Signal(range(self._buffers + 1), init=self._buffers)
            with m.If(self.update):
                m.d.sync += free.eq(free + self.give - self.spend)
            m.d.comb += self.available.eq(free.any())
            return m
        free = Signal(self._buffers, init=-1)  # ones in as many low bits as buffers are free
        with m.If(self.update):
            m.d.sync += free.eq(stepped(free, self.give, self.spend))
        m.d.comb += self.available.eq(free[0])
        return m


Way = tuple[int, int]
"""An output, and a virtual channel there."""


_GRANTED = ("idle_", "valid_", "vc_")
"""Of the members of :class:`Allocator`, those that say what is granted, up to the number of the output."""


@dataclass(frozen=True)
class Grant:
    """Who sends by one output in a slot, see the members of :class:`Allocator`."""

    idle: Signal
    valid: Signal
    vc: Signal | None


class Allocator(wiring.Component):
    """Virtual-channel and switch allocation, once a slot; how requests are matched is for the classes made from it.

    Requests stand still from the sample phase on, so that long slots spread the logic over several cycles; what is
    granted takes effect when the slot ends.

    Parameters
    ----------
    machine : Machine
    inputs : sequence of sequences of sequences of Way
        For each input and each of its virtual channels, the ways that its packets take.
    outputs : sequence of (int, int)
        For each output, its virtual channels and the packet buffers of each downstream. The last one is ejection.

    Members
    -------
    at : In(L)
        Phase of the slot, one-hot.
    odd : In(1)
        As of :class:`hdnhw.rtl.router.Router`; absent where reset is in the first cycle of a slot for all.
    dead : In(outputs - 1)
        Which outputs lead to a dead channel, if any can: packets that are there are granted at once and spend no
        credit. Looked at in the commit phase, for the slot that is committed.
    queues_I : In
        The queues of input I, see :meth:`hdnhw.rtl.buffer.InputBuffer.signature`.
    credit_O : In
        Credits coming back at output O, a bit per virtual channel, looked at in the credit phase; of ejection, in
        every.
    idle_O : Out
        One bit for each input that can reach output O, low while its packet leaves by that output; means nothing while
        `valid_O` is low.
    valid_O : Out(1)
        Whether a packet leaves by output O in this slot.
    vc_O : Out
        Virtual channel of that packet; absent for an output with one.
    void_O : Out(1)
        Whether output O is dead in this slot; absent for ejection, and where none can be.
    next_idle_O, next_valid_O, next_vc_O : Out
        With cut-through, what the others will be, in the commit phase.
    """

    buffer: ClassVar[type[InputBuffer]]
    """What stands at the inputs."""

    def __init__(
        self,
        machine: Machine,
        *,
        inputs: Sequence[Sequence[Sequence[Way]]],
        outputs: Sequence[tuple[int, int]],
    ) -> None:
        self.machine, self.inputs, self.outputs = machine, [[tuple(ways) for ways in own] for own in inputs], outputs
        self._timing = machine.timing
        members: dict[str, Any] = {"at": In(self._timing.packet_length)}
        for number, queues in enumerate(self.inputs):
            members[f"queues_{number}"] = In(self.buffer.signature(machine, queues))
        for number, (num_vcs, _) in enumerate(outputs):
            members[f"credit_{number}"] = In(num_vcs)
            members[f"idle_{number}"] = Out(len(self.inputs_of(number)), init=-1)
            members[f"valid_{number}"] = Out(1)
            if num_vcs > 1:
                members[f"vc_{number}"] = Out(range(num_vcs))
        if self._timing.gives_notice:
            members |= {f"next_{name}": shape for name, shape in members.items() if name.startswith(_GRANTED)}
        if machine.offset and self._timing.registers_flits:
            members["odd"] = In(1)
        if machine.spec.dead_pins:
            members["dead"] = In(len(outputs) - 1)
            members |= {f"void_{number}": Out(1) for number in range(len(outputs) - 1)}
        super().__init__(members)

    def inputs_of(self, output: int) -> list[int]:
        """Return the inputs that can reach `output`, in the order of the bits of its ``idle``."""
        return [
            number
            for number, queues in enumerate(self.inputs)
            if any(output == way[0] for ways in queues for way in ways)
        ]

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        numbers = range(len(self.outputs))
        held = [self._held(output) for output in numbers]
        following = [self._following(output) for output in numbers]
        counted = following if self._counts_following else held
        available = [self._elaborate_credits(m, output, counted[output]) for output in numbers]
        self._elaborate_grants(m, available, following, held)
        return m

    def _elaborate_grants(
        self, m: Module, available: list[list[Value]], following: list[Grant], held: list[Grant]
    ) -> None:
        """Match requests, say by `following` what is granted for the next slot, commit it, and tell the queues.

        `available` tells for each virtual channel of each output whether a packet may be sent; `held` is what was
        granted for this slot.
        """
        raise NotImplementedError

    @property
    def _serve_phase(self) -> int:
        """Phase in which orders of service count what has been granted: that of the commit."""
        return self._timing.commit_phase

    @property
    def _counts_following(self) -> bool:
        """Whether credits are counted when grants are committed: there is no time to hold these before."""
        return self._timing.credit_phase == self._timing.commit_phase

    def _held(self, output: int) -> Grant:
        return Grant(*(getattr(self, f"{name}_{output}", None) for name in ("idle", "valid", "vc")))

    def _following(self, output: int) -> Grant:
        num_vcs = self.outputs[output][0]
        if self._timing.gives_notice:
            return Grant(*(getattr(self, f"next_{name}{output}", None) for name in _GRANTED))
        idle = Signal(len(self.inputs_of(output)), name=f"next_idle_{output}", init=-1)
        vc = Signal(range(num_vcs), name=f"next_vc_{output}") if num_vcs > 1 else None
        return Grant(idle, Signal(name=f"next_valid_{output}"), vc)

    def _sends(self, number: int, grants: Sequence[Grant]) -> Value:
        """Tell whether an input sends."""
        outputs = sorted({output for ways in self.inputs[number] for output, _ in ways})
        return any_of(~grants[output].idle[self.inputs_of(output).index(number)] for output in outputs)

    def _elaborate_credits(self, m: Module, output: int, counted: Grant) -> list[Value]:
        """Count the credits of an output; return for each virtual channel whether a packet may be sent."""
        num_vcs, buffers = self.outputs[output]
        update, give = self.at[self._timing.credit_phase], getattr(self, f"credit_{output}")
        if output == len(self.outputs) - 1 and self._timing.packet_length > 1:
            pending, now = Signal(num_vcs, name="pending"), Signal(num_vcs, name="given")
            m.d.comb += now.eq(pending | give)
            m.d.sync += pending.eq(Mux(update, 0, now))
            give = now
        available = []
        spends, dead = self._elaborate_dead(m, output, counted)
        for vc in range(num_vcs):
            m.submodules[f"credits_{output}_{vc}"] = counter = CreditCounter(buffers=buffers)
            m.d.comb += [
                counter.update.eq(update),
                counter.give.eq(give[vc]),
                counter.spend.eq(spends if counted.vc is None else spends & equals(counted.vc, vc)),
            ]
            available.append(counter.available if dead is None else counter.available | dead)
        return available

    def _elaborate_dead(self, m: Module, output: int, counted: Grant) -> tuple[Value, Value | None]:
        """Return whether what an output sends spends a credit, and whether its channel is dead, None if it cannot be.

        Through a slot the channel is what it was when that was committed.
        """
        if not self.machine.spec.dead_pins or output == len(self.outputs) - 1:
            return counted.valid, None
        dead, void = self.dead[output], getattr(self, f"void_{output}")
        with m.If(self.at[self._timing.commit_phase]):
            m.d.sync += void.eq(dead)
        return counted.valid & ~(dead if self._counts_following else void), dead

    def _elaborate_order(self, m: Module, name: str, served: Mapping[int, Value], update: Value) -> Order:
        """Return the order by service of some numbers; `served` tells in the serve phase who was granted."""
        numbers = list(served)
        order = service_order(m, Cat(served.values()), update=self.at[self._serve_phase] & update, name=name)
        return {(numbers[i], numbers[j]): before for (i, j), before in order.items()}

    def _elaborate_slots(self, m: Module, slots: int, name: str) -> Signal:
        """Count slots, modulo a power of two; the number stands from one commit to the next."""
        # Where what is granted is committed in the first phase, that of the first slot is the first to count; a router
        # that begins within a slot has missed that phase.
        first, misses = slots - 1 if self._timing.registers_flits else 0, hasattr(self, "odd")
        slot = Signal(range(slots), name=name, init=first, reset_less=misses)
        with m.If(self.at[self._timing.commit_phase]):
            m.d.sync += slot.eq(slot + 1)
        if misses:
            with m.If(ResetSignal()):
                m.d.sync += slot.eq(Mux(self.odd, 0, first))
        return slot

    def _elaborate_commit(self, m: Module, held: Grant, following: Grant) -> None:
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
