"""The buffer between a router and a terminal that takes packets at its own pace."""

from typing import Any

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.bits import equals, index_width, next_flit
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
        depth = self._buffers << index_width(self._length)
        m.submodules.flits = buffer = memory.Memory(shape=self._flit_width, depth=depth, init=[])
        write, read = buffer.write_port(), buffer.read_port(domain="comb")
        valid, do_take = Signal(), Signal()
        written = self._elaborate_pointer(m, "write", self.channel.valid)
        ahead = self._elaborate_pointer(m, "ahead", do_take, start=1)
        taken = Signal.like(ahead)
        with m.If(do_take):
            m.d.sync += taken.eq(ahead)
        is_tail = equals(ahead[: index_width(self._length)], 0)
        is_only = ~(ahead ^ written).any()
        m.d.sync += valid.eq(self.channel.valid | (valid & ~(self.eject.ready & is_only)))
        m.d.comb += [
            write.addr.eq(written),
            write.data.eq(self.channel.data),
            write.en.eq(self.channel.valid),
            read.addr.eq(taken),
            self.eject.valid.eq(valid),
            self.eject.payload.data.eq(read.data),
            self.eject.payload.last.eq(is_tail),
            do_take.eq(valid & self.eject.ready),
            self.channel.credit.eq(do_take & is_tail),
        ]
        return m

    def _elaborate_pointer(self, m: Module, name: str, advance: Value, *, start: int = 0) -> Value:
        """Count flits from flit `start` on, 0 or 1; return the address, and above it whether the round is odd."""
        flit_start, slot_start = (start, 0) if self._length > 1 else (0, start)
        flit = Signal(index_width(self._length), name=f"{name}_flit", init=flit_start)
        slot = Signal(self._buffers.bit_length(), name=f"{name}_slot", init=slot_start)
        following = next_flit(flit, self._length)
        with m.If(advance):
            m.d.sync += flit.eq(following)
            with m.If(equals(following, 0)):
                m.d.sync += slot.eq(Cat(bit ^ slot[:place].all() for place, bit in enumerate(slot)))
        return Cat(flit, slot)
