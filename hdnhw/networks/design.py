"""Search for a network: the dual-nets and products near a size with at most so many ports per node.

A dual-net HDN(B, k, S) is written as k and the factors of B, each with the levels whose super-nodes hold it. A factor
of p nodes then multiplies the number of nodes by p^w, w = 2^k less 2^(k-j) for each such level j, so that all
candidates are found by one search over factors.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import ceil, floor, prod
from typing import Any

from hdnhw.networks.families.dualnets import hdn, rdn
from hdnhw.spec import DualNet, Factor, Product, complete, cube, ghc, product, torus
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.support.progress import Progress
from hdnhw.topology import metrics
from hdnhw.topology.dualnet import DualNetwork

MOST_NODES = 1 << 32
"""Most nodes of a network that is looked for."""

MOST_CHOICES, MOST_CANDIDATES = 500_000, 100_000
"""Multisets of factors, and candidates among them, after which the search is given up."""

MOST_SEARCHED = 4096
"""Most nodes of a network without a closed form in which distances are searched."""

LEAST_RING = 8
"""Least bound on rings: RDN(K2, 1), a ring of eight, is looked for as a ring."""

USUAL_RING = 64
"""Bound on rings where none is asked for, if the search is not too large with it."""

RINGS = (USUAL_RING, 48, 32, 24, 16, 12, LEAST_RING)
"""Bounds on rings that are tried, until a search is not too large."""


@dataclass(frozen=True)
class _Part:
    """A factor of the base, and the levels whose super-nodes hold it, as bits: that of level j is 2^(j-1)."""

    factor: Factor
    levels: int

    @property
    def key(self) -> tuple[bool, int, int]:
        """Order in a spec: rings and edges first, smaller ones first."""
        return _is_complete(self.factor), self.factor.size, self.levels


@dataclass(frozen=True)
class Design:
    """A candidate and its figures.

    Attributes
    ----------
    spec : Product or DualNet
    nodes, degree, links : int
        Degree: ports of a router to others. Links: edges of the simple graph.
    diameter : int
        Hops; by the closed form.
    average_distance : Fraction or None
        Over ordered pairs u != v; None if S is not nested and the network too large to search.
    nested : bool
        Whether S is nested; that of a product is.
    degree_weight : float
        w1 of CR_w, from 0 to 1.
    """

    spec: Product | DualNet
    nodes: int
    degree: int
    links: int
    diameter: int
    average_distance: Fraction | None
    nested: bool
    degree_weight: float = 0.5

    @property
    def cr_w(self) -> float:
        """The HDN paper's weighted cost ratio."""
        return metrics.weighted_cost_ratio(self.nodes, self.degree, self.diameter, self.degree_weight)

    @property
    def capacity(self) -> float | None:
        """Uniform traffic at which all channels are full, flits per node a cycle: no saturation bound is above it."""
        return None if self.average_distance is None else float(self.degree / self.average_distance)


def _least(value: float | Fraction | None) -> tuple[bool, Any]:
    return value is None, value or 0


ORDERS: dict[str, Callable[[Design], Any]] = {
    "cr_w": lambda design: design.cr_w,
    "average_distance": lambda design: _least(design.average_distance),
    "capacity": lambda design: _least(None if design.capacity is None else -design.capacity),
    "degree": lambda design: design.degree,
    "diameter": lambda design: design.diameter,
    "links": lambda design: design.links,
    "nodes": lambda design: -design.nodes,
}
"""What a list can be sorted by, the best first: least, but for `capacity` and `nodes`, where it is most."""


def candidates(
    least: int, most: int, degree: int, *, nested: bool = True, longest_ring: int = 64
) -> Iterator[Product | DualNet]:
    """Yield every product of edges, rings and complete graphs and every dual-net on one, each once up to isomorphism.

    A ring of four is two edges, one of three a complete graph. Left out is what is isomorphic to another candidate of
    as many ports: with SN^1 = B, HDN(B, k, S) is that of k - 1 levels on B and one edge more, and if SN^1 is all of B
    but one edge, it is that of k - 1 levels with a ring of eight in place of that edge.

    Parameters
    ----------
    least, most : int
        Nodes.
    degree : int
        Most ports of a router to others.
    nested : bool
        Whether to leave out those whose S is not nested.
    longest_ring : int
        Most nodes of a ring, at least 8.

    Examples
    --------
    >>> [str(spec) for spec in candidates(16, 18, 3)]
    ['torus(2, 8)', 'torus(2, 9)', 'torus(16)', 'torus(17)', 'torus(18)', 'rdn(torus(3), 1)']
    """
    for parts, levels in _bases(least, most, degree, nested, longest_ring):
        yield _spec(parts, levels)


