"""Signatures: the channel between two routers, and the streams of a terminal."""

from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.crc import check_width
from hdnhw.machine import Machine
from hdnhw.rtl.bits import index_width

__all__ = ["ChannelSignature", "ejection_signature", "injection_signature"]


class ChannelSignature(wiring.Signature):
    """One channel, seen from the router that sends.

    A packet is L consecutive flits that start in the head phase of a slot
    (:attr:`hdnhw.timing.SlotTiming.head_phase`); there is no stalling in between, as the sender holds a credit for a
    whole packet.

    Parameters
    ----------
    machine : Machine
    num_vcs : int

    Members
    -------
    valid : Out(1)
        High while the L flits of a packet pass.
    vc : Out
        Virtual channel of the packet, a cycle ahead of its flits: that of the flit which comes in the next cycle, if
        one does; absent if there is one.
    data : Out(flit_width)
        One flit while `valid`, else anything.
    check : Out
        Its check bits, see :mod:`hdnhw.crc`; absent in machines without a crc.
    credit : In(num_vcs)
        One bit a virtual channel: whether a packet buffer has become free downstream. Between routers it is looked at
        in one phase (:attr:`hdnhw.timing.SlotTiming.credit_phase`) and means nothing in others. Of ejection it is
        looked at in every cycle; two credits are L cycles apart at least.
    """

    def __init__(self, machine: Machine, *, num_vcs: int) -> None:
        self._num_vcs = num_vcs
        flit_width = machine.spec.flit_width
        members = {"valid": Out(1), "data": Out(flit_width), "credit": In(num_vcs)}
        if machine.spec.crc:
            members["check"] = Out(check_width(flit_width))
        if num_vcs > 1:
            members["vc"] = Out(index_width(num_vcs))
        super().__init__(members)

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
