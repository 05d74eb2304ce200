"""What passes a link: frames of packets, the words of their headers, and the sizes that follow from a machine.

A frame is a header, the packets that it carries, and a check (:mod:`hdnhw.rtl.bridge.crc`), in words. Headers are of
two kinds. That of *data*, with packets or without, acknowledges; a *hello* says who is there, see
:class:`hdnhw.rtl.bridge.session.Session`. All that can change while a header is sent stands within one of its words.

Queues of a link are numbered by the channel, and the virtual channel, by which their packets come to a router. Numbers
of packets are counted from any one, modulo twice the packets of the sender's memory; so are those of a queue.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from hdnhw.machine.machine import Machine
from hdnhw.machine.timing import power_of_two
from hdnhw.rtl.bits import index_width
from hdnhw.rtl.bridge.crc import check_words

TRIP = 200
"""Words that a link has time for between one and what the other side answers, at the full rate."""

MOST_PACKETS = 16
"""Packets of a frame at most."""

SHARE = 12
"""Words of packets to one of header and check, in full frames, if so many packets go into one."""

LEAST_HEADER = 2
"""Words of a header, at least."""

EPOCH_WIDTH = 16
"""Bits of the number of a reset."""

NAK_WIDTH = 2
"""Bits of the number of requests to send again."""

Field = tuple[str, int]
"""Name, and bits."""


@dataclass(frozen=True)
class Place:
    """Where a field of a header is: its word, and its lowest bit there."""

    word: int
    bit: int
    width: int


@dataclass(frozen=True, eq=False)
class LinkFormat:
    """The frames of a link.

    Attributes
    ----------
    machine : Machine
    ports, arrivals : tuple of int
    word_width : int
        See :class:`hdnhw.rtl.bridge.bridge.Bridge`.
    """

    machine: Machine
    ports: tuple[int, ...]
    arrivals: tuple[int, ...]
    word_width: int

    def num_vcs(self, channel: int) -> int:
        """Return the virtual channels by which packets come in on a channel."""
        return self.machine.plan.num_vcs[self.machine.network.ports[self.ports[channel]].opposite]

    @cached_property
    def queues(self) -> list[tuple[int, int]]:
        """Channel and virtual channel of each queue, as they come in."""
        return [(channel, vc) for channel in range(len(self.ports)) for vc in range(self.num_vcs(channel))]

    @property
    def leaving(self) -> list[tuple[int, int]]:
        """Channel and virtual channel, here, of each queue of the other side, in the order in which it numbers them."""
        order = sorted(range(len(self.ports)), key=self.arrivals.__getitem__)
        return [(channel, vc) for channel in order for vc in range(self.machine.plan.num_vcs[self.ports[channel]])]

    @property
    def tag_width(self) -> int:
        """Bits of the number of a queue."""
        return index_width(len(self.queues))

    @property
    def flit_words(self) -> int:
        """Words of a flit."""
        return -(-self.machine.word_width // self.word_width)

    @property
    def packet_words(self) -> int:
        """Words of a packet."""
        return self.flit_words * self.machine.spec.packet_length

    @property
    def check_words(self) -> int:
        """Words of a check."""
        return check_words(self.word_width)

    @cached_property
    def most_packets(self) -> int:
        """Packets of a frame at most, a power of two."""
        count = 1
        while count < MOST_PACKETS and count * self.packet_words < SHARE * (
            self._header_words(count) + self.check_words
        ):
            count *= 2
        return count

    def _buffers(self, most: int) -> int:
        words = TRIP + 2 * most * self.packet_words + 64
        return min(max(4, power_of_two(-(-words // self.packet_words))), 1 << (self.word_width - 1))

    @property
    def buffers(self) -> int:
        """Packet buffers of a queue, and packets that can be under way: a power of two, enough for the full rate.

        What has been sent comes to an answer when a frame has ended, and the answer when the next one begins.
        """
        return self._buffers(self.most_packets)

    @property
    def number_width(self) -> int:
        """Bits of the number of a packet, or of a packet of a queue."""
        return self.buffers.bit_length()

    def _fields(self, most: int, *, hello: bool) -> list[Field]:
        width, epoch = self._buffers(most).bit_length(), EPOCH_WIDTH // 2
        begin = [("hello", 1), ("nak", NAK_WIDTH), ("count", most.bit_length()), ("seq", width)]
        queues = [(f"level_{queue}", width) for queue in range(len(self.queues))]
        if hello:
            epochs = [(f"{name}_{half}", epoch) for name in ("seen", "own") for half in range(2)]
            return [*begin, *queues, ("knows", 1), ("is_open", 1), ("uses", 1), *epochs]
        return [*begin, *queues, ("ack", width), *((f"tag_{place}", self.tag_width) for place in range(most))]

    def fields(self, *, hello: bool) -> dict[str, Place]:
        """Return the fields of a header.

        ``hello``: its kind; ``nak``: requests so far to send again; ``count``: packets that follow; ``seq``: the number
        of the first; ``level_Q``: of queue Q, the number of the first packet that still takes a buffer, or in a hello
        of the next to come; ``ack``: the number of the packet that comes next; ``tag_P``: the queue of packet P.
        ``knows``: whether the side has heard of the other one; ``is_open``: whether it takes packets; ``uses``:
        whether it goes by numbers agreed upon; ``seen`` and
        ``own``: the epochs of the other side and of its own, each in halves, in the order in which they must be sent.
        """
        return dict(_places(self._fields(self.most_packets, hello=hello), self.word_width))

    def _header_words(self, most: int) -> int:
        fields = [
            place for hello in (False, True) for place in _places(self._fields(most, hello=hello), self.word_width)
        ]
        # What the first word tells is compared by the time that a packet comes.
        return max(LEAST_HEADER, 1 + max(place.word for _, place in fields))

    @property
    def header_words(self) -> int:
        """Words of a header."""
        return self._header_words(self.most_packets)

    @property
    def frame_words(self) -> int:
        """Words of a full frame."""
        return self.header_words + self.most_packets * self.packet_words + self.check_words


def _places(fields: Iterable[Field], word_width: int) -> Iterable[tuple[str, Place]]:
    """Yield fields with their places: one after the other, none of them in two words."""
    word, bit = 0, 0
    for name, width in fields:
        if bit + width > word_width:
            word, bit = word + 1, 0
        yield name, Place(word, bit, width)
        bit += width