class _TooManyError(SpecError):
    """A search would look at too much."""


def _bases(least: int, most: int, degree: int, nested: bool, longest_ring: int) -> Iterator[tuple[list[_Part], int]]:
    """Yield the parts and the levels of every candidate."""
    looked = 0
    for levels in range(degree):
        own = 2 ** (2**levels - 1)
        if own > most:
            return
        parts = _parts(levels, degree - levels, nested, longest_ring)
        for chosen in _choices(parts, most // own, degree - levels):
            looked += 1
            if looked > MOST_CHOICES:
                raise _TooManyError(f"design would look at more than {MOST_CHOICES} bases")
            made = [part for _, part in chosen]
            if own * prod(size for size, _ in chosen) >= least and not _is_redundant(made, levels):
                yield made, levels


def _parts(levels: int, degree: int, nested: bool, longest_ring: int) -> list[tuple[int, _Part]]:
    """Return every part of a base, with what it multiplies the nodes by, ascending."""
    factors = [Factor("cycle", size) for size in range(2, longest_ring + 1) if size != 4]
    factors += [Factor("complete", size) for size in range(4, degree + 2)]
    sets = [2**count - 1 for count in range(levels + 1)] if nested else range(2**levels)
    weights = [(held, 2**levels - sum(2 ** (levels - j) for j in _levels_in(held, levels))) for held in sets]
    found = [(factor.size**weight, _Part(factor, held)) for factor in factors for held, weight in weights]
    return sorted(found, key=lambda item: (item[0], item[1].key))


def _levels_in(held: int, levels: int) -> list[int]:
    return [j for j in range(1, levels + 1) if held >> (j - 1) & 1]


def _choices(parts: Sequence[tuple[int, _Part]], most: int, degree: int) -> Iterator[list[tuple[int, _Part]]]:
    """Yield every non-empty multiset of parts within the bounds."""
    for place, item in enumerate(parts):
        size, part = item
        if size > most:
            return
        left = degree - part.factor.degree
        if left >= 0:
            yield [item]
            for rest in _choices(parts[place:], most // size, left):
                yield [item, *rest]


def _is_redundant(parts: Sequence[_Part], levels: int) -> bool:
    """Return whether the lowest level can be had with one level less, see :func:`candidates`."""
    outside = [part for part in parts if not part.levels & 1]
    return levels > 0 and (not outside or (len(outside) == 1 and outside[0] == _Part(Factor("cycle", 2), 0)))


def _is_complete(factor: Factor) -> bool:
    return factor.kind == "complete" and factor.size > 3


def _spec(parts: Sequence[_Part], levels: int) -> Product | DualNet:
    parts = sorted(parts, key=lambda part: part.key)
    base = _base([part.factor for part in parts])
    if levels == 0:
        return base
    if not any(part.levels for part in parts):
        return rdn(base, levels)
    inside = [[place for place, part in enumerate(parts) if part.levels >> j & 1] for j in range(levels)]
    return hdn(base, inside)


def _base(factors: Sequence[Factor]) -> Product:
    """Return the product under its usual name; the factors are in its order."""
    sizes = [factor.size for factor in factors]
    full = [factor.size for factor in factors if _is_complete(factor)]
    if max(sizes) == 2:
        return cube(len(sizes))
    if not full:
        return torus(*sizes)
    if len(sizes) == 1:
        return complete(*sizes)
    rest = sizes[: -len(full)]
    if max(rest, default=0) <= 3:
        return ghc(*sizes)
    return product(torus(*rest), complete(*full) if len(full) == 1 else ghc(*full))


def measure(spec: Product | DualNet, degree_weight: float = 0.5) -> Design:
    """Return the figures of a candidate: closed forms where S is nested, else by search where it is small enough."""
    network = DualNetwork(spec)
    diameter, average = metrics.diameter_corrected(network), metrics.nested_average_distance(network)
    if average is None and network.num_nodes <= MOST_SEARCHED:
        found = metrics.summarize_distances(network)
        diameter, average = found.diameter, found.average_distance
    assert diameter is not None, "products and dual-nets have a closed form"
    return Design(
        spec,
        nodes=network.num_nodes,
        degree=metrics.degree_bounds(network)[1],
        links=metrics.num_edges(network),
        diameter=diameter,
        average_distance=average,
        nested=network.is_nested,
        degree_weight=degree_weight,
    )


def search(
    nodes: int,
    degree: int,
    within: float,
    *,
    nested: bool = True,
    longest_ring: int = 64,
    degree_weight: float = 0.5,
    progress: Progress = lambda *_: None,
) -> list[Design]:
    """Return every candidate of nodes / within to nodes * within nodes, with its figures.

    Parameters
    ----------
    nodes, degree : int
        Nodes that are wished for, and most ports of a router to others.
    within : float
        From 1 to 1000.
    nested, longest_ring
        As for :func:`candidates`.
    degree_weight : float
        w1 of CR_w.
    progress : callable
        Called with what is being done and the share of it that is.

    Raises
    ------
    SpecError
        If there are none, or too many.
    """
    try:
        bases = _listed(nodes, degree, within, nested, longest_ring)
    except _TooManyError as error:
        ways = _ways_out(nodes, degree, within, nested, longest_ring)
        raise SpecError(f"{error}: {ways}") from None
    if not bases:
        least, most = _range(nodes, within)
        raise SpecError(f"no dual-net or product has {least} to {most} nodes of at most {degree} ports")
    found = []
    for count, (parts, levels) in enumerate(bases):
        progress(f"{count} of {len(bases)} candidates", count / len(bases))
        found.append(measure(_spec(parts, levels), degree_weight))
    return found


def _range(nodes: int, within: float) -> tuple[int, int]:
    """Return the least and the most nodes of a candidate."""
    return max(2, ceil(nodes / within)), min(MOST_NODES, floor(nodes * within))


def _listed(nodes: int, degree: int, within: float, nested: bool, longest_ring: int) -> list[tuple[list[_Part], int]]:
    """Return the parts and the levels of every candidate; raise _TooManyError if there are too many."""
    bases = list(islice(_bases(*_range(nodes, within), degree, nested, longest_ring), MOST_CANDIDATES + 1))
    if len(bases) > MOST_CANDIDATES:
        raise _TooManyError(f"more than {MOST_CANDIDATES} candidates")
    return bases


def _is_small(nodes: int, degree: int, within: float, nested: bool, longest_ring: int) -> bool:
    """Return whether there are not too many candidates."""
    try:
        _listed(nodes, degree, within, nested, longest_ring)
    except _TooManyError:
        return False
    return True


def fitting_ring(nodes: int, degree: int, within: float, *, nested: bool = True, most: int = USUAL_RING) -> int | None:
    """Return the first of `RINGS`, none above `most`, with which a search is not too large; None if it always is.

    Parameters are those of :func:`search`.
    """
    rings = (ring for ring in RINGS if ring <= most)
    return next((ring for ring in rings if _is_small(nodes, degree, within, nested, ring)), None)


def _ways_out(nodes: int, degree: int, within: float, nested: bool, longest_ring: int) -> str:
    """Return the options with which a search that is too large finds something, each by itself."""
    ring = fitting_ring(nodes, degree, within, nested=nested, most=longest_ring)
    low, high = 1, degree
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _is_small(nodes, middle, within, nested, longest_ring) else (low, middle)
    ways = []
    if ring is not None and _listed(nodes, degree, within, nested, ring):
        ways.append(named("longest_ring", ring))
    if _listed(nodes, low, within, nested, longest_ring):
        ways.append(named("degree", low))
    return f"it works with {' or '.join(ways)}" if ways else "ask for fewer nodes or ports"


def front(designs: Sequence[Design], nodes: int) -> list[Design]:
    """Return those that no other one beats: in ports, in average distance, and in nodes, counted up to `nodes`.

    One beats another if it is no worse in any of the three and better in one; more nodes than are wished for are no
    gain, and no harm.
    """
    ranked = sorted(
        (
            ((one.degree, max(0, nodes - one.nodes), one.average_distance), one)
            for one in designs
            if one.average_distance is not None
        ),
        key=lambda item: item[0],
    )
    kept: list[tuple[tuple[int, int, Fraction], Design]] = []
    for figures, design in ranked:
        if not any(other != figures and other[1] <= figures[1] and other[2] <= figures[2] for other, _ in kept):
            kept.append((figures, design))
    return [design for _, design in kept]
