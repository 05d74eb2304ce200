"""What a node does when: the steps of an operation, each begun when the node itself has ended the one before."""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.collective.program import NumberedSend, Program, messages_of
from hdnhw.flit import MessageFormat
from hdnhw.rtl.bits import any_of, equals, index_width, number_of
from hdnhw.rtl.collective.host import asked_operation, operation_shape
from hdnhw.rtl.collective.sender import job_layout
from hdnhw.spec import BARRIER
from hdnhw.topology.address import AddressLayout

__all__ = ["Sequencer", "used_ports"]


def used_ports(program: Program) -> tuple[int, ...]:
    """Return the ports by which a node sends or receives, ascending."""
    ports = program.network.ports
    return tuple(sorted({side for port in program.ports for side in (port, ports[port].opposite)}))


class Sequencer(wiring.Component):
    """Walk through the sends of an operation.

    Where the node that sends to this one is another than it sends to itself, it first tells it that it is ready. A step
    ends when all its messages have been sent, all its messages have come, and the neighbor is known to be in it too.

    Parameters
    ----------
    program : Program
    messages : MessageFormat

    Members
    -------
    address : In(address width)
    P_neighbor : In(address width), P_present : In(1)
        Of each of :func:`used_ports` P: the packed address of the neighbor, and whether there is one; constant.
    operation : In(stream of operation indices)
        The next one; taken when the results of the one before have been taken.
    loads : Out(1)
        The node's own messages are awaited.
    send : Out
        Number of the current send.
    parity : Out(1)
    begun : Out(1)
        Where messages are combined: an operation is under way, and all the node's own messages have been written.
    operator : Out
        Of several, that of the operation.
    loaded : In(1)
        High for one cycle for each own message that has been written.
    sorted : In(1)
        High for one cycle when a message or an announcement has been sorted.
    sorted_send, sorted_ready, sorted_last, sorting : In
        Those of :class:`hdnhw.rtl.collective.sorter.Sorter`.
    job : Out(stream of job_layout)
    open : Out(1)
        Whether the neighbor of the current send is ready.
    giving : In(1)
        Whether a result has not been taken.
    enter : Out(1), released : In(1)
        Those of :class:`hdnhw.rtl.collective.barrier.Barrier`, if the program has one.
    done : Out(1)
        High from the end of the operation until its results have been taken; for one cycle after a barrier.
    """

    def __init__(self, program: Program, messages: MessageFormat) -> None:
        self._program, self._messages = program, messages
        self._layout = AddressLayout(program.network)
        width, send = self._layout.width, index_width(len(program.sends))
        members: dict[str, Any] = {
            "address": In(width),
            "operation": In(stream.Signature(operation_shape(program, messages))),
            "loads": Out(1),
            "send": Out(send),
            "parity": Out(1),
            "loaded": In(1),
            "sorted": In(1),
            "sorted_send": In(send),
            "sorted_ready": In(1),
            "sorted_last": In(1),
            "sorting": In(1),
            "job": Out(stream.Signature(job_layout(program, messages))),
            "open": Out(1),
            "giving": In(1),
            "done": Out(1),
        }
        for port in used_ports(program):
            name = program.network.ports[port].name
            members |= {f"{name}_neighbor": In(width), f"{name}_present": In(1)}
        if program.rounds:
            members |= {"enter": Out(1), "released": In(1)}
        if messages.operators:
            members["begun"] = Out(1)
        if messages.operator_width:
            members["operator"] = Out(messages.operator_width)
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        ends_step, consume, complete = Signal(), Signal(), Signal()
        sends = range(len(self._program.sends))
        self._current, event = Signal(len(sends)), Signal(len(sends))  # one-hot: the current send, that of an event
        m.d.comb += [
            self._current.eq(Cat(equals(self.send, number) for number in sends)),
            event.eq(Cat(equals(self.sorted_send, number) & self.sorted for number in sends)),
            ends_step.eq(self._is(self._ends_step)),
        ]
        self._elaborate_partners(m, event, consume, complete)
        self._elaborate_operation(m, ends_step, consume, complete)
        return m

    def _elaborate_operation(self, m: Module, ends_step: Value, consume: Signal, complete: Value) -> None:
        own = Signal(range(self._program.network.num_nodes + 1))
        idle, load, send, step, results, giving = at = [
            Signal(init=place == 0, name=f"at_{name}")
            for place, name in enumerate(("idle", "load", "send", "step", "results", "giving"))
        ]
        at += [Signal(name=f"at_{name}") for name in ("barrier", "behind") if self._program.rounds]

        def go(state: Signal) -> list[Any]:
            return [other.eq(other is state) for other in at]

        announced, announces = Signal(), Signal()
        m.d.comb += [
            self.operation.ready.eq(idle),
            self.loads.eq(load & own.any()),
            consume.eq(step & complete),
            self.done.eq(reduce(or_, at[7:], results | giving)),
            announces.eq(self._has_partner(announce=True) & ~announced),
        ]
        if self._messages.operators:
            m.d.comb += self.begun.eq(reduce(or_, at[2:6], load & ~own.any()))
        with m.If(idle):
            if self._messages.operator_width:
                m.d.sync += self.operator.eq(self.operation.payload.operator)
            m.d.sync += [own.eq(self._own_messages()), self.send.eq(self._first_sends())]
            with m.If(self.operation.valid):
                m.d.sync += go(load)
        with m.If(load):
            m.d.sync += own.eq(own - self.loaded)
            with m.If(~own.any() & ~self.sorting):
                m.d.sync += go(send)
        with m.If(send):
            m.d.comb += self._job(announces)
            with m.If(~self.job.valid | self.job.ready):
                m.d.sync += announced.eq(announces)
                with m.If(~announces & ends_step):
                    m.d.sync += go(step)
                with m.Elif(~announces):
                    m.d.sync += self.send.eq(self.send + 1)
        with m.If(consume):
            m.d.sync += [self.send.eq(self.send + 1), *go(send)]
            with m.If(self._is(self._ends_operation)):
                m.d.sync += go(results)
        with m.If(results):
            m.d.comb += self._results_job()
            with m.If(self.job.ready):
                m.d.sync += go(giving)
        with m.If(giving & ~self.giving):
            m.d.sync += [self.parity.eq(~self.parity), *go(idle)]
        if self._program.rounds:
            self._elaborate_barrier(m, at, go)

    def _elaborate_barrier(self, m: Module, at: Sequence[Signal], go: Callable[[Signal], list[Any]]) -> None:
        """Enter the barrier if it is the operation that is asked for, and wait behind it for a cycle."""
        idle, *_, barrier, behind = at
        number = self._program.operations.index(BARRIER)
        m.d.comb += self.enter.eq(idle & self.operation.valid & equals(self._asked, number))
        with m.If(self.enter):
            m.d.sync += go(barrier)
        with m.If(barrier & self.released):
            m.d.sync += go(behind)
        with m.If(behind):
            m.d.sync += go(idle)

    def _elaborate_partners(self, m: Module, event: Value, consume: Value, complete: Signal) -> None:
        """Count, for each port, steps whose last message has come, and those in which the neighbor is known to be."""
        waits = []
        for port in self._program.ports:
            name = self._program.network.ports[port].name
            source, target = self._present(self._program.network.ports[port].opposite), self._present(port)
            came, known = Signal(2, name=f"{name}_came"), Signal(2, name=f"{name}_known")
            comes = self._goes_by(port, event)
            in_step = self._in_step_with(port)
            m.d.sync += [
                came.eq(came + (comes & self.sorted_last) - (consume & in_step & source)),
                known.eq(known + (comes & self.sorted_ready) - (consume & in_step & target)),
            ]
            waits.append(in_step & ((source & ~came.any()) | (target & ~known.any())))
            with m.If(self._goes_by(port)):
                m.d.comb += self.open.eq(known.any())
        m.d.comb += complete.eq(~any_of(waits))

    def _job(self, announces: Value) -> list[Any]:
        """Ask the sender for the current send, or to tell the node that sends to this one that it is ready."""
        job, ports = self.job.payload, self._program.network.ports
        dst = []
        for port in self._program.ports:
            here = self._goes_by(port)
            there, back = (getattr(self, f"{ports[side].name}_neighbor") for side in (port, ports[port].opposite))
            dst.append(Mux(announces, back, there) & here.replicate(len(there)))
        return [
            self.job.valid.eq(announces | self._has_partner(announce=False)),
            job.list.eq(self.send),
            job.dst.eq(any_of(dst)),
            job.announce.eq(announces),
            job.paired.eq(self._is(lambda send: self._program.is_paired(send.port))),
            job.copies.eq(self._is(lambda send: send.schedule.copies)),
        ]

    def _has_partner(self, *, announce: bool) -> Value:
        """Return whether there is a node to send to, or one that sends to this one and is another."""
        found = []
        for port in self._program.ports:
            if announce and self._program.is_paired(port):
                continue
            side = self._program.network.ports[port].opposite if announce else port
            found.append(self._goes_by(port) & self._present(side))
        return any_of(found)

    def _results_job(self) -> list[Any]:
        """Ask the sender for the results."""
        job = self.job.payload
        lists = len(self._program.sends) + self.parity
        return [self.job.valid.eq(1), job.list.eq(lists), job.results.eq(1)]

    def _present(self, port: int) -> Value:
        return getattr(self, f"{self._program.network.ports[port].name}_present")

    def _is(self, what: Callable[[NumberedSend], bool], chosen: Value | None = None) -> Value:
        """Return whether the current send, or the one chosen, is one of which something is true."""
        one_hot = self._current if chosen is None else chosen
        return any_of(bit for bit, send in zip(one_hot, self._program.sends, strict=True) if what(send))

    def _goes_by(self, port: int, chosen: Value | None = None) -> Value:
        """Return whether the current send, or the one chosen, goes by a port."""
        return self._is(lambda send: send.port == port, chosen)

    def _in_step_with(self, port: int) -> Value:
        """Return whether the current send is in a step with one by a port."""
        return self._is(lambda send: port in self._ports_of_step(send))

    def _ports_of_step(self, send: NumberedSend) -> set[int]:
        return {self._program.sends[number].port for number in self._program.numbers_of_step(send.step)}

    def _ends_step(self, send: NumberedSend) -> bool:
        """Return whether it is the last of its step."""
        return send is self._program.sends[self._program.numbers_of_step(send.step)[-1]]

    def _ends_operation(self, send: NumberedSend) -> bool:
        return send is self._program.sends[self._program.numbers_of(send.operation)[-1]]

    @property
    def _asked(self) -> Value:
        """The index of the operation that is asked for."""
        return asked_operation(self.operation.payload, self._messages)

    def _first_sends(self) -> Value:
        """Return the number of the first send of the operation that is asked for."""
        asked = {
            self._program.numbers_of(operation).start: equals(self._asked, operation)
            for operation in range(len(self._program.schedules))
        }
        return number_of(asked, len(self.send))

    def _own_messages(self) -> Value:
        """Return how many messages the node has of its own in the operation that is asked for."""
        nodes = self._program.network.num_nodes
        counts: dict[int, Value] = {1: Const(0), nodes: Const(0)}
        for operation, name in enumerate(self._program.schedules):
            source = self._program.source_of(name)
            here = Const(1) if source is None else equals(self.address, self._layout.of_node(source))
            counts[messages_of(name, nodes)] |= equals(self._asked, operation) & here
        return number_of(counts, nodes.bit_length())
