"""What the rigs of a bridge's parts take for granted of each other follows from what is claimed of them.

Between the sides frames may be lost, doubled, and as late as may be, but none overtakes another one.
"""

from hdnhw.proofs.bridge import BridgeRig, copy_cycles
from hdnhw.rtl.bits import flit_codes, index_width
from hdnhw.rtl.bridge.bridge import LEAST_TURN
from hdnhw.rtl.bridge.frame import EPOCH_WIDTH
from hdnhw.verilog.fabric import EmittedFabric


class TakeRig(BridgeRig):
    """A rig around what takes packets from a router: only with a buffer at the other side, and room to keep it."""

    steps = 4

    def __init__(self, fabric: EmittedFabric, module: str) -> None:
        super().__init__(fabric, module)
        self._hear()
        self._use("is_hello")
        bits, queues, buffers = self._bits, self._link.leaving, self._link.buffers
        turn = max(LEAST_TURN, self._length)
        for name, width in (("take", 1), ("tag", self._link.tag_width), ("has_room", 1)):
            self._look(f"says_{name}", f"sender.{name}", width)
        self._register("may", "up && says_has_room")
        self._register(
            "apart",
            f"says_take ? 0 : apart == {turn - 1} ? apart : apart + 1",
            width=turn.bit_length(),
            reset=f"{turn - 1}",
        )
        self._register("open", "used && (answers || open)")
        for channel in sorted({channel for channel, _ in queues}):
            vcs = sum(one == channel for one, _ in queues)
            self._look(f"takes_{channel}", f"departures_{channel}.take", vcs)
        takes = [f"takes_{channel}[{vc}]" for channel, vc in queues]
        for queue, does_take in enumerate(takes):
            step = self._free(f"f_step_{queue}", bits)
            told = f"{step} <= {self._number(f'u_{queue} - l_{queue}')} ? l_{queue} + {step} : l_{queue}"
            self._wire(f"level_{queue}", f"used ? {told} : {step}", width=bits)
            self._cut(f"receiver.level_{queue}", f"level_{queue}")
            self._register(f"u_{queue}", f"renews ? level_{queue} : u_{queue} + {does_take}", width=bits)
            self._register(f"l_{queue}", f"answers || renews ? level_{queue} : l_{queue}", width=bits)
            under = self._number(f"u_{queue} - l_{queue}")
            self.claims += [
                ("a packet is taken without a buffer at the other side", f"!used || {under} <= {buffers}"),
                ("a packet is taken before the other side has told of a buffer", f"!used || open || {under} == 0"),
                (
                    "a packet goes by another queue than it came by",
                    f"!{does_take} || (says_take && says_tag == {queue})",
                ),
            ]
            self._happens(does_take)
            self._look(f"sent_{queue}", f"sent_{queue}", bits)
            self._look(f"limit_{queue}", f"limit_{queue}", bits)
            self._look(f"asks_{queue}", "asks", len(queues)) if not queue else None
            self._hint(f"sent_{queue} == u_{queue}")
            self._hint(f"!used || limit_{queue} == (open ? {self._number(f'l_{queue} + {buffers}')} : l_{queue})")
            self._hint(f"!asks_0[{queue}] || says_take || apart == 0 || !used || (open && {under} < {buffers})")
            self._hint(f"!{does_take} || !used || (open && {under} < {buffers})")
        ones = " + ".join(takes)
        self._look("uses_next", "session.is_used.next", 1)
        self._look("up_next", "session.is_up.next", 1)
        self._look("own_next", "session.epoch.next", EPOCH_WIDTH)
        self._look("own", "session.own", EPOCH_WIDTH)
        self._look("flits", "sender.writes", 1)
        self._register("met", "met || (hears && is_hello)")
        self._look("knows", "session.is_known", 1)
        self._hint("knows == met")
        copy = copy_cycles(self._link)
        line = copy + self._length
        self._register("line", f"{{line[{line - 2}:0], says_take}}", width=line)
        self._look("reads", "reads", 1)
        self._look("reading_place", "reading_place", index_width(self._length))
        self._hint(f"reads == |line[{self._length - 1}:0]")
        codes = " | ".join(f"(line[{place}] ? {code} : 0)" for place, code in enumerate(flit_codes(self._length)))
        self._hint(f"reading_place == ({codes})")
        for place in range(self._length):
            self._hint(f"!line[{place}] || apart == {min(place, turn - 1)}")
        self.claims += [
            (
                "packets pass while no numbers are agreed upon, or without a hello",
                "!up_next || uses_next && (up || hears && is_hello)",
            ),
            (
                "a side takes another epoch than behind the loss of numbers, or with its first hello",
                "used && !uses_next ? own_next[0] != own[0] : own_next == own || hears && is_hello && !met",
            ),
            ("flits of a packet do not come when they should", f"flits == |line[{line - 2}:{copy - 1}]"),
            (
                "numbers become void, or are agreed upon, without a frame",
                "hears && (used || is_hello) || uses_next == used",
            ),
            ("a packet is taken without room for it", "!says_take || may"),
            ("two packets are taken at once, or too soon", f"!says_take || (apart == {turn - 1} && {ones} == 1)"),
            ("a packet is sent that was not taken", f"!says_take || {ones} != 0"),
        ]
        self._look("left", "left", (turn - 1).bit_length())
        self._hint(f"apart <= {turn - 1}")
        self._hint(f"says_take ? left == {turn - 1} : apart + left == {turn - 2} || left == 0 && apart >= {turn - 2}")
        self._hint("up ? used : 1")


