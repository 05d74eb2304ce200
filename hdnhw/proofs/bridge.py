"""What rigs around a bridge have in common: the frames of its link, as its text sends and takes them."""

from hdnhw.proofs.rig import Rig
from hdnhw.rtl.bridge.frame import LinkFormat, Place
from hdnhw.verilog.fabric import EmittedFabric

COPY_CYCLES = 3
"""Cycles from the choice of a packet to its head flit, by one channel."""

COPY_CYCLES_FAR = 5
"""By several."""


def format_of(fabric: EmittedFabric, module: str) -> LinkFormat:
    """Return the frames of a bridge."""
    chips = fabric.chips
    assert chips is not None
    link = chips.chips.links[chips.bridges.index(module)]
    return LinkFormat(fabric.machine, link.ports, link.arrivals, chips.cut.link_width)


def copy_cycles(link: LinkFormat) -> int:
    """Return the cycles from the choice of a packet to its head flit."""
    return COPY_CYCLES if len(link.ports) == 1 else COPY_CYCLES_FAR


class BridgeRig(Rig):
    """A rig around a bridge.

    Parameters
    ----------
    fabric : EmittedFabric
        Of chips.
    module : str
    """

    def __init__(self, fabric: EmittedFabric, module: str) -> None:
        assert fabric.chips is not None
        super().__init__(fabric, module, file=fabric.chips.file)
        self._link = link = format_of(fabric, module)
        self._bits, self._window = link.number_width, link.buffers - 1
        self._header, self._check_words = link.header_words, link.check_words
        self._index_bits = (link.frame_words + 1).bit_length()
        self._count_bits = link.most_packets.bit_length()
        self._fields = [link.fields(hello=hello) for hello in (False, True)]

    def _number(self, value: str) -> str:
        """Return a value modulo the numbers of packets."""
        return f"{self._bits}'({value})"

    def _words(self, count: str) -> str:
        """Return the words of a frame of so many packets."""
        packets = f"{self._link.packet_words} * {self._index_bits}'({count})"
        return f"{self._index_bits}'({self._header + self._check_words} + {packets})"

    def _hear(self) -> None:
        """Let whole frames come, of data or hellos: no two in a row, and each told of a cycle before it counts."""
        self._wire("is_hello", self._free("f_hello"))
        self._register("was_hello", "is_hello")
        self._wire("hears", f"{self._free('f_good')} && !has_heard && is_hello == was_hello")
        self._register("has_heard", "hears")
        self._register("was_up", "up")
        self._wire("answers", "hears && !is_hello && was_up")
        self._wire("renews", "hears && is_hello && !used")
        for net, becomes in (("good", "hears"), ("hello", "is_hello"), ("counts", "answers"), ("renews", "renews")):
            self._cut(f"receiver.{net}", becomes)

    def _use(self, may_rise: str) -> None:
        """Let both sides go by numbers agreed upon, or not, behind what is heard, and packets pass or not; a reset ends
        it."""
        self._wire(
            "will_use", f"used ? !(hears && {self._free('f_falls')}) : hears && {self._free('f_rises')} && {may_rise}"
        )
        self._register("used", "will_use")
        self._register("up", f"will_use && {self._free('f_up')}")
        self._wire("rises", "will_use && !used")
        self._wire("falls", "!will_use && used")
        self._cut("session.is_used", "used")
        self._cut("session.is_up", "up")

    def _field(self, word: str, name: str, *, hello: bool = False) -> tuple[str, Place]:
        """Return a field in a word, and its place."""
        place = self._fields[hello][name]
        return f"{word}[{place.bit + place.width - 1}:{place.bit}]", place
