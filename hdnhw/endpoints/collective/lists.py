"""Where messages stand: lists of buffers, and the buffers that are free."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.bits import below, chosen_from, equals, index_width


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
        It is taken with this cycle if `valid`.
    slot : In
        That buffer, from the next cycle to the next pop.
    only : In(1)
        In the next cycle, whether it was the last one of the list.
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

    An append takes two cycles, one a cycle, and never waits. A pop takes three, and waits for appends.

    Members
    -------
    append : In(stream of append_layout)
        Always ready.
    pop : In(PopSignature)
    filled : Out(num_lists)
        Which lists are not empty: from the cycle after an append on, to the one after a pop.
    """

    def __init__(self, num_lists: int, buffers: int) -> None:
        self._num_lists, self._buffers = num_lists, buffers
        super().__init__(
            {
                "append": In(stream.Signature(append_layout(num_lists, buffers), always_ready=True)),
                "pop": In(PopSignature(num_lists, buffers)),
                "filled": Out(num_lists),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        append, slot = self.append, index_width(self._buffers)
        m.submodules.heads = heads = memory.Memory(shape=slot, depth=self._num_lists, init=[])
        m.submodules.tails = tails = memory.Memory(shape=slot, depth=self._num_lists, init=[])
        m.submodules.following = following = memory.Memory(shape=slot, depth=self._buffers, init=[])
        to_head, to_tail, tail, link = (
            heads.write_port(),
            tails.write_port(),
            tails.read_port(domain="comb"),
            following.write_port(),
        )
        # Of the append before: the list was not empty, and what stood at its end.
        second, joins, end, appended = Signal(), Signal(), Signal.like(tail.data), Signal.like(append.payload)
        begins = second & ~joins  # a list: that takes the write port of the heads
        popped, empties, moves = self._elaborate_pop(m, heads, tails, following, append.valid | second)
        lists = [equals(append.payload.list, number) for number in range(self._num_lists)]
        found = chosen_from(list(self.filled), append.payload.list)
        m.d.sync += [
            second.eq(append.valid),
            appended.eq(append.payload),
            joins.eq(found & ~(empties & (append.payload.list == popped))),
            end.eq(tail.data),
        ]
        m.d.comb += [
            tail.addr.eq(append.payload.list),
            to_tail.en.eq(append.valid),
            to_tail.addr.eq(append.payload.list),
            to_tail.data.eq(append.payload.slot),
            link.en.eq(second & joins),
            link.addr.eq(end),
            link.data.eq(appended.slot),
            to_head.en.eq(begins | moves.valid),
            to_head.addr.eq(Mux(begins, appended.list, popped)),
            to_head.data.eq(Mux(begins, appended.slot, moves.payload)),
            moves.ready.eq(~begins),
        ]
        for number, here in enumerate(lists):
            with m.If(append.valid & here):
                m.d.sync += self.filled[number].eq(1)
            with m.Elif(empties & equals(popped, number)):
                m.d.sync += self.filled[number].eq(0)
        return m

    def _elaborate_pop(
        self, m: Module, heads: Any, tails: Any, following: Any, appends: Value
    ) -> tuple[Value, Value, Any]:
        """Add pops; return the list popped last, whether that empties it now, and the stream of its new heads.

        In the first cycle the head and the end of the list are read, in the second it is known whether they are the
        same, and what follows the head is read; from the third on that is to be written.
        """
        pop, head, last = self.pop, heads.read_port(domain="comb"), tails.read_port(domain="comb")
        linked, popped, end = following.read_port(), Signal.like(self.pop.list), Signal.like(last.data)
        takes, second, third, only = Signal(), Signal(), Signal(), Signal()
        moves = stream.Signature(len(end)).create()
        m.d.comb += [
            pop.ready.eq(~second & ~third & ~appends),
            takes.eq(pop.valid & pop.ready),
            head.addr.eq(pop.list),
            last.addr.eq(pop.list),
            only.eq(pop.slot == end),
            pop.only.eq(only),
            linked.addr.eq(pop.slot),
            linked.en.eq(second),
            moves.valid.eq(third),
            moves.payload.eq(linked.data),
        ]
        m.d.sync += [second.eq(takes), third.eq((second & ~only) | (third & ~moves.ready))]
        with m.If(takes):
            m.d.sync += [popped.eq(pop.list), pop.slot.eq(head.data), end.eq(last.data)]
        return popped, second & only, moves


class BufferPool(wiring.Component):
    """The free buffers: soon after reset all.

    Members
    -------
    give : In(stream of buffers)
        Always ready.
    take : Out(stream of buffers)
        One every other cycle.
    """

    def __init__(self, buffers: int) -> None:
        self._buffers = buffers
        width = index_width(buffers)
        super().__init__({"give": In(stream.Signature(width, always_ready=True)), "take": Out(stream.Signature(width))})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        width = index_width(self._buffers)
        m.submodules.free = free = SyncFIFOBuffered(width=width, depth=self._buffers + 1)  # always room
        fresh, unused = Signal(width), Signal(init=1)  # buffers from `fresh` on have not been in it since reset
        m.d.comb += free.r_en.eq(~self.take.valid)
        m.d.sync += [
            free.w_en.eq(self.give.valid | unused),
            free.w_data.eq(Mux(self.give.valid, self.give.payload, fresh)),
        ]
        with m.If(unused & ~self.give.valid):
            m.d.sync += [fresh.eq(fresh + 1), unused.eq(below(fresh, self._buffers - 1))]
        with m.If(self.take.valid):
            m.d.sync += self.take.valid.eq(~self.take.ready)
        with m.Else():
            m.d.sync += [self.take.valid.eq(free.r_rdy), self.take.payload.eq(free.r_data)]
        return m
