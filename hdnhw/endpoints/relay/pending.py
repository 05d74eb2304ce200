"""What a relay knows of the request that it has sent for the first packet of a queue."""

from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.relay.format import RelayFormat
from hdnhw.rtl.bits import equals
from hdnhw.rtl.header import header_layout


def notice_layout(packets: RelayFormat) -> data.StructLayout:
    """Return what a notice says, packed addresses: to whom it goes, and the destination of the packet that was lost."""
    address = packets.flits.address_width
    return data.StructLayout({"src": address, "lost": address})


def request_layout(packets: RelayFormat) -> data.StructLayout:
    """Return what is kept of a request: who asks, and the queue of the class, where there are several."""
    fields = {"src": packets.flits.address_width}
    if packets.endpoints.waypoints > 1 and packets.queues > 1:
        fields["queue"] = (packets.queues - 1).bit_length()
    return data.StructLayout(fields)


class PendingRequest(wiring.Component):
    """Remembers whom the first packet of a queue has asked for a buffer of the class below, and for how long.

    Members
    -------
    ask : In(1)
        The request is the next packet.
    offers : In(1)
        Its head flit is offered for the first time.
    header : In(header_layout)
        Of the packet that asks, while `offers`.
    grants : In(1)
        A grant for the queue comes.
    granter : In(address width)
        From whom.
    send : In(1)
        The packet is the next one to be sent.
    discard : In(1)
        The packet is discarded. Not without `overdue` in the cycle before.
    ready : Out(1)
        The packet may ask, or, if it is granted, go.
    granted : Out(1)
    accepts : Out(1)
        The grant that came a cycle ago is the one that was asked for; none is that came before the cycle behind
        `offers`.
    overdue : Out(1)
        There has been no grant in time: the packet may be discarded in the next cycle.
    notice : Out(notice_layout)
        For the packet that asks.
    """

    def __init__(self, packets: RelayFormat) -> None:
        self._packets = packets
        super().__init__(
            {
                "ask": In(1),
                "offers": In(1),
                "header": In(header_layout(packets)),
                "grants": In(1),
                "granter": In(packets.flits.address_width),
                "send": In(1),
                "discard": In(1),
                "ready": Out(1, init=1),
                "granted": Out(1),
                "accepts": Out(1),
                "overdue": Out(1),
                "notice": Out(notice_layout(packets)),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        timeout = self._packets.endpoints.timeout
        dst, waited, late = Signal.like(self.granter), Signal(range(timeout)), Signal()
        offered, waits, came, fits, matches = (Signal() for _ in range(5))
        m.d.sync += [came.eq(self.grants), fits.eq(waits & (self.granter == dst))]
        m.d.comb += [
            matches.eq(came & fits),
            waits.eq(offered & ~self.granted),
            self.accepts.eq(matches & waits & ~self.discard),
            self.overdue.eq(waits & late & ~matches & ~self.discard),
        ]
        with m.If(self.offers):
            m.d.sync += [
                dst.eq(self.header.dst),
                self.notice.src.eq(self.header.src),
                self.notice.lost.eq(self.header.stop_1),
                offered.eq(1),
            ]
        # A match that is not accepted, as one was before or the packet is discarded, finds it ready anyway.
        m.d.sync += self.ready.eq(self.ready & ~self.ask | matches | self.discard)
        with m.If(self.send | self.discard):
            m.d.sync += [self.granted.eq(0), offered.eq(0)]
        with m.Elif(self.accepts):
            m.d.sync += self.granted.eq(1)
        with m.If(~offered):
            m.d.sync += [waited.eq(0), late.eq(0)]
        with m.Elif(~late):
            m.d.sync += [waited.eq(waited + 1), late.eq(equals(waited, timeout - 2))]
        return m
