"""Options of AXI4-Stream endpoints."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from hdnhw.spec.endpoints import EndpointSpec
from hdnhw.spec.options import Choice, Size, option

TUSERS = ("first", "last")
"""The transfer of a frame that says its user data."""


NO_GAPLESS = (
    "gapless packets are for sources that hold a whole packet before they send it, which these endpoints do not"
)


@dataclass(frozen=True, kw_only=True)
class AxiStreamSpec(EndpointSpec):
    """AXI4-Stream endpoints: the terminals of a fabric that carries frames of any length.

    Attributes
    ----------
    max_frame : int
        Bytes of the longest frame, a power of two; longer ones are cut.
    tuser_width : int
        Bits of user data that travel with a frame.
    tuser : str
        The transfer of a frame whose user data counts, one of :data:`TUSERS`.
    prompt_packets : int or None
        Packets of the longest frame that is sent without a grant; None for as many as there is memory for.
    """

    kind: ClassVar[str] = "axi-stream"
    title: ClassVar[str] = "AXI4-Stream endpoints"
    cuts_through: ClassVar[bool] = True
    test: ClassVar[str] = "axi"
    refuses: ClassVar[Mapping[str, str]] = {**EndpointSpec.refuses, "gapless_packets": NO_GAPLESS}

    max_frame: int = option(
        1024,
        Size,
        "longest frame of AXI4-Stream endpoints",
        metavar="BYTES",
        least=16,
        most=1 << 20,
        unit="bytes",
        power_of_two=True,
    )
    tuser_width: int = option(1, Size, "bits of user data a frame", metavar="BITS", least=1, most=1024, unit="bits")
    tuser: str = option(TUSERS[0], Choice, "transfer of a frame in which its user data is read", choices=TUSERS)
    prompt_packets: int | None = option(
        None,
        Size,
        "packets of the longest frame that is sent without a grant (default: what memory allows)",
        metavar="S",
        least=2,
        most=256,
        unit="packets",
    )


SPEC = AxiStreamSpec
