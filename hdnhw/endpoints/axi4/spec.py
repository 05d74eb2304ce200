"""Options of AXI4 endpoints."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from hdnhw.endpoints.axi4.spec_blocks import MOST_WINDOW, Block, made_blocks
from hdnhw.spec.endpoints import EndpointSpec
from hdnhw.spec.options import Size, option
from hdnhw.support.errors import SpecError

MOST_OUTSTANDING = 16
"""Packets of writes, and of reads, that a node has under way."""


@dataclass(frozen=True, kw_only=True)
class AxiMemorySpec(EndpointSpec):
    """AXI4 endpoints: the terminals of a fabric between managers and memories.

    Attributes
    ----------
    memory_bits : int
        Address bits of a node's memory; those above name the node.
    id_width : int
        Bits of the IDs of managers.
    outstanding : int
        Packets of writes, and as many of reads, that a node has under way; a power of two.
    address_width : int
        Bits of the addresses of a system of blocks.
    user_width : int
        Bits of its AxUSER.
    blocks : tuple of Block
        The blocks of a system, each at its node; none where every node has a port for a manager and one for a memory.
    """

    kind: ClassVar[str] = "axi4"
    title: ClassVar[str] = "AXI4 endpoints"
    cuts_through: ClassVar[bool] = True
    defaults: ClassVar[Mapping[str, str]] = {
        "packet_length": "4 or 8 with axi4",
        "flit_width": "64 with axi4",
        "gapless_packets": "set with axi4",
    }
    test: ClassVar[str] = "axi4"

    memory_bits: int = option(
        20, Size, "address bits of a node's memory", metavar="BITS", least=12, most=MOST_WINDOW, unit="bits"
    )
    id_width: int = option(4, Size, "bits of the IDs of AXI4 managers", metavar="BITS", least=1, most=16, unit="bits")
    outstanding: int = option(
        MOST_OUTSTANDING,
        Size,
        "packets of writes, and as many of reads, that a node has under way; by default fewer above 32 nodes",
        metavar="K",
        least=1,
        most=MOST_OUTSTANDING,
        power_of_two=True,
    )
    address_width: int = 32
    user_width: int = 0
    blocks: tuple[Block, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "blocks", made_blocks(self.blocks) if self.blocks else ())
        for block in self.blocks:
            end = max((base + size for base, size in block.ranges), default=0)
            if end > 1 << self.address_width:
                most = f"the {self.address_width} bits of an address"
                raise SpecError(f"addresses of {block.name} go up to {end - 1:#x}, beyond {most}")
            if block.ranges and block.window > self.memory_bits:
                raise SpecError(f"memory_bits must be at least {block.window} for the ranges of {block.name}")

    @property
    def sources(self) -> tuple[Block, ...]:
        """The sources of streams, in the order of the numbers that TID has of them."""
        return tuple(block for block in self.blocks if block.is_stream and block.is_manager)

    @property
    def sinks(self) -> tuple[Block, ...]:
        """The sinks of streams, in the order of the numbers that TDEST has of them."""
        return tuple(block for block in self.blocks if block.is_stream and not block.is_manager)

    @property
    def said(self) -> dict[str, Any]:
        """See :attr:`EndpointSpec.said`."""
        if not self.blocks:
            return super().said
        blocks = [block.said for block in self.blocks]
        widths = {"address_width": self.address_width, "user_width": self.user_width}
        return super().said | widths | {"blocks": blocks}


SPEC = AxiMemorySpec
