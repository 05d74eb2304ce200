"""The queue of routing decisions at an input, and the packet buffers that go with them."""

from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.bits import any_of, equals, index_width, number_of, stepped


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
    at_once : bool
        Whether the user pushes into a full queue in the cycle in which it pops.

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

    def __init__(self, *, ways: int, buffers: int, once_a_slot: bool = False, at_once: bool = False) -> None:
        self._ways, self._buffers, self._once_a_slot, self._at_once = ways, buffers, once_a_slot, at_once
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
        if self._at_once:
            with m.If(self.pop | self.push):
                m.d.sync += [self.out.eq(Mux(self.push, self.i, 0)), self.valid.eq(self.push)]
        else:
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
    apart : bool
        Whether the user pushes and pops two cycles apart at least, and allows more time from one to the next: a cycle
        more to what is said of a packet below, and two more to `slot_W` when one comes.

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
    opens : In(1)
        Whether `full` may fall in the next cycle.
    full : Out(1)
    write_slot : Out
        Buffer of the packet that comes in.
    """

    def __init__(self, *, ways: int, buffers: int, apart: bool = False) -> None:
        self._ways, self._buffers, self._apart = ways, buffers, apart
        slot = index_width(buffers)
        super().__init__(
            {
                "push": In(1),
                "i": In(ways),
                "close": In(1),
                "out": Out(ways),
                "pop": In(1),
                "pop_slot": In(slot),
                "opens": In(1, init=1),
                "full": Out(1),
                "write_slot": Out(slot),
            }
            | {f"slot_{way}": Out(slot) for way in range(ways)}
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        buffers, valid = range(self._buffers), Signal(self._buffers)
        pushes = [self.push & equals(self.write_slot, buffer) for buffer in buffers]
        pops = [self.pop & equals(self.pop_slot, buffer) for buffer in buffers]
        stays = [valid[buffer] & ~pops[buffer] for buffer in buffers]
        m.d.sync += valid.eq(Cat(stays) | Cat(pushes))
        if self._apart:
            there = self._elaborate_ways_apart(m, pushes, pops)
            firsts = self._elaborate_waits_apart(m, valid, pushes, pops)
            self._elaborate_write_slot_ahead(m, valid)
        else:
            there = self._elaborate_ways(m, valid, pushes)
            firsts = self._elaborate_waits(m, there, pushes, pops, stays)
            self._elaborate_write_slot(m, stays, pushes)
        for way in range(self._ways):
            here = {buffer: there[buffer][way] & firsts[buffer] for buffer in buffers}
            m.d.comb += getattr(self, f"slot_{way}").eq(number_of(here, len(self.write_slot)))
        m.d["sync" if self._apart else "comb"] += self.out.eq(reduce(or_, there))
        was_full = Signal()
        m.d.sync += was_full.eq(self.full & ~self.opens)
        m.d.comb += self.full.eq(valid.all() | was_full)
        return m

    def _others(self, buffer: int) -> list[int]:
        return [other for other in range(self._buffers) if other != buffer]

    def _elaborate_ways(self, m: Module, valid: Signal, pushes: list[Any]) -> list[Any]:
        """Keep the way of the packet in each buffer; return it, 0 if there is none."""
        ways = [Signal(self._ways, name=f"way_{buffer}", reset_less=True) for buffer in range(self._buffers)]
        for way, push in zip(ways, pushes, strict=True):
            with m.If(push):
                m.d.sync += way.eq(self.i)
        return [Mux(is_there, way, 0) for is_there, way in zip(valid, ways, strict=True)]

    def _elaborate_ways_apart(self, m: Module, pushes: list[Any], pops: list[Any]) -> list[Any]:
        """Do the same with registers that are 0 if there is none: by their reset, which takes no logic."""
        ways = [Signal(self._ways, name=f"way_{buffer}") for buffer in range(self._buffers)]
        for way, push, pop in zip(ways, pushes, pops, strict=True):
            with m.If(pop):
                m.d.sync += way.eq(0)
            with m.Elif(push):
                m.d.sync += way.eq(self.i)
        return list(ways)

    def _elaborate_write_slot(self, m: Module, stays: list[Any], pushes: list[Any]) -> None:
        free = [~(stay | push) for stay, push in zip(stays, pushes, strict=True)]
        with m.If(self.close):
            m.d.sync += self.write_slot.eq(_lowest(free, len(self.write_slot)))

    def _elaborate_write_slot_ahead(self, m: Module, valid: Signal) -> None:
        """Choose the next buffer before it is asked for; if no other one is free, stay: this may be or become free."""
        free = [~valid[buffer] & ~equals(self.write_slot, buffer) for buffer in range(self._buffers)]
        following, is_any = Signal.like(self.write_slot, name="following", reset_less=True), Signal(name="is_following")
        m.d.sync += [following.eq(_lowest(free, len(following))), is_any.eq(any_of(free))]
        with m.If(self.close & is_any):
            m.d.sync += self.write_slot.eq(following)

    def _elaborate_waits_apart(self, m: Module, valid: Signal, pushes: list[Any], pops: list[Any]) -> Any:
        """Do the same as :meth:`_elaborate_waits` a cycle after a packet has come, with its way as a number."""
        code, pushed = Signal(index_width(self._ways), reset_less=True), Signal(self._buffers)
        m.d.sync += [code.eq(number_of(dict(enumerate(self.i)), len(code))), pushed.eq(Cat(pushes))]
        codes = [Signal(len(code), name=f"code_{buffer}", reset_less=True) for buffer in range(self._buffers)]
        firsts = []
        for buffer, own in enumerate(codes):
            with m.If(pushed[buffer]):
                m.d.sync += own.eq(code)
            waits = Signal(self._buffers - 1, name=f"waits_{buffer}", reset_less=True)
            for wait, other in zip(waits, self._others(buffer), strict=True):
                alike = valid[other] & (codes[other] == code)
                m.d.sync += wait.eq(Mux(pushed[buffer], alike, wait & ~pops[other]))
            firsts.append(~waits.any())
        return firsts

    def _elaborate_waits(self, m: Module, ways: list[Any], pushes: list[Any], pops: list[Any], stays: list[Any]) -> Any:
        """Keep for each buffer those whose packets go first; return whether there are none."""
        alike = [stay & (way & self.i).any() for stay, way in zip(stays, ways, strict=True)]
        firsts = []
        for buffer, push in enumerate(pushes):
            waits = Signal(self._buffers - 1, name=f"waits_{buffer}", reset_less=True)
            for wait, other in zip(waits, self._others(buffer), strict=True):
                m.d.sync += wait.eq(Mux(push, alike[other], wait & ~pops[other]))
            firsts.append(~waits.any())
        return firsts


def _lowest(bits: list[Any], width: int) -> Value:
    """Return the number of the lowest bit that is set, 0 if none is."""
    lowest = {place: bit & ~Cat(bits[:place]).any() if place else bit for place, bit in enumerate(bits)}
    return number_of(lowest, width)
