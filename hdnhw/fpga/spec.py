"""What to measure on an FPGA, and how."""

from dataclasses import dataclass
from math import inf

from hdnhw.fpga.family import FAMILIES, PLACED_FAMILIES
from hdnhw.spec import FabricSpec
from hdnhw.spec.chips import ChipOptions
from hdnhw.spec.options import Choice, Rate, Size, Text, option
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import choices_text, named

UNITS = ("router", "endpoint", "crossing", "fabric", "chip", "bridge")
"""What can be measured."""

ADDRESS_PINS = "pins"
MOST_PLACEMENTS, LEAST_MHZ = 100, 1e-3


@dataclass(frozen=True, kw_only=True)
class SynthOptions(ChipOptions):
    """What to measure, and how: options of the command ``synth``."""

    family: str = option("ecp5", Choice, "FPGA family; docs/synthesis.md lists them", choices=tuple(FAMILIES))
    unit: str = option("router", Choice, "what is measured", choices=UNITS)
    placements: int = option(
        3, Size, "place-and-route runs, with seeds from 1", metavar="N", least=1, most=MOST_PLACEMENTS
    )
    address: str | None = option(
        None,
        Text,
        "node whose router or endpoint it is, or pins (default: a node in the middle)",
        metavar="NODE",
    )
    frequency: float | None = option(
        None,
        Rate,
        "target of place-and-route (default: the family's own)",
        metavar="MHZ",
        least=LEAST_MHZ,
        most=inf,
        open=True,
    )


@dataclass(frozen=True, kw_only=True)
class SynthSpec(SynthOptions):
    """What to measure of a fabric, and how.

    Raises
    ------
    SpecError
        If a member is out of range, or does not go with another.
    """

    fabric: FabricSpec

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.address is not None and self.unit not in ("router", "endpoint"):
            has = "all of them" if self.unit == "fabric" else "several" if self.unit == "chip" else "none"
            raise SpecError(f"{named('address')} belongs to a router or an endpoint: a {self.unit} has {has}")
        if self.chips is not None and self.unit not in ("chip", "bridge"):
            raise SpecError(f"{named('chips')} is for {named('unit', 'chip')} and bridge, not for {self.unit}")
        if self.chips is None and self.unit in ("chip", "bridge"):
            raise SpecError(f"{named('unit', self.unit)} needs {named('chips')}")
        if self.fabric.endpoints is None and self.unit == "endpoint":
            raise SpecError(f"{named('unit', 'endpoint')} needs {named('endpoints')}")
        if self.fabric.endpoints is not None and self.unit not in ("endpoint", "crossing", "fabric"):
            raise SpecError(f"{named('endpoints')} go with {named('unit', 'endpoint')}, fabric and crossing")
        if self.frequency is not None and FAMILIES[self.family].placement is None:
            choices = choices_text(PLACED_FAMILIES, self.family)
            raise SpecError(f"{named('frequency')} needs place-and-route: {named('family')} {choices}")
