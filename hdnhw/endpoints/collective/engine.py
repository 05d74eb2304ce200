"""The collective engine of a node: lists of messages, and what moves them."""

from typing import Any

from amaranth.hdl import Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hdnhw.endpoints.collective.combiner import Combiner
from hdnhw.endpoints.collective.counter import MessageCounter
from hdnhw.endpoints.collective.engine_barrier import Barrier, signal_pin
from hdnhw.endpoints.collective.format_engines import engines_of
from hdnhw.endpoints.collective.group import Group
from hdnhw.endpoints.collective.host import engine_members
from hdnhw.endpoints.collective.lists import BufferLists, BufferPool
from hdnhw.endpoints.collective.receiver import Receiver
from hdnhw.endpoints.collective.sender import Sender
from hdnhw.endpoints.collective.sequencer import Sequencer
from hdnhw.endpoints.collective.sorter import Sorter, num_lists
from hdnhw.endpoints.collective.store import MessageStore
from hdnhw.machine.machine import Machine
from hdnhw.machine.timing import SlotTiming

REACTION = 9
"""Cycles from the one in which a step's last tail is delivered to the one in which the next step's head is offered.

A message of fewer than three data flits that goes on in that step is in its list as many cycles later as it lacks.
"""


def startup_cycles(timing: SlotTiming, longest: int = 0) -> int:
    """Return t_s: the cycles of a step beyond those of its words, where all ports are paired; t_w is 1.

    From the last head to the first one of the next step it is a hop and the reaction, in whole slots; the words count
    the last packet's own slot. In packets of fewer than four flits t_w is more, as the next one takes four cycles.
    Where channels have registers of their own, it is of the `longest`.

    Examples
    --------
    >>> [startup_cycles(SlotTiming(length)) for length in (4, 6, 8, 16)]
    [20, 30, 32, 64]
    """
    slots = -(-(timing.zero_load_latency(1, timing.start_phase) + longest + REACTION) // timing.packet_length)
    return (slots - 1) * timing.packet_length


def window_of(machine: Machine) -> int:
    """Return the packets that go out before a neighbor that began at the same time is known to have begun."""
    return startup_cycles(machine.timing, machine.longest) // machine.spec.packet_length + 1


class CollectiveEngine(wiring.Component):
    """Runs the operations of a program for a node, and needs nobody to tell it when.

    All nodes must be given the same operations in the same order, but not at the same time. A message is
    :attr:`hdnhw.endpoints.collective.format.MessageFormat.message_packets` packets of
    :attr:`hdnhw.endpoints.collective.format.MessageFormat.payload_flits` data flits. Inside, each of these packets is a
    message of its own, with the source and the target of the whole, and with its number within it.

    Parameters
    ----------
    machine : Machine
        With collective engines.

    Members
    -------
    address, P_neighbor, P_present : In
        See :class:`Sequencer`.
    operation : In(stream of operation_shape)
    i : In(stream of flits)
        The node's own messages, taken after the operation, data flits one after the other; where they are variable,
        in front of each a flit that says how many packets it has. In a total exchange, a
        reduce-scatter and an all-reduce, and of the root in a scatter, one for each node in ascending order of packed
        addresses; in an all-gather, reduce and gather, and of the root in a broadcast and multicast, one; of other
        nodes, and in a join, none.
    o : Out(stream of result_layout)
        The packets that the operation brings to the node, with the packed addresses of their sources and their numbers
        within their messages, in any order; the source of what has been combined is the node where it was complete.
    done : Out(1)
        High from the end of the operation until its results have been taken; for one cycle after a barrier, when all
        nodes have begun it.
    signal : Out(1), P_signal : In(1)
        Those of :class:`hdnhw.endpoints.collective.engine_barrier.Barrier`, of all ports, if the program has a barrier.
    inject, eject
        The router's.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine, program = machine, engines_of(machine).program
        self.window = window_of(machine)
        self.buffers = program.buffers(self.window, machine.endpoint_format.message_packets)
        address = machine.address.width
        self._pins = [f"{name}_{what}" for name in program.used for what in ("neighbor", "present")]
        members = engine_members(machine)
        members |= {pin: In(address if pin.endswith("_neighbor") else 1) for pin in self._pins}
        self._ports = [port.name for port in program.network.ports]
        if program.rounds:
            members |= {"signal": Out(1)} | {signal_pin(port): In(1) for port in self._ports}
        super().__init__(members)

    def _paces(self) -> list[int]:
        """Return the cycles of each step by the cost model, if some node has no part in some step.

        It would be a step ahead of its neighbors, and the packets that it sends them delay those that they wait for.
        Variable messages may have no packets, so that a step has its start-up alone.
        """
        program, timing, longest = engines_of(self.machine).program, self.machine.timing, self.machine.longest
        if not program.has_gaps:
            return []
        messages = self.machine.endpoint_format
        packets = 0 if messages.variable_messages else messages.message_packets
        sent = (each for operation in program.schedules for each in program.packets_of(operation, packets))
        return [startup_cycles(timing, longest) + each * timing.packet_length for each in sent]

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        program, messages, buffers = engines_of(self.machine).program, self.machine.endpoint_format, self.buffers
        m.submodules.lists = lists = BufferLists(num_lists(program), buffers)
        m.submodules.pool = pool = BufferPool(buffers)
        m.submodules.store = store = MessageStore(messages, buffers)
        m.submodules.sorter = sorter = Sorter(program, buffers)
        m.submodules.receiver = receiver = Receiver(program, messages, buffers)
        m.submodules.sender = sender = Sender(program, messages, buffers, self.window)
        m.submodules.sequencer = sequencer = Sequencer(program, messages, self._paces())
        connect(m, flipped(self.eject), receiver.eject)
        loaded = receiver.loaded
        if messages.variable_messages:
            loaded = self._elaborate_lengths(m, receiver, sequencer)
        else:
            connect(m, flipped(self.i), receiver.i)
        if messages.operators:
            m.submodules.combiner = combiner = Combiner(program, messages, buffers)
            arrived = self._elaborate_combining(m, combiner, pool, store, receiver, sequencer)
        else:
            connect(m, pool.take, receiver.slot)
            connect(m, receiver.write, store.write)
            arrived = receiver.sort
        connect(m, sorter.append, lists.append)
        connect(m, flipped(self.operation), sequencer.operation)
        connect(m, sequencer.job, sender.job)
        connect(m, sender.pop, lists.pop)
        connect(m, sender.read, store.read)
        connect(m, sender.free, pool.give)
        connect(m, sender.inject, flipped(self.inject))
        connect(m, sender.o, flipped(self.o))
        if messages.operator_width:
            m.d.comb += [part.operator.eq(sequencer.operator) for part in (receiver, sender)]
        self._elaborate_sorting(m, sorter, arrived, sender)
        if program.rounds:
            self._elaborate_barrier(m, sequencer)
        if program.has_groups:
            self._elaborate_groups(m, sorter, receiver, sender, sequencer)
        m.d.comb += [
            *(part.address.eq(self.address) for part in (sorter, receiver, sequencer)),
            *(getattr(sequencer, pin).eq(getattr(self, pin)) for pin in self._pins),
            receiver.loads.eq(sequencer.loads),
            receiver.send.eq(sequencer.send),
            receiver.parity.eq(sequencer.parity),
            sender.parity.eq(sequencer.parity),
            sender.open.eq(sequencer.open),
            sequencer.filled.eq(lists.filled),
            sequencer.loaded.eq(loaded),
            sequencer.told.eq(receiver.told),
            sequencer.sorting.eq(sorter.busy | receiver.sort.valid),
            sequencer.giving.eq(sender.giving),
            self.done.eq(sequencer.done),
        ]
        return m

    def _elaborate_lengths(self, m: Module, receiver: Any, sequencer: Any) -> Value:
        """Put what counts the packets of the node's own messages in front of the receiver; return whether one has
        ended.
        """
        m.submodules.counter = counter = MessageCounter(self.machine.endpoint_format)
        connect(m, flipped(self.i), counter.i)
        connect(m, counter.o, receiver.i)
        m.d.comb += [
            counter.loads.eq(sequencer.loads),
            counter.written.eq(receiver.loaded),
            receiver.ended.eq(counter.ended),
        ]
        ended: Value = counter.ended
        return ended

    def _elaborate_barrier(self, m: Module, sequencer: Any) -> None:
        rounds, registers = engines_of(self.machine).program.rounds, self.machine.signal_registers
        m.submodules.barrier = barrier = Barrier(self._ports, rounds, registers)
        m.d.comb += [
            *(getattr(barrier, pin).eq(getattr(self, pin)) for pin in map(signal_pin, self._ports)),
            self.signal.eq(barrier.signal),
            barrier.enter.eq(sequencer.enter),
            sequencer.released.eq(barrier.released),
        ]

    def _elaborate_groups(self, m: Module, sorter: Any, receiver: Any, sender: Any, sequencer: Any) -> None:
        m.submodules.group = group = Group(engines_of(self.machine).program, self.machine.endpoint_format)
        m.d.comb += [
            group.address.eq(self.address),
            group.told.eq(receiver.told),
            group.parity.eq(sequencer.parity),
            group.member.eq(sequencer.member),
            group.ends.eq(sequencer.regroups),
            sender.joined.eq(group.joined),
            sender.drops.eq(sequencer.drops),
            sorter.uses.eq(group.uses),
        ]

    def _elaborate_combining(
        self, m: Module, combiner: Any, pool: Any, store: Any, receiver: Any, sequencer: Any
    ) -> Any:
        """Put the combiner behind the receiver; return the stream of what is sorted."""
        connect(m, receiver.claim, combiner.claim)
        connect(m, pool.take, combiner.i_slot)
        connect(m, combiner.slot, receiver.slot)
        connect(m, receiver.write, combiner.i_write)
        connect(m, combiner.write, store.write)
        connect(m, combiner.old, store.old)
        connect(m, receiver.sort, combiner.i_sort)
        m.d.comb += receiver.begun.eq(sequencer.begun)
        return combiner.sort

    def _elaborate_sorting(self, m: Module, sorter: Any, arrived: Any, sender: Any) -> None:
        """Sort what comes in first, then what has been copied."""
        with m.If(arrived.valid):
            m.d.comb += [sorter.i.valid.eq(1), sorter.i.payload.eq(arrived.payload)]
        with m.Else():
            m.d.comb += [sorter.i.valid.eq(sender.sort.valid), sorter.i.payload.eq(sender.sort.payload)]
        m.d.comb += sender.sort.ready.eq(~arrived.valid)
