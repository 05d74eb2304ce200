"""Traffic patterns: to which node a packet goes, given the node that it comes from.

The permutations are those of Dally and Towles, Principles and Practices of Interconnection Networks, section 3.2, on
node numbers (their bits) or, where they name dimensions, on the digits of a node. No pattern sends to its own source: a
node that a permutation leaves in its place is silent.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isqrt, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.core.traffic import CoreTraffic, Target, key_of
from hdnhw.support.errors import SpecError
from hdnhw.topology.graph import Network
from hdnhw.topology.levels import Level, LeveledNetwork
from hdnhw.traffic.expression import read_expression

Nodes = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pattern:
    """Where packets go.

    Attributes
    ----------
    text : str
        The expression that :func:`parse_pattern` reads.
    senders : ndarray of int64, shape (senders,)
        Nodes that send, sorted.
    given : mapping of str to object
        What the core draws destinations by, see :class:`hdnhw.core.traffic.CoreTraffic`.
    """

    text: str
    senders: Nodes
    given: Mapping[str, Any] = field(repr=False)

    def destinations(self, source: Nodes, number: Nodes, seed: int) -> Nodes:
        """Return where the message of each of these numbers of its source goes, which must be a sender."""
        return CoreTraffic(sender=self.senders, key=key_of(seed), **self.given).destinations(source, number)


def _permutation(text: str, network: Network, destination: Nodes) -> Pattern:
    senders = np.flatnonzero(destination != np.arange(len(destination)))
    if not len(senders):
        raise SpecError(f"pattern {text} must move a node; it leaves every node of {network.spec} in its place")
    return Pattern(text, senders.astype(np.int64), {"target": Target.TABLE, "table": destination})


def _random(text: str, network: Network, target: Target, size: int, **given: Any) -> Pattern:
    nodes = network.num_terminals
    return Pattern(text, np.arange(nodes), {"target": target, "nodes": nodes, "size": size, **given})


def _address_bits(network: Network, name: str) -> int:
    bits = network.num_terminals.bit_length() - 1
    if network.num_terminals != 1 << bits:
        raise SpecError(f"pattern {name} needs a power of two of nodes; {network.spec} has {network.num_terminals}")
    return bits


def _make_uniform(network: Network) -> Pattern:
    return _random("uniform", network, Target.BLOCK, network.num_terminals)


def _make_hotspot(network: Network, share: float = 0.1, node: int = 0) -> Pattern:
    """Send a share of the packets to one node and the others uniformly."""
    if not 0 < share <= 1:
        raise SpecError(f"hotspot share must be above 0 and at most 1, not {share}")
    hot = network.check_node(node)
    if hot >= network.num_terminals:
        raise SpecError(f"hotspot node must have a terminal: 0 to {network.num_terminals - 1}, not {hot}")
    given = {"hot": hot, "share": share}
    return _random(f"hotspot({share}, {hot})", network, Target.HOTSPOT, network.num_terminals, **given)


def _make_transpose(network: Network) -> Pattern:
    """Exchange the two halves of a node number in base sqrt(N)."""
    side = isqrt(network.num_terminals)
    if side * side != network.num_terminals:
        raise SpecError(f"pattern transpose needs a square number of nodes; {network.spec} has {network.num_terminals}")
    return _permutation("transpose", network, np.arange(network.num_terminals).reshape(side, side).T.ravel())


def _make_complement(network: Network) -> Pattern:
    """Send from n to N - 1 - n: of a power of two of nodes, every bit is inverted."""
    return _permutation("complement", network, np.arange(network.num_terminals)[::-1].copy())


def _make_reverse(network: Network) -> Pattern:
    bits = _address_bits(network, "reverse")
    return _permutation("reverse", network, np.arange(network.num_terminals).reshape([2] * bits).T.ravel())


def _make_shuffle(network: Network) -> Pattern:
    """Rotate the bits of a node number to the left."""
    bits, nodes = _address_bits(network, "shuffle"), np.arange(network.num_terminals)
    return _permutation("shuffle", network, (nodes << 1 | nodes >> (bits - 1)) & (network.num_terminals - 1))


def _shifted(network: Network, text: str, shift: Callable[[int], int]) -> Pattern:
    if network.num_terminals < network.num_nodes:
        raise SpecError(f"pattern {text} is for networks whose nodes all have terminals; {network.spec} has switches")
    digits = network.decode(np.arange(network.num_nodes))
    moved = [(digit + shift(radix)) % radix for digit, radix in zip(digits, network.radices, strict=True)]
    return _permutation(text, network, network.encode(tuple(moved)))


def _make_tornado(network: Network) -> Pattern:
    """Add just under half of its radix to every digit."""
    return _shifted(network, "tornado", lambda radix: (radix + 1) // 2 - 1)


def _make_neighbor(network: Network) -> Pattern:
    """Add one to every digit."""
    return _shifted(network, "neighbor", lambda _: 1)


def _make_permutation(network: Network, seed: int = 1) -> Pattern:
    """Draw a permutation once."""
    return _permutation(f"permutation({seed})", network, np.random.default_rng(seed).permutation(network.num_terminals))


def _make_next_group(network: Network, size: int) -> Pattern:
    """Send to any node of the next group of so many numbers: of a dragonfly, over one link from each group.

    The worst case of Kim, Dally, Scott and Abts, Technology-driven, highly-scalable dragonfly topology, ISCA 2008.
    """
    nodes = network.num_terminals
    if not 1 <= size < nodes or nodes % size:
        raise SpecError(f"next_group size must divide the {nodes} nodes of {network.spec} into two groups or more")
    return _random(f"next_group({size})", network, Target.NEXT_GROUP, size)


def _levels(network: Network, name: str) -> tuple[Level, ...]:
    if not isinstance(network, LeveledNetwork) or not network.levels:
        raise SpecError(f"pattern {name} is for dual-nets; {network.spec} has no levels")
    return network.levels


def _level(network: Network, name: str, level: int) -> Level:
    levels = _levels(network, name)
    if not 1 <= level <= len(levels):
        raise SpecError(f"{name} level must be 1 to {len(levels)}, not {level}")
    return levels[level - 1]


def _places(network: Network) -> dict[str, Nodes]:
    """Return the place of each node in the order of digits, and the node at each place, where they are not the same."""
    place = np.ravel_multi_index(network.decode(np.arange(network.num_nodes)), network.radices)
    return {} if (np.diff(place) == 1).all() else {"place": np.asarray(place), "at": np.argsort(place)}


def _make_cluster(network: Network, level: int = 1) -> Pattern:
    """Send within a cluster of a level, uniformly: those of level 1 are the copies of the base network."""
    layout = _level(network, "cluster", level)
    inner = network.radices[layout.class_digit + 1 + len(layout.cluster) :]
    return _random(f"cluster({level})", network, Target.BLOCK, prod(inner), **_places(network))


def _make_inter_class(network: Network, level: int = 0) -> Pattern:
    """Send to the other class of a level, uniformly; 0 stands for the highest."""
    chosen = level or len(_levels(network, "inter_class"))
    inner = network.radices[_level(network, "inter_class", chosen).class_digit + 1 :]
    return _random(f"inter_class({chosen})", network, Target.OTHER_CLASS, prod(inner), **_places(network))


PATTERNS: dict[str, Callable[..., Pattern]] = {
    "uniform": _make_uniform,
    "transpose": _make_transpose,
    "complement": _make_complement,
    "reverse": _make_reverse,
    "shuffle": _make_shuffle,
    "tornado": _make_tornado,
    "neighbor": _make_neighbor,
    "hotspot": _make_hotspot,
    "permutation": _make_permutation,
    "next_group": _make_next_group,
    "cluster": _make_cluster,
    "inter_class": _make_inter_class,
}
"""What makes each pattern on a network, by its name."""

CALLED = {"bitcomp": "complement", "bitrev": "reverse", "randperm": "permutation"}
"""What BookSim calls some of them."""


def parse_pattern(text: str, network: Network) -> Pattern:
    """Read a pattern such as ``uniform`` or ``hotspot(0.2, 5)``.

    Raises
    ------
    SpecError
        If it is none, has wrong arguments, or the network cannot carry it.

    Examples
    --------
    >>> from hdnhw.networks.build import build
    >>> parse_pattern("hotspot(0.2)", build("cube(3)")).text
    'hotspot(0.2, 0)'
    """
    name, arguments = read_expression(text, PATTERNS, "pattern", called=CALLED)
    if network.num_terminals < 2:
        raise SpecError(f"{network.spec} has one node: there is nowhere to send to")
    return PATTERNS[name](network, *arguments)
