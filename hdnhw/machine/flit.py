"""The flits of a packet: the one definition that model, RTL and benches share.

A packet is L flits of ``flit_width`` bits: the head flit carries the packed destination address in its least
significant bits and payload above it, every other flit is payload. Behind AXI4-Stream endpoints the payload begins with
the header of :class:`FrameFormat`, between relays with that of :class:`RelayFormat`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from operator import index
from typing import Any

from hdnhw.spec import INTEGERS, AxiMemorySpec, AxiStreamSpec, ExchangeSpec, RelaySpec
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named


@dataclass(frozen=True)
class FlitFormat:
    """Field positions of a packet.

    Attributes
    ----------
    flit_width : int
        Bits a flit.
    address_width : int
        Bits of the destination address in the head flit.
    packet_length : int
        Flits a packet.

    Raises
    ------
    SpecError
        If the destination does not fit into the head flit.
    """

    flit_width: int
    address_width: int
    packet_length: int

    def __post_init__(self) -> None:
        if index(self.flit_width) < self.address_width:
            raise SpecError(
                f"{named('flit_width')} must be at least the network's {self.address_width} address bits, not "
                f"{self.flit_width}"
            )

    @property
    def destination(self) -> slice:
        """Where the packed address of the destination stands in the head flit; payload is all above it."""
        return slice(0, self.address_width)

    def head(self, destination: Any, payload: Any) -> Any:
        """Return the head flit with a packed address and payload above it, of integers or of arrays of them."""
        return payload << self.destination.stop | destination << self.destination.start

    def destination_of(self, head: Any) -> Any:
        """Return the packed address in a head flit, or in each of an array of them."""
        return head >> self.destination.start & (1 << self.address_width) - 1

    def head_payload(self, head: Any) -> Any:
        """Return the payload in a head flit, or in each of an array of them."""
        return head >> self.destination.stop

    @property
    def head_payload_width(self) -> int:
        """Payload bits in the head flit, above the address."""
        return self.flit_width - self.address_width

    @property
    def payload_width(self) -> int:
        """Payload bits a packet."""
        return self.head_payload_width + self.flit_width * (self.packet_length - 1)

    def pack(self, destination: int, payload: int) -> list[int]:
        """Return the flits of a packet, head first; the payload's least significant bits travel in the head flit.

        Raises
        ------
        ValueError
            If `destination` or `payload` is too wide.
        """
        if destination >> self.address_width or payload >> self.payload_width:
            raise ValueError(
                f"packet must have {self.address_width} bits of destination and {self.payload_width} of payload, "
                f"not {destination:#x} and {payload:#x}"
            )
        return self.split(self.head(destination, payload))

    def unpack(self, flits: Sequence[int]) -> tuple[int, int]:
        """Return (destination, payload) of a packet's flits."""
        word = self.word(flits)
        return self.destination_of(word), self.head_payload(word)

    def word(self, flits: Sequence[int]) -> int:
        """Return flits as one number, the first in its least significant bits."""
        return sum(flit << self.flit_width * position for position, flit in enumerate(flits))

    def split(self, word: int) -> list[int]:
        """Return the flits of a packet that is one number, see :meth:`word`."""
        mask = (1 << self.flit_width) - 1
        return [word >> self.flit_width * position & mask for position in range(self.packet_length)]


class PacketKind(IntEnum):
    """What a packet between two endpoints is for; bit 1 is set if it carries no data."""

    FIRST = 0
    """The first packet of a frame."""
    BODY = 1
    """Another packet of it."""
    GRANT = 2
    """The destination has room for the packets it was asked for."""


