"""The receiver of a bridge: whatever words come, and whenever they do.

A frame is what the other side has sent, whole, or it is anything; and then its check is wrong, as that of a whole one
may be. Of what the other side sends this is taken for granted: what is claimed of it in the sender's rig, and what
follows if frames keep their order. Any packet is marked.
"""

from contextlib import suppress

from hdnhw.proofs.bridge import BridgeRig
from hdnhw.proofs.rig import RigError
from hdnhw.rtl.bits import flit_codes, index_width
from hdnhw.rtl.bridge.receiver import DELAY
from hdnhw.verilog.fabric import EmittedFabric


class ReceiverRig(BridgeRig):
    """A rig around the receiver of a bridge."""

    steps = 2

    def __init__(self, fabric: EmittedFabric, module: str) -> None:
        super().__init__(fabric, module)
        link = self._link
        self._parts, self._most, self._buffers = link.flit_words, link.most_packets, link.buffers
        self._words_bits, self._place_bits = index_width(link.packet_words), index_width(self._length)
        self._choose()
        self._come()
        self._take()
        self._land()
        self._happens("counts && follows && late_count != 0")
        self._happens("landed")
        self._happens("ends_3 && !late_whole")
        with suppress(RigError):
            self._hint_all()

    def _choose(self) -> None:
        """Let numbers be agreed upon with a hello, and mark a packet."""
        self._wire("will_use", f"used ? !(good_3 && {self._free('f_falls')}) : {self._free('f_rises')} && greets")
        self._register("used", "will_use")
        self._register("was_used", "used")
        self._register("was_up", "up")
        self._register("up", f"will_use && {self._free('f_up')} && (up || greets)")
        self._cut("session.is_used", "used")
        self._cut("session.is_up", "up")
        vcs, width = len(self._link.queues), self._machine.word_width
        self._constant("own_tag", self._link.tag_width)
        self._constant("value")
        self._constant("own_flit", index_width(self._length))
        self._constant("own_bit", index_width(width))
        self._constant("own_slot", self._bits - 1)
        self._wire("fits", f"own_tag < {vcs} && own_flit < {self._length} && own_bit < {width}")
        stages = [f"{stage}" for stage in range(DELAY)]
        known = ["marked", "late_marked", "late_new_marked"]
        old = f"{{{', '.join(known + [f'{name}_{stage}' for name in ('marked', 'new_marked') for stage in stages])}}}"
        marks = f"{self._free('f_marks')} && !live && !landed && fits && used && !ends_now && !ends_3 && {old} == 0"
        self._free("f_number", self._bits)
        self._wire("marks", f"{marks} && {self._number('f_number - e')} <= {self._window}")
        self._register("live", "will_use && (marks || (live && !arrives))")
        self._register("own_number", "marks ? f_number : own_number", width=self._bits, reset="")

    def _come(self) -> None:
        """Let words come, those of whole frames with the fields of their headers."""
        link, bits, width = self._link, self._bits, self._link.word_width
        self._wire("comes", self._free("f_comes"))
        values = {"whole": 1, "hello": 1, "count": self._count_bits, "seq": bits, "marked": 1}
        chosen = {
            "whole": self._free("f_whole"),
            "hello": self._free("f_hello"),
            "count": f"!f_hello && {self._free('f_count', self._count_bits)} <= {self._most} ? f_count : 0",
            "seq": self._free("f_seq", bits),
            "marked": "live",
        }
        for name, size in values.items():
            self._wire(f"new_{name}", chosen[name], width=size)
            self._wire(f"now_{name}", f"index == 0 ? new_{name} : {name}", width=size)
            self._register(name, f"comes ? now_{name} : {name}", width=size)
        self._wire("in_packets", f"now_whole && index >= {self._header} && pos < now_count")
        self._wire("is_tail", f"in_packets && sub == {link.packet_words - 1}")
        self._wire("last", f"now_whole ? index == {self._words('now_count')} - 1 : {self._free('f_last')}")
        following = f"last ? 0 : now_whole || index <= {self._header} ? index + 1 : index"
        self._register("index", f"comes ? ({following}) : index", width=self._index_bits)
        self._register("pos", "comes ? (last ? 0 : pos + is_tail) : pos", width=self._count_bits)
        self._register("sub", "comes && in_packets ? (is_tail ? 0 : sub + 1) : sub", width=self._words_bits)
        self._wire("offset", self._number("own_number - now_seq"), width=bits)
        word = self._free("f_word", width)
        fields: dict[int, list[tuple[int, int, str]]] = {}
        for name in ("hello", "count", "seq"):
            _, place = self._field(word, name)
            fields.setdefault(place.word, []).append((place.bit, place.width, f"now_{name}"))
        for number in range(self._most):
            part, place = self._field(word, f"tag_{number}")
            self._wire(f"tag_{number}", f"now_marked && offset == {number} ? own_tag : {part}", width=place.width)
            fields.setdefault(place.word, []).append((place.bit, place.width, f"now_hello ? {part} : tag_{number}"))
        words = [self._filled(word, number, fields.get(number, [])) for number in range(self._header)]
        head = " : ".join(f"index == {number} ? {value}" for number, value in enumerate(words))
        at = f"own_flit * {self._parts}" + (f" + own_bit / {width}" if self._parts > 1 else "")
        bit = f"own_bit % {width}"
        self._wire("is_own_word", f"in_packets && now_marked && offset == pos && sub == ({at})")
        self._wire("mask", f"{{{width}{{is_own_word}}}} & ({width}'d1 << ({bit}))", width=width)
        packets = f"({word} & ~mask) | (value ? mask : 0)"
        self._wire("word", f"!now_whole ? {word} : {head} : {packets}", width=width)
        self._pins += [".rx__valid(comes)", ".rx__payload({last, word})"]

    def _filled(self, word: str, number: int, fields: list[tuple[int, int, str]]) -> str:
        """Return a word of a header, with some fields."""
        parts, low = list[str](), 0
        for place, (bit, size, value) in enumerate(sorted(fields)):
            if bit > low:
                parts.append(f"{word}[{bit - 1}:{low}]")
            name = self._wire(f"field_{number}_{place}", value, width=size)
            parts.append(name)
            low = bit + size
        if low < self._link.word_width:
            parts.append(f"{word}[{self._link.word_width - 1}:{low}]")
        return f"{{{', '.join(reversed(parts))}}}"

    def _late(self, name: str, width: int = 1) -> str:
        """Return what a value was when the word that the receiver looks at came."""
        value = name
        for stage in range(DELAY + 1):
            value = self._register(f"{name}_{stage}" if stage < DELAY else f"late_{name}", value, width=width)
        return value

    def _take(self) -> None:
        """Take whole frames as the rules say; a frame with another number than those in its window is none."""
        bits, window, queues = self._bits, self._window, range(len(self._link.queues))
        frame = {"whole": 1, "hello": 1, "count": self._count_bits, "seq": bits, "marked": 1}
        places = {"comes": 1, "last": 1, "index": self._index_bits, "pos": self._count_bits, "sub": self._words_bits}
        for name, size in {**places, "word": self._link.word_width}.items():
            self._late(name, size)
        for name, size in frame.items():
            self._late(name, size)
            self._late(f"new_{name}", size)
            for stage in (*(f"_{stage}" for stage in range(DELAY)), "late_"):
                was = [
                    f"late_{one}" if stage == "late_" else f"{one}{stage}"
                    for one in (f"now_{name}", "index", f"new_{name}", name)
                ]
                self._wire(was[0], f"{was[1]} == 0 ? {was[2]} : {was[3]}", width=size)
        self._wire("late_in_packets", f"late_now_whole && late_index >= {self._header} && late_pos < late_now_count")
        self._wire("late_is_tail", f"late_in_packets && late_sub == {self._link.packet_words - 1}")
        for number in range(self._most):
            part, place = self._field("late_word", f"tag_{number}")
            is_own = f"late_comes && late_index == {place.word} ? {part} == own_tag : is_own_{number}"
            self._register(f"is_own_{number}", is_own)
        self._wire(
            "late_is_own", f"{{{', '.join(f'is_own_{n}' for n in reversed(range(self._most)))}}}", width=self._most
        )
        self._wire("before", self._number("e - late_now_seq"), width=bits)
        self._wire("number", self._number("late_now_seq + late_pos"), width=bits)
        self._wire("follows_now", f"before <= {window}")
        behind = f"{{1'b0, before}} + {window} >= late_now_count"  # nothing is sent that was not taken
        ahead = f"{{1'b0, {self._number('late_now_seq - e')}}} + late_now_count <= {window}"
        self._wire("fits_now", f"follows_now ? {behind} : {ahead}")
        self._wire("takes_now", "late_comes && late_is_tail && follows_now && late_pos >= before && !late_now_hello")
        self._wire("is_mine", "late_is_own[late_pos]" if self._most > 1 else "late_is_own[0]")
        for queue in queues:
            free = self._free(f"f_takes_{queue}")
            channel, vc = self._link.queues[queue]
            self._look(f"filled_{queue}", f"receiver.filled_{queue}", bits)
            self._register(f"taken_{queue}", f"taken_{queue} + ({free} && taken_{queue} != filled_{queue})", width=bits)
            self._cut(f"arrivals_{channel}.taken_{vc}", f"taken_{queue}")
        self._wire("taken", self._of_queue("taken"), width=bits)
        self._wire("filled", self._of_queue("filled"), width=bits)
        self._register("filling", "ends_3 ? (counts ? filling : g) : filling + (takes_now && is_mine)", width=bits)
        self._register("g", "counts ? filling : g", width=bits)
        head = f"late_in_packets && late_sub == {self._parts - 1}"
        due = "follows_now && late_pos >= before && !late_now_hello"
        full = f"{self._number('filling - taken')} == {self._buffers}"
        self._wire("overflows", f"late_comes && {head} && {due} && is_mine && {full}")
        for name, net in (("writes", "write_1_0"), ("begins", "write_1_1"), ("is_free",) * 2, ("is_wrong",) * 2):
            self._look(f"says_{name}", f"receiver.{net}", 1)
        self._look("tag_now", "receiver.tag_0", self._link.tag_width)
        was_other = self._delayed("was_other", "tag_now != own_tag", 2)
        self._register("ended", "ends_3")
        self._wire("overflowed", f"says_writes && says_begins && !says_is_free && {was_other} && !ended")
        self._register("over", "!ends_3 && (over || overflows || overflowed)")
        has = self._wire("has_own", f"{self._number('own_number - late_now_seq')} < late_now_count")
        has_room = "!over && !overflows && !overflowed"
        is_known = f"(late_now_hello || fits_now && {has_room} && (!live || !{has} || late_now_marked))"
        ends = self._wire("ends_now", "late_comes && late_last")
        self._wire(
            "right", f"{ends} ? late_now_whole && {is_known} && {self._free('f_right')} : {self._free('f_junk')}"
        )
        self._cut("receiver.right", "right")
        self._register("ends_3", ends)
        self._register("good_3", f"{ends} && right")
        self._wire("greets", "good_3 && late_hello")
        self._wire("counts", "good_3 && !late_hello && was_up")
        self._wire("back", self._number("e - late_seq"), width=bits)
        self._wire("follows", "counts && back < late_count")
        self._register("e", "greets && !was_used ? late_seq : follows ? late_seq + late_count : e", width=bits)

    def _of_queue(self, name: str) -> str:
        """Return what is of the marked packet's queue."""
        queues = range(len(self._link.queues))
        return " | ".join(f"(own_tag == {queue} ? {name}_{queue} : 0)" for queue in queues)

    def _land(self) -> None:
        """Claim what is counted, and that the marked packet is where its queue has it."""
        link, bits = self._link, self._bits
        self._output_of("en", len(link.ports))
        width = index_width(max(vc for _, vc in link.queues) + 1)
        for name, size in (
            ("vc", width),
            ("slot", bits - 1),
            ("place", self._place_bits),
            ("data", self._machine.word_width),
        ):
            self._output_of(name, size)
        here = " || ".join(
            f"(own_tag == {queue} && out_en[{channel}] && out_vc == {vc})"
            for queue, (channel, vc) in enumerate(link.queues)
        )
        codes = enumerate(flit_codes(self._length))
        own = " | ".join(f"(own_flit == {flit} ? {self._place_bits}'d{code} : 0)" for flit, code in codes)
        self._wire("own_code", own, width=self._place_bits)
        self._wire("is_written", f"({here}) && out_slot == own_slot && out_place == own_code")
        self._register("cell", "is_written ? out_data[own_bit] : cell", reset="")
        self._wire("is_it", "takes_now && late_now_marked && live && number == own_number")
        self._register("own_at", "is_it ? filling : own_at", width=bits, reset="")
        self._wire(
            "arrives",
            f"follows && live && {self._number('own_number - e')} < {self._number('late_seq + late_count - e')}",
        )
        self._wire("leaves", f"landed && taken == own_at && ({self._of_queue('f_takes')}) && taken != filled")
        self._register("landed", f"(arrives && own_at[{bits - 2}:0] == own_slot) || (landed && !leaves)")
        self._look("expected", "receiver.expected", bits)
        self._look("says_hello", "receiver.hello", 1)
        self._register("was_hello", "says_hello")
        self._register("was_good", "good_3")
        for name in ("good", "counts", "renews"):
            self._look(f"says_{name}", f"receiver.{name}", 1)
        self.claims += [
            ("another packet is expected than comes next", "expected == e"),
            ("a packet is counted that has not come, or not counted", "!fits || filled == g"),
            (
                "a packet is taken into a buffer that is not free",
                f"!fits || {self._number('filled - taken')} <= {self._buffers}",
            ),
            (
                "a packet is lost, or changed, or overwritten",
                "!landed || (is_written ? out_data[own_bit] : cell) == value",
            ),
            (
                "a frame counts that does not, or not when it should",
                "says_good == good_3 && says_counts == counts && says_renews == (greets && !was_used)",
            ),
            ("two frames are whole in a row, or told of too late", "!good_3 || (!was_good && says_hello == was_hello)"),
        ]

    def _output_of(self, name: str, width: int) -> None:
        """Look at what the receiver says to the queues."""
        self._look(f"out_{name}", f"receiver.{name}", width)

    def _hint_all(self) -> None:
        """The receiver knows where in a frame it is, and what has come of a whole one."""
        self._hint_words()
        self._hint_frame()
        self._hint_numbers()
        self._hint_writes()

    def _hint_words(self) -> None:
        """Words are late, and have the fields of their frames."""
        link, width = self._link, self._link.word_width
        at = f"own_bit % {width}"
        for stage in range(DELAY + 1):

            def named(name: str, stage: int = stage) -> str:
                return f"{name}_{stage}" if stage < DELAY else f"late_{name}"

            for name, size in (("valid", 1), ("last", 1), ("word", width)):
                self._look(f"is_{name}_{stage}", f"receiver.{name}_{stage}", size)
            self._hint(f"is_valid_{stage} == {named('comes')}")
            self._hint(f"is_last_{stage} == ({named('comes')} && {named('last')})")
            self._hint(f"!is_valid_{stage} || is_word_{stage} == {named('word')}")
            here = f"{named('comes')} && {named('now_whole')}"
            for name in ("hello", "count", "seq"):
                part, place = self._field(named("word"), name)
                self._hint(f"!({here} && {named('index')} == {place.word}) || {part} == {named(f'now_{name}')}")
            frame = f"{here} && !{named('now_hello')} && {named('now_marked')}"
            offset = self._wire(named("offset"), self._number(f"own_number - {named('now_seq')}"), width=self._bits)
            for number in range(self._most):
                part, place = self._field(named("word"), f"tag_{number}")
                self._hint(
                    f"!({frame} && {named('index')} == {place.word} && {offset} == {number}) || {part} == own_tag"
                )
            own = f"own_flit * {self._parts}" + (f" + own_bit / {width}" if self._parts > 1 else "")
            at_own = f"{named('index')} >= {self._header} && {named('pos')} == {offset} && {named('sub')} == ({own})"
            self._hint(f"!({frame} && {at_own} && {offset} < {named('now_count')}) || {named('word')}[{at}] == value")
            before = [name if stage == 0 else f"{name}_{stage - 1}" for name in ("index", "pos", "sub")]
            last, comes, index = named("last"), named("comes"), named("index")
            following = f"{last} ? 0 : {named('now_whole')} || {index} <= {self._header} ? {index} + 1 : {index}"
            self._hint(f"{before[0]} == {self._index_bits}'({comes} ? {following} : {index})")
            packets = f"{named('now_whole')} && {index} >= {self._header} && {named('pos')} < {named('now_count')}"
            tail = f"({packets} && {named('sub')} == {link.packet_words - 1})"
            self._hint(
                f"{before[1]} == {self._count_bits}'({comes} ? ({last} ? 0 : {named('pos')} + {tail}) : {named('pos')})"
            )
            moves = f"{comes} && {packets}"
            self._hint(
                f"{before[2]} == {self._words_bits}'({moves} ? ({tail} ? 0 : {named('sub')} + 1) : {named('sub')})"
            )
            for name in ("whole", "hello", "count", "seq", "marked"):
                young = name if stage == 0 else f"{name}_{stage - 1}"
                self._hint(f"{young} == ({comes} ? {named(f'now_{name}')} : {named(name)})")
            total = self._words(named("now_count"))
            self._hint(f"!({here}) || {named('last')} == ({named('index')} == {total} - 1)")
            self._hint(f"{named('now_count')} <= {self._most} && (!{named('now_hello')} || {named('now_count')} == 0)")
            self._hint(f"{named('count')} <= {self._most} && (!{named('hello')} || {named('count')} == 0)")
            packets = f"{self._link.packet_words} * {self._index_bits}'({named('pos')}) + {named('sub')}"
            inside = f"{named('index')} <= {self._header} || !{named('whole')}"
            index = (
                f"{named('pos')} < {named('count')} ? {named('index')} == "
                f"{self._index_bits}'({self._header} + {packets})"
            )
            self._hint(
                f"{inside} ? {named('pos')} == 0 && {named('sub')} == 0 : {index} : ({named('pos')} == "
                f"{named('count')} && {named('sub')} == 0 && {named('index')} >= {self._words(named('count'))} "
                f"- {self._check_words})"
            )
            self._hint(f"{named('sub')} < {self._link.packet_words}")
            self._hint(f"!{named('whole')} || {named('index')} < {self._words(named('count'))}")

    def _hint_frame(self) -> None:
        """Registers say where in a frame the receiver is."""
        header, checks, bits = self._header, self._check_words, self._bits
        fields = self._fields[False]
        for name, width in (
            ("in_header", header + 1),
            ("left", self._count_bits),
            ("due", bits),
            ("behind", bits),
            ("has_number", 1),
            ("in_packets", 1),
            ("is_tail", 1),
            ("tail", 1),
            ("is_final", 1),
            ("in_check", checks),
            ("flit_place", self._place_bits),
            ("ends", 1),
            ("is_due", 1),
        ):
            self._look(f"says_{name}", f"receiver.{name}", width)
        self._hint(f"says_in_header == (late_index <= {header} ? {header + 1}'d1 << late_index : 0)")
        self._hint(f"late_index >= {header} || !says_in_packets")
        self._hint(f"!within || says_in_packets == (late_index >= {header} && late_pos < late_count)")
        self._hint("says_in_packets ? says_left != 0 : says_flit_place == 0")
        of_number, place = self._field("says_first", "seq")
        self._look("says_first", f"receiver.header_{place.word}", self._link.word_width)
        self._register("had_number", f"late_comes && late_index == {place.word}")
        self._register("had_count", f"late_comes && late_index == {fields['count'].word}")
        self._hint("says_has_number == had_number")
        self._hint("had_count || says_is_final == (says_left == 1)")
        ready = f"late_index > {place.word} && !had_number && up && !late_hello"
        self._hint(f"!(within && {ready}) || says_behind == (late_pos <= seq_back ? seq_back - late_pos : 0)")
        self._hint(f"!(within && {ready}) || says_is_due == (late_pos >= seq_back)")
        self._hint("says_tail == (late_comes && says_is_tail)")
        self._hint("!had_number || late_index != 0 || ends_3")
        self._wire("within", "late_index != 0 && late_whole")
        self._hint(
            f"!within || late_index <= {fields['count'].word} || says_left == {self._count_bits}'(late_count - "
            f"late_pos)"
        )
        self._hint(f"!(within && late_index > {place.word} || ends_3 && late_whole) || {of_number} == late_seq")
        self._wire("seq_back", self._number("e - late_seq"), width=bits)
        codes = flit_codes(self._length)
        flits = " | ".join(
            f"(late_sub / {self._parts} == {flit} ? {self._place_bits}'d{code} : 0)" for flit, code in enumerate(codes)
        )
        self._hint(f"!within || says_flit_place == ({flits})")
        self._hint(f"ends_3 || late_index >= {header} || says_flit_place == 0")
        at_tail = f"says_flit_place == {codes[-1]}" + (f" && says_part == {self._parts - 1}" if self._parts > 1 else "")
        self._hint(f"says_is_tail == ({at_tail})")
        if self._parts > 1:
            self._look("says_part", "receiver.part", (self._parts - 1).bit_length())
            self._hint(f"!within || says_part == late_sub % {self._parts}")
            self._hint(f"ends_3 || late_index >= {header} || says_part == 0")
        first = self._words("late_count") + f" - {checks}"
        self._hint(f"!within || says_in_check == (late_index >= {first} ? {checks}'d1 << (late_index - ({first})) : 0)")
        self._hint(f"late_index >= {header} || says_in_check == 0")
        self._hint("says_ends == ends_3")
        self._hint("!good_3 || (ends_3 && late_whole)")
        known = f"(within && late_index > {fields['hello'].word}) || (ends_3 && late_whole)"
        self._hint(f"!({known}) || says_hello == late_hello")
        self._hint("!ends_3 || late_index == 0")
        for number in range(self._most):
            self._look(f"says_tag_{number}", f"receiver.tag_{number}", self._link.tag_width)
            place = fields[f"tag_{number}"]
            at = f"{self._count_bits + 1}'(late_pos + {number})"
            self._hint(
                f"!within || late_index <= {place.word} || late_hello || {at} >= late_count || "
                f"(says_tag_{number} == own_tag) == late_is_own[late_pos + {number}]"
            )
            self._hint(
                f"!within || late_index <= {place.word} || late_hello || !late_marked || "
                f"{self._number('own_number - late_seq')} != {number} || is_own_{number}"
            )

    def _hint_numbers(self) -> None:
        """Numbers are those of the frame so far; a frame that is none brings them no further than it can count."""
        bits, most = self._bits, (1 << self._count_bits) - 1
        for queue in range(len(self._link.queues)):
            self._look(f"filling_{queue}", f"receiver.filling_{queue}", bits)
        self._wire("pointer", self._of_queue("filling"), width=bits)
        fits = f"(seq_back <= {self._window} ? {{1'b0, seq_back}} + {self._window} >= late_count : "
        fits += f"{{1'b0, {self._number('late_seq - e')}}} + late_count <= {self._window})"
        self._wire("fits_3", fits)
        reached = f"(seq_back <= {self._window} && late_pos > seq_back ? {self._number('late_seq + late_pos')} : e)"
        self._hint(f"!(within && up && fits_3 && !late_hello) || says_due == {reached}")
        self._hint(f"ends_3 || late_index >= {self._header} || says_due == e")
        self._hint(
            f"!(good_3 && was_up && !late_hello) || (fits_3 && says_due == (back < late_count ? "
            f"{self._number('late_seq + late_count')} : e))"
        )
        self._hint("!fits || !(within && up && fits_3 && !late_hello) || over || pointer == filling")
        self._hint("!fits || !(good_3 && was_up && !late_hello) || (!over && pointer == filling)")
        self._hint(f"!fits || ends_3 || late_index >= {self._header} || (pointer == filled && filling == g)")
        self._hint(
            f"!fits || {bits + 1}'({self._number('pointer - filled')}) + (ends_3 ? 0 : says_left) <= {most} || "
            f"late_index < {self._header} && !ends_3"
        )
        self._hint(f"!fits || {self._number('filling - g')} <= {self._most}")
        self._hint(f"!fits || !within || {self._number('filling - g')} <= late_pos")
        self._hint("fits || !live && !landed")
        self._hint(f"!fits || over || {self._number('filling - taken')} <= {self._buffers}")
        self._hint(f"!fits || {self._number('filled - taken')} <= {self._buffers}")
        self._hint("over || !fits || filling == g || within || ends_3")
        self._hint("!over || late_index != 0 || ends_3")
        self._hint("up ? used : 1")

    def _hint_writes(self) -> None:
        """What is written is the marked flit, or stands elsewhere."""
        link, bits, width = self._link, self._bits, self._link.word_width
        vcs = index_width(max(vc for _, vc in link.queues) + 1)
        for name, size in (
            ("slot_found", bits),
            ("first", bits),
            ("late_slot", bits),
        ):
            self._look(f"found_{name}", f"receiver.{name}", size)
        for stage, slot in enumerate(("found_slot_found", "found_late_slot")):
            names = ("to", len(link.ports)), ("vc", vcs), ("at", self._place_bits), ("data", self._machine.word_width)
            for number, (name, size) in enumerate((("en", 1), ("head", 1), *names)):
                self._look(f"{name}_w{stage}", f"receiver.write_{stage}_{number}", size)
            to = " || ".join(
                f"(own_tag == {queue} && to_w{stage}[{channel}] && vc_w{stage} == {vc})"
                for queue, (channel, vc) in enumerate(link.queues)
            )
            self._wire(f"to_own_{stage}", f"en_w{stage} && ({to})")
            here = f"to_own_{stage} && {slot}[{bits - 2}:0] == own_slot && at_w{stage} == own_code"
            self._wire(f"hits_{stage}", here)
            self._wire(f"keeps_{stage}", f"hits_{stage} && data_w{stage}[own_bit] == value")
        due = "late_comes && late_in_packets && follows_now && late_pos >= before && !late_now_hello && up"
        mine = "late_now_marked && live && number == own_number"
        self._wire("own_done", f"{due} && {mine} && late_sub == own_flit * {self._parts} + {self._parts - 1}")
        self._register("done_1", "own_done")
        self._register("done_2", "done_1 && !ends_3 && live")
        self._register("done_3", "done_2 && !ends_3 && live")
        self._register("done_4", "!ends_3 && live && (done_3 || done_4)")
        self._register("written_at", "own_done ? filling : written_at", width=bits, reset="")
        self._wire("done", "done_1 || done_2 || done_3 || done_4")
        suppressed = "says_is_wrong || (says_writes && says_begins && !says_is_free)"
        self._wire("suppressed", suppressed)
        full = f"found_slot_found == (found_first ^ {bits}'d{self._buffers})"
        self._wire("doomed", f"suppressed || (en_w0 && head_w0 && {full})")
        low, buffers = f"[{bits - 2}:0]", self._buffers
        self._hint(f"!done || late_index > {self._header} || ends_3")
        self._hint(f"!en_w0 || late_index > {self._header} || (ends_3 && !late_whole)")
        self._hint(f"!en_w1 || late_index > {self._header} || ends_3 || ended")
        self._hint(f"!says_is_wrong || late_index > {self._header} || ends_3 || ended")
        self._wire("frame", "fits && (within && up || ends_3 && was_up) && fits_3 && !late_hello && late_whole")
        self._wire("fine", "frame && live && !over && !overflows")
        own = f"!fine || written_at{low} != own_slot"
        self._hint("!done_1 || !fine || found_slot_found == written_at")
        self._hint("!done_2 || !fine || found_late_slot == written_at")
        self._hint(f"!done_1 || {own} || keeps_0")
        self._hint(f"!done_2 || {own} || (keeps_1 && !suppressed)")
        self._hint(f"!done_3 || {own} || (is_written && out_data[own_bit] == value)")
        self._hint(f"!done_4 || {own} || cell == value")
        self._hint("(!done_2 && !done_1) || !fine || !suppressed")
        self._hint("!frame || ended || !(says_writes && says_begins && !says_is_free) || over || was_other_1")
        self._hint(f"!frame || ends_3 || !(en_w0 && head_w0 && {full}) || over || was_other_0")
        self._hint("!frame || ended || !says_is_wrong || over")
        here = f"within && late_index >= {self._header} && late_pos < late_count && !late_hello"
        here += f" && seq_back <= {self._window} && late_pos >= seq_back"
        self._wire("in_due", here)
        mine = "late_is_own[late_pos]"
        self._hint(
            f"!fits || !in_due || !{mine} || late_sub < {self._parts} || over || "
            f"{self._number('filling - taken')} < {buffers}"
        )
        self._hint(f"!fits || {self._number('pointer - taken')} <= {buffers} || doomed")
        self._hint(
            f"!landed || (own_at{low} == own_slot && {self._number('own_at - taken')} < "
            f"{self._number('filled - taken')})"
        )
        self._hint(f"!landed || !(to_own_0 && found_slot_found{low} == own_slot) || doomed")
        self._hint(f"!landed || !(to_own_1 && found_late_slot{low} == own_slot) || suppressed || keeps_1")
        body = "says_in_packets && says_is_due && says_tag_0 == own_tag && says_flit_place != 0"
        self._hint(f"!landed || !({body} && pointer{low} == own_slot) || doomed")
        self._hint(f"!fits || !({body}) || {self._number('pointer - taken')} < {buffers} || doomed")
        self._hint("!landed || !live")
        offset = self._wire("own_offset", self._number("own_number - late_seq"), width=bits)
        has = self._wire(
            "has", f"late_marked && live && {offset} < late_count && seq_back <= {self._window} && {offset} >= seq_back"
        )
        self._hint(f"!done || !fine || ({has} && {self._number('written_at - taken')} < {buffers})")
        since = self._number("written_at - g")
        self._hint(f"!done || !fine || {since} <= {self._number('filling - g')}")
        self._hint(f"!good_3 || late_hello || !live || {offset} >= late_count || late_marked")
        past = f"{self._bits}'((ends_3 ? late_count : late_pos) - {offset})"
        self._hint(f"!done || !fine || {self._number('filling - written_at')} <= {past}")
        self._hint(f"!done || !fine || (filling == written_at) == (within && late_pos == {offset})")
        self._hint(f"!done_4 || {own} || !is_written")
        at = f"own_flit * {self._parts} + {self._parts - 1}"
        self._hint(f"!done || !fine || ends_3 || late_pos > {offset} || (late_pos == {offset} && late_sub > {at})")
        self._hint(
            f"!done || !fine || filling != written_at || (within && late_pos == {offset} && late_sub > {at} && {mine})"
        )
        self._hint(f"!(done_2 || done_3 || done_4) || {own} || !hits_0")
        self._hint(f"!(done_3 || done_4) || {own} || !hits_1")
        self._hint(f"!fine || !within || !{has} || late_pos <= {offset} || (done && own_at == written_at)")
        self._hint(f"!fine || !within || !{has} || late_pos != {offset} || late_sub <= {at} || done")
        self._hint(
            f"!good_3 || !fine || late_hello || !{has} || ((done_2 || done_3 || done_4) && own_at == written_at)"
        )
        if self._parts > 1:
            self._look("pieces", "receiver.pieces", (self._parts - 1) * width)
            for part in range(1, self._parts):
                bit = f"pieces[{(self._parts - 1 - part) * width} + own_bit]"
                self._hint(
                    f"!within || !{has} || late_pos != {offset} || late_sub != own_flit * {self._parts} + {part} || "
                    f"own_bit >= {part * width} || {bit} == value"
                )
