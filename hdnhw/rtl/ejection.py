"""The buffer between a router and a terminal that takes packets at its own pace."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.bits import equals, index_width
from hdnhw.rtl.channel import ChannelSignature, ejection_signature

__all__ = ["EjectionBuffer"]


class EjectionBuffer(wiring.Component):
    """A queue of flits with room for whole packets; a flit can be taken one cycle after it stood on the channel.

    Parameters
    ----------
    packet_length, flit_width, buffers : int
        Flits a packet; bits a flit; packet slots, a power of two: those of a port with one virtual channel.

    Members
    -------
    channel : In(ChannelSignature)
        The router's ``eject``. The credit of a packet returns in the cycle in which its tail is taken.
    eject : Out(ejection_signature)
        A terminal that is never ready stops the packets behind, and loses none.
    """

    def __init__(self, *, packet_length: int, flit_width: int, buffers: int) -> None:
        self._length, self._flit_width, self._buffers = packet_length, flit_width, buffers
        super().__init__(
            {
                "channel": In(ChannelSignature(flit_width=flit_width, num_vcs=1)),
                "eject": Out(ejection_signature(flit_width=flit_width)),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        depth = 1 << (index_width(self._length) + index_width(self._buffers))
        m.submodules.flits = buffer = memory.Memory(shape=self._flit_width, depth=depth, init=[])
        write, read = buffer.write_port(), buffer.read_port(domain="comb")
        level = Signal(range(self._length * self._buffers + 1))
        do_take, tail = Signal(), Signal()
        write_address, _ = self._elaborate_pointer(m, "write", self.channel.valid)
        read_address, is_tail = self._elaborate_pointer(m, "read", do_take)
        m.d.comb += [
            write.addr.eq(write_address),
            write.data.eq(self.channel.data),
            write.en.eq(self.channel.valid),
            read.addr.eq(read_address),
            tail.eq(is_tail),
            self.eject.valid.eq(level.any()),
            self.eject.payload.data.eq(read.data),
            self.eject.payload.last.eq(tail),
            do_take.eq(self.eject.valid & self.eject.ready),
            self.channel.credit.eq(do_take & tail),
        ]
        m.d.sync += level.eq(level + self.channel.valid - do_take)
        return m

    def _elaborate_pointer(self, m: Module, name: str, advance: Any) -> tuple[Any, Any]:
        """Count flits and packet slots; return (address, whether at the tail flit)."""
        flit = Signal(index_width(self._length), name=f"{name}_flit")
        slot = Signal(index_width(self._buffers), name=f"{name}_slot")
        tail = equals(flit, self._length - 1)
        with m.If(advance):
            m.d.sync += flit.eq(Mux(tail, 0, flit + 1))
            if self._buffers > 1:
                m.d.sync += slot.eq(slot + tail)
        return Cat(flit, slot), tail
