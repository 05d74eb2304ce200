"""Packed addresses: the digits of a node in fixed bit fields, as head flits and address pins carry them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.topology.graph import Network

CHUNK = 1 << 16
"""Nodes whose digits are worked out at once."""


@dataclass(frozen=True)
class Field:
    """One digit in a packed address.

    Attributes
    ----------
    name : str
        The digit's name, see :attr:`hdnhw.topology.graph.Network.digit_names`.
    offset, width : int
        Least significant bit and number of bits.
    radix : int
        Allowed values are 0 to ``radix - 1``; the others name no node.
    """

    name: str
    offset: int
    width: int
    radix: int


@dataclass(frozen=True)
class AddressLayout:
    """The packed address of a network: its digits, the last one in the least significant bits."""

    network: Network

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The fields, in the order of the digits (most significant first)."""
        fields, offset = [], 0
        for name, radix in reversed(list(zip(self.network.digit_names, self.network.radices, strict=True))):
            width = (radix - 1).bit_length()
            fields.append(Field(name, offset, width, radix))
            offset += width
        return tuple(reversed(fields))

    @property
    def width(self) -> int:
        """Bits of an address."""
        return sum(field.width for field in self.fields)

    @property
    def has_holes(self) -> bool:
        """Whether some bit patterns name no node."""
        return any(field.radix != 1 << field.width for field in self.fields)

    def pack(self, digits: Sequence[Any]) -> Any:
        """Return the packed address of `digits` (ints or integer arrays)."""
        address: Any = 0
        for digit, field in zip(digits, self.fields, strict=True):
            address = address | digit << field.offset
        return address

    def unpack(self, address: Any) -> tuple[Any, ...]:
        """Return the digits of a packed address, which may be ones that name no node."""
        return tuple((address >> field.offset) & ((1 << field.width) - 1) for field in self.fields)

    def of_node(self, node: Any) -> Any:
        """Return the packed address of a node number (an int or an integer array)."""
        return self.pack(self.network.decode(node))

    @property
    def of_nodes(self) -> npt.NDArray[np.int64]:
        """The packed addresses of all nodes, shape (nodes,)."""
        nodes = self.network.num_nodes
        found = np.empty(nodes, np.int64)
        for start in range(0, nodes, CHUNK):
            found[start : start + CHUNK] = self.of_node(np.arange(start, min(start + CHUNK, nodes), dtype=np.int64))
        return found

    def is_node(self, address: Any) -> Any:
        """Return whether `address` (an int or an integer array) names a node."""
        inside = address >> self.width == 0
        for digit, field in zip(self.unpack(address), self.fields, strict=True):
            inside = inside & (digit < field.radix)
        return inside
