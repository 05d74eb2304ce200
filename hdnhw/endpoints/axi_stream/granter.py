"""Who is granted: the requests at a destination, and its reserve."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.axi_stream.format_pool import FramePool
from hdnhw.rtl.bits import index_width, padded
from hdnhw.rtl.table import Table

SETTLING = 3
"""Cycles from one grant to the next, so that the next request has been read and compared."""


class Granter(wiring.Component):
    """Grant requests in the order in which they came, each when so much of the reserve is left.

    Parameters
    ----------
    pool : FramePool
        With grants.

    Members
    -------
    push : In(1)
        A request has come; there is one at most of each source.
    src, packets : In
        Who asks, and for how many.
    longest : In(1)
        It asks for the longest frame instead.
    ends : In(1)
        A frame that was granted is complete.
    returns : In
        Packets that it was granted.
    reply : Out(stream of packed addresses)
        Who is granted.
    """

    def __init__(self, pool: FramePool) -> None:
        self._pool = pool
        address = pool.frames.flits.address_width
        super().__init__(
            {
                "push": In(1),
                "src": In(address),
                "packets": In(pool.request_width),
                "longest": In(1),
                "ends": In(1),
                "returns": In(range(pool.reserve + 1)),
                "reply": Out(stream.Signature(address)),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        pool, width = self._pool, index_width(self._pool.num_nodes)
        packets = Signal(range(pool.reserve + 1), name="next_packets")
        asked = padded(self.packets[: len(packets)], len(packets))
        entry = data.StructLayout({"src": len(self.src), "packets": len(packets)})
        m.submodules.requests = requests = Table(depth=pool.num_nodes, width=entry.size)
        request = data.View(entry, requests.o)
        last, first, waits = Signal(width + 1), Signal(width + 1), Signal()
        settled, grants = Signal(SETTLING), self._elaborate_reserve(m, packets)
        m.d.comb += [
            requests.write.eq(self.push),
            requests.write_address.eq(last[:-1]),
            requests.i.eq(Cat(self.src, Mux(self.longest, Const(pool.longest_need, len(packets)), asked))),
            requests.read.eq(1),
            requests.address.eq(first[:-1]),
        ]
        m.d.sync += [
            waits.eq((first != last) & ~grants),
            packets.eq(request.packets),
            settled.eq(Mux(waits & ~grants, Cat(1, settled[:-1]), 0)),
            self._may.eq(settled[-1] & self._is_enough & ~self.reply.valid & ~grants),
        ]
        with m.If(self.push):
            m.d.sync += last.eq(last + 1)
        with m.If(grants):
            m.d.sync += [first.eq(first + 1), self.reply.valid.eq(1), self.reply.payload.eq(request.src)]
        with m.Elif(self.reply.ready):
            m.d.sync += self.reply.valid.eq(0)
        return m

    def _elaborate_reserve(self, m: Module, packets: Value) -> Value:
        """Keep what is left of the reserve; return whether the next request is granted, which `_may` allows."""
        left = Signal.like(packets, name="left", init=self._pool.reserve)
        more, less, changes, grants = Signal.like(left), Signal(len(left) + 1), Signal(2), Signal()
        self._may, self._is_enough = Signal(), Signal()
        m.d.comb += [
            grants.eq(self._may & ~self.ends),
            self._is_enough.eq(~less[-1] & ~self.ends & ~changes.any()),
        ]
        m.d.sync += [more.eq(left + self.returns), less.eq(left - packets), changes.eq(Cat(self.ends, changes[0]))]
        with m.If(changes[0]):
            m.d.sync += left.eq(more)
        with m.Elif(grants):
            m.d.sync += left.eq(less[:-1])
        return grants
