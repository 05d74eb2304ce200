"""The sender of a bridge: whatever the other side answers, and whenever it does.

Packets are taken at any time at which there is room, and any one is marked. What frames say is read off the words that
leave: the number of the first packet, how many there are, their queues, and their flits.
"""

from contextlib import suppress
from itertools import pairwise

from hdnhw.proofs.bridge import BridgeRig, copy_cycles
from hdnhw.proofs.rig import RigError
from hdnhw.rtl.bits import flit_codes, index_width
from hdnhw.rtl.bridge.bridge import LEAST_TURN
from hdnhw.rtl.bridge.frame import EPOCH_WIDTH
from hdnhw.verilog.fabric import EmittedFabric

ORDER = ("n", "0", "1", "2")
"""Where words are on their way: chosen, and in the registers behind that."""


class SenderRig(BridgeRig):
    """A rig around the sender of a bridge."""

    steps = 2

    def __init__(self, fabric: EmittedFabric, module: str) -> None:
        super().__init__(fabric, module)
        self._parts = self._link.flit_words
        self._copy = copy_cycles(self._link)
        self._hear()
        self._use("is_hello && greeted && !renames")
        self._greet()
        self._take()
        self._answer()
        self._read()
        self._claim()
        with suppress(RigError):
            self._hint_all()

    def _greet(self) -> None:
        """Take another epoch whenever numbers become void, and perhaps one with the first hello that comes."""
        other = self._free("f_own", EPOCH_WIDTH)
        self._register("met", "met || (hears && is_hello)")
        self._register("ever", "ever || used")
        self._wire("renames", f"hears && is_hello && !met && !used && {self._free('f_renames')}")
        becomes = f"falls ? {{{other}[{EPOCH_WIDTH - 1}:1], !own[0]}} : renames || rst ? {other} : own"
        self._register("own", becomes, width=EPOCH_WIDTH, reset="")
        self._cut("session.own", "own")
        self._register("greeted", "will_use || renames ? 0 : greeted || promises")

    def _take(self) -> None:
        """Let packets be taken while there is room, one of them marked."""
        length, bits, vcs = self._length, self._bits, len(self._link.queues)
        self._look("has_room", "sender.has_room", 1)
        turn = max(LEAST_TURN, length)
        self._wire("takes_next", f"{self._free('f_takes')} && has_room && up && gap == 0")
        self._register("takes", "takes_next")
        self._register("gap", f"takes_next ? {turn - 1} : gap == 0 ? 0 : gap - 1", width=turn.bit_length())
        line = self._copy + length
        self._register("line", f"{{line[{line - 2}:0], takes}}", width=line)
        self._register("w", "w + takes", width=bits)
        tag = self._constant("own_tag", self._link.tag_width)
        self._constant("value")
        self._constant("own_flit", index_width(length))
        self._constant("own_bit", index_width(self._machine.word_width))
        fits = f"own_tag < {vcs} && own_flit < {length} && own_bit < {self._machine.word_width}"
        self._wire("marks", f"{self._free('f_marks')} && takes && !inside && !falls && used && {fits}")
        self._register("inside", "!falls && (marks || (inside && !passes))")
        self._register("own_number", "marks ? w : own_number", width=bits, reset="")
        self._cut("sender.take", "takes")
        self._wire("tag", f"marks ? {tag} : f_tag", width=self._link.tag_width)
        self._free("f_tag", self._link.tag_width)
        self._cut("sender.tag", "tag")
        self._register("own_line", f"falls || passes ? 0 : {{own_line[{line - 2}:0], marks}}", width=line)
        self._wire("writes", f"|line[{line - 2}:{self._copy - 1}]")
        self._cut("sender.writes", "writes")
        self._wire(
            "keeps",
            " || ".join(f"(own_line[{self._copy - 1 + flit}] && own_flit == {flit})" for flit in range(length)),
        )
        width = self._machine.word_width
        data = self._free("f_data", width)
        self._wire("mask", f"{{{width}{{keeps}}}} & ({width}'d1 << own_bit)", width=width)
        self._wire("flit", f"({data} & ~mask) | (value ? mask : 0)", width=width)
        self._cut("sender.flit", "flit")
        self._forget("sender.ring", "keeps", "ring")
        self._forget("sender.queues", "marks", "tags")

    def _answer(self) -> None:
        """Let the other side acknowledge what it likes of what has been sent."""
        bits = self._bits
        step = self._free("f_step", bits)
        self._wire("step", f"{step} <= {self._number('reach - a')} ? {step} : 0", width=bits)
        self._wire("ack", f"used ? {self._number('a + step')} : {step}", width=bits)
        self._cut("receiver.acked", "ack")
        self._register("a", "!used ? w : answers ? ack : a", width=bits)
        self._wire("passes", f"inside && answers && step > {self._number('own_number - a')}")

    def _read(self) -> None:
        """Read the frames that leave, word by word."""
        width, bits = self._link.word_width, self._bits
        self._cut("sender.advance", self._free("f_advance"))
        for name in ("valid", "check", "last", "of_flit", "is_first"):
            self._look(f"stage_{name}", f"sender.{name}", 5)
        self._look("payload", "sender.word", width)
        self._wire("goes", "stage_valid[2]")
        self._wire("last", "stage_last[2]")
        self._register("index", "goes ? (last ? 0 : index + 1) : index", width=self._index_bits)
        for name, size in (("hello", 1), ("count", self._count_bits), ("seq", bits)):
            part, place = self._field("payload", name)
            self._wire(f"now_{name}", f"index == {place.word} ? {part} : {name}", width=size)
            self._register(name, f"goes ? now_{name} : {name}", width=size, reset="")
        for half in range(2):
            part, place = self._field("payload", f"own_{half}", hello=True)
            self._wire(f"now_own_{half}", f"index == {place.word} ? {part} : own_{half}", width=EPOCH_WIDTH // 2)
            self._register(f"own_{half}", f"goes ? now_own_{half} : own_{half}", width=EPOCH_WIDTH // 2, reset="")
        self._wire("ends", "goes && last")
        self._wire("is_own", "{now_own_1, now_own_0} == own")
        self._wire("promises", "ends && now_hello && is_own && !used && !falls")
        self._wire("brings", "ends && !now_hello && now_count != 0 && used")
        self._wire("behind", f"{self._number('now_seq + now_count - reach')}", width=bits)
        self._register(
            "reach",
            f"!used ? w : brings && behind <= {self._window} ? {self._number('now_seq + now_count')} : reach",
            width=bits,
        )

    def _claim(self) -> None:
        """Claim what frames are."""
        window, width = self._window, self._link.word_width
        before = self._number("reach - now_seq")
        under = f"{{1'b0, {self._number('w - reach')}}} + {{1'b0, {before}}}"
        total = f"(now_hello ? {self._header + self._check_words} : {self._words('now_count')})"
        known = max(self._fields[False][name].word for name in ("count", "hello"))
        self.claims += [
            ("a frame ends too soon or too late", f"!goes || last == (index >= {known} && index == {total} - 1)"),
            (
                "a word is taken for one of the check, or is none",
                f"!goes || stage_check[2] == (index >= {known} && index >= {total} - {self._check_words})",
            ),
            ("more packets are under way than there are numbers", f"!used || {self._number('w - a')} <= {window}"),
            ("a frame has packets that were given up", f"!brings || {before} <= {window}"),
            ("a frame has packets that were not taken", f"!brings || now_count <= {under}"),
            ("a hello tells another number than that of the next packet", "!promises || (now_seq == w && !takes)"),
        ]
        off = self._wire("offset", self._number("own_number - now_seq"), width=self._bits)
        tags = [self._field("payload", f"tag_{number}") for number in range(self._link.most_packets)]
        for number, (part, place) in enumerate(tags):
            self.claims.append(
                (
                    "a packet goes by another queue",
                    f"!goes || !inside || !used || now_hello || index != {place.word} || {off} != {number} "
                    f"|| now_count <= {number} || {part} == own_tag",
                )
            )
        own = self._own_index("offset")
        self._wire("is_own_word", f"goes && inside && used && !now_hello && offset < now_count && index == {own}")
        bit = f"payload[own_bit % {width}]"
        self.claims.append(("a flit is sent changed", f"!is_own_word || {bit} == value"))
        self._happens("promises")
        self._happens("brings")
        self._happens("is_own_word")
        self._happens("passes")

    def _own_index(self, offset: str, part: str = "") -> str:
        """Return which word of a frame has the marked bit, or some part of its flit."""
        bits, link = self._index_bits, self._link
        part = f" + {part or f'own_bit / {link.word_width}'}" if self._parts > 1 else ""
        return (
            f"{bits}'({self._header} + {link.packet_words} * {bits}'({offset}) + {self._parts} * "
            f"{bits}'(own_flit){part})"
        )

    def _hint_all(self) -> None:
        """Follow each frame from its begin through the registers to the words that leave."""
        self._hint_window()
        self._hint_frame()
        self._hint_stages()
        self._hint_flit()

    def _hint_window(self) -> None:
        """Numbers are in order: acknowledged, sent, taken; and so are those of the next frame."""
        bits, window, most = self._bits, self._window, self._link.most_packets
        for name in ("written", "unacknowledged", "first", "following", "highest", "slot", "behind_written"):
            self._look(f"is_{name}", f"sender.{name}", bits)
        for name in ("gathered", "left"):
            self._look(f"is_{name}", f"sender.{name}", self._count_bits)
        for name in ("planned", "begins", "new", "still", "may_begin", "sends", "says", "dropped", "busy", "back"):
            prefix = "is_" if name in ("new", "still", "busy") else ""
            self._look(f"is_{name}", f"sender.{prefix}{name}", 1)
        for name in ("says_hello", "has_packets", "is_header", "ends_header", "holds", "gathers", "goes_back"):
            self._look(name, f"sender.{name}", 1)
        self._hint(f"is_written == w && is_behind_written == {self._number('w + 1')}")
        self._register("was_used", "used")
        self._wire("starts", "is_begins && says_hello && !used && !was_used")
        self._register("sure", "!will_use && !used && (sure || starts)")
        self._hint("!used || is_unacknowledged == a")
        self._hint("(!up || used) && (!was_up || was_used) && (!takes || was_used) && (!was_used || used || has_heard)")
        self._hint("!greeted || sure")
        self._wire("open", self._number("w - is_unacknowledged"), width=bits)
        self._wire("unsent", self._number("w - is_highest"), width=bits)
        self._wire("ahead", self._number("is_highest - is_first"), width=bits)
        self._wire("clean", "is_first == is_unacknowledged && is_gathered == 0 && !gathers")
        self._wire("calm", "open == 0 && !takes && !is_dropped")
        self._hint("!is_dropped || open != 0")
        self._hint("(!is_still || is_back) && (!goes_back || is_back) && !(goes_back && gathers)")
        self._hint("!is_still || used || calm")
        self._wire("will_be_sure", "is_may_begin && says_hello && !used && !was_used")
        self._hint("!will_be_sure || calm && is_back && !gathers && !has_packets && (goes_back || clean)")
        self._hint("!sure || !used && !was_used && !was_up && calm && unsent == 0 && clean && !has_packets && new_n")
        self._hint("!sure || !is_sends && !is_says && (!is_planned || says_hello)")
        self._hint("!is_may_begin || is_planned")
        self._hint("met || !used && !ever")
        data = "was_up || was_used || is_sends || is_says || has_packets || is_planned && !says_hello"
        self._hint(f"used || ever || !({data})")
        self._hint("(!is_sends || was_up && is_gathered != 0 && !goes_back) && (!is_says || was_up)")
        self._hint("!gathers || !has_packets || !is_may_begin && !is_header")
        self._hint(f"!gathers || is_gathered < {most}")
        self._hint(f"open + takes <= {window}")
        turn = max(LEAST_TURN, self._length)
        self._hint(f"(!takes || gap == {turn - 1}) && (!line[0] || gap == {turn - 2})")
        self._hint(f"!has_room || takes || line[0] || open < {window}")
        self._hint("unsent <= open + !used")
        self._hint(f"!used || {self._number('w - reach')} >= unsent")
        self._hint(f"!used || {self._number('w - reach')} <= {self._number('w - a')}")
        self._hint(f"!used || ahead <= {window}")
        self._hint(f"is_gathered <= {most}")
        self._hint("!used || {1'b0, unsent} + {1'b0, ahead} >= is_gathered + gathers")
        self._hint("!says_hello || !has_packets || !is_planned && !is_header")
        self._hint(f"is_following == {self._number('is_first + is_gathered')}")
        self._hint(f"!inside || (used && {self._number('own_number - a')} < {self._number('w + takes - a')})")

    def _hint_frame(self) -> None:
        """Count the words of a frame as they are chosen."""
        link, bits, size = self._link, self._bits, self._index_bits
        self._look("in_header", "sender.in_header", self._header)
        self._look("reading_header", "sender.reading_header", self._header)
        self._look("in_packets", "sender.in_packets", 1)
        self._look("in_check", "sender.in_check", self._check_words)
        self._look("place", "sender.flit_place", index_width(self._length))
        self._look("is_final", "sender.is_final", 1)
        self._wire("valid_n", "in_header != 0 || in_packets || in_check != 0")
        begins = {
            "index": "0",
            "count": "has_packets ? is_gathered : 0",
            "seq": "says_hello ? is_unacknowledged : is_first",
            "hello": "says_hello",
            "new": "used || says_hello && !was_used",
            "low": "own_before",
        }
        sizes = {
            "index": size,
            "count": self._count_bits,
            "seq": bits,
            "hello": 1,
            "new": 1,
            "low": 1,
            "base": bits,
            "top": bits,
        }
        self._sizes = sizes
        sent = self._wire("sent_top", self._number("is_first + is_gathered"), width=bits)
        begins["base"] = "top_n"
        begins["top"] = f"has_packets && {self._number('sent_top - top_n')} <= {self._window} ? {sent} : top_n"
        for name, value in begins.items():
            stays = "index_n + (f_advance && valid_n)" if name == "index" else f"{name}_n"
            self._follow(f"{name}_n", f"is_begins ? ({value}) : {stays}", name)
        self._register("begun", "is_begins")
        for place in range(self._header):
            self._hint(f"!in_header[{place}] || index_n == {place}")
        self._hint("(in_header & (in_header - 1'd1)) == 0 && (in_check & (in_check - 1'd1)) == 0")
        self._hint("(in_header != 0) + in_packets + (in_check != 0) <= 1")
        self._hint(f"is_busy == (valid_n && !in_check[{self._check_words - 1}])")
        self._hint("in_header == 0 || (is_left == count_n && is_slot == seq_n)")
        self._hint("begun || is_final == (is_left == 1)")
        self._hint("!begun || in_header[0]")
        self._hint("!is_header || !is_planned")
        self._hint("!is_header || (says_hello == hello_n && has_packets == (count_n != 0))")
        self._hint("is_header == (in_header != 0 || reading_header != 0 || ends_header)")
        self._hint("(reading_header != 0) + ends_header <= 1 && (!ends_header || in_header == 0)")
        self._hint(
            f"reading_header == 0 || (in_header == 0 ? reading_header[{self._header - 1}] : in_header == "
            "(reading_header << 1))"
        )
        self._hint("!hello_n || count_n == 0")
        self._hint(f"count_n <= {link.most_packets}")
        number = " | ".join(
            f"(place == {code} ? {size}'d{flit * self._parts} : 0)"
            for flit, code in enumerate(flit_codes(self._length))
        )
        at_tail = f"place == {flit_codes(self._length)[-1]}"
        part = ""
        if self._parts > 1:
            self._look("part", "sender.part", (self._parts - 1).bit_length())
            part = " + part"
            at_tail += f" && part == {self._parts - 1}"
            self._hint(f"part < {self._parts} && (in_packets || part == 0)")
        self._look("is_tail", "sender.is_tail", 1)
        self._hint(f"is_tail == ({at_tail})")
        packets = f"{link.packet_words} * {size}'({self._count_bits}'(count_n - is_left))"
        self._hint(f"!in_packets || index_n == {size}'({self._header} + {packets} + ({number}){part})")
        self._hint("!in_packets || (is_left != 0 && is_left <= count_n)")
        self._hint(f"!in_packets || is_slot == {self._number('seq_n + count_n - is_left')}")
        self._hint(f"in_packets ? {' || '.join(f'place == {code}' for code in flit_codes(self._length))} : place == 0")
        for place in range(self._check_words):
            self._hint(f"!in_check[{place}] || index_n == {self._words('count_n')} - {self._check_words - place}")
        self._hint("!is_header || !has_packets || (is_first == seq_n && is_gathered == count_n)")
        self._hint("!(is_planned && has_packets) || is_gathered != 0")
        self._hint(
            f"!used || !is_header || !has_packets || begun || is_new == "
            f"({self._number('is_following - is_highest')} <= {self._window})"
        )
        self._hint("!used || is_highest == (is_header ? base_n : top_n)")

    def _follow(self, register: str, following: str, name: str) -> None:
        """Make a register of what is known of a word; a frame before numbers became void is not new."""
        if name == "new":
            following = f"!falls && ({following})"
        if name in ("base", "top"):
            following = f"!used ? w : ({following})"
        none = f"{self._header + self._check_words - (register != 'index_n')}"
        self._register(register, following, width=self._sizes[name], reset=none if name == "index" else "0")

    def _hint_stages(self) -> None:
        """Keep what is known of the last word that has come to each register, and say what the register has of it."""
        link, names = self._link, list(self._sizes)
        self._look("of_header", "sender.of_header", link.word_width)
        for before, stage in pairwise(ORDER):
            moves = "f_advance && valid_n" if before == "n" else f"valid_{before}"
            for name in names:
                self._follow(f"{name}_{stage}", f"{moves} ? {name}_{before} : {name}_{stage}", name)
            self._wire(f"valid_{stage}", f"stage_valid[{stage}]")
        for stage in ORDER:
            self._wire(f"last_{stage}", f"index_{stage} == {self._words(f'count_{stage}')} - 1")
            self._hint(f"!valid_{stage} || index_{stage} < {self._words(f'count_{stage}')}")
            self._hint(f"count_{stage} <= {link.most_packets} && (!hello_{stage} || count_{stage} == 0)")
            self._hint(f"!(new_{stage} && !used) || sure && hello_{stage} && seq_{stage} == w")
            frame = f"!(used && new_{stage} && !hello_{stage} && count_{stage} != 0)"
            base, top = self._number(f"base_{stage} - seq_{stage}"), self._number(f"seq_{stage} + count_{stage}")
            under = f"{{1'b0, {self._number(f'w - base_{stage}')}}} + {{1'b0, {base}}}"
            self._hint(f"{frame} || ({base} <= {self._window} && count_{stage} <= {under})")
            self._hint(
                f"{frame} || top_{stage} == ({self._number(f'{top} - base_{stage}')} <= {self._window} ? {top} "
                f": base_{stage})"
            )
            self._hint(f"!{frame} || !used || top_{stage} == base_{stage}")
            live = f"valid_{stage} || !last_{stage}" if stage != "n" else "valid_n || is_header"
            self._hint(f"!used || {self._number(f'w - top_{stage}')} <= {self._number('w - a')}")
            self._hint(f"!used || !({live}) || {self._number(f'w - base_{stage}')} <= {self._number('w - a')}")
            self._hint(f"!(used || greeted) || !({live}) || new_{stage}")
            self._hint(f"met || !hello_{stage} || low_{stage} == own[0]")
            self._hint(
                f"!(used || greeted || ever) || !hello_{stage} || !({live}) || low_{stage} == (own[0] ^ !new_{stage})"
            )
            self._hint(f"used || ever || !(hello_{stage} || {live}) || hello_{stage} && new_{stage}")
            if stage != "n":
                self._known(stage)
        self._hint("!used || new_n")
        self._hint("!used || reach == (valid_2 || !last_2 ? base_2 : top_2)")
        for young, old in pairwise(ORDER):
            self._follows(young, old, names[1:])
        for name in ("count", "seq", "hello"):
            word = self._fields[False][name].word
            self._hint(f"(valid_2 ? index_2 <= {word} : last_2 || index_2 < {word}) || {name} == {name}_2")
        self._hint("index == (valid_2 ? index_2 : last_2 ? 0 : index_2 + 1)")

    def _follows(self, young: str, old: str, rest: list[str]) -> None:
        """Say that a word follows that in the register behind it, or is that one."""
        same = " && ".join(
            f"({'!used || ' if name in ('base', 'top') else ''}{name}_{young} == {name}_{old})" for name in rest
        )
        gone = f"last_{old}" if young == "n" else f"index_{young} == index_{old}"
        self._hint(f"valid_{young} || ({gone} && {same})")
        self._hint(f"!valid_{young} || index_{young} != 0 || last_{old} && (!used || base_{young} == top_{old})")
        self._hint(f"!valid_{young} || index_{young} == 0 || !last_{old} && index_{young} == index_{old} + 1 && {same}")
        self._hint(f"!new_{old} || new_{young}")
        self._hint(f"used || ever || !hello_{old} || low_{old} != own[0] || hello_{young} && low_{young} == own[0]")

    def _known(self, stage: str) -> None:
        """Say what the registers of a stage have of its word."""
        header, checks = self._header, self._check_words
        total = self._words(f"count_{stage}")
        here = f"valid_{stage} && index_{stage}"
        self._hint(f"!valid_{stage} || stage_last[{stage}] == last_{stage}")
        self._hint(f"!valid_{stage} || stage_check[{stage}] == (index_{stage} >= {total} - {checks})")
        begins = f"(index_{stage} - {header}) % {self._parts} == 0" if self._parts > 1 else "1"
        self._hint(
            f"!valid_{stage} || !stage_flit[{stage}] || stage_first[{stage}] == ({begins})".replace(
                "stage_flit", "stage_of_flit"
            ).replace("stage_first", "stage_is_first")
        )
        self._hint(
            f"!valid_{stage} || stage_of_flit[{stage}] == (index_{stage} >= {header} && index_{stage} < "
            f"{total} - {checks})"
        )
        if stage == "0":
            self._look("begun_in", "sender.begun_in", 1)
            self._look("own_before", "sender.own_before", 1)
            self._register("renamed", "renames")
            self._hint("renamed || !is_may_begin || own_before == (own[0] ^ (was_used && !used))")
            self._hint("!renamed || !hello_n || low_n == own_before")
            self._hint("begun_in == low_n")
            for number in range(header):
                self._hint(f"reading_header[{number}] == ({here} == {number})")
            self._hint(
                f"!valid_0 || index_0 >= {header} || (says_hello == hello_0 && (index_0 == {header - 1} && "
                f"!in_check[0] && {self._link.packet_words} == 1 || is_slot == seq_0 && is_left == count_0))"
            )
            return
        word = {"1": "of_header", "2": "payload"}[stage]
        _, place = self._field(word, "own_0", hello=True)
        self._hint(f"!({here} == {place.word} && hello_{stage}) || {word}[{place.bit}] == low_{stage}")
        if stage == "2":
            past = f"(valid_2 ? index_2 > {place.word} : !last_2 && index_2 >= {place.word})"
            self._hint(f"!(hello_2 && {past}) || own_0[0] == low_2")
        for name in ("count", "seq", "hello"):
            part, place = self._field(word, name)
            self._hint(f"!({here} == {place.word}) || {part} == {name}_{stage}")

    def _hint_flit(self) -> None:
        """The marked packet is in the memories, and its bit where its word is."""
        self._hint_memories()
        link, width, parts, most = self._link, self._link.word_width, self._parts, self._link.most_packets
        for place in range(most):
            self._look(f"tag_{place}", f"sender.tag_{place}", link.tag_width)
        gathered = self._wire("own_gathered", self._number("own_number - is_first"), width=self._bits)
        self._hint(f"!own_line[0] || {gathered} >= is_gathered + gathers")
        self._hint(f"!own_line[1] || {gathered} >= is_gathered")
        self._register("was_following", "is_following", width=self._bits, reset="")
        self._register("was_inside", "inside")
        self._look("tag_read", "sender.tag_read", link.tag_width)
        self._hint("!(inside && was_inside && was_following == own_number) || tag_read == own_tag")
        self._hint("!gathers || is_following == was_following")
        self._hint("!(gathers && is_following == own_number && inside) || was_inside")
        for place in range(most):
            self._hint(f"!inside || {gathered} != {place} || is_gathered <= {place} || tag_{place} == own_tag")
        self._look("read_data", "sender.ring_read_data", self._machine.word_width)
        self._look("read_flit", "sender.read_flit", self._machine.word_width)
        for stage in ORDER:
            self._wire(f"offset_{stage}", self._number(f"own_number - seq_{stage}"), width=self._bits)
            self._wire(f"has_{stage}", f"inside && new_{stage} && !hello_{stage} && offset_{stage} < count_{stage}")
            flit = f"{self._index_bits}'({self._own_index(f'offset_{stage}', '0')})"
            self._wire(f"flit_{stage}", flit, width=self._index_bits)
            word = {"1": "of_header", "2": "payload"}.get(stage, "")
            for place in range(most) if stage != "n" else ():
                part, field = self._field(word, f"tag_{place}")
                where = f"index_0 < {self._header}" if stage == "0" else f"index_{stage} == {field.word}"
                is_own = f"valid_{stage} && has_{stage} && offset_{stage} == {place} && {where}"
                self._hint(f"!({is_own}) || {f'tag_{place}' if stage == '0' else part} == own_tag")
        at = self._own_index("offset_2")
        self._hint(f"!(valid_2 && has_2 && index_2 == {at}) || payload[own_bit % {width}] == value")
        self._hint("!(valid_0 && has_0 && index_0 == flit_0) || read_data[own_bit] == value")
        self._hint("!(valid_1 && has_1 && index_1 == flit_1) || read_flit[own_bit] == value")
        if parts > 1:
            self._look("rest", "sender.rest", (parts - 1) * width)
            for later in range(1, parts):
                bit = f"rest[own_bit - {later * width}]"
                self._hint(f"!has_2 || index_2 != flit_2 + {later - 1} || own_bit < {later * width} || {bit} == value")

    def _hint_memories(self) -> None:
        """The flit that is marked is written in its turn, ahead of any frame that has it, and stays."""
        length, bits, line = self._length, self._bits, self._copy + self._length
        codes, width = flit_codes(length), index_width(length)
        self._register("stored", "inside && !falls && !passes && (stored || keeps)")
        own = " | ".join(f"(own_flit == {flit} ? {width}'d{code} : 0)" for flit, code in enumerate(codes))
        self._wire("own_code", own, width=width)
        self._look("writing_slot", "sender.writing_slot", bits - 1)
        self._look("writing_place", "sender.writing_place", width)
        for name, size, tail in (
            ("ring", bits - 1 + width, self._machine.word_width),
            ("tags", bits - 1, self._link.tag_width),
        ):
            self._look(f"{name}_addr", f"rig_{name}_addr", size)
            self._look(f"{name}_word", f"rig_{name}_word", tail)
        self._hint(f"!inside || (tags_addr == own_number[{bits - 2}:0] && tags_word == own_tag)")
        self._hint(f"!stored || (ring_addr == {{own_number[{bits - 2}:0], own_code}} && ring_word[own_bit] == value)")
        count = " + ".join(f"line[{place}]" for place in range(line - 1))
        self._wire("unwritten", f"w - ({count})", width=bits)
        self._hint(f"writing_slot == unwritten[{bits - 2}:0]")
        places = " | ".join(f"(line[{self._copy - 1 + flit}] ? {width}'d{code} : 0)" for flit, code in enumerate(codes))
        self._hint(f"writing_place == ({places})")
        self._hint("(own_line & ~line) == 0 && (own_line & (own_line - 1'd1)) == 0 && (own_line == 0 || inside)")
        turn = max(LEAST_TURN, length)
        for place in range(line):
            later = " + ".join(f"line[{one}]" for one in range(place)) or "0"
            is_own = f"(own_number == {self._number(f'w - 1 - ({later})')})"
            self._hint(f"!inside || !line[{place}] || own_line[{place}] == {is_own}")
            self._hint(
                f"!line[{place}] || line[{place}:0] >> {max(0, place - turn + 1)} == {1 << min(place, turn - 1)}"
            )
            self._hint(f"!line[{place}] || gap >= {max(0, turn - 2 - place)}")
            self._hint(
                f"!own_line[{place}] || !(valid_n && has_n) || index_n + {self._copy - 1} < "
                f"{self._header} + {self._link.packet_words} * {self._index_bits}'(offset_n) + {place}"
            )
        for flit in range(length):
            self._hint(f"!inside || own_flit != {flit} || stored != (|own_line[{self._copy - 1 + flit}:0])")
        self._hint(f"!inside || (own_flit < {length} && own_bit < {self._machine.word_width})")