class HeaderFormat:
    """What formats with a header share; it fills whole flits and begins with the destination in the head flit.

    Attributes
    ----------
    flits : FlitFormat
    """

    flits: FlitFormat

    @property
    def header_fields(self) -> dict[str, int]:
        """Width of each field in bits, the least significant first, from bit 0 of the head flit."""
        raise NotImplementedError

    @property
    def header_width(self) -> int:
        """Bits of the header."""
        return sum(self.header_fields.values())

    @property
    def header_flits(self) -> int:
        """Flits that the header fills."""
        return -(-self.header_width // self.flits.flit_width)

    @property
    def header_positions(self) -> dict[str, dict[str, int]]:
        """Offset from bit 0 of the head flit, and width, of each field, as manifests have them."""
        result, offset = {}, 0
        for name, width in self.header_fields.items():
            result[name], offset = {"offset": offset, "width": width}, offset + width
        return result

    def fields_of(self, word: int) -> dict[str, int]:
        """Return the value of each field of a header, read from the bits of a packet, bit 0 that of the head flit."""
        positions = self.header_positions.items()
        return {name: word >> place["offset"] & (1 << place["width"]) - 1 for name, place in positions}

    @property
    def payload_flits(self) -> int:
        """Data flits a packet."""
        return self.flits.packet_length - self.header_flits

    def check_room(self, endpoints: str) -> None:
        """Raise SpecError if a packet of these endpoints has no data flit."""
        if self.payload_flits < 1:
            raise SpecError(
                f"{named('packet_length')} must be at least {self.header_flits + 1} flits, not "
                f"{self.flits.packet_length}: "
                f"the header of {endpoints} takes {self.header_flits}"
            )


@dataclass(frozen=True)
class FrameFormat(HeaderFormat):
    """How frames travel as packets: header flits, then data flits, one a transfer.

    Attributes
    ----------
    flits : FlitFormat
    endpoints : AxiStreamSpec

    Raises
    ------
    SpecError
        If a flit is no whole number of bytes, or a packet has no room for data behind the header.

    Examples
    --------
    >>> frames = FrameFormat(FlitFormat(32, 4, 8), AxiStreamSpec())
    >>> frames.header_width, frames.header_flits, frames.payload_flits, frames.max_transfers
    (19, 1, 7, 256)
    """

    flits: FlitFormat
    endpoints: AxiStreamSpec

    def __post_init__(self) -> None:
        if self.flits.flit_width % 8:
            raise SpecError(
                f"{named('flit_width')} must be a multiple of 8 bits for AXI4-Stream endpoints, not "
                f"{self.flits.flit_width}"
            )
        self.check_room("AXI4-Stream endpoints")

    @property
    def keep_width(self) -> int:
        """Bytes a transfer."""
        return self.flits.flit_width // 8

    @cached_property
    def header_fields(self) -> dict[str, int]:
        """See :class:`HeaderFormat`.

        ``dst`` and ``src`` are packed addresses; ``kind`` is a :class:`PacketKind`; ``last`` says that the packet ends
        its frame. Of such a packet ``end`` is the position of the last data flit, from 0, ``keep`` that flit's tkeep,
        and ``user`` the frame's tuser. Data packets without ``last`` are full; in ``end``, and above it ``keep``, they
        ask for as many packets to be granted, all ones for those of the longest frame, and 0 for none.
        """
        return {
            "dst": self.flits.address_width,
            "src": self.flits.address_width,
            "kind": 2,
            "last": 1,
            "end": max(1, (self.flits.packet_length - 2).bit_length()),
            "keep": self.keep_width,
            "user": self.endpoints.tuser_width,
        }

    @property
    def max_transfers(self) -> int:
        """Transfers of the longest frame: those that hold ``max_frame`` bytes."""
        return -(-self.endpoints.max_frame // self.keep_width)


class MemoryKind(IntEnum):
    """What a packet between AXI4 endpoints is for; bit 1 is set if it is an answer, bit 0 if it is of a read."""

    WRITE = 0
    """Data to be written."""
    READ = 1
    """Data are asked for."""
    WRITTEN = 2
    """The response to a write."""
    DATA = 3
    """Data that were read, with their response."""


@dataclass(frozen=True)
class MemoryFormat(HeaderFormat):
    """How parts of AXI4 bursts travel: header flits, then data flits, one a beat.

    Attributes
    ----------
    flits : FlitFormat
    endpoints : AxiMemorySpec

    Raises
    ------
    SpecError
        If a flit is no width that AXI4 has, the kind is not in the head flit, or a packet has no room for data.

    Examples
    --------
    >>> memory = MemoryFormat(FlitFormat(32, 4, 8), AxiMemorySpec())
    >>> memory.header_width, memory.header_flits, memory.payload_flits
    (64, 2, 6)
    """

    flits: FlitFormat
    endpoints: AxiMemorySpec

    def __post_init__(self) -> None:
        width = self.flits.flit_width
        if not 8 <= width <= 1024 or width & (width - 1):
            raise SpecError(
                f"{named('flit_width')} must be a power of two from 8 to 1024 bits for AXI4 endpoints, not {width}"
            )
        if self.flits.address_width + 2 > width:
            raise SpecError(
                f"{named('flit_width')} must be at least {self.flits.address_width + 2} bits for the head flits of "
                f"AXI4 "
                f"endpoints, not {width}"
            )
        self.check_room("AXI4 endpoints")

    @property
    def bytes(self) -> int:
        """Bytes a beat."""
        return self.flits.flit_width // 8

    @property
    def tags(self) -> int:
        """Packets of writes, and as many of reads, that a node has under way."""
        return self.endpoints.outstanding

    @property
    def address_bits(self) -> int:
        """Bits of a manager's address."""
        return self.flits.address_width + self.endpoints.memory_bits

    @cached_property
    def payload_flits(self) -> int:
        """Data flits a packet: as many as leave room for a header with their strobes."""
        for beats in range(self.flits.packet_length - 1, 0, -1):
            if sum(self._fields(beats).values()) <= (self.flits.packet_length - beats) * self.flits.flit_width:
                return beats
        return 0

    @cached_property
    def header_fields(self) -> dict[str, int]:
        """See :class:`HeaderFormat`.

        ``dst`` and ``src`` are packed addresses; ``kind`` is a :class:`MemoryKind`; ``tag`` is what the source calls
        the part, and the answer has it back; ``end`` is the position of the part's last beat, from 0; ``size`` is that
        of AXI4 in a request and the response in an answer; ``fixed`` says that every beat is for the same address,
        ``addr``; ``strobes`` are those of the beats of a write, the first one's lowest.
        """
        return self._fields(max(1, self.payload_flits))

    def _fields(self, beats: int) -> dict[str, int]:
        return {
            "dst": self.flits.address_width,
            "kind": 2,
            "src": self.flits.address_width,
            "tag": max(1, (self.tags - 1).bit_length()),
            "end": max(1, (beats - 1).bit_length()),
            "size": max(2, (self.bytes.bit_length() - 1).bit_length()),
            "fixed": 1,
            "addr": self.endpoints.memory_bits,
            "strobes": beats * self.bytes,
        }


class NumberFormat(HeaderFormat):
    """What the formats of collective engines share: data flits made of numbers that may be combined.

    Attributes
    ----------
    operators : tuple of str
        How they may be combined, of :data:`hdnhw.spec.OPERATORS`; empty if they never are.
    numbers : str
        One of :data:`hdnhw.spec.INTEGERS`: what a flit is then made of, the first one in its least significant bits.
    message_packets : int
        Packets of a message.
    has_kind : bool
        Whether engines send packets of another format too: then ``kind``, behind ``dst`` in the head flit, says which.
    variable_messages : bool
        Whether a message may have fewer packets, or none.
    has_groups : bool
        Whether nodes join groups: then a host says of its node whether it is a member.

    Raises
    ------
    SpecError
        If a packet has no room for data behind the header, or a flit is not made of whole numbers.
    """

    operators: tuple[str, ...]
    numbers: str
    message_packets: int = 1
    has_kind: bool = False
    variable_messages: bool = False
    has_groups: bool = False

    def __post_init__(self) -> None:
        self.check_room("collective engines")
        width = self.flits.flit_width
        if self.operators and width % self.number_width:
            raise SpecError(
                f"{named('flit_width')} must be a multiple of {self.number_width} bits for {self.numbers}, not {width}"
            )
        if self.count_width > width:
            raise SpecError(
                f"{named('flit_width')} must be at least {self.count_width} bits, which say how many of "
                f"{self.message_packets} "
                f"packets a message has, not {width}"
            )

    @property
    def number_width(self) -> int:
        """Bits of a number."""
        return int(self.numbers.lstrip("uint"))

    @property
    def is_signed(self) -> bool:
        """Whether numbers have a sign."""
        return not self.numbers.startswith("u")

    @property
    def operator_width(self) -> int:
        """Bits that say which of several operators is used."""
        return max(0, len(self.operators) - 1).bit_length()

    @property
    def part_width(self) -> int:
        """Bits that say which packet of its message one is, of several."""
        return (self.message_packets - 1).bit_length()

    @property
    def count_width(self) -> int:
        """Bits of the flit in front of one of a node's own messages that say how many packets it has, 0 if there is no
        such flit.
        """
        return self.message_packets.bit_length() if self.variable_messages else 0


@dataclass(frozen=True)
class MessageFormat(NumberFormat):
    """How collective engines send messages: packets of header flits and data flits, one or several a message.

    Attributes
    ----------
    flits : FlitFormat
    num_sends : int
        Sends of the program.
    has_target : bool
        Whether the header says for whom a message is.
    operators : tuple of str
    numbers : str
    message_packets : int
    has_kind : bool
    variable_messages : bool
    has_groups : bool
        See :class:`NumberFormat`.

    Examples
    --------
    >>> messages = MessageFormat(FlitFormat(32, 4, 8), 6, True, ("sum", "max"), "int16")
    >>> messages.number_width, messages.is_signed, messages.header_positions["operator"]
    (16, True, {'offset': 19, 'width': 1})
    >>> MessageFormat(FlitFormat(32, 4, 8), 6, True, message_packets=5).header_positions["part"]
    {'offset': 12, 'width': 3}
    """

    flits: FlitFormat
    num_sends: int
    has_target: bool
    operators: tuple[str, ...] = ()
    numbers: str = INTEGERS[0]
    message_packets: int = 1
    has_kind: bool = False
    variable_messages: bool = False
    has_groups: bool = False

    @cached_property
    def header_fields(self) -> dict[str, int]:
        """See :class:`HeaderFormat`.

        ``dst`` is the neighbor that the packet goes to, ``source`` and ``target`` are those of the message, packed
        addresses; ``part`` is the number of the packet within its message, of several; ``send`` is the number of the
        send; ``parity`` that of the operations that the sender has ended; ``ready`` says that the sender has begun the
        step and takes all that is for it; ``last`` that nothing more comes by this send; ``holds`` that there is
        something of a message; ``operator`` is the place of its operator, of several; ``member`` says in a join that
        the sender is a member, or has heard of one.
        """
        width = self.flits.address_width
        fields = {"dst": width, "kind": int(self.has_kind)}
        fields |= {"source": width, "target": width if self.has_target else 0, "part": self.part_width}
        fields |= {"send": max(1, (self.num_sends - 1).bit_length()), "parity": 1, "ready": 1, "last": 1, "holds": 1}
        fields |= {"operator": self.operator_width, "member": int(self.has_groups)}
        return {name: bits for name, bits in fields.items() if bits}


@dataclass(frozen=True)
class RegisterFormat(NumberFormat):
    """How register machines send vectors: header flits, then data flits, one vector a packet.

    Attributes
    ----------
    flits : FlitFormat
    packets : int
        Packets of an operation, the most of any.
    operators : tuple of str
    numbers : str
    has_kind : bool
        See :class:`NumberFormat`.

    Examples
    --------
    >>> RegisterFormat(FlitFormat(32, 4, 8), 6, ("sum", "max"), "int16").header_fields
    {'dst': 4, 'packet': 3, 'parity': 1}
    """

    flits: FlitFormat
    packets: int
    operators: tuple[str, ...]
    numbers: str
    has_kind: bool = False

    @cached_property
    def header_fields(self) -> dict[str, int]:
        """See :class:`HeaderFormat`.

        ``dst`` is the packed address of the neighbor that the packet goes to; ``packet`` is its number among those of
        all steps of the operation; ``parity`` that of the operations that the sender has ended.
        """
        kind = {"kind": 1} if self.has_kind else {}
        return {"dst": self.flits.address_width, **kind, "packet": max(1, (self.packets - 1).bit_length()), "parity": 1}


@dataclass(frozen=True)
class JointFormat(NumberFormat):
    """How engines that are joined from several send packets: each part as by itself, with a bit that says which it is.

    Attributes
    ----------
    flits : FlitFormat
    operators : tuple of str
    numbers : str
        See :class:`NumberFormat`.
    parts : tuple of NumberFormat
        By the value of ``kind``; of several, each has it.
    message_packets : int
    variable_messages : bool
    has_groups : bool
        Of the part that moves messages, see :class:`NumberFormat`.

    Raises
    ------
    SpecError
        If the head flit has no room for ``kind``.

    Examples
    --------
    >>> flits, numbers = FlitFormat(32, 4, 8), {"operators": ("sum", "max"), "numbers": "int16", "has_kind": True}
    >>> parts = MessageFormat(flits, 6, True, **numbers), RegisterFormat(flits, 6, **numbers)
    >>> joint = JointFormat(flits, ("sum", "max"), "int16", parts)
    >>> joint.header_positions["kind"], joint.part_of(1 << 4) is parts[1]
    ({'offset': 4, 'width': 1}, True)
    """

    flits: FlitFormat
    operators: tuple[str, ...]
    numbers: str
    parts: tuple[NumberFormat, ...]
    message_packets: int = 1
    variable_messages: bool = False
    has_groups: bool = False

    def __post_init__(self) -> None:
        if self.header_width > self.flits.flit_width:
            raise SpecError(
                f"{named('flit_width')} must be at least {self.header_width} bits for engines that move messages "
                f"and combine in "
                f"registers, not {self.flits.flit_width}"
            )

    @cached_property
    def header_fields(self) -> dict[str, int]:
        """What the headers of all parts begin with; see :class:`HeaderFormat`."""
        return {name: width for name, width in self.parts[0].header_fields.items() if name in ("dst", "kind")}

    def part_of(self, word: int) -> NumberFormat:
        """Return the format of a packet, read from its bits."""
        return self.parts[self.fields_of(word).get("kind", 0)]


@dataclass(frozen=True)
class GeneratorFormat(HeaderFormat):
    """How generators of a total exchange send packets: every bit follows from the two addresses in the head flit.

    Attributes
    ----------
    flits : FlitFormat
    endpoints : ExchangeSpec

    Raises
    ------
    SpecError
        If the head flit has no room for the source's address.

    Examples
    --------
    >>> GeneratorFormat(FlitFormat(8, 2, 2), ExchangeSpec()).pack(1, 2)
    [6, 243]
    """

    flits: FlitFormat
    endpoints: ExchangeSpec

    def __post_init__(self) -> None:
        if self.header_width > self.flits.flit_width:
            raise SpecError(
                f"{named('flit_width')} must be at least {self.header_width} for a total exchange's addresses, "
                f"not {self.flits.flit_width}"
            )

    @cached_property
    def header_fields(self) -> dict[str, int]:
        """See :class:`HeaderFormat`; ``dst`` and ``src`` are packed addresses."""
        return {"dst": self.flits.address_width, "src": self.flits.address_width}

    def pack(self, source: int, destination: int) -> list[int]:
        """Return the flits of a packet, head first: each after it is the one before, rotated left by 1 and inverted."""
        width, flits = self.flits.flit_width, [source << self.flits.address_width | destination]
        while len(flits) < self.flits.packet_length:
            flits.append(~(flits[-1] << 1 | flits[-1] >> width - 1) & (1 << width) - 1)
        return flits


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

    Attributes
    ----------
    flits : FlitFormat
    endpoints : RelaySpec

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
        """Payload bits a packet."""
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
