"""What to measure on an FPGA, and how."""

from dataclasses import dataclass
from math import isfinite

from hdnhw.flow.family import FAMILIES, PLACED_FAMILIES
from hdnhw.spec import FabricSpec, SpecError

UNITS = ("router", "endpoint", "crossing", "fabric")
"""What can be measured."""

ADDRESS_PINS = "pins"
MAX_SEEDS = 100


@dataclass(frozen=True, kw_only=True)
class SynthSpec:
    """What to measure, and how.

    Attributes
    ----------
    fabric : FabricSpec
    family : str
        One of :data:`hdnhw.flow.family.FAMILIES`.
    unit : str
        ``router``, ``endpoint``, ``crossing`` or ``fabric``.
    seeds : int
        Runs of place-and-route, with seeds from 1; no matter where nothing is placed.
    address : str or None
        Of a router or endpoint: the node whose address it gets, or ``pins``; None for a node in the middle.
    frequency : float or None
        Target of place-and-route, MHz; None for the family's own.

    Raises
    ------
    SpecError
        If a member is out of range.
    """

    fabric: FabricSpec
    family: str = "ecp5"
    unit: str = "router"
    seeds: int = 3
    address: str | None = None
    frequency: float | None = None

    def __post_init__(self) -> None:
        for name, value, allowed in (("family", self.family, tuple(FAMILIES)), ("unit", self.unit, UNITS)):
            if value not in allowed:
                raise SpecError(f"{name} must be {' or '.join(allowed)}, not {value!r}")
        if not 1 <= self.seeds <= MAX_SEEDS:
            raise SpecError(f"seeds must be 1 to {MAX_SEEDS}, not {self.seeds}")
        if self.address is not None and self.unit in ("crossing", "fabric"):
            has = "a fabric has all of them" if self.unit == "fabric" else "a crossing has none"
            raise SpecError(f"address belongs to a router or an endpoint: {has}")
        if (self.fabric.endpoints is not None) != (self.unit == "endpoint") and self.unit != "crossing":
            raise SpecError("unit endpoint and the kind of endpoints, --endpoints, need each other")
        if self.frequency is not None and FAMILIES[self.family].placement is None:
            raise SpecError(f"frequency needs place-and-route: family must be {' or '.join(PLACED_FAMILIES)}")
        if self.frequency is not None and not (isfinite(self.frequency) and self.frequency > 0):
            raise SpecError(f"frequency must be above 0 MHz, not {self.frequency}")
