"""Blocks of a system: what is joined to the nodes of an AXI4 fabric, and the addresses that reach each of them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from operator import index
from typing import Any

from hdnhw.spec.options import REQUIRED, Choice, Flag, Given, Options, Size, Text, option
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named

KINDS = (
    "axi4-manager",
    "axi4-subordinate",
    "axi4-lite-manager",
    "axi4-lite-subordinate",
    "axi-stream-source",
    "axi-stream-sink",
)

LEAST_RANGE = 4096
"""Bytes of a range of addresses: no burst of AXI4 crosses a multiple of them."""

_PAIRS = (("manager", "subordinate"), ("source", "sink"))
"""Those that ask, and those that answer, of AXI4 and of streams."""

MOST_NODES = 1024
"""Of a system."""

MOST_WINDOW = 48
"""Bits of an address in which those of one subordinate may differ."""

MOST_ADDRESS = 64
"""Bits of an address."""


@dataclass(frozen=True, kw_only=True)
class Block(Options):
    """A block of a system.

    Attributes
    ----------
    name : str
        Begins the names of its ports.
    kind : str
        Of :data:`KINDS`.
    data_width : int
        Bits of its data.
    id_width : int
        Bits of the IDs of an AXI4 manager.
    clock : str
        Name of its clock; empty for that of the fabric.
    reset : bool
        Whether it has a reset of its own.
    to : str
        Of a source of a stream, the only sink that it sends to; empty where its TDEST names one.
    node : int or None
        That it is joined to; None where one is to be chosen.
    ranges : tuple of (int, int)
        Base and size in bytes of each range of addresses that a subordinate answers: sizes are powers of two from 4096,
        and bases multiples of them.

    Raises
    ------
    TypeError
        If a member is of another type.
    SpecError
        If a member is out of range.
    """

    name: str = option(REQUIRED, Text, "name, which begins those of its ports")
    kind: str = option(REQUIRED, Choice, "what it is", choices=KINDS)
    data_width: int = option(32, Size, "bits of its data", least=8, most=1024, power_of_two=True, unit="bits")
    id_width: int = option(4, Size, "bits of the IDs of an AXI4 manager", least=1, most=16, unit="bits")
    clock: str = option("", Text, "name of its clock; none for that of the fabric")
    reset: bool = option(False, Flag, "whether it may be reset alone, by a pin of its own")
    to: str = option(
        "", Text, "of a stream's source, the only sink that it sends to; TDEST names one if it is left out"
    )
    node: int | None = option(
        None, Size, "node that it is joined to; chosen by traffic if there is none", least=0, most=MOST_NODES - 1
    )
    ranges: tuple[tuple[int, int], ...] = option((), Given, "base and size of each range of addresses, in bytes")

    def __post_init__(self) -> None:
        super().__post_init__()
        for what, text in (("name", self.name), ("clock", self.clock), ("to", self.to)):
            if (text or what == "name") and not re.fullmatch("[a-z](_?[a-z0-9])*", text):
                allowed = "small letters, digits and single _ between them, a letter first"
                raise SpecError(f"{named(what)} must be {allowed}, not {text!r}")
        if self.name in ("aclk", "aresetn", "monitor"):
            raise SpecError(f"{named('name')} must not be that of a clock, reset or monitor, {self.name!r}")
        if self.is_lite and self.data_width not in (32, 64):
            raise SpecError(f"{named('data_width')} must be 32 or 64 bits for AXI4-Lite, not {self.data_width}")
        object.__setattr__(self, "ranges", tuple((index(base), index(size)) for base, size in self.ranges))
        if self.to and self.kind != KINDS[4]:
            raise SpecError(f"{named('to')} must not be given for an {self.kind}: only an {KINDS[4]} sends to one sink")
        if bool(self.ranges) == (self.is_manager or self.is_stream):
            given = "must not" if self.ranges else "must"
            raise SpecError(f"{named('ranges')} {given} be given for an {self.kind}")
        for base, size in self.ranges:
            if size < LEAST_RANGE or size & (size - 1):
                least = f"{named('ranges')} must have sizes that are powers of two from {LEAST_RANGE} bytes"
                raise SpecError(f"{least}, not {size:#x}")
            if base < 0 or base % size:
                bases = f"{named('ranges')} must have bases that are multiples of their sizes"
                raise SpecError(f"{bases}, not {base:#x} for {size:#x} bytes")
        if self.ranges and self.window > MOST_WINDOW:
            raise SpecError(
                f"{named('ranges')} of a block must be alike above the lowest {MOST_WINDOW} bits of an address: these "
                f"differ in {self.window}"
            )

    @property
    def is_manager(self) -> bool:
        """Whether it asks, or sends; a subordinate answers, and a sink takes."""
        return self.kind.endswith(("manager", "source"))

    @property
    def is_stream(self) -> bool:
        """Whether its port is AXI4-Stream."""
        return "stream" in self.kind

    def reaches(self, other: "Block") -> bool:
        """Return whether it may ask another one for something, or send to it."""
        alike = self.is_manager and not other.is_manager and self.is_stream == other.is_stream
        return alike and self.to in ("", other.name)

    @property
    def is_lite(self) -> bool:
        """Whether its port is AXI4-Lite."""
        return "lite" in self.kind

    @property
    def window(self) -> int:
        """Bits in which the addresses of a subordinate differ; those above are the same in all."""
        places = [base for base, _ in self.ranges] + [base + size - 1 for base, size in self.ranges]
        return max((place ^ places[0]).bit_length() for place in places)

    @property
    def said(self) -> dict[str, Any]:
        """The members, as JSON has them."""
        return asdict(self) | {"ranges": [list(one) for one in self.ranges]}


def made_blocks(given: Sequence[Block | Mapping[str, Any]]) -> tuple[Block, ...]:
    """Return blocks, which may be given by their members, once they are known to go together.

    Raises
    ------
    SpecError
        If two have one name, a node or addresses in common, or one has nobody to talk with.
    """
    blocks = tuple(one if isinstance(one, Block) else Block(**one) for one in given)
    by_name: dict[str, Block] = {}
    by_node: dict[tuple[bool, int], Block] = {}
    for block in blocks:
        if block.name in by_name:
            raise SpecError(f"two blocks are named {block.name!r}")
        by_name[block.name] = block
        other = None if block.node is None else by_node.setdefault((block.is_manager, block.node), block)
        if other not in (None, block):
            role = "manager or source" if block.is_manager else "subordinate or sink"
            raise SpecError(
                f"{other.name} and {block.name} are both a {role} at node {block.node}: a node has one each"
            )
    for block in blocks:
        if not any(block.reaches(other) or other.reaches(block) for other in blocks):
            role, wanted = _PAIRS[block.is_stream][:: 1 if block.is_manager else -1]
            raise SpecError(f"a system with the {role} {block.name} must have a {wanted}")
    ranges = sorted((*place, block.name) for block in blocks for place in block.ranges)
    for (start, size, name), (base, _, second) in pairwise(ranges):
        if base < start + size:
            raise SpecError(f"{name} and {second} have the address {base:#x} in common")
    return blocks
