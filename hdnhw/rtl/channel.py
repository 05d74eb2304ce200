"""Signatures: the channel between two routers, and the streams of a terminal."""

from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.bits import index_width

__all__ = ["ChannelSignature", "ejection_signature", "injection_signature"]


class ChannelSignature(wiring.Signature):
    """One channel, seen from the router that sends.

    A packet is L consecutive flits that start in phase 1 (0 if L is 1) of a slot; there is no stalling in between, as
    the sender holds a credit for a whole packet.

    Parameters
    ----------
    flit_width : int
    num_vcs : int

    Members
    -------
    valid : Out(1)
        High while the L flits of a packet pass.
    vc : Out
        Virtual channel of the packet, constant while `valid`; absent if there is one.
    data : Out(flit_width)
        One flit.
    credit : In(num_vcs)
        One bit a virtual channel, high for one cycle when a packet slot has become free downstream.
    """

    def __init__(self, *, flit_width: int, num_vcs: int) -> None:
        self._flit_width, self._num_vcs = flit_width, num_vcs
        members = {"valid": Out(1), "data": Out(flit_width), "credit": In(num_vcs)}
        if num_vcs > 1:
            members["vc"] = Out(index_width(num_vcs))
        super().__init__(members)

    @property
    def flit_width(self) -> int:
        """Bits a flit."""
        return self._flit_width

    @property
    def num_vcs(self) -> int:
        """Virtual channels."""
        return self._num_vcs


def injection_signature(*, flit_width: int) -> stream.Signature:
    """Return the stream by which a terminal injects: one flit a transfer, L a packet, the head flit first."""
    return stream.Signature(flit_width)


def ejection_signature(*, flit_width: int) -> stream.Signature:
    """Return the stream by which a terminal takes packets: one flit a transfer, `last` high with the tail flit."""
    return stream.Signature(data.StructLayout({"data": flit_width, "last": 1}))
