"""From frames to packets, and what they ask for: the second part of the sending half of an endpoint."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.axi_stream.format import PacketKind
from hdnhw.endpoints.axi_stream.format_pool import FramePool
from hdnhw.endpoints.axi_stream.segmenter import FRAMES, FrameSignature, whole_layout
from hdnhw.rtl.bits import below, counted, equals, index_width, next_flit, padded
from hdnhw.rtl.channel import injection_signature
from hdnhw.rtl.header import header_layout

SHORT = 2
"""Flits of packets that are chosen by what is true in the same cycle; for longer ones there is time for registers."""


class RequestPlanner(wiring.Component):
    """Add up what the next packet may ask for: of frames that are whole, all to where the oldest one goes.

    Frames are looked at one after the other, each seven cycles or more, ahead of their packets. A frame that is short
    is passed over, so is the oldest one if it has asked by itself; it stops at one to another destination.

    Parameters
    ----------
    pool : FramePool
        With grants.

    Members
    -------
    ahead : In(stream of whole_layout)
    dst : In
        Where the oldest frame goes.
    next_frame : In(1)
        The frame behind the oldest one has become the oldest one in this cycle.
    alone : In(1)
        The oldest frame asks by itself, or has done so.
    passed : Out(1)
        The oldest frame has been looked at: it is short, has asked, or is in what is added up.
    too_long : Out(1)
        The oldest frame must ask by itself, as it is longer than what can be asked for.
    waits : In(1)
        Nothing can be asked for.
    asks : In(1)
        What is offered is being asked for.
    offers : Out(1)
    packets, batch : Out
        Packets to ask for, and their frames.
    """

    def __init__(self, pool: FramePool) -> None:
        self._pool = pool
        super().__init__(
            {
                "ahead": In(stream.Signature(whole_layout(pool))),
                "dst": In(pool.frames.flits.address_width),
                "next_frame": In(1),
                "alone": In(1),
                "passed": Out(1),
                "too_long": Out(1),
                "waits": In(1),
                "asks": In(1),
                "offers": Out(1),
                "packets": Out(pool.request_width),
                "batch": Out(index_width(FRAMES) + 1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        lead, is_behind = Signal(index_width(FRAMES) + 1), Signal()  # frames looked at ahead, and whether there are any
        adds, skips, passes, may_offer, stays = Signal(), Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            passes.eq(adds | skips),
            stays.eq(~self.next_frame & ~self.ahead.ready & ~may_offer),
            self.passed.eq(is_behind & ~self.next_frame),
        ]
        m.d.sync += [
            # An oldest frame that leaves before it was looked at is looked at no more.
            self.ahead.ready.eq(passes | (self.next_frame & ~is_behind)),
            lead.eq(counted(lead, passes, self.next_frame & (is_behind | passes))),
            is_behind.eq(Mux(self.next_frame, is_behind & (passes | ~equals(lead, 1)), is_behind | passes)),
        ]
        self._elaborate_judging(m, stays, is_behind, adds, skips, may_offer)
        return m

    def _elaborate_judging(
        self, m: Module, stays: Value, is_behind: Value, adds: Signal, skips: Signal, may_offer: Signal
    ) -> None:
        """Look at a frame in three cycles, and add up; `is_behind` says that it is not the oldest one."""
        pool, ahead, stage = self._pool, self.ahead.payload, Signal(3)
        oldest, alike = Signal.like(self.dst), Signal()
        total, fits = Signal(max(pool.count_width, pool.request_width) + 1), Signal()
        fits_alone, is_too_long, judges = Signal(), Signal(), Signal()
        may_add, may_skip = Signal(), Signal()
        m.d.comb += [
            judges.eq(stage[-1] & stays),
            self.too_long.eq(is_too_long & ~self.next_frame),
        ]
        m.d.sync += [
            stage.eq(Mux(stays & ~stage[-1], Cat(self.ahead.valid, stage[:-1]), 0)),
            oldest.eq(self.dst),
            alike.eq(ahead.dst == oldest),
            fits.eq(below(total, pool.most_asked + 1)),
            fits_alone.eq(below(ahead.packets, pool.most_asked + 1)),
            may_add.eq(ahead.long & fits & Mux(is_behind, alike, ~self.alone)),
            may_skip.eq(Mux(is_behind, ~ahead.long & alike, ~ahead.long | self.alone)),
            adds.eq(judges & may_add),
            skips.eq(judges & may_skip),
            is_too_long.eq((is_too_long | (judges & ahead.long & ~fits_alone & ~is_behind)) & ~self.next_frame),
        ]
        self._elaborate_offer(m, adds, ahead.packets, total, may_offer)

    def _elaborate_offer(self, m: Module, adds: Value, need: Value, total: Signal, may_offer: Signal) -> None:
        """Add up, and offer what there is when it can be asked for."""
        packets, batch, some = Signal.like(total, name="sum"), Signal.like(self.batch, name="frames"), Signal()
        offered, width = Signal(), len(need)
        low = packets[:width] + need
        m.d.comb += offered.eq(may_offer & ~adds)
        m.d.sync += [
            total.eq(Cat(low[:width], packets[width:] + low[width])),
            may_offer.eq((some | adds) & ~self.offers & ~self.waits & ~offered),
        ]
        with m.If(offered):
            m.d.sync += [packets.eq(0), batch.eq(0), some.eq(0)]
            m.d.sync += [self.packets.eq(packets), self.batch.eq(batch), self.offers.eq(1)]
        with m.Elif(adds):
            m.d.sync += [packets.eq(total), batch.eq(batch + 1), some.eq(1)]
        with m.If(self.asks):
            m.d.sync += self.offers.eq(0)


class PacketSender(wiring.Component):
    """Compose packets and inject them.

    Grants to others come first whenever a packet is chosen. While one packet is sent the next is composed, and the one
    after it chosen: there is no gap.

    Members
    -------
    address : In(address width)
        The node's own packed address.
    oldest : In(FrameSignature)
    reply : In(stream of packed addresses)
        Who is to be granted.
    granted : In(1)
        High for one cycle when a grant has come.
    inject : Out(injection_signature)
        Once its head flit is offered, a packet goes on without a pause.
    sent : Out(1)
        High for one cycle for each frame whose last packet has been composed.
    """

    def __init__(self, pool: FramePool) -> None:
        self._pool, self._frames = pool, pool.frames
        address = pool.frames.flits.address_width
        super().__init__(
            {
                "address": In(address),
                "oldest": In(FrameSignature(pool)),
                "reply": In(stream.Signature(address)),
                "granted": In(1),
                "inject": Out(injection_signature(flit_width=pool.frames.flits.flit_width)),
                "sent": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        if self._pool.grants:
            self._planner = RequestPlanner(self._pool)
            self._has_asked = Signal()  # the oldest frame that needs a grant has one, or has asked, or asks next
            self._is_open = Signal()  # a frame has been granted and has not ended
        composed, header = Signal(), Signal(header_layout(self._frames))
        stop = Signal.like(header.end)
        load = self._elaborate_sending(m, composed, header, stop)
        self._elaborate_composing(m, composed, header, stop)
        with m.If(load):
            m.d.sync += composed.eq(0)
        return m

    def _elaborate_composing(self, m: Module, composed: Signal, header: Any, stop: Signal) -> None:
        """Compose what was chosen, once the packet before has been taken over."""
        oldest, frame = self.oldest, self.oldest.frame
        replies, sends, sends_last, alone, may_ask, is_last = (
            Signal(name=name) for name in ("replies", "sends", "sends_last", "alone", "may_ask", "is_last")
        )
        first, settles = Signal(init=1), Signal()
        may_send, may_alone, last = self._elaborate_permission(m, alone)
        request = self._elaborate_requests(m, ~composed, alone, may_ask)
        with m.If(~(replies | sends)):
            m.d.sync += [
                replies.eq(self.reply.valid),
                sends.eq(~self.reply.valid & may_send & ~settles),
                sends_last.eq(~self.reply.valid & may_send & ~settles & last),
                alone.eq(~self.reply.valid & may_alone & ~settles),
                may_ask.eq(~self.reply.valid & may_send & ~settles & ~may_alone & ~last),
                is_last.eq(last),
            ]
        with m.Elif(~composed):
            m.d.sync += [replies.eq(0), sends.eq(0), sends_last.eq(0), alone.eq(0), may_ask.eq(0)]
        m.d.comb += [
            self.reply.ready.eq(replies & ~composed),
            oldest.take_packet.eq(sends & ~composed),
            oldest.take_frame.eq(sends_last & ~composed),
        ]
        m.d.sync += self.sent.eq(oldest.take_frame)
        if self._frames.flits.packet_length > SHORT:
            m.d.sync += settles.eq(oldest.take_packet)
        with m.If(oldest.take_packet):
            m.d.sync += first.eq(is_last)
        with m.If(~composed):
            m.d.sync += [
                composed.eq(replies | sends),
                header.dst.eq(Mux(replies, self.reply.payload, frame.dst)),
                header.src.eq(self.address),
                header.kind.eq(Mux(replies, int(PacketKind.GRANT), ~first)),
                header.last.eq(is_last),
                header.end.eq(Mux(is_last, frame.end, request[: len(header.end)])),
                header.keep.eq(Mux(is_last, frame.keep, request[len(header.end) :])),
                header.user.eq(frame.user),
                stop.eq(Mux(is_last, frame.end, self._frames.payload_flits - 1)),
            ]

    def _elaborate_permission(self, m: Module, alone: Value) -> tuple[Signal, Signal, Signal]:
        """Return whether the next packet may be sent, whether its frame must ask by itself, whether it is the last."""
        pool, oldest, frame = self._pool, self.oldest, self.oldest.frame
        domain = "sync" if self._frames.flits.packet_length > SHORT else "comb"
        may_send, may_alone, last = Signal(), Signal(), Signal()
        number = Signal.like(frame.packets, name="number", init=pool.count(1))  # of the next packet
        with m.If(oldest.take_packet):
            m.d.sync += number.eq(Mux(oldest.take_frame, pool.count(1), number + 1))
        m.d[domain] += last.eq(oldest.whole & (number == frame.packets))
        if not pool.grants:
            m.d[domain] += may_send.eq(oldest.some)
            return may_send, may_alone, last
        at_gate, beyond = Signal(init=pool.prompt == 2), Signal()
        with m.If(oldest.take_packet):
            m.d.sync += [
                at_gate.eq(Mux(oldest.take_frame, pool.prompt == 2, equals(number, pool.count(pool.prompt - 2)))),
                beyond.eq(~oldest.take_frame & (beyond | equals(number, pool.count(pool.prompt - 1)))),
            ]
        is_short, asks_alone = oldest.whole & ~frame.long, Mux(oldest.whole, self._planner.too_long, oldest.more)
        m.d[domain] += [
            may_alone.eq(at_gate & asks_alone),
            may_send.eq(
                oldest.some
                & (
                    ~(at_gate | beyond)
                    | is_short
                    | (at_gate & ((self._planner.passed & self._has_asked) | asks_alone))
                    | (beyond & self._is_open)
                )
            ),
        ]
        return may_send, may_alone, last

    def _elaborate_requests(self, m: Module, takes: Value, alone: Value, may_ask: Value) -> Value:
        """Keep what has been asked for and granted; return what a data packet asks for that is not the last.

        The next packet asks by itself, or may ask for a batch, when it `takes` place.
        """
        if not self._pool.grants:
            return Const(0, self._pool.request_width)
        planner, oldest, is_open = self._planner, self.oldest, self._is_open
        open_ = Signal.like(planner.batch, name="open")  # frames that have been granted and not ended
        waits, has_asked, batch = Signal(), Signal(), Signal.like(planner.batch, name="asked")
        gained, ends, asks, asks_alone = Signal.like(batch), Signal(), Signal(), Signal()
        m.submodules.planner = planner
        m.d.comb += [
            planner.ahead.valid.eq(oldest.ahead.valid),
            planner.ahead.payload.eq(oldest.ahead.payload),
            oldest.ahead.ready.eq(planner.ahead.ready),
            planner.dst.eq(oldest.frame.dst),
            planner.next_frame.eq(self.sent),
            planner.waits.eq(waits),
            planner.alone.eq(alone | has_asked),
            asks.eq(may_ask & takes & ~waits & planner.offers),
            asks_alone.eq(alone & takes),
            planner.asks.eq(asks),
        ]
        m.d.sync += [
            has_asked.eq((has_asked | asks_alone) & ~oldest.take_frame),
            waits.eq((waits | asks | asks_alone) & ~self.granted),
            gained.eq(Mux(self.granted, batch, 0)),
            ends.eq(oldest.take_frame & oldest.frame.long),
            open_.eq((open_ + gained - padded(ends, len(open_)))[: len(open_)]),
            is_open.eq(gained.any() | open_[1:].any() | (open_[0] & ~ends)),
        ]
        with m.If(asks_alone):
            m.d.sync += batch.eq(1)
        with m.Elif(asks):
            m.d.sync += batch.eq(planner.batch)
        m.d.comb += self._has_asked.eq(waits | planner.offers | is_open)
        return Mux(alone, ~0, Mux(waits | ~planner.offers, 0, planner.packets))

    def _elaborate_sending(self, m: Module, composed: Signal, header: Any, stop: Signal) -> Value:
        """Send header and data through a register; return whether the composed packet is taken over."""
        frames = self._frames
        width, length, headers = frames.flits.flit_width, frames.flits.packet_length, frames.header_flits
        active, shift = Signal(), Signal(frames.header_width)
        flit, index, end = Signal(index_width(length)), Signal.like(header.end), Signal.like(header.end)
        is_tail, in_header, has_data = Signal(), Signal(headers, init=1), Signal()
        advance, tail, load = Signal(), Signal(), Signal()
        room = ~self.inject.valid | self.inject.ready
        following = next_flit(flit, length)
        m.d.comb += [
            advance.eq(active & room),
            tail.eq(advance & is_tail),
            load.eq(composed & (~active | tail)),
            self.oldest.take_word.eq(advance & ~in_header.any() & has_data),
        ]
        with m.If(room):
            m.d.sync += [
                self.inject.valid.eq(active),
                self.inject.payload.eq(Mux(in_header.any(), shift[:width], self.oldest.word)),
            ]
        with m.If(advance):
            m.d.sync += [
                flit.eq(following),
                is_tail.eq(equals(next_flit(following, length), 0)),
                in_header.eq(Cat(is_tail, in_header[:-1])),
            ]
            if headers > 1:
                m.d.sync += shift.eq(shift[width:])
        with m.If(self.oldest.take_word):
            m.d.sync += [index.eq(index + 1), has_data.eq(index != end)]
        with m.If(tail):
            m.d.sync += active.eq(0)
        with m.If(load):
            m.d.sync += [active.eq(1), shift.eq(header), has_data.eq(~header.kind[1]), index.eq(0), end.eq(stop)]
        return load
