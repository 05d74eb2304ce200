"""What a node does when: the steps of an operation, each begun when the node itself has ended the one before."""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.collectives.program import Link, NumberedSend, Program, messages_of
from hdnhw.endpoints.collective.format import MessageFormat
from hdnhw.endpoints.collective.host import asked_operation, operation_shape
from hdnhw.endpoints.collective.receiver import told_layout
from hdnhw.endpoints.collective.sender import job_layout
from hdnhw.endpoints.collective.sorter import num_lists
from hdnhw.rtl.bits import any_of, chosen_from, equals, index_width, number_of, padded, selected
from hdnhw.spec import BARRIER, JOIN, MULTICAST
from hdnhw.topology.address import AddressLayout


def _now_layout(program: Program) -> data.StructLayout:
    """Return what a sequencer knows of the current send; `goes_by` and `in_step_with` have a bit per link, see
    :attr:`Program.links`.
    """
    links, bits = len(program.links), ("ends_step", "ends_operation", "paired", "copies", "sends", "announces")
    fields = {"list": index_width(num_lists(program)), "goes_by": links, "in_step_with": links}
    return data.StructLayout(fields | dict.fromkeys(bits, 1))


class Sequencer(wiring.Component):
    """Walk through the sends of an operation.

    Where the node that sends to this one is another than it sends to itself, it first tells it that it is ready. A step
    ends when all its messages have been sent, all its messages have come, and the neighbor is known to be in it too.

    Parameters
    ----------
    program : Program
    messages : MessageFormat
    paces : sequence of int
        For each step of the program the fewest cycles after which the next one begins; empty: as soon as it can.

    Members
    -------
    address : In(address width)
    P_neighbor : In(address width), P_present : In(1)
        Of each of :attr:`Program.used` P: the packed address of the neighbor, and whether there is one; constant.
    operation : In(stream of operation_shape)
        The next one; taken when the results of the one before have been taken.
    loads : Out(1)
        The node's own messages are awaited.
    send : Out
        While it loads, the number of the operation's first send.
    parity : Out(1)
    begun : Out(1)
        Where messages are combined: an operation is under way, and all the node's own messages have been written.
    operator : Out
        Of several, that of the operation.
    loaded : In(1)
        High for one cycle for each packet of the node's own messages that has been written; where messages are
        variable, for each message.
    told : In(told_layout)
        What a packet has said; `send` a cycle before the rest.
    sorting : In(1)
        Whether a message that has begun to come is not in its list yet.
    filled : In(lists)
        Those of :class:`hdnhw.endpoints.collective.lists.BufferLists`.
    job : Out(stream of job_layout)
    open : Out(1)
        Whether the neighbor of the current send is ready.
    giving : In(1)
        Whether a result has not been taken.
    enter : Out(1), released : In(1)
        Those of :class:`hdnhw.endpoints.collective.engine_barrier.Barrier`, if the program has one.
    member, drops, regroups : Out(1)
        Where nodes join groups: whether the node is a member, as its host has said in the join that began last; whether
        the operation is a multicast and it is none; high for one cycle at the end of a join.
    done : Out(1)
        High from the end of the operation until its results have been taken; for one cycle after a barrier.
    """

    def __init__(self, program: Program, messages: MessageFormat, paces: Sequence[int] = ()) -> None:
        self._program, self._messages, self._paces = program, messages, paces
        self._layout = AddressLayout(program.network)
        width, send = self._layout.width, index_width(len(program.sends))
        members: dict[str, Any] = {
            "address": In(width),
            "operation": In(stream.Signature(operation_shape(program.operations, messages))),
            "loads": Out(1),
            "send": Out(send),
            "parity": Out(1),
            "loaded": In(1),
            "told": In(told_layout(messages)),
            "sorting": In(1),
            "filled": In(num_lists(program)),
            "job": Out(stream.Signature(job_layout(program, messages))),
            "open": Out(1),
            "giving": In(1),
            "done": Out(1),
        }
        for name in program.used:
            members |= {f"{name}_neighbor": In(width), f"{name}_present": In(1)}
        if program.rounds:
            members |= {"enter": Out(1), "released": In(1)}
        if messages.operators:
            members["begun"] = Out(1)
        if messages.operator_width:
            members["operator"] = Out(messages.operator_width)
        if messages.has_groups:
            members |= dict.fromkeys(("member", "drops", "regroups"), Out(1))
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        fetch, consume, complete = Signal(), Signal(), Signal()
        self._elaborate_fetch(m, fetch)
        self._elaborate_partners(m, consume, complete)
        self._elaborate_operation(m, fetch, consume, complete)
        return m

    def _elaborate_fetch(self, m: Module, fetch: Value) -> None:
        """Keep the current send in a register, of which all is known at once; `send` is the one behind it."""
        self._ahead = ahead = self._one_hot(m, self.send, "ahead")
        self._now = now = Signal(_now_layout(self._program))
        values = {
            "goes_by": Cat(self._goes_by(link, ahead) for link in self._program.links),
            "in_step_with": Cat(self._in_step_with(link, ahead) for link in self._program.links),
            "ends_step": self._is(self._ends_step, ahead),
            "ends_operation": self._is(self._ends_operation, ahead),
            "paired": self._is(lambda send: send.link.is_paired, ahead),
            "copies": self._is(lambda send: send.schedule.copies, ahead),
            "sends": self._has_partner(ahead, announce=False),
            "announces": self._has_partner(ahead, announce=True),
            "list": padded(self.send, len(now.list)),
        }
        filled = [chosen_from(list(self.filled), index) for index in (values["list"], now.list)]
        with m.If(fetch):
            m.d.sync += [now[name].eq(value) for name, value in values.items()]
        m.d.sync += self.job.payload.filled.eq(Mux(fetch, *filled))

    def _elaborate_pace(self, m: Module, begins: Value) -> Value:
        """Return whether the step has lasted long enough that began when `begins` was high for the last time."""
        left = Signal(range(max(self._paces)))
        paces = [Const(self._paces[send.step] - 1, len(left)) for send in self._program.sends]
        m.d.sync += left.eq(Mux(begins, selected(self._ahead, paces), left - left.any()))
        return ~left.any()

    def _elaborate_operation(self, m: Module, fetch: Signal, consume: Signal, complete: Value) -> None:
        own, now = Signal(range(self._program.network.num_nodes * self._own_packets + 1)), self._now
        self._asked = Signal.like(self.operation.payload)
        idle, begin, load, send, step, ended, results, giving = at = [
            Signal(init=place == 0, name=f"at_{name}")
            for place, name in enumerate(("idle", "begin", "load", "send", "step", "ended", "results", "giving"))
        ]
        at += [Signal(name=f"at_{name}") for name in ("barrier", "behind") if self._program.rounds]

        def go(state: Signal) -> list[Any]:
            return [other.eq(other is state) for other in at]

        announced, announces, goes_on, loaded, again = Signal(), Signal(), Signal(), Signal(), Signal()
        sends, early = len(self._program.sends), self.filled[-1]
        ends = complete & self._elaborate_pace(m, load | consume) if self._paces else complete
        m.d.comb += [
            self.operation.ready.eq(idle),
            loaded.eq(load & ~self.loads & ~self.sorting & ~early & ~again),
            consume.eq(step & ends),
            self.done.eq(reduce(or_, at[9:], ended | results | giving)),
            announces.eq(send & now.announces & ~announced),
            goes_on.eq(send & ~announces & (~now.sends | self.job.ready)),
            fetch.eq(loaded | (goes_on & ~now.ends_step) | consume),
            self.job.valid.eq(announces | (send & now.sends) | results | again),
            self.job.payload.early.eq(again),
        ]
        self._elaborate_job(m, announces, results)
        if self._messages.operators:
            m.d.comb += self.begun.eq(reduce(or_, at[3:8], load & ~self.loads))
        with m.If(idle):
            m.d.sync += self._asked.eq(self.operation.payload)
            with m.If(self.operation.valid):
                m.d.sync += [now.list.eq(sends + 1), *go(begin)]
        with m.If(begin):
            count = self._own_messages()
            m.d.sync += [own.eq(count), self.loads.eq(count.any()), self.send.eq(self._first_sends()), *go(load)]
            if self._messages.operator_width:
                m.d.sync += self.operator.eq(self._asked.operator)
        with m.If(load):
            m.d.sync += [own.eq(own - self.loaded), self.loads.eq(own[1:].any() | (own[0] & ~self.loaded))]
            m.d.sync += again.eq(Mux(again, ~self.job.ready, early))
        with m.If(loaded):
            m.d.sync += go(send)
        with m.If(fetch):
            m.d.sync += self.send.eq(self.send + 1)
        with m.If(send & (~self.job.valid | self.job.ready)):
            m.d.sync += announced.eq(announces)
        with m.If(goes_on & now.ends_step):
            m.d.sync += go(step)
        with m.If(consume):
            m.d.sync += go(send)
            with m.If(now.ends_operation):
                m.d.sync += [now.list.eq(sends), *go(ended)]
        with m.If(ended):
            m.d.sync += go(results)
        with m.If(results & self.job.ready):
            m.d.sync += go(giving)
        with m.If(giving & ~self.giving):
            m.d.sync += [self.parity.eq(~self.parity), *go(idle)]
        if self._program.rounds:
            self._elaborate_barrier(m, at, go)
        if self._messages.has_groups:
            self._elaborate_groups(m, begin, ended)

    def _elaborate_job(self, m: Module, announces: Value, results: Value) -> None:
        """Ask the sender for the current send, or to tell the node that sends to this one that it is ready, or for the
        results.
        """
        job, now = self.job.payload, self._now
        dst = []
        for here, link in zip(now.goes_by, self._program.links, strict=True):
            there, back = (getattr(self, f"{name}_neighbor") for name in (link.name, link.back))
            dst.append(Mux(announces, back, there) & here.replicate(len(there)))
        m.d.comb += [
            job.list.eq(now.list),
            job.dst.eq(any_of(dst)),
            job.announce.eq(announces),
            job.paired.eq(now.paired),
            job.copies.eq(now.copies),
            job.results.eq(results),
        ]

    def _elaborate_barrier(self, m: Module, at: Sequence[Signal], go: Callable[[Signal], list[Any]]) -> None:
        """Enter the barrier if it is the operation that is asked for, and wait behind it for a cycle."""
        idle, *_, barrier, behind = at
        number = self._program.operations.index(BARRIER)
        asked = asked_operation(self.operation.payload, self._messages)
        m.d.comb += self.enter.eq(idle & self.operation.valid & equals(asked, number))
        with m.If(self.enter):
            m.d.sync += go(barrier)
        with m.If(barrier & self.released):
            m.d.sync += go(behind)
        with m.If(behind):
            m.d.sync += go(idle)

    def _elaborate_groups(self, m: Module, begin: Value, ended: Value) -> None:
        """Take what the host says when a join begins, and say when one has ended; both states last a cycle."""
        asked = asked_operation(self._asked, self._messages)
        joins, casts = (equals(asked, self._program.operations.index(name)) for name in (JOIN, MULTICAST))
        with m.If(begin & joins):
            m.d.sync += self.member.eq(self._asked.member)
        m.d.comb += [self.drops.eq(casts & ~self.member), self.regroups.eq(ended & joins)]

    def _elaborate_partners(self, m: Module, consume: Value, complete: Signal) -> None:
        """Count, for each link, steps whose last message has come, and those in which the neighbor is known to be.

        Of a step it is known a cycle later whether it is complete, if nothing that has come is still to be sorted.
        """
        waits, now = [], self._now
        event = self._one_hot(m, self.told.send, "event")
        for here, in_step, link in zip(now.goes_by, now.in_step_with, self._program.links, strict=True):
            name = link.name
            source, target = self._present(link.back), self._present(name)
            came, known = Signal(2, name=f"{name}_came"), Signal(2, name=f"{name}_known")
            comes = Signal(name=f"{name}_comes")  # what is told is for this link
            m.d.sync += [
                comes.eq(self._goes_by(link, event)),
                came.eq(came + (comes & self.told.last) - (consume & in_step & source)),
                known.eq(known + (comes & self.told.ready) - (consume & in_step & target)),
            ]
            waits.append(in_step & ((source & ~came.any()) | (target & ~known.any())))
            with m.If(here):
                m.d.comb += self.open.eq(known.any())
        m.d.sync += complete.eq(~any_of(waits) & ~self.sorting)

    def _one_hot(self, m: Module, send: Value, name: str) -> Signal:
        """Return a bit a send, high for one: a signal, as every bit of an expression would be written out with all."""
        sends = range(len(self._program.sends))
        bits = Signal(len(sends), name=name)
        m.d.comb += bits.eq(Cat(equals(send, number) for number in sends))
        return bits

    def _has_partner(self, chosen: Value, *, announce: bool) -> Value:
        """Return whether there is a node to send to, or one that sends to this one and is another."""
        found = []
        for link in self._program.links:
            if announce and link.is_paired:
                continue
            found.append(self._goes_by(link, chosen) & self._present(link.back if announce else link.name))
        return any_of(found)

    def _present(self, name: str) -> Value:
        present: Value = getattr(self, f"{name}_present")
        return present

    def _is(self, what: Callable[[NumberedSend], bool], chosen: Value) -> Value:
        """Return whether the send that is chosen is one of which something is true."""
        return any_of(bit for bit, send in zip(chosen, self._program.sends, strict=True) if what(send))

    def _goes_by(self, link: Link, chosen: Value) -> Value:
        """Return whether the send that is chosen goes by a link."""
        return self._is(lambda send: send.link == link, chosen)

    def _in_step_with(self, link: Link, chosen: Value) -> Value:
        """Return whether the send that is chosen is in a step with one by a link."""
        return self._is(lambda send: link in self._program.links_of_step(send.step), chosen)

    def _ends_step(self, send: NumberedSend) -> bool:
        """Return whether it is the last of its step."""
        return send is self._program.sends[self._program.numbers_of_step(send.step)[-1]]

    def _ends_operation(self, send: NumberedSend) -> bool:
        return send is self._program.sends[self._program.numbers_of(send.operation)[-1]]

    def _first_sends(self) -> Value:
        """Return the number of the first send of the operation that is asked for."""
        asked = asked_operation(self._asked, self._messages)
        starts = {
            self._program.numbers_of(operation).start: equals(asked, operation)
            for operation in range(len(self._program.schedules))
        }
        return number_of(starts, len(self.send))

    @property
    def _own_packets(self) -> int:
        """How often it is told of each message that it has been written."""
        return 1 if self._messages.variable_messages else self._messages.message_packets

    def _own_messages(self) -> Value:
        """Return how many packets the node has of its own in the operation that is asked for; of messages that are
        variable, how many messages.
        """
        nodes, packets = self._program.network.num_nodes, self._own_packets
        asked = asked_operation(self._asked, self._messages)
        counts: dict[int, Value] = {packets: Const(0), nodes * packets: Const(0)}
        for operation, name in enumerate(self._program.schedules):
            if not messages_of(name, nodes):
                continue
            source = self._program.source_of(name)
            here = Const(1) if source is None else equals(self.address, self._layout.of_node(source))
            counts[messages_of(name, nodes) * packets] |= equals(asked, operation) & here
        return number_of(counts, (nodes * packets).bit_length())
