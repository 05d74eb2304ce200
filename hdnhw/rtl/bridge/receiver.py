"""The side of a link that takes frames apart."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.bits import any_of, chosen_from, equals, index_width
from hdnhw.rtl.bridge.crc import CHECK_WIDTH, START, added, last_state, stepped, turned
from hdnhw.rtl.bridge.frame import EPOCH_WIDTH, NAK_WIDTH, LinkFormat, Place
from hdnhw.rtl.bridge.slots import held, packet_place
from hdnhw.rtl.channel import ejection_signature

DELAY = 3
"""Cycles that words wait until it is known whether the check is right."""


class Receiver(wiring.Component):
    """Takes frames as they come: what a frame tells counts in the cycle behind its last word, if its check is right.

    Packets are written as they come, behind those that count, and count with their frame. One that has come before is
    not written again; neither is one with a packet missing before it.

    Members
    -------
    rx : In(stream)
        `ready` is always high.
    is_up, is_used : In(1)
        See :class:`hdnhw.rtl.bridge.session.Session`.
    ends : Out(1), good : Out(1)
        A frame has ended; it was whole. What follows is told in that cycle.
    counts, renews : Out(1)
        It was, and is one of data, and the link is up; or it is a hello before the sides knew each other.
    hello, knows, is_open, uses : Out(1), asked, acked, seen, theirs, level_Q : Out
        The fields of its header, ``nak`` as `asked`, ``ack`` as `acked`, and the epochs, ``own`` as `theirs`.
    tells : Out(1)
        It must be answered: it brought packets, or something has to be sent again.
    nak : Out
        How often this side has asked to send again.
    told : In(1)
        Whether the sender says so in this cycle.
    expected : Out(number_width)
        The number of the next packet.
    filled_Q : Out(number_width), taken_Q : In(number_width)
        Of queue Q, the number of the next packet, and of the first that takes a buffer.
    en : Out(channels), vc, slot, place, data : Out
        Writes flits, see :class:`hdnhw.rtl.bridge.arrivals.Arrivals`.
    """

    def __init__(self, link: LinkFormat) -> None:
        self._link = link
        width, queues = link.number_width, range(len(link.queues))
        members: dict[str, Any] = {
            "rx": In(ejection_signature(flit_width=link.word_width)),
            **dict.fromkeys(("is_up", "is_used", "told"), In(1)),
            **dict.fromkeys(("ends", "good", "counts", "renews", "hello", "knows", "is_open", "uses", "tells"), Out(1)),
            **dict.fromkeys(("asked", "nak"), Out(NAK_WIDTH)),
            **dict.fromkeys(("acked", "expected"), Out(width)),
            **dict.fromkeys(("seen", "theirs"), Out(EPOCH_WIDTH)),
            "en": Out(len(link.ports)),
            "vc": Out(index_width(max(vc for _, vc in link.queues) + 1)),
            "slot": Out(width - 1),
            "place": Out(index_width(link.machine.spec.packet_length)),
            "data": Out(link.machine.word_width),
        }
        for queue in queues:
            members |= {f"level_{queue}": Out(width), f"filled_{queue}": Out(width), f"taken_{queue}": In(width)}
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        link, width = self._link, self._link.number_width
        ahead, valid, last, word, right = self._elaborate_check(m)
        # The bit behind the header stands at the first word after it.
        in_header = Signal(link.header_words + 1, name="in_header", init=1)
        in_check, in_packets = Signal(link.check_words, name="in_check"), Signal(name="in_packets")
        begins_body, ends_packets, comes = Signal(), Signal(), Signal()
        place, _, ends_flit, is_tail, next_is_tail = packet_place(m, link, valid, in_packets, clears=last)
        left, number, tags = self._elaborate_header(m, valid, word, in_header)
        tail, is_final = Signal(name="tail"), Signal(name="is_final")
        m.d.comb += [
            comes.eq(valid & in_packets),
            begins_body.eq(valid & in_header[-2]),
            ends_packets.eq(tail & is_final),
        ]
        if link.packet_words > 1:
            m.d.sync += tail.eq(ahead & next_is_tail)
        else:
            m.d.comb += tail.eq(valid & is_tail)
        with m.If(last):
            m.d.sync += [in_header.eq(1), in_packets.eq(0), in_check.eq(0)]
        with m.Elif(valid):
            m.d.sync += [
                in_header.eq(in_header << 1),
                in_packets.eq(Mux(begins_body, left.any(), in_packets & ~ends_packets)),
                in_check.eq(Cat(begins_body & ~left.any() | ends_packets, in_check[:-1])),
            ]
        m.d.sync += is_final.eq(equals(left, 1))
        due, is_due = Signal(width, name="due"), Signal(name="is_due")
        behind, has_number = Signal(width, name="behind"), Signal(name="has_number")
        is_early, brings = Signal(), Signal()
        with m.If(tail):
            m.d.sync += [left.eq(left - 1), is_final.eq(equals(left, 2)), tags.eq(tags >> link.tag_width)]
        # Of the packets until the one that is due, which is not so far away that the sign would change.
        m.d.sync += has_number.eq(valid & in_header[link.fields(hello=False)["seq"].word])
        with m.If(has_number):
            m.d.sync += [behind.eq(due - number), is_due.eq(number == due)]
        with m.Elif(tail & ~is_due):
            m.d.sync += [behind.eq(behind - 1), is_due.eq(equals(behind, 1))]
        with m.If(valid & in_header[-1]):
            m.d.sync += [is_early.eq(behind[-1]), brings.eq(in_packets)]
        # What a header tells stands until the first word of the next one has been taken in.
        is_whole, restores, is_hurt, moves = Signal(), Signal(), Signal(), Signal()
        m.d.comb += is_whole.eq(last & right & in_check[-1])
        m.d.sync += [
            self.ends.eq(last),
            self.good.eq(is_whole),
            self.counts.eq(is_whole & self.is_up & ~self.hello),
            self.renews.eq(is_whole & self.hello & ~self.is_used),
            restores.eq(last & ~(is_whole & self.is_up & ~self.hello)),
            is_hurt.eq(last & ~is_whole & self.is_up),
        ]
        fills = tail & is_due
        filling = self._elaborate_queues(m, fills, tags[: link.tag_width], restores)
        self._elaborate_writes(m, comes, ends_flit & is_due, word, place, tags[: link.tag_width], filling)
        with m.If(fills):
            m.d.sync += [due.eq(due + 1), moves.eq(1)]
        with m.If(self.ends):
            m.d.sync += moves.eq(0)
        with m.If(self.counts):
            m.d.sync += self.expected.eq(due)
        with m.If(restores):
            m.d.sync += due.eq(self.expected)
        with m.If(self.renews):
            m.d.sync += [self.expected.eq(number), due.eq(number)]
        self._elaborate_requests(m, is_hurt, self.counts & is_early, self.counts & brings, self.counts & moves)
        return m

    def _elaborate_requests(self, m: Module, is_hurt: Value, is_early: Value, brings: Value, moves: Value) -> None:
        """Ask once to send again what is missing; and again if a frame is damaged behind that."""
        waits, is_told, asks = Signal(name="waits"), Signal(name="is_told", init=1), Signal(name="asks")
        m.d.comb += [
            asks.eq((is_hurt | is_early & ~waits) & is_told),
            self.tells.eq(brings | asks),
        ]
        with m.If(is_hurt | is_early):
            m.d.sync += waits.eq(1)
        with m.Elif(moves | ~self.is_used):
            m.d.sync += waits.eq(0)
        with m.If(asks):
            m.d.sync += [self.nak.eq(self.nak + 1), is_told.eq(0)]
        with m.Elif(self.told):
            m.d.sync += is_told.eq(1)

    def _elaborate_check(self, m: Module) -> tuple[Value, Value, Value, Value, Signal]:
        """Return the words that come, late, and whether the check of a frame is right in the cycle of its last one.

        Ahead of these, return whether there is a word in the next cycle.
        """
        width, rx = self._link.word_width, self.rx
        m.d.comb += rx.ready.eq(1)
        stages = []
        valid, last, word = rx.valid, rx.valid & rx.payload.last, rx.payload.data
        for stage in range(DELAY + 1):
            registers = Signal(name=f"valid_{stage}"), Signal(name=f"last_{stage}"), Signal(width, name=f"word_{stage}")
            for register, value in zip(registers, (valid, last, word), strict=True):
                m.d.sync += register.eq(value)
            valid, last, word = registers
            stages.append(registers)
        start = turned(START, width)
        state, found, right = Signal(CHECK_WIDTH, name="state", init=start), Signal(CHECK_WIDTH, name="found"), Signal()
        following = stepped(state, held(m, added(stages[0][2])), width)
        m.d.sync += [found.eq(following), right.eq(equals(found, turned(last_state(width), width)))]
        with m.If(stages[1][1]):
            m.d.sync += state.eq(start)
        with m.Elif(stages[1][0]):
            m.d.sync += state.eq(following)
        return stages[-2][0], valid, last, word, right

    def _elaborate_header(
        self, m: Module, valid: Value, word: Value, in_header: Signal
    ) -> tuple[Signal, Value, Signal]:
        """Keep what headers tell; return the packets that are left, the number of the first one, and the tags."""
        link = self._link
        fields = link.fields(hello=True) | link.fields(hello=False)
        kept = [Signal(link.word_width, name=f"header_{number}") for number in range(link.header_words)]
        tags = [place for name, place in fields.items() if name.startswith("tag_")]
        of_tags = [Signal(place.width, name=f"tag_{number}") for number, place in enumerate(tags)]
        left = Signal(fields["count"].width, name="left")
        registers = [(left, fields["count"]), *zip(of_tags, tags, strict=True)]
        for place, register in enumerate(kept):
            with m.If(valid & in_header[place]):
                m.d.sync += register.eq(word)
                m.d.sync += [one.eq(_part(word, at)) for one, at in registers if at.word == place]
        told = {
            "hello": self.hello,
            "knows": self.knows,
            "is_open": self.is_open,
            "uses": self.uses,
            "nak": self.asked,
            "ack": self.acked,
        }
        told |= {f"level_{queue}": getattr(self, f"level_{queue}") for queue in range(len(link.queues))}
        for name, epoch in (("seen", self.seen), ("own", self.theirs)):
            half = EPOCH_WIDTH // 2
            told |= {f"{name}_{place}": epoch[place * half : (place + 1) * half] for place in range(2)}
        m.d.comb += [value.eq(_part(kept[fields[name].word], fields[name])) for name, value in told.items()]
        return left, _part(kept[fields["seq"].word], fields["seq"]), Cat(of_tags)

    def _elaborate_queues(self, m: Module, fills: Value, tag: Value, restores: Value) -> list[Signal]:
        """Count the packets of each queue; return the numbers of the next ones, if this frame is right."""
        filling = []
        for queue in range(len(self._link.queues)):
            pointer, committed = (
                Signal(self._link.number_width, name=f"filling_{queue}"),
                getattr(self, f"filled_{queue}"),
            )
            filling.append(pointer)
            with m.If(self.counts):
                m.d.sync += committed.eq(pointer)
            with m.If(restores):
                m.d.sync += pointer.eq(committed)
            with m.Elif(fills & equals(tag, queue)):
                m.d.sync += pointer.eq(pointer + 1)
        return filling

    def _elaborate_writes(
        self, m: Module, comes: Value, en: Value, word: Value, place: Value, tag: Value, filling: list[Signal]
    ) -> None:
        """Write a flit three cycles later; none from a packet without room on, as the header must be wrong."""
        link, width, parts = self._link, self._link.number_width, self._link.flit_words
        flit = word
        if parts > 1:
            pieces = Signal((parts - 1) * link.word_width, name="pieces", reset_less=True)
            flit = Cat(pieces, word)
            with m.If(comes):
                m.d.sync += pieces.eq(flit[link.word_width :])
        is_free, is_wrong, ended = Signal(name="is_free"), Signal(name="is_wrong"), Signal()
        slot, first, late = (Signal(width, name=name, reset_less=True) for name in ("slot_found", "first", "late_slot"))
        taken = [getattr(self, f"taken_{queue}") for queue in range(len(link.queues))]
        to = Cat(
            any_of(equals(tag, queue) for queue, (own, _) in enumerate(link.queues) if own == channel)
            for channel in range(len(link.ports))
        )
        vc = chosen_from([Const(vc, len(self.vc)) for _, vc in link.queues], tag)
        values = comes & en, equals(place, 0), to, vc, place, flit
        for stage in range(2):
            registers = tuple(Signal(len(value), name=f"write_{stage}_{number}") for number, value in enumerate(values))
            m.d.sync += [register.eq(value) for register, value in zip(registers, values, strict=True)]
            values = registers
        writes, begins, to, vc, at, data = values
        m.d.sync += [
            slot.eq(chosen_from(filling, tag)),
            first.eq(chosen_from(taken, tag)),
            late.eq(slot),
            self.slot.eq(late),
            is_free.eq(slot != first ^ 1 << width - 1),
            ended.eq(self.ends),
            is_wrong.eq(~ended & (is_wrong | writes & begins & ~is_free)),
            self.en.eq(to & (writes & ~is_wrong & (is_free | ~begins)).replicate(len(to))),
            *(out.eq(value) for out, value in ((self.vc, vc), (self.place, at), (self.data, data))),
        ]


def _part(word: Value, place: Place) -> Value:
    return word[place.bit : place.bit + place.width]
