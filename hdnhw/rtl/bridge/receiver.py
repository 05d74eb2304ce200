"""The side of a link that takes frames apart."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.bits import any_of, chosen_from, equals, index_width, next_flit
from hdnhw.rtl.bridge.crc import CHECK_WIDTH, last_state, stepped_check
from hdnhw.rtl.bridge.frame import EPOCH_WIDTH, NAK_WIDTH, LinkFormat, Place
from hdnhw.rtl.channel import ejection_signature

DELAY = 2
"""Cycles that words wait until it is known whether the check is right."""


class Receiver(wiring.Component):
    """Takes frames as they come: what a frame tells counts in the cycle behind its last word, if its check is right.

    Packets are written as they come, behind those that count, and count with their frame. One that has come before is
    not written again; neither is one with a packet missing before it.

    Parameters
    ----------
    link : LinkFormat

    Members
    -------
    rx : In(stream)
        `ready` is always high.
    is_up, is_used : In(1)
        See :class:`hdnhw.rtl.bridge.session.Session`.
    ends : Out(1), good : Out(1)
        A frame has ended; it was whole. What follows is told in that cycle.
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
            **dict.fromkeys(("ends", "good", "hello", "knows", "is_open", "uses", "tells"), Out(1)),
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
        link = self._link
        valid, last, word, right = self._elaborate_check(m)
        in_header, in_check = Signal(link.header_words + 1, init=1), Signal(link.check_words, init=1)
        left, number, tags = self._elaborate_header(m, valid, word, in_header)
        is_body, due, is_due = Signal(), Signal(link.number_width, name="due"), Signal()
        m.d.comb += [
            is_due.eq(self.is_up & (number == due)),
        ]
        # What a header tells stands until the first word of the next one has been taken in.
        m.d.sync += [
            self.ends.eq(valid & last),
            self.good.eq(valid & last & right & is_body & ~left.any() & in_check[-1]),
        ]
        has_packet = valid & is_body & left.any()
        missing, is_early, brings = number - self.expected, Signal(), Signal()
        with m.If(valid):
            m.d.sync += [in_header.eq(in_header << 1), is_body.eq(~last & (is_body | in_header[-2]))]
            with m.If(is_body & ~left.any()):
                m.d.sync += in_check.eq(in_check << 1)
            with m.If(in_header[-1]):
                m.d.sync += [is_early.eq(missing.any() & ~missing[link.number_width - 1]), brings.eq(left.any())]
        is_tail, filling = self._elaborate_packets(m, has_packet, word, is_due, tags[: link.tag_width])
        with m.If(is_tail):
            m.d.sync += [left.eq(left - 1), number.eq(number + 1), tags.eq(tags >> link.tag_width)]
            with m.If(is_due):
                m.d.sync += due.eq(due + 1)
        with m.If(valid & last):
            m.d.sync += [in_header.eq(1), in_check.eq(1)]
        counts = self.good & self.is_up & ~self.hello
        with m.If(self.ends):
            with m.If(counts):
                m.d.sync += self.expected.eq(due)
            with m.Elif(self.good & self.hello & ~self.is_used):
                m.d.sync += [self.expected.eq(number), due.eq(number)]
            with m.Else():
                m.d.sync += due.eq(self.expected)
            for queue, pointer in enumerate(filling):
                committed = getattr(self, f"filled_{queue}")
                with m.If(counts):
                    m.d.sync += committed.eq(pointer)
                with m.Else():
                    m.d.sync += pointer.eq(committed)
        self._elaborate_requests(m, counts, is_early, brings, due != self.expected)
        return m

    def _elaborate_requests(self, m: Module, counts: Value, is_early: Value, brings: Value, moves: Value) -> None:
        """Ask once to send again what is missing; and again if a frame is damaged behind that."""
        waits, is_told, asks = Signal(name="waits"), Signal(name="is_told", init=1), Signal(name="asks")
        damaged, early = self.ends & ~self.good & self.is_up, counts & is_early
        m.d.comb += [
            asks.eq((damaged | early & ~waits) & is_told),
            self.tells.eq(counts & brings | asks),
        ]
        with m.If(damaged | early):
            m.d.sync += waits.eq(1)
        with m.Elif(counts & moves | ~self.is_used):
            m.d.sync += waits.eq(0)
        with m.If(asks):
            m.d.sync += [self.nak.eq(self.nak + 1), is_told.eq(0)]
        with m.Elif(self.told):
            m.d.sync += is_told.eq(1)

    def _elaborate_check(self, m: Module) -> tuple[Value, Value, Value, Signal]:
        """Return the words that come, late, and whether the check of a frame is right in the cycle of its last one."""
        width, rx = self._link.word_width, self.rx
        m.d.comb += rx.ready.eq(1)
        stages = []
        valid, last, word = rx.valid, rx.payload.last, rx.payload.data
        for stage in range(DELAY + 1):
            registers = Signal(name=f"valid_{stage}"), Signal(name=f"last_{stage}"), Signal(width, name=f"word_{stage}")
            for register, value in zip(registers, (valid, last, word), strict=True):
                m.d.sync += register.eq(value)
            valid, last, word = registers
            stages.append(registers)
        state, begins, right = Signal(CHECK_WIDTH), Signal(init=1), Signal()
        with m.If(stages[0][0]):
            m.d.sync += [
                state.eq(stepped_check(m, state | begins.replicate(CHECK_WIDTH), stages[0][2])),
                begins.eq(stages[0][1]),
            ]
        m.d.sync += right.eq(equals(state, last_state(width)))
        return valid, last, word, right

    def _elaborate_header(
        self, m: Module, valid: Value, word: Value, in_header: Signal
    ) -> tuple[Signal, Signal, Signal]:
        """Keep what headers tell; return the packets that are left, the number of the next one, and the tags."""
        link = self._link
        fields = link.fields(hello=True) | link.fields(hello=False)
        kept = [Signal(link.word_width, name=f"header_{number}") for number in range(link.header_words)]
        tags = [place for name, place in fields.items() if name.startswith("tag_")]
        of_tags = [Signal(place.width, name=f"tag_{number}") for number, place in enumerate(tags)]
        left, number = Signal(fields["count"].width, name="left"), Signal(link.number_width, name="number")
        registers = [(left, fields["count"]), (number, fields["seq"]), *zip(of_tags, tags, strict=True)]
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
        return left, number, Cat(of_tags)

    def _elaborate_packets(
        self, m: Module, comes: Value, word: Value, is_due: Value, tag: Value
    ) -> tuple[Value, list[Signal]]:
        """Write the packets that are due; return whether the last word of one comes, and the next number of queues."""
        link, parts, length = self._link, self._link.flit_words, self._link.machine.spec.packet_length
        place, part, flit = Signal(index_width(length), name="flit_place"), Signal(range(max(2, parts))), word
        ends_flit = part == parts - 1 if parts > 1 else Const(1)
        if parts > 1:
            pieces = Signal((parts - 1) * link.word_width, reset_less=True)
            flit = Cat(pieces, word)
            with m.If(comes):
                m.d.sync += [pieces.eq(Cat(pieces, word)[link.word_width :]), part.eq(Mux(ends_flit, 0, part + 1))]
        is_tail, following = Signal(), Signal.like(place)
        m.d.comb += [
            following.eq(next_flit(place, length)),
            is_tail.eq(comes & ends_flit & (equals(following, 0) if length > 1 else Const(1))),
        ]
        with m.If(comes & ends_flit):
            m.d.sync += place.eq(following)
        with m.If(self.ends):
            m.d.sync += [place.eq(0), part.eq(0)]
        filling = [Signal(link.number_width, name=f"filling_{queue}") for queue in range(len(link.queues))]
        here = [equals(tag, queue) for queue in range(len(link.queues))]
        for pointer, is_here in zip(filling, here, strict=True):
            with m.If(is_tail & is_due & is_here):
                m.d.sync += pointer.eq(pointer + 1)
        self._elaborate_writes(m, comes & ends_flit & is_due, flit, place, tag, filling, here)
        return is_tail, filling

    def _elaborate_writes(
        self, m: Module, en: Value, flit: Value, place: Value, tag: Value, filling: list[Signal], here: list[Value]
    ) -> None:
        """Write a flit two cycles later; none from a packet without room on, as the header must be wrong."""
        link = self._link
        width = link.number_width
        begins, writes, is_free = Signal(), Signal(), Signal()
        is_wrong, to = Signal(), Signal(len(link.ports))
        slot, first = Signal(width, reset_less=True), Signal(width, reset_less=True)
        taken = [getattr(self, f"taken_{queue}") for queue in range(len(link.queues))]
        channels = [
            any_of(is_here for is_here, (own, _) in zip(here, link.queues, strict=True) if own == channel)
            for channel in range(len(link.ports))
        ]
        vc, at, data = (Signal.like(value, name=f"{value.name}_found") for value in (self.vc, self.place, self.data))
        m.d.sync += [
            writes.eq(en),
            begins.eq(equals(place, 0)),
            to.eq(Cat(channels)),
            slot.eq(chosen_from(filling, tag)),
            first.eq(chosen_from(taken, tag)),
            vc.eq(chosen_from([Const(vc, len(self.vc)) for _, vc in link.queues], tag)),
            at.eq(place),
            data.eq(flit),
        ]
        m.d.comb += is_free.eq(slot != first ^ 1 << width - 1)
        m.d.sync += [
            is_wrong.eq(~self.ends & (is_wrong | (writes & begins & ~is_free))),
            self.en.eq(to & (writes & ~is_wrong & (is_free | ~begins)).replicate(len(to))),
            *(out.eq(value) for out, value in ((self.vc, vc), (self.slot, slot), (self.place, at), (self.data, data))),
        ]


def _part(word: Value, place: Place) -> Value:
    return word[place.bit : place.bit + place.width]
