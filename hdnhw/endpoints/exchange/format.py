"""The packets of a total exchange."""

from dataclasses import dataclass
from functools import cached_property

from hdnhw.endpoints.exchange.spec import ExchangeSpec
from hdnhw.machine.flit import FlitFormat, HeaderFormat
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named


@dataclass(frozen=True)
class GeneratorFormat(HeaderFormat):
    """How generators of a total exchange send packets: every bit follows from the two addresses in the head flit.

    Raises
    ------
    SpecError
        If the head flit has no room for the source's address.

    Examples
    --------
    >>> GeneratorFormat(FlitFormat(8, 2, 2), ExchangeSpec()).pack(1, 2)
    [6, 243]
    """

    flits: FlitFormat
    endpoints: ExchangeSpec

    def __post_init__(self) -> None:
        if self.header_width > self.flits.flit_width:
            raise SpecError(
                f"{named('flit_width')} must be at least {self.header_width} for a total exchange's addresses, "
                f"not {self.flits.flit_width}"
            )

    @cached_property
    def header_fields(self) -> dict[str, int]:
        """See :class:`HeaderFormat`; ``dst`` and ``src`` are packed addresses."""
        return {"dst": self.flits.address_width, "src": self.flits.address_width}

    def pack(self, source: int, destination: int) -> list[int]:
        """Return the flits of a packet, head first: each after it is the one before, rotated left by 1 and inverted."""
        width, flits = self.flits.flit_width, [source << self.flits.address_width | destination]
        while len(flits) < self.flits.packet_length:
            flits.append(~(flits[-1] << 1 | flits[-1] >> width - 1) & (1 << width) - 1)
        return flits


FORMAT = GeneratorFormat
