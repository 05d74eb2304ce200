"""The side of a link that makes frames, and keeps their packets until the other side has them."""

from collections.abc import Mapping
from functools import reduce
from operator import xor
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine.timing import power_of_two
from hdnhw.rtl.bits import counted, equals, index_width, next_flit, padded, selected
from hdnhw.rtl.bridge.crc import CHECK_WIDTH, START, added, stepped, straight, turned
from hdnhw.rtl.bridge.frame import EPOCH_WIDTH, NAK_WIDTH, TRIP, LinkFormat
from hdnhw.rtl.bridge.slots import UNCHECKED, held, packet_place
from hdnhw.rtl.channel import ejection_signature

IDLE_CYCLES = 256
"""Cycles, a power of two, without a frame after which one is sent without packets."""


QUEUE = 16
"""Words that wait for the wires at most, a power of two: half of it is more than there are under way to it."""


class Sender(wiring.Component):
    """Keeps packets in the order in which they are taken, and sends them in frames, again from the first unacknowledged
    one on when asked to, or when nothing is acknowledged for some time.

    While the sides do not know each other, packets are dropped, one in two cycles.

    Words are chosen while there is room for them at the end of the way: behind that they move in each cycle.

    Members
    -------
    take : In(1), tag : In
        A packet is taken: the number of its queue.
    writes : In(1), flit : In(word_width)
        Its flits, at any pace, of one packet after the other; the first no later than 5 cycles behind `take`.
    has_room : Out(1)
        Whether a packet may be taken; right again 2 cycles after one was.
    is_up, is_used : In(1)
        See :class:`hdnhw.rtl.bridge.session.Session`.
    nak, ack, knows, own, seen, filled_Q, taken_Q : In
        What headers tell, see :meth:`hdnhw.rtl.bridge.frame.LinkFormat.fields`; may change in any cycle.
    told : Out(1)
        Whether `nak` is put into a header in this cycle.
    tells, greets : In(1)
        A header of data, or a hello, must be sent that begins later.
    acknowledges, renews : In(1)
        A header of data has come; or a hello before the sides knew each other.
    acked : In(number_width), asked : In
        `ack` and `nak` in it.
    tx : Out(stream)
    resent, dropped : Out(1)
        A frame begins with packets that were sent before; a packet is dropped.
    """

    def __init__(self, link: LinkFormat) -> None:
        self._link = link
        width, nak = link.number_width, NAK_WIDTH
        members: dict[str, Any] = {
            **dict.fromkeys(("take", "writes", "is_up", "is_used", "knows", "tells", "greets"), In(1)),
            **dict.fromkeys(("acknowledges", "renews"), In(1)),
            **dict.fromkeys(("has_room", "told", "resent", "dropped"), Out(1)),
            "tag": In(link.tag_width),
            "flit": In(link.machine.word_width),
            **dict.fromkeys(("ack", "acked"), In(width)),
            **dict.fromkeys(("nak", "asked"), In(nak)),
            **dict.fromkeys(("own", "seen"), In(EPOCH_WIDTH)),
            "tx": Out(ejection_signature(flit_width=link.word_width)),
        }
        for queue in range(len(link.queues)):
            members |= {f"filled_{queue}": In(width), f"taken_{queue}": In(width)}
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        link, width = self._link, self._link.number_width
        self._advance, self._is_busy = Signal(name="advance"), Signal(name="is_busy")
        self._begins, self._holds, self._is_calm = Signal(name="begins"), Signal(name="holds"), Signal(name="is_calm")
        self._in_header = Signal(link.header_words, name="in_header")
        self._reading_header = Signal.like(self._in_header, name="reading_header")
        self._is_header = Signal(name="is_header")
        self._in_check = Signal(link.check_words, name="in_check")
        self._in_packets, self._has_packets = Signal(name="in_packets"), Signal(name="has_packets")
        self._ends_packets = Signal(name="ends_packets")
        self._says_hello, self._slot = Signal(name="says_hello"), Signal(width, name="slot")
        self._left, self._is_final = Signal(link.most_packets.bit_length(), name="left"), Signal(name="is_final")
        self._written, self._acked = Signal(width, name="written"), Signal(width, name="unacknowledged")
        self._first, self._following = Signal(width, name="first"), Signal(width, name="following")
        self._gathered = Signal.like(self._left, name="gathered")
        self._back, self._goes_back = Signal(name="back"), Signal(name="goes_back")
        self._plans, self._ends_header = Signal(name="planned"), Signal(name="ends_header")
        m.d.comb += self._holds.eq(self._has_packets & (self._plans | self._is_header))
        self._elaborate_window(m)
        self._elaborate_back(m)
        tags = self._elaborate_gathering(m)
        self._elaborate_frames(m)
        self._elaborate_words(m, self._elaborate_header(m, tags), *self._elaborate_packets(m))
        return m

    def _elaborate_window(self, m: Module) -> None:
        """Count what is taken and what is acknowledged.

        One packet less than there is memory is under way, so that differences of numbers have a sign.
        """
        written, acked, width = self._written, self._acked, self._link.number_width
        following = Signal(width, name="behind_written", init=1)
        m.d.comb += self._is_calm.eq(acked == written)
        m.d.sync += [
            self.has_room.eq(following[: width - 1] != acked[: width - 1]),
            self.dropped.eq(~self.is_used & ~self._is_calm & ~self.dropped),
        ]
        with m.If(self.take):
            m.d.sync += [written.eq(following), following.eq(following + 1)]
        with m.If(self.dropped):
            m.d.sync += acked.eq(acked + 1)
        with m.Elif(self.acknowledges):
            m.d.sync += acked.eq(self.acked)

    def _elaborate_back(self, m: Module) -> None:
        """Go back to the first packet that is not acknowledged: when asked to, or after some time without progress."""
        link, answered = self._link, Signal(NAK_WIDTH, name="answered")
        patience = Signal(power_of_two(4 * (TRIP + 2 * link.frame_words)).bit_length(), name="patience")
        # What has come stands a cycle before it counts.
        moves, is_new, calms, is_behind = Signal(), Signal(), Signal(), Signal()
        m.d.sync += [
            is_behind.eq((self._first - self._acked)[link.number_width - 1]),
            moves.eq(self.acked != self._acked),
            is_new.eq(self.asked != answered),
            calms.eq(self._is_calm | self.acknowledges & moves | self._back | ~self.is_up),
        ]
        with m.If(calms):
            m.d.sync += patience.eq(0)
        with m.Elif(self._advance):
            m.d.sync += patience.eq(patience + 1)
        with m.If(self.acknowledges | self.renews):
            m.d.sync += answered.eq(self.asked)
        with m.If(self.acknowledges & is_new | patience[-1] | is_behind | ~self.is_used):
            m.d.sync += self._back.eq(1)
        with m.Elif(self._goes_back):
            m.d.sync += self._back.eq(0)
        m.d.sync += self._goes_back.eq(self._back & ~self._holds & ~self._goes_back)

    def _elaborate_gathering(self, m: Module) -> list[Signal]:
        """Gather the packets of the next frame; return their tags."""
        link, width, highest = self._link, self._link.number_width, Signal(self._link.number_width, name="highest")
        m.submodules.queues = queues = memory.Memory(shape=link.tag_width, depth=link.buffers, init=[])
        write, read = queues.write_port(), queues.read_port(domain="comb")
        first, following, gathered = self._first, self._following, self._gathered
        tags = [Signal(link.tag_width, name=f"tag_{place}", reset_less=True) for place in range(link.most_packets)]
        m.d.comb += [
            write.addr.eq(self._written[: width - 1]),
            write.data.eq(self.tag),
            write.en.eq(self.take),
            read.addr.eq(following[: width - 1]),
        ]
        # First and following stand from the cycle behind the plan of a frame to the end of its header.
        gathers, is_again, is_new = Signal(name="gathers"), Signal(), Signal(name="is_new")
        m.d.sync += [
            gathers.eq((following != self._written) & ~gathered[-1] & ~gathers & ~self._holds & ~self._back),
            is_again.eq(first != highest),
            is_new.eq(~(following - highest)[width - 1]),
            self.resent.eq(self._begins & self._has_packets & is_again),
        ]
        # Gathering waits until it is that of the packet behind the one before.
        (tag_read,) = held(m, [read.data], name="tag_read")
        # No two of these come in one cycle.
        with m.If(gathers):
            m.d.sync += [following.eq(following + 1), gathered.eq(gathered + 1)]
            for place, tag in enumerate(tags):
                with m.If(equals(gathered, place)):
                    m.d.sync += tag.eq(tag_read)
        with m.If(self._has_packets & self._ends_header):
            m.d.sync += [first.eq(following), gathered.eq(0)]
            with m.If(is_new):
                m.d.sync += highest.eq(following)
        with m.If(self._goes_back):
            m.d.sync += [first.eq(self._acked), following.eq(self._acked), gathered.eq(0)]
        with m.If(~self.is_used):
            m.d.sync += highest.eq(self._acked)
        return tags

    def _elaborate_frames(self, m: Module) -> None:
        """Plan a frame when there is something to say and the last one ends, begin it, and count its words."""
        tells, greets, idle = Signal(), Signal(), Signal(range(IDLE_CYCLES + 1), init=IDLE_CYCLES)
        hello, sends, says = Signal(), Signal(name="sends"), Signal(name="says")
        is_still, may_begin = Signal(name="is_still"), Signal(name="may_begin")
        m.d.sync += [
            hello.eq(greets | ~self.is_up & idle[-1]),
            sends.eq(self.is_up & self._gathered.any() & ~self._back & ~self._holds),
            says.eq(self.is_up & (tells | idle[-1])),
            # While packets are dropped, the number in a hello does not stand.
            is_still.eq(~self.is_used & self._is_calm & ~self.take),
            may_begin.eq(self._plans & ~self._begins & (~self._says_hello | self.is_used | is_still)),
        ]
        m.d.comb += self._begins.eq(self._advance & ~self._is_busy & may_begin)
        with m.If(~self._plans & ~self._is_header & (~self._in_packets | self._is_final)):
            has_packets = sends & ~self._back
            m.d.sync += [
                self._plans.eq(hello | has_packets | says),
                self._says_hello.eq(hello),
                self._has_packets.eq(has_packets & ~hello),
            ]
        with m.If(self._advance):
            to_body = self._in_header[-1]
            last = Cat(to_body & ~self._has_packets | self._ends_packets, self._in_check)
            m.d.sync += [
                self._in_header.eq(Cat(self._begins, self._in_header)),
                self._in_packets.eq(to_body & self._has_packets | self._in_packets & ~self._ends_packets),
                self._in_check.eq(last),
            ]
            with m.If(last[-2]):
                m.d.sync += self._is_busy.eq(0)
            with m.If(~idle[-1]):
                m.d.sync += idle.eq(idle + 1)
        m.d.sync += self._ends_header.eq(self._reading_header[-1])
        with m.If(self._ends_header):
            m.d.sync += self._is_header.eq(0)
        with m.If(self._begins):
            m.d.sync += [
                self._plans.eq(0),
                self._is_busy.eq(1),
                self._is_header.eq(1),
                idle.eq(0),
            ]
            with m.If(self._says_hello):
                m.d.sync += greets.eq(0)
            with m.Else():
                m.d.sync += tells.eq(0)
        with m.If(self.tells):
            m.d.sync += tells.eq(1)
        with m.If(self.greets):
            m.d.sync += greets.eq(1)

    def _elaborate_header(self, m: Module, tags: list[Signal]) -> Value:
        """Return the word of the header that was begun a word ago."""
        link, half = self._link, EPOCH_WIDTH // 2
        values: dict[str, Value] = {
            "hello": self._says_hello,
            "nak": self.nak,
            "count": self._left,
            "seq": self._slot,
            "ack": self.ack,
            "knows": self.knows,
            "is_open": self.is_up,
            "uses": self.is_used,
        }
        # A hello that was begun before its side took another epoch tells an old number, and none that is known: that it
        # may begin was found a cycle before.
        begun, before = Signal(name="begun_in"), Signal(name="own_before")
        m.d.sync += before.eq(self.own[0])
        with m.If(self._begins):
            m.d.sync += begun.eq(before)
        for name, epoch in (("seen", self.seen), ("own", Cat(begun, self.own[1:]))):
            values |= {f"{name}_{place}": epoch[place * half : (place + 1) * half] for place in range(2)}
        values |= {f"tag_{place}": tag for place, tag in enumerate(tags)}
        for queue in range(len(link.queues)):
            levels = getattr(self, f"filled_{queue}"), getattr(self, f"taken_{queue}")
            values[f"level_{queue}"] = Mux(self._says_hello, *levels)
        words = []
        for number in range(link.header_words):
            kinds = [_word(link, number, values, hello=hello) for hello in (True, False)]
            words.append(Mux(self._says_hello, *kinds))
        m.d.sync += self._reading_header.eq(Mux(self._advance, self._in_header, 0))
        m.d.comb += self.told.eq(self._reading_header[0])
        return selected(self._reading_header, words)

    def _elaborate_packets(self, m: Module) -> tuple[Value, Value]:
        """Return whether the word sent now begins a flit, and in the cycle behind it that flit."""
        link, length = self._link, self._link.machine.spec.packet_length
        place, begins_flit, _, is_tail, _ = packet_place(m, link, self._advance, self._in_packets)
        tail = self._advance & is_tail
        m.d.comb += self._ends_packets.eq(is_tail & self._is_final)
        with m.If(self._begins):
            m.d.sync += [
                self._left.eq(Mux(self._has_packets, self._gathered, 0)),
                self._slot.eq(Mux(self._says_hello, self._acked, self._first)),
            ]
        with m.Elif(tail):
            m.d.sync += [self._slot.eq(self._slot + 1), self._left.eq(self._left - 1)]
        m.d.sync += self._is_final.eq(equals(self._left, 1))
        with m.If(tail):
            m.d.sync += self._is_final.eq(equals(self._left, 2))
        bits = link.number_width - 1
        words = 1 << index_width(length) + bits
        m.submodules.ring = ring = memory.Memory(shape=link.machine.word_width, depth=words, init=[], attrs=UNCHECKED)
        write, read = ring.write_port(), ring.read_port()
        slot, place_of = Signal(bits, name="writing_slot"), Signal.like(place, name="writing_place")
        with m.If(self.writes):
            m.d.sync += place_of.eq(next_flit(place_of, length))
            with m.If(equals(next_flit(place_of, length), 0) if length > 1 else Const(1)):
                m.d.sync += slot.eq(slot + 1)
        m.d.comb += [
            write.addr.eq(Cat(place_of, slot)),
            write.data.eq(self.flit),
            write.en.eq(self.writes),
            read.addr.eq(Cat(place, self._slot[:bits])),
        ]
        return begins_flit, read.data

    def _elaborate_words(self, m: Module, header: Value, begins_flit: Value, word_read: Value) -> None:
        """Send words, by way of registers, and the check behind them."""
        width, parts = self._link.word_width, self._link.flit_words
        # The first register of a flit is that of block RAM.
        sizes = {"read_flit": len(word_read), "of_header": width, "word": width, "rest": max(1, (parts - 1) * width)}
        flit, of_header, word, rest = (Signal(size, name=name, reset_less=True) for name, size in sizes.items())
        names = ("valid", "check", "last", "of_flit", "is_first")
        valid, check, last, of_flit, is_first = stages = [Signal(5, name=name) for name in names]
        is_valid = self._in_header.any() | self._in_packets | self._in_check.any()
        now = (is_valid, self._in_check.any(), self._in_check[-1], self._in_packets, begins_flit)
        whole = padded(flit, parts * width)
        m.d.sync += [
            *(stage.eq(Cat(value & self._advance, stage)) for stage, value in zip(stages, now, strict=True)),
            flit.eq(word_read),
            of_header.eq(header),
            word.eq(Mux(of_flit[1], Mux(is_first[1], whole[:width], rest[:width]), of_header)),
        ]
        if parts > 1:
            with m.If(valid[1]):
                m.d.sync += rest.eq(Mux(is_first[1], whole[width:], rest >> width))
        self._elaborate_check(m, word, valid, check, last)

    def _elaborate_check(self, m: Module, word: Value, valid: Value, check: Value, last: Value) -> None:
        """Send words that come by way of registers, and in place of the last ones their check."""
        width, start = self._link.word_width, turned(START, self._link.word_width)
        state, parts = Signal(CHECK_WIDTH, name="state", init=start), held(m, added(word))
        with m.If(last[3]):
            m.d.sync += state.eq(start)
        with m.Elif(valid[3] & ~check[3]):
            m.d.sync += state.eq(stepped(state, parts, width))
        sums: list[Value] = []
        for part in straight(state, width):
            fill = Const(0 if sums else -1, width)  # all are sent inverted, and zeros behind the check
            sums.append(Signal(CHECK_WIDTH, name="sum", reset_less=True))
            with m.If(valid[4]):
                m.d.sync += sums[-1].eq(part)
                if self._link.check_words > 1:
                    with m.If(check[4]):
                        m.d.sync += sums[-1].eq(Cat(sums[-1], fill)[width:])
        (late,) = held(m, held(m, [word], name="word_3"), name="word_4")
        payload = Cat(Mux(check[4], padded(~reduce(xor, sums), max(width, CHECK_WIDTH))[:width], late), last[4])
        self._elaborate_output(m, valid[4], payload)

    def _elaborate_output(self, m: Module, valid: Value, payload: Value) -> None:
        """Send words by way of a queue; choose none that might find it full."""
        tx, bits = self.tx, (QUEUE - 1).bit_length()
        m.submodules.waiting = waiting = memory.Memory(shape=len(payload), depth=QUEUE, init=[])
        write, read = waiting.write_port(), waiting.read_port(domain="comb")
        level, has_word, moves, leaves = Signal(bits, name="level"), Signal(name="has_word"), Signal(), Signal()
        out = Signal(len(payload), name="out", reset_less=True)
        m.d.comb += [
            write.data.eq(payload),
            write.en.eq(valid),
            moves.eq(tx.ready | ~tx.valid),
            leaves.eq(moves & has_word),
            Value.cast(tx.payload).eq(out),
        ]
        m.d.sync += [
            level.eq(counted(level, valid, leaves)),
            has_word.eq(valid | has_word & ~(leaves & equals(level, 1))),
            self._advance.eq(~level[-1]),
        ]
        for address, steps in ((write.addr, valid), (read.addr, leaves)):
            pointer = Signal(bits, name="pointer")
            m.d.comb += address.eq(pointer)
            with m.If(steps):
                m.d.sync += pointer.eq(pointer + 1)
        with m.If(moves):
            m.d.sync += [out.eq(read.data), tx.valid.eq(has_word)]


def _word(link: LinkFormat, number: int, values: Mapping[str, Value], *, hello: bool) -> Value:
    """Return a word of a header of one kind, of the values of its fields."""
    parts, filled = [], 0
    for name, place in link.fields(hello=hello).items():
        if place.word == number:
            parts.append(padded(values[name], place.width))
            filled = place.bit + place.width
    return Cat(*parts, Const(0, link.word_width - filled))
