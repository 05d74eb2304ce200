"""The queue of routing decisions at an input, and the packet buffers that go with them."""

from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.bits import equals, index_width, number_of, stepped

__all__ = ["DecisionQueue", "VirtualOutputQueues"]


class DecisionQueue(wiring.Component):
    """Routing decisions of the packets in one virtual channel, first in first out, and the packet buffers they are in.

    Parameters
    ----------
    ways : int
        Bits of a decision, one-hot: the output virtual channels that its packets can take.
    buffers : int
        Packet buffers, a power of two. The user never pushes into a full queue nor pops an empty one.
    once_a_slot : bool
        Whether the user pushes and pops in one phase of slots of three cycles or more: then the decisions of the first
        two packets are in registers.

    Members
    -------
    push : In(1)
    i : In(ways)
        Decision of the packet that comes in; seen in the next cycle.
    close : In(1)
        That packet is complete in its buffer: move `write_slot` on. Not before its `push`.
    pop : In(1)
        Forget the head packet and move `read_slot` on.
    out : Out(ways)
        Decision of the head packet; 0 if there is none.
    valid, full : Out(1)
    write_slot, read_slot : Out
        Buffer of the packet that comes in, and of the head packet.
    """

    def __init__(self, *, ways: int, buffers: int, once_a_slot: bool = False) -> None:
        self._ways, self._buffers, self._once_a_slot = ways, buffers, once_a_slot
        slot = index_width(buffers)
        super().__init__(
            {
                "push": In(1),
                "i": In(ways),
                "close": In(1),
                "pop": In(1),
                "out": Out(ways),
                "valid": Out(1),
                "full": Out(1),
                "write_slot": Out(slot),
                "read_slot": Out(slot),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        if self._buffers > 1:
            m.d.sync += self.write_slot.eq(self.write_slot + self.close)
            m.d.sync += self.read_slot.eq(self.read_slot + self.pop)
        if self._buffers == 1:
            self._elaborate_register(m)
        elif self._buffers == 2:
            self._elaborate_two_registers(m)
        elif self._once_a_slot:
            self._elaborate_ahead(m)
        else:
            self._elaborate_memory(m)
        return m

    def _elaborate_register(self, m: Module) -> None:
        with m.If(self.pop):  # the flip-flops' reset: it takes no logic from the way of the decision
            m.d.sync += [self.out.eq(0), self.valid.eq(0)]
        with m.Elif(self.push):
            m.d.sync += [self.out.eq(self.i), self.valid.eq(1)]
        m.d.comb += self.full.eq(self.valid)

    def _elaborate_two_registers(self, m: Module) -> None:
        """Keep the head packet's decision in a register of its own, as allocation has no time for a multiplexer."""
        second = Signal(self._ways, reset_less=True)
        with m.If(self.push):
            m.d.sync += second.eq(self.i)
        with m.If(self.pop | (self.push & ~self.valid)):
            m.d.sync += [
                self.out.eq(Mux(self.full, second, Mux(self.push, self.i, 0))),
                self.valid.eq(self.full | self.push),
            ]
        with m.If(self.push ^ self.pop):
            m.d.sync += self.full.eq(Mux(self.push, self.valid, 0))

    def _elaborate_ahead(self, m: Module) -> None:
        """Keep the first two packets' decisions in registers: the second one's is read while the first one waits."""
        there = Signal(self._buffers)
        following = Signal(len(self.read_slot), init=1)
        second = Signal(self._ways, reset_less=True)
        m.d.sync += [
            there.eq(stepped(there, self.push, self.pop)),
            following.eq(self.read_slot + 1),
            second.eq(self._elaborate_entries(m, following)),
        ]
        with m.If(self.pop | (self.push & ~there[0])):
            m.d.sync += self.out.eq(Mux(there[1], second, Mux(self.push, self.i, 0)))
        m.d.comb += [self.valid.eq(there[0]), self.full.eq(there[-1])]

    def _elaborate_entries(self, m: Module, address: Value) -> Value:
        """Make the memory of decisions; return the one at an address, in the same cycle."""
        m.submodules.memory = entries = memory.Memory(shape=self._ways, depth=self._buffers, init=[])
        write, read = entries.write_port(), entries.read_port(domain="comb")
        m.d.comb += [
            write.addr.eq(self.write_slot),
            write.data.eq(self.i),
            write.en.eq(self.push),
            read.addr.eq(address),
        ]
        entry: Value = read.data
        return entry

    def _elaborate_memory(self, m: Module) -> None:
        level = Signal(range(self._buffers + 1))
        m.d.sync += level.eq(level + self.push - self.pop)
        m.d.comb += [
            self.valid.eq(level.any()),
            self.full.eq(equals(level, self._buffers)),
            self.out.eq(Mux(self.valid, self._elaborate_entries(m, self.read_slot), 0)),
        ]


class VirtualOutputQueues(wiring.Component):
    """Routing decisions of the packets in one virtual channel, in whose buffers they stay: a queue for each way.

    A packet waits for those before it that go the same way, and for no other: each buffer has a bit for every other
    buffer, set when a packet comes in if that one holds a packet of its way, and cleared when that leaves.

    Parameters
    ----------
    ways : int
        Bits of a decision, one-hot: the output virtual channels that packets can take.
    buffers : int
        Packet buffers. The user never pushes into a full queue.

    Members
    -------
    push : In(1)
    i : In(ways)
        Decision of the packet that comes in; seen in the next cycle.
    close : In(1)
        No packet is coming in from the next cycle on, or a new one: choose `write_slot`, among those without a packet
        by then.
    out : Out(ways)
        The ways that packets take.
    slot_W : Out
        Buffer of the first packet that goes the way W; 0 if there is none.
    pop : In(1)
    pop_slot : In
        Forget the packet in this buffer.
    full : Out(1)
    write_slot : Out
        Buffer of the packet that comes in.
    """

    def __init__(self, *, ways: int, buffers: int) -> None:
        self._ways, self._buffers = ways, buffers
        slot = index_width(buffers)
        super().__init__(
            {
                "push": In(1),
                "i": In(ways),
                "close": In(1),
                "out": Out(ways),
                "pop": In(1),
                "pop_slot": In(slot),
                "full": Out(1),
                "write_slot": Out(slot),
            }
            | {f"slot_{way}": Out(slot) for way in range(ways)}
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        buffers, valid = range(self._buffers), Signal(self._buffers)
        ways = [Signal(self._ways, name=f"way_{buffer}", reset_less=True) for buffer in buffers]
        pushes = [self.push & equals(self.write_slot, buffer) for buffer in buffers]
        pops = [self.pop & equals(self.pop_slot, buffer) for buffer in buffers]
        stays = [valid[buffer] & ~pops[buffer] for buffer in buffers]
        m.d.sync += valid.eq(Cat(stays) | Cat(pushes))
        firsts = self._elaborate_waits(m, ways, pushes, pops, stays)
        for way in range(self._ways):
            here = {buffer: valid[buffer] & firsts[buffer] & ways[buffer][way] for buffer in buffers}
            m.d.comb += getattr(self, f"slot_{way}").eq(number_of(here, len(self.write_slot)))
        for buffer in buffers:
            with m.If(pushes[buffer]):
                m.d.sync += ways[buffer].eq(self.i)
        m.d.comb += [
            self.full.eq(valid.all()),
            self.out.eq(reduce(or_, (Mux(valid[buffer], ways[buffer], 0) for buffer in buffers))),
        ]
        free = [~(stays[buffer] | pushes[buffer]) for buffer in buffers]
        lowest = {buffer: free[buffer] & ~Cat(free[:buffer]).any() if buffer else free[0] for buffer in buffers}
        with m.If(self.close):
            m.d.sync += self.write_slot.eq(number_of(lowest, len(self.write_slot)))
        return m

    def _elaborate_waits(self, m: Module, ways: list[Any], pushes: list[Any], pops: list[Any], stays: list[Any]) -> Any:
        """Keep for each buffer those whose packets go first; return whether there are none."""
        alike = [stay & (way & self.i).any() for stay, way in zip(stays, ways, strict=True)]
        firsts = []
        for buffer, push in enumerate(pushes):
            waits = Signal(self._buffers, name=f"waits_{buffer}", reset_less=True)
            for other in set(range(self._buffers)) - {buffer}:
                m.d.sync += waits[other].eq(Mux(push, alike[other], waits[other] & ~pops[other]))
            firsts.append(~waits.any())
        return firsts
