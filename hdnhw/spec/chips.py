"""Networks on several chips: how they are cut, and what is between them."""

from dataclasses import dataclass
from typing import ClassVar

from hdnhw.spec.options import Choice, Options, Size, Text, members_of, option, options_of
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named

LINKS = ("stream", "parallel")
"""What a chip has for a link: a stream of words, for a core of a user's, or pins; the first is the default."""


@dataclass(frozen=True, kw_only=True)
class ChipOptions(Options):
    """How a network is cut into chips.

    Attributes
    ----------
    chips : str or None
        See :func:`hdnhw.machine.chips.lay_chips`; None for one chip.
    link_width : int
        Bits of a word on a link between two chips.
    link : str
        One of :data:`LINKS`.

    Raises
    ------
    SpecError
        If a member is out of range, or what a link is like is said for one chip.
    """

    heading: ClassVar[str] = "chips"

    chips: str | None = option(
        None,
        Text,
        "cut into chips that are alike, joined by links that send again what was damaged: a level of a dual-net, one "
        "chip for each of its clusters, or in how many parts dimensions of a product are cut, as dim0=2,dim1=4",
        metavar="LEVEL",
    )
    link_width: int = option(
        32, Size, "bits of a word on a link between two chips", metavar="W", least=8, most=1024, unit="bits"
    )
    link: str = option(
        LINKS[0],
        Choice,
        "what a chip has for a link: a stream of words each way, for a core that brings them to the other chip, or "
        "pins: the bits of a word, a mark and a clock each way",
        choices=LINKS,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        members = members_of(self)
        for name in options_of(ChipOptions):
            if self.chips is None and getattr(self, name) != members[name].default:
                raise SpecError(f"{named(name)} needs {named('chips')}")
