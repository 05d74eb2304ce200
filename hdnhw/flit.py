"""The flits of a packet: the one definition that model, RTL and benches share.

A packet is L flits of ``flit_width`` bits: the head flit carries the packed destination address in its least
significant bits and payload above it, every other flit is payload.
"""

from dataclasses import dataclass
from operator import index

from hdnhw.spec import SpecError

__all__ = ["FlitFormat"]


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
                f"flit width must be at least the network's {self.address_width} address bits, not {self.flit_width}"
            )

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
        word = payload << self.address_width | destination
        mask = (1 << self.flit_width) - 1
        return [word >> self.flit_width * position & mask for position in range(self.packet_length)]

    def unpack(self, flits: list[int]) -> tuple[int, int]:
        """Return (destination, payload) of a packet's flits."""
        word = sum(flit << self.flit_width * position for position, flit in enumerate(flits))
        return word & ((1 << self.address_width) - 1), word >> self.address_width
