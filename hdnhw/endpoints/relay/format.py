"""How packets go by waypoints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.machine.flit import FlitFormat, HeaderFormat
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named

LEAST_PATIENCE = 512
"""Cycles a flit of a packet that a relay waits at least for the answer to a request."""


RELAY_COUNTS = ("stranded", "expired", "unreserved", "refused", "untold", "astray")
"""What a relay counts, of packets since reset.

``stranded`` have met something dead, ``expired`` have waited in vain for a slot, ``unreserved`` have come without
one, ``refused`` name too many stops: all these are lost. ``untold`` are notices without a place, ``astray`` are
requests, grants and notices that found nobody who waits for them.
"""


MOST_NOTICES = 16
"""Notices that wait at a relay."""


class RelayKind(IntEnum):
    """What a packet between two relays is for."""

    DATA = 0
    """A user's."""
    REQUEST = 1
    """The source has a packet for a slot of the destination."""
    GRANT = 2
    """The destination may send the packet for which it asked."""
    NOTICE = 3
    """A packet of the destination has been lost."""


@dataclass(frozen=True, kw_only=True)
class RelayPacket:
    """The fields of a packet between two relays, see :class:`RelayFormat`.

    Attributes
    ----------
    dst, src, kind, left : int
    stops : tuple of int
        ``stop_1`` to ``stop_W``.
    payload : int
    """

    dst: int
    src: int
    kind: int
    left: int
    stops: tuple[int, ...]
    payload: int


@dataclass(frozen=True)
class RelayFormat(HeaderFormat):
    """How packets go by waypoints: a header in the head flit, payload above it and in the other flits.

    Raises
    ------
    SpecError
        If the header does not fit into the head flit, or the time of requests is too short.

    Examples
    --------
    >>> packets = RelayFormat(FlitFormat(32, 6, 2), RelaySpec())
    >>> packets.header_width, packets.payload_width
    (21, 43)
    >>> packets.unpack(packets.pack([5, 9], 0x1234))
    RelayPacket(dst=5, src=0, kind=0, left=1, stops=(9,), payload=4660)
    """

    kinds = RelayKind
    flits: FlitFormat
    endpoints: RelaySpec

    def __post_init__(self) -> None:
        if self.header_width > self.flits.flit_width:
            raise SpecError(
                f"{named('flit_width')} must be at least the {self.header_width} header bits of relays, "
                f"not {self.flits.flit_width}"
            )
        if self.endpoints.timeout < LEAST_PATIENCE * self.flits.packet_length:
            raise SpecError(
                f"timeout must be at least {LEAST_PATIENCE} cycles a flit of a packet, "
                f"{LEAST_PATIENCE * self.flits.packet_length}, not {self.endpoints.timeout}"
            )

    @cached_property
    def header_fields(self) -> dict[str, int]:
        """See :class:`HeaderFormat`.

        ``dst`` is where the packet goes next, ``src`` who sent it, of data its first sender; ``kind`` is a
        :class:`RelayKind`; ``left`` are the stops of data behind ``dst``, or the class of the slot that a request or
        grant is about; ``stop_l`` is where data goes when l stops are left, and ``stop_1`` of a notice is the
        destination of the packet that was lost. Addresses are packed ones.
        """
        address, most = self.flits.address_width, self.endpoints.waypoints
        stops = {f"stop_{left}": address for left in range(1, most + 1)}
        return {"dst": address, "src": address, "kind": 2, "left": most.bit_length(), **stops}

    def stops_of(self, fields: Mapping[str, int]) -> list[int]:
        """See :meth:`HeaderFormat.stops_of`: those of data."""
        left = fields["left"] if fields["kind"] == RelayKind.DATA else 0
        return [fields[f"stop_{place}"] for place in range(left, 0, -1) if f"stop_{place}" in fields]

    @property
    def queues(self) -> int:
        """Queues of each class but 0: no more than there are addresses."""
        return min(self.endpoints.relay_queues, 1 << self.flits.address_width)

    @property
    def num_queues(self) -> int:
        """Queues of all classes: one of class 0, and :attr:`queues` of each other one."""
        return 1 + self.endpoints.waypoints * self.queues

    @property
    def relayed_queues(self) -> int:
        """Queues of all classes in which packets of others wait: the first so many."""
        return self.queues_of(self.endpoints.waypoints).start

    def queues_of(self, kind: int) -> range:
        """Return the numbers of the queues of a class."""
        return range(1 + (kind - 1) * self.queues, 1 + kind * self.queues) if kind else range(1)

    def queue_of(self, kind: int, stop: int) -> int:
        """Return the number of the queue in which a packet of a class waits, by the address of its next stop."""
        queues = self.queues_of(kind)
        return queues[stop % len(queues)]

    @property
    def payload_width(self) -> int:
        """Payload bits per packet."""
        return self.flits.flit_width * self.flits.packet_length - self.header_width

    def pack(self, stops: Sequence[int], payload: int) -> list[int]:
        """Return the flits of a packet of data as a user sends it, head first.

        Parameters
        ----------
        stops : sequence of int
            Packed addresses of the waypoints in order and, last, the destination.
        payload : int
            Its least significant bits travel in the head flit.

        Raises
        ------
        ValueError
            If there are no stops or too many, or one of them or `payload` is too wide.
        """
        address, most = self.flits.address_width, self.endpoints.waypoints
        fits = 1 <= len(stops) <= most + 1 and not any(stop >> address for stop in stops)
        if not fits or payload >> self.payload_width:
            raise ValueError(
                f"packet must have 1 to {most + 1} stops of {address} bits and {self.payload_width} bits of payload, "
                f"not {list(stops)} and {payload:#x}"
            )
        first, *later = stops
        return self.flits_of(
            RelayPacket(dst=first, src=0, kind=0, left=len(later), stops=tuple(reversed(later)), payload=payload)
        )

    def flits_of(self, packet: RelayPacket) -> list[int]:
        """Return the flits of a packet of any kind, head first; stops that it does not have are 0."""
        values = {"dst": packet.dst, "src": packet.src, "kind": packet.kind, "left": packet.left}
        values |= {f"stop_{left}": stop for left, stop in enumerate(packet.stops, 1)}
        word = packet.payload << self.header_width
        word |= sum(value << self.header_positions[name]["offset"] for name, value in values.items())
        return self.flits.split(word)

    def unpack(self, flits: Sequence[int]) -> RelayPacket:
        """Return the fields of a packet's flits."""
        word = self.flits.word(flits)
        fields = self.fields_of(word)
        stops = tuple(fields.pop(f"stop_{left}") for left in range(1, self.endpoints.waypoints + 1))
        return RelayPacket(**fields, stops=stops, payload=word >> self.header_width)


FORMAT = RelayFormat
