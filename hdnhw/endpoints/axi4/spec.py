"""Options of AXI4 endpoints."""

from dataclasses import dataclass
from typing import ClassVar

from hdnhw.spec.endpoints import EndpointSpec
from hdnhw.spec.options import Size, option


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
    """

    kind: ClassVar[str] = "axi4"
    title: ClassVar[str] = "AXI4 endpoints"
    cuts_through: ClassVar[bool] = True
    test: ClassVar[str] = "axi4"

    memory_bits: int = option(
        22, Size, "address bits of a node's memory", metavar="BITS", least=12, most=48, unit="bits"
    )
    id_width: int = option(4, Size, "bits of the IDs of AXI4 managers", metavar="BITS", least=1, most=16, unit="bits")
    outstanding: int = option(
        4,
        Size,
        "packets of writes, and as many of reads, that a node has under way",
        metavar="K",
        least=1,
        most=16,
        power_of_two=True,
    )


SPEC = AxiMemorySpec
