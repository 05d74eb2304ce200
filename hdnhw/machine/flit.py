"""The flits of a packet: the one definition that model, RTL and benches share.

A packet is L flits of ``flit_width`` bits: the head flit carries the packed destination address in its least
significant bits and payload above it, every other flit is payload. What endpoints send each other begins with a header,
whose fields each kind of endpoints has of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from operator import index
from typing import Any, ClassVar

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
        """Payload bits per packet."""
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


class HeaderFormat:
    """What formats with a header share; it fills whole flits and begins with the destination in the head flit.

    Attributes
    ----------
    kinds : type of IntEnum or None
        What the field ``kind`` of a header can say; None if there is no such field, or none beside a field ``src``.
    flits : FlitFormat
    """

    kinds: ClassVar[type[IntEnum] | None] = None
    flits: FlitFormat

    @classmethod
    def of(cls, machine: Any) -> Any:
        """Return the format of a :class:`hdnhw.machine.machine.Machine` with endpoints of the kind."""
        return cls(machine.flits, machine.spec.endpoints)  # type: ignore[call-arg]

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

    def stops_of(self, fields: Mapping[str, int]) -> Sequence[int]:
        """Return the packed addresses of the stops behind the destination that fields of a header name, in order."""
        del fields
        return ()

    @property
    def payload_flits(self) -> int:
        """Data flits per packet."""
        return self.flits.packet_length - self.header_flits

    def check_room(self, endpoints: str) -> None:
        """Raise SpecError if a packet of these endpoints has no data flit."""
        if self.payload_flits < 1:
            raise SpecError(
                f"{named('packet_length')} must be at least {self.header_flits + 1} flits, not "
                f"{self.flits.packet_length}: "
                f"the header of {endpoints} takes {self.header_flits}"
            )
