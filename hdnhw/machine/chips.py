"""A network cut into parts that are alike: the chips of a machine, and the links between them.

Routers have no tables, so a chip differs from the others in bits of the addresses alone. What leads from one chip to
another shares one link, whatever ports it leaves by.
"""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.topology.address import AddressLayout
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.graph import Digits, Network
from hdnhw.topology.levels import LeveledNetwork
from hdnhw.topology.metrics import neighbor_table


@dataclass(frozen=True)
class Link:
    """What a chip has of a link: one end of each of its channels, which are numbered at both ends.

    Attributes
    ----------
    ends : tuple of (int, int)
        Place of the router on the chip, and its port, of each channel.
    arrivals : tuple of int
        The number at the other chip of the channel that each leads to.
    """

    ends: tuple[tuple[int, int], ...]
    arrivals: tuple[int, ...]

    @property
    def ports(self) -> tuple[int, ...]:
        """The port of each channel."""
        return tuple(port for _, port in self.ends)


@dataclass(frozen=True, eq=False)
class Chips:
    """A network in chips that are alike.

    Attributes
    ----------
    network : Network
    nodes : ndarray of int, shape (chips, places)
        The node at each place of each chip.
    links : tuple of Link
        Of every chip.
    peers : ndarray of int, shape (chips, links, 2)
        The chip at the other end of each link, and which of its links that is.
    inside : ndarray of int, shape (places, ports)
        The place of the neighbor behind each port of each place, -1 if there is none on the chip.
    addresses : ndarray of int, shape (chips, places)
        The packed address of each node.
    """

    network: Network
    nodes: npt.NDArray[np.int64]
    links: tuple[Link, ...]
    peers: npt.NDArray[np.int64]
    inside: npt.NDArray[np.int64]
    addresses: npt.NDArray[np.int64]

    @property
    def num_chips(self) -> int:
        """Chips."""
        return len(self.nodes)

    @property
    def num_places(self) -> int:
        """Routers of a chip."""
        return int(self.nodes.shape[1])

    @cached_property
    def chip_bits(self) -> tuple[int, ...]:
        """The bits of a packed address that say which chip a node is on; the others say which of its routers."""
        varies = int(np.bitwise_or.reduce(self.addresses[:, 0] ^ self.addresses[0, 0]))
        return tuple(bit for bit in range(varies.bit_length()) if varies >> bit & 1)

    def chip_number(self, chip: int) -> int:
        """Return those bits of a chip, the lowest first."""
        address = int(self.addresses[chip, 0])
        return sum((address >> bit & 1) << place for place, bit in enumerate(self.chip_bits))

    def address_at(self, place: int) -> int:
        """Return the packed address at a place of the chip whose bits are 0."""
        return int(self.addresses[0, place]) & ~sum(1 << bit for bit in self.chip_bits)


def lay_chips(network: Network, text: str) -> Chips:
    """Cut a network into chips.

    Parameters
    ----------
    network : Network
    text : str
        Of a dual-net a level: a chip has what is a cluster of that level. Of a product, in how many parts each
        dimension is cut: ``dim0=2,dim1=4``, where a name may have ``*`` in it.

    Raises
    ------
    SpecError
        If the network has no such level or dimension, or its chips would not be alike.
    """
    digits = network.decode(np.arange(network.num_nodes))
    wrong = SpecError(
        f"{named('chips', text)} does not fit {network.spec}: chips must be alike, but for bits of the addresses"
    )
    order = np.lexsort(digits[::-1])
    _, chip = np.unique(np.stack(_common(network, text, digits)), axis=1, return_inverse=True)
    counts = np.bincount(chip)
    if len(counts) == 1:
        raise SpecError(f"{named('chips', text)} leaves all of {network.spec} on one chip")
    nodes = order[np.argsort(chip[order], kind="stable")].reshape(len(counts), -1)
    chip_of, place_of = _inverse(nodes)
    table, addresses = neighbor_table(network)[nodes], AddressLayout(network).of_nodes[nodes]
    there = np.where(table >= 0, chip_of[table], -1)
    leaves = (there >= 0) & (there != np.arange(len(nodes))[:, None, None])
    inside = np.where((there >= 0) & ~leaves, place_of[table], -1)
    apart = addresses ^ addresses[:1]
    overlap = np.bitwise_or.reduce(apart[:, 0]) & np.bitwise_or.reduce(addresses[0] ^ addresses[0, 0])
    if overlap or any((one != one[:1]).any() for one in (leaves, inside, apart.T)):
        raise wrong
    ends = np.argwhere(leaves[0])
    peer = there[:, ends[:, 0], ends[:, 1]]
    firsts = np.array([[row.index(one) for one in row] for row in peer.tolist()])
    number = {(place, port): end for end, (place, port) in enumerate(ends.tolist())}
    back = np.array(
        [
            [number[int(place_of[row[place, port]]), network.ports[port].opposite] for place, port in ends]
            for row in table
        ]
    )
    first, link_of = np.unique(firsts[0], return_inverse=True)
    channel_of = np.array([np.sum(link_of[:end] == link_of[end]) for end in range(len(ends))])
    if (firsts != firsts[:1]).any() or (channel_of[back] != channel_of[back[:1]]).any():
        raise wrong
    links = [
        (ends[link_of == link].tolist(), channel_of[back[0]][link_of == link].tolist()) for link in range(len(first))
    ]
    return Chips(
        network,
        nodes,
        tuple(Link(tuple((place, port) for place, port in own), tuple(arrivals)) for own, arrivals in links),
        np.stack([peer[:, first], link_of[back[:, first]]], axis=2),
        inside[0],
        addresses,
    )


def _inverse(nodes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the chip and the place of each node, shape (2, nodes)."""
    found = np.empty((2, nodes.size), np.int64)
    found[:, nodes] = np.indices(nodes.shape)
    return found


def _common(network: Network, text: str, digits: Digits) -> list[Any]:
    """Return what the nodes of one chip have in common, from the digits of all nodes."""
    if isinstance(network, LeveledNetwork) and network.levels:
        count = len(network.levels)
        if not re.fullmatch("[0-9]{1,9}", text) or not 1 <= int(text) <= count:
            raise SpecError(f"{named('chips')} must be a level of {network.spec}, 1 to {count}, not {text}")
        above = network.levels[int(text) - 1 :]
        return [digits[place] for level in above for place in (level.class_digit, *level.cluster)]
    if not isinstance(network, DualNetwork):
        raise SpecError(f"{named('chips')} is for dual-nets and products, not for {network.spec}")
    parts = [1] * len(network.radices)
    for word in text.split(","):
        found = re.fullmatch(r" *([\w*]+) *= *([0-9]{1,9}) *", word, re.ASCII)
        fits = [found is not None and fnmatchcase(f"dim{place}", found[1]) for place in range(len(parts))]
        if found is None or not any(fits):
            raise SpecError(
                f"{named('chips')} must be parts of dimensions of {network.spec} such as dim0=2, not {text}: "
                f"it has dim0 to dim{len(parts) - 1}"
            )
        if not int(found[2]):
            raise SpecError(f"{named('chips', text)} must cut a dimension into 1 part or more")
        parts = [int(found[2]) if fit else own for own, fit in zip(parts, fits, strict=True)]
    for place, (number, radix) in enumerate(zip(parts, network.radices, strict=True)):
        if radix % number:
            raise SpecError(
                f"{named('chips', text)} cuts dim{place} of {network.spec}, {radix} long, into unequal parts"
            )
    return [
        digits[place] * number // radix
        for place, (number, radix) in enumerate(zip(parts, network.radices, strict=True))
    ]
