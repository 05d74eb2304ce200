"""How frames travel as packets."""

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any

from hdnhw.endpoints.axi_stream.format_pool import FramePool
from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.machine.flit import FlitFormat, HeaderFormat
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named


class PacketKind(IntEnum):
    """What a packet between two endpoints is for; bit 1 is set if it carries no data."""

    FIRST = 0
    """The first packet of a frame."""
    BODY = 1
    """Another packet of it."""
    GRANT = 2
    """The destination has room for the packets it was asked for."""


@dataclass(frozen=True)
class FrameFormat(HeaderFormat):
    """How frames travel as packets: header flits, then data flits, one a transfer.

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

    kinds = PacketKind
    flits: FlitFormat
    endpoints: AxiStreamSpec

    def __post_init__(self) -> None:
        if self.flits.flit_width % 8:
            raise SpecError(
                f"{named('flit_width')} must be a multiple of 8 bits for AXI4-Stream endpoints, not "
                f"{self.flits.flit_width}"
            )
        self.check_room("AXI4-Stream endpoints")

    @classmethod
    def of(cls, machine: Any) -> "FrameFormat":
        """See :meth:`HeaderFormat.of`; what the memories have no room for is refused here."""
        frames: FrameFormat = super().of(machine)
        FramePool(frames, machine.network.num_nodes)
        return frames

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


FORMAT = FrameFormat