class RulesRig(BridgeRig):
    """A link without its text: the numbers of packets, of frames and of what is told, on their way and at both sides.

    Numbers have two bits more than those that are sent, so that differences are those of numbers without an end. Any
    frame is marked, and any answer; what is claimed of the marked one holds of all that come before it.
    """

    steps = 2

    def __init__(self, fabric: EmittedFabric, module: str) -> None:
        super().__init__(fabric, module)
        self._text, self._wide = "", self._bits + 2
        self._frames()
        self._answers()
        self._credits()

    def instances(self) -> tuple[list[str], list[tuple[str, int]]]:
        """Return nothing: no module stands in it."""
        return [], []

    def _less(self, one: str, other: str, most: int | str) -> str:
        """Return whether a number is not behind another, and no more than so many before it."""
        return f"{self._wide}'(({other}) - ({one})) <= {most}"

    def _frames(self) -> None:
        """Take packets, and send them in frames; any frame that is under way comes, or is lost."""
        wide, window, most = self._wide, self._window, self._link.most_packets
        self._wire("takes", f"{self._free('f_takes')} && {self._less('a', 'w', window - 1)}")
        self._register("w", "w + takes", width=wide)
        back, count = self._free("f_back", self._bits), self._free("f_count", self._count_bits)
        under = f"{wide}'(w - h) + {back} >= {count}"
        self._wire("sends", f"{self._free('f_sends')} && {back} <= {window} && {count} <= {most} && {under}")
        self._wire("s", f"h - {back}", width=wide)
        self._wire("till", f"s + {count}", width=wide)
        self._register("h", f"sends && {self._less('h', 'till', window)} ? till : h", width=wide)
        self._wire("marks", f"sends && {self._free('f_marks')} && !flies && !stands")
        self._register("flies", f"marks || (flies && !comes && !{self._free('f_lost')})")
        self._wire("comes", f"flies && {self._free('f_comes')}")
        self._register("stands", f"comes || (stands && !{self._free('f_passes')})")
        for name, value, size in (("m_s", "s", wide), ("m_end", "till", wide), ("m_before", "h", wide)):
            self._register(name, f"marks ? {value} : {name}", width=size, reset="")
        s, end = self._free("f_s", wide), self._free("f_till", wide)
        last = "(flies ? m_before : h)"
        fits = f"{self._less(s, 'e', window)} || {self._less('e', s, window)}"
        holds = f"({fits}) && {self._less(s, end, most)} && {self._less(end, last, 2 * window)}"
        self._wire("other", f"{self._free('f_other')} && !comes && !stands && {holds}")
        again = self._wire("again", f"stands && {self._free('f_again')}")
        self._wire("came_s", f"comes || {again} ? m_s : {s}", width=wide)
        self._wire("came_end", f"comes || {again} ? m_end : {end}", width=wide)
        self._wire("brings", f"(comes || again || other) && {self._less('came_s', 'e', window)}")
        self._register("e", f"brings && {self._less('e', 'came_end', window)} ? came_end : e", width=wide)
        marked = "!(flies || stands)"
        self.claims += [
            (
                "numbers at both sides are not in order",
                " && ".join(
                    (
                        self._less("a", "e", window),
                        self._less("e", "h", window),
                        self._less("h", "w", window),
                        self._less("a", "w", window),
                    )
                ),
            ),
            (
                "a frame comes with a number that is none of its window",
                f"{marked} || {self._wide}'(e - m_s + {window}) <= {2 * window}",
            ),
            (
                "a frame comes with packets that are behind the window",
                f"{marked} || {self._less('m_end', 'w', 2 * window)}",
            ),
        ]
        self._hint("!(flies && stands)")
        self._hint(f"{marked} || (flies ? {self._less('e', 'm_before', window)} : 1)")
        self._hint(f"{marked} || {self._less('m_s', 'm_before', window)}")
        self._hint(f"{marked} || {self._less('m_before', 'h', 2 * window)}")
        self._hint(f"{marked} || {self._less('m_end', 'h', 2 * window)}")
        self._hint(f"{marked} || {self._less('m_s', 'm_end', most)}")
        self._hint(f"{marked} || !stands || {self._less('m_s', 'h', 2 * window)}")
        for seen in ("comes && brings", "again", "other && brings"):
            self._happens(seen)

    def _answers(self) -> None:
        """Tell what is expected; any answer that is under way comes, or is lost."""
        wide, window = self._wide, self._window
        self._wire("tells", f"{self._free('f_tells')} && !told")
        self._register("told", f"tells || (told && !heard && !{self._free('f_untold')})")
        self._wire("heard", f"told && {self._free('f_heard')}")
        self._register("m_e", "tells ? e : m_e", width=wide, reset="")
        step = self._free("f_step", self._bits)
        self._wire("between", f"{self._less('a', f'(told ? m_e : e) - {step}', window)} && {step} <= {window}")
        self._wire("hears", f"{self._free('f_hears')} && !heard && between")
        self._register("a", f"heard ? m_e : hears ? (told ? m_e : e) - {step} : a", width=wide)
        claim = f"!told || ({self._less('a', 'm_e', window)} && {self._less('m_e', 'e', window)})"
        self.claims.append(("an answer comes that is behind another one", claim))
        self._happens("heard")

    def _credits(self) -> None:
        """Count the packets of a queue, and tell how many have left their buffers."""
        wide, buffers = self._wide, self._link.buffers
        self._register(
            "sent", f"sent + ({self._free('f_sent')} && {self._less('level', 'sent', buffers - 1)})", width=wide
        )
        self._register("filled", f"filled + ({self._free('f_filled')} && filled != sent)", width=wide)
        self._register("taken", f"taken + ({self._free('f_taken')} && taken != filled)", width=wide)
        self._wire("says", f"{self._free('f_says')} && !said")
        self._register("said", f"says || (said && !{self._free('f_unsaid')} && !reads)")
        self._wire("reads", f"said && {self._free('f_reads')}")
        self._register("m_level", "says ? taken : m_level", width=wide, reset="")
        step, last = self._free("f_less", self._bits), "(said ? m_level : taken)"
        self._wire("allowed", f"{self._less('level', f'{last} - {step}', buffers)} && {step} <= {buffers}")
        self._register(
            "level", f"reads ? m_level : {self._free('f_levels')} && allowed ? {last} - {step} : level", width=wide
        )
        self.claims += [
            ("a buffer overflows", self._less("taken", "filled", buffers)),
            (
                "credits are told that are not there",
                " && ".join(
                    (
                        self._less("level", "taken", buffers),
                        self._less("filled", "sent", buffers),
                        self._less("level", "sent", buffers),
                    )
                ),
            ),
            (
                "credits are behind others",
                f"!said || ({self._less('level', 'm_level', buffers)} && {self._less('m_level', 'taken', buffers)})",
            ),
        ]
        self._happens("reads && sent != filled")
