"""Where messages stand: lists of buffers, and the buffers that are free."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.bits import below, equals, index_width

__all__ = ["BufferLists", "BufferPool", "PopSignature", "append_layout"]


def append_layout(num_lists: int, buffers: int) -> data.StructLayout:
    """Return what is appended: a buffer, and to which list."""
    return data.StructLayout({"list": index_width(num_lists), "slot": index_width(buffers)})


class PopSignature(wiring.Signature):
    """Taking the first buffer of a list, seen from the one who takes.

    Members
    -------
    valid : Out(1)
        High while `list`, which is not empty, is asked for its first buffer.
    list : Out
    ready : In(1)
        `slot` is taken with this cycle if `valid`.
    slot : In
    only : In(1)
        Whether it is the last one of the list.
    """

    def __init__(self, num_lists: int, buffers: int) -> None:
        super().__init__(
            {
                "valid": Out(1),
                "list": Out(index_width(num_lists)),
                "ready": In(1),
                "slot": In(index_width(buffers)),
                "only": In(1),
            }
        )


class BufferLists(wiring.Component):
    """Lists of buffers, each first in, first out; a buffer is in one list at most.

    An append takes one cycle, and waits if a pop came the cycle before; a pop takes two, and waits for appends.

    Parameters
    ----------
    num_lists, buffers : int

    Members
    -------
    append : In(stream of append_layout)
    pop : In(PopSignature)
    filled : Out(num_lists)
        Which lists are not empty.
    """

    def __init__(self, num_lists: int, buffers: int) -> None:
        self._num_lists, self._buffers = num_lists, buffers
        super().__init__(
            {
                "append": In(stream.Signature(append_layout(num_lists, buffers))),
                "pop": In(PopSignature(num_lists, buffers)),
                "filled": Out(num_lists),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        append, pop, slot = self.append, self.pop, index_width(self._buffers)
        m.submodules.heads = heads = memory.Memory(shape=slot, depth=self._num_lists, init=[])
        m.submodules.tails = tails = memory.Memory(shape=slot, depth=self._num_lists, init=[])
        m.submodules.following = following = memory.Memory(shape=slot, depth=self._buffers, init=[])
        head, tail, last = (
            heads.read_port(domain="comb"),
            tails.read_port(domain="comb"),
            tails.read_port(domain="comb"),
        )
        to_head, to_tail = heads.write_port(), tails.write_port()
        link, linked = following.write_port(), following.read_port()
        popping, popped, do_append, do_pop = Signal(), Signal.like(pop.list), Signal(), Signal()
        m.d.sync += [popping.eq(do_pop & ~pop.only), popped.eq(pop.list)]
        joins = Signal()
        m.d.comb += [
            append.ready.eq(~popping),
            do_append.eq(append.valid & append.ready),
            joins.eq(Cat(equals(append.payload.list, n) & self.filled[n] for n in range(self._num_lists)).any()),
            tail.addr.eq(append.payload.list),
            to_tail.en.eq(do_append),
            to_tail.addr.eq(append.payload.list),
            to_tail.data.eq(append.payload.slot),
            link.en.eq(do_append & joins),
            link.addr.eq(tail.data),
            link.data.eq(append.payload.slot),
            pop.ready.eq(~popping & ~append.valid),
            do_pop.eq(pop.valid & pop.ready),
            head.addr.eq(pop.list),
            last.addr.eq(pop.list),
            pop.slot.eq(head.data),
            pop.only.eq(head.data == last.data),
            linked.addr.eq(head.data),
            to_head.en.eq(popping | (do_append & ~joins)),
            to_head.addr.eq(Mux(popping, popped, append.payload.list)),
            to_head.data.eq(Mux(popping, linked.data, append.payload.slot)),
        ]
        for number in range(self._num_lists):
            with m.If(do_append & equals(append.payload.list, number)):
                m.d.sync += self.filled[number].eq(1)
            with m.Elif(do_pop & pop.only & equals(pop.list, number)):
                m.d.sync += self.filled[number].eq(0)
        return m


class BufferPool(wiring.Component):
    """The free buffers: all after reset.

    Parameters
    ----------
    buffers : int

    Members
    -------
    give : In(stream of buffers)
        Always ready.
    take : Out(stream of buffers)
    """

    def __init__(self, buffers: int) -> None:
        self._buffers = buffers
        width = index_width(buffers)
        super().__init__({"give": In(stream.Signature(width)), "take": Out(stream.Signature(width))})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        width = index_width(self._buffers)
        m.submodules.used = used = SyncFIFOBuffered(width=width, depth=self._buffers)
        fresh, unused = Signal(width), Signal(init=1)  # buffers from `fresh` on have not been taken since reset
        m.d.comb += [
            self.give.ready.eq(1),
            used.w_en.eq(self.give.valid),
            used.w_data.eq(self.give.payload),
            self.take.valid.eq(unused | used.r_rdy),
            self.take.payload.eq(Mux(unused, fresh, used.r_data)),
            used.r_en.eq(self.take.ready & ~unused),
        ]
        with m.If(self.take.ready & unused):
            m.d.sync += [fresh.eq(fresh + 1), unused.eq(below(fresh, self._buffers - 1))]
        return m
