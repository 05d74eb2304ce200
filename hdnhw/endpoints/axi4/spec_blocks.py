"""Blocks of a system: what is joined to the nodes of an AXI4 fabric, and the addresses that reach each of them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from operator import index
from typing import Any

from hdnhw.spec.options import REQUIRED, Choice, Given, Options, Size, Text, option
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named

KINDS = ("axi4-manager", "axi4-subordinate", "axi4-lite-manager", "axi4-lite-subordinate")

LEAST_RANGE = 4096
"""Bytes of a range of addresses: no burst of AXI4 crosses a multiple of them."""

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
    node: int | None = option(
        None, Size, "node that it is joined to; chosen by traffic if there is none", least=0, most=MOST_NODES - 1
    )
    ranges: tuple[tuple[int, int], ...] = option((), Given, "base and size of each range of addresses, in bytes")

    def __post_init__(self) -> None:
        super().__post_init__()
        for what, text in (("name", self.name), ("clock", self.clock)):
            if (text or what == "name") and not re.fullmatch("[a-z](_?[a-z0-9])*", text):
                allowed = "small letters, digits and single _ between them, a letter first"
                raise SpecError(f"{named(what)} must be {allowed}, not {text!r}")
        if self.name in ("aclk", "aresetn"):
            raise SpecError(f"{named('name')} must not be that of a clock or reset, {self.name!r}")
        if self.is_lite and self.data_width not in (32, 64):
            raise SpecError(f"{named('data_width')} must be 32 or 64 bits for AXI4-Lite, not {self.data_width}")
        object.__setattr__(self, "ranges", tuple((index(base), index(size)) for base, size in self.ranges))
        if bool(self.ranges) == self.is_manager:
            given = "must not" if self.is_manager else "must"
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
        """Whether it asks; a subordinate answers."""
        return self.kind.endswith("manager")

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
        If two have one name, a node or addresses in common, or there is no manager or no subordinate.
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
            role = "manager" if block.is_manager else "subordinate"
            raise SpecError(
                f"{other.name} and {block.name} are both a {role} at node {block.node}: a node has one each"
            )
    for role, is_manager in (("manager", True), ("subordinate", False)):
        if not any(block.is_manager == is_manager for block in blocks):
            raise SpecError(f"a system must have a {role}")
    ranges = sorted((*place, block.name) for block in blocks for place in block.ranges)
    for (start, size, name), (base, _, second) in pairwise(ranges):
        if base < start + size:
            raise SpecError(f"{name} and {second} have the address {base:#x} in common")
    return blocks
