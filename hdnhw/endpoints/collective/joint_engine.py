"""The engine of a node that has several: one that moves messages, one with registers, a barrier."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hdnhw.endpoints.collective.engine import CollectiveEngine
from hdnhw.endpoints.collective.engine_barrier import Barrier, signal_pin
from hdnhw.endpoints.collective.format_engines import engines_of
from hdnhw.endpoints.collective.host import asked_operation, engine_members
from hdnhw.endpoints.collective.pins import node_pins
from hdnhw.endpoints.collective.register_engine import RegisterEngine
from hdnhw.endpoints.collective.sharing import PacketMerger, PacketSplitter
from hdnhw.machine.machine import Machine
from hdnhw.rtl.bits import any_of, equals, index_width, number_of
from hdnhw.spec import BARRIER


class JointEngine(wiring.Component):
    """Runs one operation at a time, in the order of the host, in that of its parts which has it.

    All nodes must be given the same operations in the same order, with the same operators, but not at the same time.
    The parts are engines as they stand alone. An operation is taken when all of them are idle; what comes out of the
    network goes to its part whatever runs, so that a part may have what is for its next operation early.

    Never two operations ahead: each part sees the operations of its own alone, in one order at all nodes, and begins
    one when it has ended the one before. What it needs of the nodes that it sends to
    (:mod:`hdnhw.collectives.lead`) is of these operations, and holds whatever stands between them.

    No hang: of all nodes take those at the earliest operation and, in that, the least step or instruction. What they
    have sent before has been taken, as no node ends an operation before all has come that is for it. If the operation
    is one of messages, that is the case of :class:`CollectiveEngine` alone. If it is one in registers, the part that
    moves messages is idle there: it has room for all that may come early, so that ejection moves on, and it is the
    case of :class:`RegisterEngine` alone.

    Parameters
    ----------
    machine : Machine
        With engines that are joined.

    Members
    -------
    address, P_neighbor, P_present : In
        See :func:`hdnhw.endpoints.collective.pins.node_pins`.
    operation, i, o, done, inject, eject
        See :class:`CollectiveEngine` and :class:`RegisterEngine`.
    signal : Out(1), P_signal : In(1)
        Those of :class:`hdnhw.endpoints.collective.engine_barrier.Barrier`, of all ports, if there is a barrier.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._ports = [port.name for port in machine.network.ports]
        members = engine_members(machine)
        members |= {pin: In(width) for pin, width in node_pins(machine).items()}
        if engines_of(machine).rounds:
            members |= {"signal": Out(1)} | {signal_pin(port): In(1) for port in self._ports}
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        self._asked = asked_operation(self.operation.payload, self.machine.endpoint_format)
        parts = [self._elaborate_part(m, part) for part in engines_of(self.machine).parts]
        idle, done = [part.operation.ready for part in parts], [part.done for part in parts]
        if engines_of(self.machine).rounds:
            waits, ends = self._elaborate_barrier(m)
            idle, done = [*idle, ~(waits | ends)], [*done, ends]
        m.d.comb += [self.operation.ready.eq(~any_of(~each for each in idle)), self.done.eq(any_of(done))]
        its = [self._elaborate_operation(m, *each) for each in zip(engines_of(self.machine).parts, parts, strict=True)]
        if len(parts) == 1:
            (part,) = parts
            connect(m, flipped(self.i), part.i)
            connect(m, part.o, flipped(self.o))
            connect(m, part.inject, flipped(self.inject))
            connect(m, flipped(self.eject), part.eject)
        else:
            self._elaborate_host(m, parts, its[1])
            m.submodules.merger = merger = PacketMerger(self.machine.endpoint_format)
            m.submodules.splitter = splitter = PacketSplitter(self.machine.endpoint_format)
            connect(m, merger.o, flipped(self.inject))
            connect(m, flipped(self.eject), splitter.i)
            for part, i, o in zip(parts, merger.i, splitter.o, strict=True):
                connect(m, part.inject, i)
                connect(m, o, part.eject)
        return m

    def _elaborate_part(self, m: Module, machine: Machine) -> Any:
        """Add an engine, with what it is told of the node; return it."""
        engine = RegisterEngine(machine) if engines_of(machine).spec.in_registers else CollectiveEngine(machine)
        m.submodules["registers" if engines_of(machine).spec.in_registers else "messages"] = engine
        m.d.comb += [getattr(engine, pin).eq(getattr(self, pin)) for pin in ("address", *node_pins(machine))]
        return engine

    def _elaborate_barrier(self, m: Module) -> tuple[Value, Value]:
        """Add the barrier; return whether the node is in it, and whether it has left it in the cycle before."""
        rounds, registers = engines_of(self.machine).rounds, self.machine.signal_registers
        m.submodules.barrier = barrier = Barrier(self._ports, rounds, registers)
        waits, ends = Signal(name="in_barrier"), Signal(name="behind_barrier")
        m.d.comb += [
            *(getattr(barrier, pin).eq(getattr(self, pin)) for pin in map(signal_pin, self._ports)),
            self.signal.eq(barrier.signal),
            barrier.enter.eq(self.operation.valid & self.operation.ready & self._asks_for(BARRIER)),
        ]
        m.d.sync += [waits.eq(barrier.enter | (waits & ~barrier.released)), ends.eq(waits & barrier.released)]
        return waits, ends

    def _asks_for(self, name: str) -> Value:
        """Return whether an operation is the one that the host asks for."""
        return equals(self._asked, engines_of(self.machine).spec.operations.index(name))

    def _elaborate_operation(self, m: Module, machine: Machine, part: Any) -> Value:
        """Pass an operation to the part that has it; return whether it is that part's."""
        asked, messages = part.operation.payload, machine.endpoint_format
        own = {place: self._asks_for(name) for place, name in enumerate(engines_of(machine).spec.operations)}
        its = any_of(own.values())
        m.d.comb += [
            part.operation.valid.eq(self.operation.valid & self.operation.ready & its),
            asked_operation(asked, messages).eq(number_of(own, index_width(len(own)))),
        ]
        if messages.operator_width:
            m.d.comb += asked.operator.eq(self.operation.payload.operator)
        if messages.has_groups:
            m.d.comb += asked.member.eq(self.operation.payload.member)
        return its

    def _elaborate_host(self, m: Module, parts: list[Any], second: Value) -> None:
        """Join the host's streams to the part that has taken the last operation, the `second` or the first."""
        runs = Signal(name="second_runs")
        with m.If(self.operation.ready):
            m.d.sync += runs.eq(second)
        for part, here in zip(parts, (~runs, runs), strict=True):
            m.d.comb += [part.i.valid.eq(self.i.valid & here), part.i.payload.eq(self.i.payload)]
            m.d.comb += part.o.ready.eq(self.o.ready & here)
        first, last = parts
        m.d.comb += [
            self.i.ready.eq(Mux(runs, last.i.ready, first.i.ready)),
            self.o.valid.eq(Mux(runs, last.o.valid, first.o.valid)),
        ]
        for name, _ in self.o.payload.shape():
            one, other = (_field(part.o.payload, name) for part in parts)
            m.d.comb += self.o.payload[name].eq(Mux(runs, other, one))


def _field(payload: Any, name: str) -> Value:
    """Return a field of a result, 0 if it has none of the name."""
    return Value.cast(payload[name] if name in payload.shape().members else 0)
