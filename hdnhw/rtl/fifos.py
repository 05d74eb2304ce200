"""Queues: a short one whose first entry stands in a register, and a deep one of flits."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, ShapeLike, Signal, Value
from amaranth.lib import memory, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine.timing import ROW
from hdnhw.rtl.bits import counted, index_width, stepped


class ShortQueue(wiring.Component):
    """A queue of a few entries in distributed RAM.

    An entry comes out two cycles after it was put in, and after the one before it, at the soonest.

    Parameters
    ----------
    shape : ShapeLike
        Of an entry.
    depth : int
        Entries that it holds, a power of two.
    waits : bool
        Whether nothing comes out in the cycle after an entry was taken: then it may be taken late in a cycle.

    Members
    -------
    push : In(1)
        Add `i`; not while `held` says that the queue is full.
    i : In(shape)
    o : Out(stream of shape)
    held : Out(depth)
        Entries, in thermometer code; one that was taken counts a cycle longer.
    """

    def __init__(self, shape: ShapeLike, *, depth: int, waits: bool = False) -> None:
        self._shape, self._depth, self._waits = shape, depth, waits
        super().__init__({"push": In(1), "i": In(shape), "o": Out(stream.Signature(shape)), "held": Out(depth)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.entries = entries = memory.Memory(shape=self._shape, depth=self._depth, init=[])
        write, read = entries.write_port(), entries.read_port(domain="comb")
        some, moves, moved, taken, o = Signal(), Signal(), Signal(), Signal(), self.o
        free = ~o.valid if self._waits else ~o.valid | o.ready
        behind = Signal.like(read.addr, name="behind", init=1)
        m.d.comb += [
            write.en.eq(self.push),
            write.data.eq(self.i),
            moves.eq(free & some & ~moved),
        ]
        m.d.sync += [
            moved.eq(moves),
            some.eq(self.push | (some & ~(moved & (behind == write.addr)))),
            taken.eq(o.valid & o.ready),
            self.held.eq(stepped(self.held, self.push, taken)),
        ]
        with m.If(self.push):
            m.d.sync += write.addr.eq(write.addr + 1)
        with m.If(moved):
            m.d.sync += [read.addr.eq(behind), behind.eq(behind + 1)]
        with m.If(free):
            m.d.sync += [o.payload.eq(read.data), o.valid.eq(some & ~moved)]
        if self._waits:
            with m.Elif(o.ready):
                m.d.sync += o.valid.eq(0)
        return m


class FlitQueue(wiring.Component):
    """Flits in block RAM, and the next ones in a row of distributed RAM: a flit a cycle goes in and out.

    A flit comes out five cycles after it was put in, at the soonest; the next cycle, if flits pass by the block RAM.

    Parameters
    ----------
    width : int
        Bits of a flit.
    depth : int
        Flits that the block RAM holds, a power of two.
    passes : bool
        Whether a flit goes straight to the row while none is in block RAM or on its way from there.

    Members
    -------
    push : In(1)
        Add `i`; not while `level` says that there is no place.
    i : In(width)
    level : Out
        Flits in block RAM.
    some : Out(1)
        Whether there is a flit to be taken.
    o : Out(width)
        It; combinational unless flits pass.
    take : In(1)
    """

    def __init__(self, width: int, *, depth: int, passes: bool = False) -> None:
        self._depth, self._passes = depth, passes
        super().__init__(
            {
                "push": In(1),
                "i": In(width),
                "level": Out(index_width(depth) + 1),
                "some": Out(1),
                "o": Out(width),
                "take": In(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        # A place is read a cycle after it is written at the soonest, and written when its number is counted as free.
        m.submodules.flits = flits = memory.Memory(
            shape=len(self.i), depth=self._depth, init=[], attrs={"no_rw_check": 1}
        )
        write, read, level, reads = flits.write_port(), flits.read_port(), self.level, Signal()
        passes = Signal(name="passes") if self._passes else Const(0, 1)
        m.d.comb += [
            write.en.eq(self.push & ~passes if self._passes else self.push),
            write.data.eq(self.i),
            read.en.eq(reads),
        ]
        has_room, comes = self._elaborate_words(m, reads, read.data, passes)
        m.d.sync += [
            level.eq(counted(level, write.en, reads)),
            reads.eq((level[1:].any() | (level[0] & ~reads)) & has_room),
        ]
        if self._passes:
            m.d.sync += passes.eq(~level.any() & ~write.en & ~reads & ~comes & has_room)
        with m.If(write.en):
            m.d.sync += write.addr.eq(write.addr + 1)
        with m.If(reads):
            m.d.sync += read.addr.eq(read.addr + 1)
        return m

    def _elaborate_words(self, m: Module, reads: Value, flit: Value, passes: Value) -> tuple[Value, Value]:
        """Have the next flits at hand, through the memory's own register, or `i` at once while it `passes`.

        Return whether two more have room, and whether a flit was read in the cycle before.
        """
        m.submodules.words = words = memory.Memory(shape=len(flit), depth=ROW, init=[])
        write, read = words.write_port(), words.read_port(domain="comb")
        room, taken, comes = Signal(index_width(ROW) + 1, init=ROW), Signal(), Signal(2)
        word, behind = (
            Signal.like(write.data, name="word", reset_less=True),
            Signal.like(read.addr, name="behind", init=1),
        )
        put, data, used = comes[-1], word, reads
        if self._passes:
            passed = self.push & passes
            put, data, used = comes[-1] | passed, Mux(comes[-1], word, self.i), reads | passed
        m.d.comb += [write.en.eq(put), write.data.eq(data)]
        m.d.sync += [
            comes.eq(Cat(reads, comes[0])),
            word.eq(flit),
            taken.eq(self.take),
            room.eq(counted(room, taken, used)),
            self.some.eq(write.en | (self.some & ~(self.take & (behind == write.addr)))),
        ]
        with m.If(write.en):
            m.d.sync += write.addr.eq(write.addr + 1)
        if self._passes:  # the next one in a register: what it is decides a lot
            few, beyond = Signal(init=1), Signal.like(behind, init=2)  # few: none but the one in the register
            m.d.comb += read.addr.eq(behind)
            with m.If(self.take | ~self.some):
                m.d.sync += self.o.eq(Mux(write.en & few, write.data, read.data))
            gains, loses = write.en & ~self.take, self.take & ~write.en
            is_one, are_two = behind == write.addr, beyond == write.addr
            m.d.sync += few.eq(Mux(few, ~(self.some & is_one & gains), are_two & loses))
            ahead = beyond.eq(beyond + 1)
        else:
            m.d.comb += self.o.eq(read.data)
            ahead = read.addr.eq(behind)
        with m.If(self.take):
            m.d.sync += [ahead, behind.eq(behind + 1)]
        return room[1:].any(), comes[0]
