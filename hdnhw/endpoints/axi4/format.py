"""How bursts travel as packets."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any

from hdnhw.endpoints.axi4.spec import MOST_OUTSTANDING, AxiMemorySpec
from hdnhw.machine.flit import FlitFormat, HeaderFormat
from hdnhw.machine.timing import power_of_two
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named


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


FEW_NODES = 32
"""Nodes whose memories have room for the most packets of all."""

ENDS = 2
"""Beats of a write whose strobes travel: its first and its last one; those between write all their lanes."""

SHORT, WIDE = 4, 64
"""Flits of a packet and bits of a flit, with which a single access is soonest back: three beats behind the header."""


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
    (48, 2, 6)
    """

    kinds = MemoryKind
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
        for block in self.endpoints.blocks:
            if block.data_width > width:
                raise SpecError(
                    f"{named('flit_width')} must be at least the {block.data_width} bits of {block.name}, not {width}"
                )

    @classmethod
    def defaults(cls, num_nodes: int) -> dict[str, Any]:
        """Return the defaults of such endpoints: a memory has a queue for no more packets than on 32 nodes."""
        return {"outstanding": max(1, min(MOST_OUTSTANDING, FEW_NODES * MOST_OUTSTANDING // power_of_two(num_nodes)))}

    @classmethod
    def machine(cls, endpoints: AxiMemorySpec, asked: Mapping[str, Any], address_width: int) -> dict[str, Any]:
        """Return the defaults of a machine with such endpoints, by what is `asked` and the bits of packed addresses.

        Packets have no gaps, and are short where the header takes one flit.
        """
        defaults, width = {"flit_width": WIDE, "gapless_packets": True}, asked.get("flit_width", WIDE)
        if width < WIDE or asked.get("switching") == "cut-through":
            return defaults
        short = cls(FlitFormat(width, address_width, SHORT), endpoints)
        return defaults | ({"packet_length": SHORT} if short.payload_flits == SHORT - 1 else {})

    @property
    def bytes(self) -> int:
        """Bytes a beat."""
        return self.flits.flit_width // 8

    @property
    def tags(self) -> int:
        """Packets of writes, and as many of reads, that a node has under way."""
        return self.endpoints.outstanding

    @property
    def attributes(self) -> dict[str, int]:
        """What a request of a system says beside its place, as AXI4 names it, and the bits of each."""
        endpoints = self.endpoints
        if not endpoints.blocks:
            return {}
        return {"cache": 4, "prot": 3, "qos": 4} | ({"user": endpoints.user_width} if endpoints.user_width else {})

    @property
    def address_bits(self) -> int:
        """Bits of a manager's address."""
        endpoints = self.endpoints
        return endpoints.address_width if endpoints.blocks else self.flits.address_width + endpoints.memory_bits

    @cached_property
    def payload_flits(self) -> int:
        """Data flits per packet: as many as leave room for a header."""
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
        ``addr``; ``strobes`` are those of the first and the last beat of a write, the first one's lowest.
        :attr:`attributes` are between.
        Of a stream, ``addr`` has in bit 0 whether the part ends a frame, and above it the number of the source.
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
            **self.attributes,
            "strobes": min(beats, ENDS) * self.bytes,
        }


FORMAT = MemoryFormat
