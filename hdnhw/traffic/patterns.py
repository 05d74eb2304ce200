"""Traffic patterns: to which node a packet goes, given the node that it comes from.

The permutations are those of Dally and Towles, Principles and Practices of Interconnection Networks, section 3.2, on
node numbers (their bits) or, where they name dimensions, on the digits of a node. No pattern sends to its own source: a
node that a permutation leaves in its place is silent.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isqrt, prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hdnhw.core.traffic import CoreTraffic, Target, key_of
from hdnhw.support.errors import SpecError
from hdnhw.topology.graph import Network
from hdnhw.topology.levels import Level, LeveledNetwork
from hdnhw.traffic.demand import MOST_ENTRIES, Classes, Matrix, read_pattern
from hdnhw.traffic.expression import read_expression
from hdnhw.traffic.lengths import Lengths, parse_lengths

Nodes = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


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
    flows : tuple of ndarray, optional
        Of a matrix: sources, destinations, and the flits of packets from each to each in the mean, if the busiest node
        sends 1 in its busiest phase. A pair may stand there several times.
    lengths : Lengths or None
        Those that messages of its classes have, if these have their own.
    mean_packets : float
        Packets that a node sends in its busiest phase for a message of the node with most of them.
    """

    text: str
    senders: Nodes
    given: Mapping[str, Any] = field(repr=False)
    flows: tuple[Nodes, Nodes, Reals] | None = field(default=None, repr=False)
    lengths: Lengths | None = None
    mean_packets: float = 1.0

    def destinations(self, source: Nodes, number: Nodes, seed: int) -> Nodes:
        """Return where the message of each of these numbers of its source goes, which must be a sender."""
        return CoreTraffic(sender=self.senders, key=key_of(seed), **self.given).destinations(source, number)

    def rates(self, source: Nodes) -> Reals:
        """Return what sources send to each node in the mean, shape (sources, terminals), if the busiest node sends 1.

        By the definition of each pattern, without random numbers.
        """
        target, nodes = self.given["target"], self.given.get("nodes", len(self.given.get("table", ())))
        found = np.zeros((len(source), nodes))
        if self.flows is not None:
            sender, destination, rate = self.flows
            own = np.full(nodes, -1)
            own[source] = np.arange(len(source))
            asked = own[sender] >= 0
            np.add.at(found, (own[sender[asked]], destination[asked]), rate[asked])
            return found
        if target == Target.TABLE:
            found[np.arange(len(source)), self.given["table"][source]] = 1
            return found * np.isin(source, self.senders)[:, None]
        place, size = self.given.get("place", np.arange(nodes)), self.given["size"]
        block, own = place // size, place[source, None] // size
        if target == Target.NEXT_GROUP:
            found += block == (own + 1) % (nodes // size)
        elif target == Target.OTHER_CLASS:
            found += block % 2 != own % 2
        else:
            found += (block == own) & (np.arange(nodes) != source[:, None])
        found /= found.sum(axis=1, keepdims=True)
        if target == Target.HOTSPOT:
            hot, share = self.given["hot"], self.given["share"]
            cool = ~np.isin(source, hot)
            found[cool] *= 1 - share
            found[np.ix_(cool, hot)] += share / len(hot)
        return found


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


def _make_hotspot(network: Network, share: float = 0.1, *node: int) -> Pattern:
    """Send a share of the packets to some nodes, in equal parts, and the others uniformly; from these all of them."""
    if not 0 < share <= 1:
        raise SpecError(f"hotspot share must be above 0 and at most 1, not {share}")
    hot = [network.check_node(one) for one in node or (0,)]
    for number, one in enumerate(hot):
        if one >= network.num_terminals:
            raise SpecError(f"hotspot node must have a terminal: 0 to {network.num_terminals - 1}, not {one}")
        if one in hot[:number]:
            raise SpecError(f"hotspot nodes must differ, and {one} is there twice")
    text = f"hotspot({share}, {', '.join(map(str, hot))})"
    return _random(text, network, Target.HOTSPOT, network.num_terminals, hot=sorted(hot), share=share)


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


class _Part(NamedTuple):
    """Packets of one class, in one phase: their rates, and the lengths of their messages."""

    source: Nodes
    destination: Nodes
    rate: Reals
    lengths: Lengths | None


Phases = Sequence[tuple[int, Sequence[_Part]]]
"""Cycles of each, and its classes."""


def _of_phases(text: str, network: Network, phases: Phases, packet_length: int) -> Pattern:
    """Return the pattern of phases that take turns, and of classes in them."""
    nodes, has_lengths = network.num_terminals, any(part.lengths for _, parts in phases for part in parts)
    row, column, message, length = _entries(nodes, phases, packet_length)
    sums = np.add.reduceat(np.append(message, 0), row[:-1]) * (np.diff(row) > 0)
    within = np.concatenate([np.cumsum(part) for part in np.split(message, row[1:-1])])
    within = np.minimum(within, np.repeat(sums, np.diff(row)))
    filled = np.flatnonzero(sums)
    within[row[filled + 1] - 1] = sums[filled]  # whatever is rounded: the busiest node always draws an entry
    given = {"target": Target.MATRIX, "nodes": nodes, "until": np.cumsum([cycles for cycles, _ in phases]), "row": row}
    given |= {"column": column, "within": within / sums.max()} | ({"length": length} if has_lengths else {})
    sizes, counts = np.unique(length, return_counts=True)
    sent = [sum((np.bincount(part.source, part.rate, nodes) for part in parts), np.zeros(nodes)) for _, parts in phases]
    busiest, period = float(np.max(sent)), sum(cycles for cycles, _ in phases)
    shares = [
        (part.source, part.destination, part.rate * (cycles / period / busiest))
        for cycles, parts in phases
        for part in parts
    ]
    source, destination, rate = (np.concatenate(each) for each in zip(*shares, strict=True))
    return Pattern(
        text,
        np.unique(source),
        given,
        (source, destination, rate),
        Lengths(sizes, counts / counts.sum()) if has_lengths else None,
        busiest / float(sums.max()),
    )


def _entries(nodes: int, phases: Phases, packet_length: int) -> tuple[Nodes, Nodes, Reals, Nodes]:
    """Return where the row of each node in each phase begins, and of entries destination, messages and their flits."""
    found = []
    for number, (_, parts) in enumerate(phases):
        for part in parts:
            sizes = part.lengths or Lengths(np.array([packet_length]), np.ones(1))
            for flits, share in zip(sizes.flits, sizes.shares / sizes.mean_packets(packet_length), strict=True):
                row = number * nodes + part.source
                found.append((row, part.destination, part.rate * share, np.full(len(row), flits)))
    row, column, message, length = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.argsort(row, kind="stable")
    begins = np.searchsorted(row[order], np.arange(len(phases) * nodes + 1))
    return begins, column[order], message[order], length[order]


def _part(network: Network, pattern: Any, share: float = 1.0, lengths: str | None = None, where: str = "") -> _Part:
    """Return the packets of a pattern, of which the busiest node has a share; an error says `where` it stands."""
    try:
        sizes = None if lengths is None else parse_lengths(lengths)
        if isinstance(pattern, Matrix):
            pattern.check(network)
            source, destination, rate = pattern.source, pattern.destination, pattern.rate
        else:
            rates = parse_pattern(pattern, network).rates(np.arange(network.num_terminals))
            source, destination = np.nonzero(rates)
            rate = rates[source, destination]
    except SpecError as error:
        raise SpecError(f"{where}{error}") from None
    return _Part(source, destination, share * rate / np.bincount(source, rate).max(), sizes)


def parse_pattern(text: Any, network: Network, packet_length: int = 1) -> Pattern:
    """Read a pattern such as ``uniform`` or ``hotspot(0.2, 5)``, or what :func:`hdnhw.traffic.demand.read_pattern`
    reads. Messages of classes without lengths are packets of so many flits.

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
    text = read_pattern(text)
    if network.num_terminals < 2:
        raise SpecError(f"{network.spec} has one node: there is nowhere to send to")
    if isinstance(text, Matrix):
        return _of_phases(str(text), network, [(1, [_part(network, text)])], packet_length)
    if isinstance(text, Classes):
        if network.num_terminals**2 > MOST_ENTRIES:
            raise SpecError(
                f"classes need at most {isqrt(MOST_ENTRIES)} nodes; {network.spec} has {network.num_terminals}"
            )
        phases = [(cycles, [_part(network, *one) for one in each]) for cycles, each in text.phases]
        return _of_phases(str(text), network, phases, packet_length)
    name, arguments = read_expression(text, PATTERNS, "pattern", called=CALLED)
    return PATTERNS[name](network, *arguments)
