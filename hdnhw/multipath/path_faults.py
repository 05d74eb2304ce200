"""Disjoint paths where nodes have failed: how many of them are left.

The question of the disjoint-path paper, section 4: nodes fail at random, two healthy ones are drawn, and the paths
between them, made without knowing what has failed, are intact if no node on them has. The paper answers by trials. As
no two paths share a node, only their lengths matter, and the mean over all sets of so many failed nodes is exact: each
set of m nodes is spared by the share s(m) = C(n - 2 - m, f) / C(n - 2, f) of them. Only the pairs are a sample.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import sqrt
from random import Random

import numpy as np
import numpy.typing as npt

from hdnhw.multipath.disjoint import disjoint_routes
from hdnhw.multipath.flows import fault_of_paths
from hdnhw.multipath.nest import Node
from hdnhw.support.errors import SpecError
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.graph import Network

Maker = Callable[[Network, int, int], list[list[int]]]

CASES = "ABC"

MOST_PATHS = 24
"""Of a pair: its chance of a path is a sum of up to 2^24 terms, good to nine digits."""


@dataclass(frozen=True)
class Estimate:
    """A mean over the pairs that were drawn, and its standard error."""

    mean: float
    error: float


@dataclass(frozen=True, kw_only=True)
class FaultPoint:
    """What comes out at one rate of faults.

    Attributes
    ----------
    rate : float
        Failed nodes a node.
    failed : int
        Nodes.
    pairs : int
        That were drawn.
    all_paths, any_path : Estimate
        Share of the sets of failed nodes, mean over the pairs, that leave every path intact, and at least one.
    mean_hops, mean_clusters : Estimate or None
        Of the intact paths of all pairs: length, and clusters of the highest level that they visit; None if there is
        no such path.
    """

    rate: float
    failed: int
    pairs: int
    all_paths: Estimate
    any_path: Estimate
    mean_hops: Estimate | None
    mean_clusters: Estimate | None


@dataclass(frozen=True)
class PathSample:
    """Disjoint paths of pairs of nodes.

    Attributes
    ----------
    hops, clusters : ndarray of int64, shape (pairs, paths)
        Length of each path, and clusters that it visits.
    """

    hops: npt.NDArray[np.int64]
    clusters: npt.NDArray[np.int64]


def case_of(network: DualNetwork, src: int, dst: int) -> str:
    """Return the paper's case of a pair: A (one cluster), B (clusters of two classes) or C (two of one class)."""
    one, other = (_cluster(network, node) for node in (src, dst))
    if one[0] != other[0]:
        return "B"
    return "A" if one == other else "C"


def clusters_of(network: DualNetwork, path: Sequence[int]) -> set[Node]:
    """Return class bit and id of the clusters of the highest level that a path visits."""
    return {_cluster(network, node) for node in path}


def _cluster(network: DualNetwork, node: int) -> Node:
    return network.decode(node)[: 1 + len(network.levels[-1].cluster)]


def has_case(network: DualNetwork, case: str) -> bool:
    """Return whether there are pairs of a case: none of C where a class is one cluster."""
    return case != "C" or bool(network.levels[-1].cluster)


def pairs_of_case(network: DualNetwork, case: str, count: int, seed: int) -> list[tuple[int, int]]:
    """Return pairs of two nodes drawn from all of a case, each as likely as any other."""
    end = 1 + len(network.levels[-1].cluster)
    if not has_case(network, case):
        raise ValueError(f"{network.spec} has one cluster a class: no two nodes are of Case C")
    draw, nodes = Random(f"{case} {seed}"), network.num_nodes
    pairs: list[tuple[int, int]] = []
    while len(pairs) < count:
        src = draw.randrange(nodes)
        (class_bit, *cluster), any_node = _cluster(network, src), network.decode(draw.randrange(nodes))
        ends = {
            "A": (class_bit, *cluster, *any_node[end:]),
            "B": (1 - class_bit, *any_node[1:]),
            "C": (class_bit, *any_node[1:]),
        }
        dst = int(network.encode(ends[case]))
        if dst != src and case_of(network, src, dst) == case:
            pairs.append((src, dst))
    return pairs


def disjoint_paths_of_pairs(
    network: DualNetwork, pairs: Sequence[tuple[int, int]], make: Maker = disjoint_routes
) -> list[list[list[int]]]:
    """Return the paths of each pair.

    Parameters
    ----------
    network : DualNetwork
    pairs : sequence of tuple of int
    make : callable
        Makes the paths of a network and two nodes; pairs for which they are not as many disjoint ones as a node has
        ports are left out.
    """

    @cache
    def around(node: int) -> frozenset[int]:
        return frozenset(network.neighbors(node).values())

    made = ((pair, make(network, *pair)) for pair in pairs)
    return [
        paths
        for pair, paths in made
        if len(paths) == len(network.ports) and fault_of_paths(around, *pair, paths) is None
    ]


def sample_paths(network: DualNetwork, pairs: Sequence[tuple[int, int]], make: Maker = disjoint_routes) -> PathSample:
    """Return lengths and clusters of the paths of each pair, see :func:`disjoint_paths_of_pairs`.

    Raises
    ------
    SpecError
        If a node has too many ports, or no pair has disjoint paths.
    """
    if len(network.ports) > MOST_PATHS:
        raise SpecError(f"paths left need at most {MOST_PATHS} ports per node; {network.spec} has {len(network.ports)}")
    found = disjoint_paths_of_pairs(network, pairs, make)
    if not found:
        raise SpecError(f"no disjoint paths were found for any of {len(pairs)} pairs of {network.spec}")
    hops = [[len(path) - 1 for path in paths] for paths in found]
    clusters = [[len(clusters_of(network, path)) for path in paths] for paths in found]
    return PathSample(np.array(hops, np.int64), np.array(clusters, np.int64))


def fault_points(nodes: int, sample: PathSample, rates: Sequence[float]) -> list[FaultPoint]:
    """Return what is left of the paths at each rate of faults.

    Parameters
    ----------
    nodes : int
        Of the network. ``round(rate * nodes)`` of them fail, any set of all but the two of the pair as likely as
        another.
    sample : PathSample
    rates : sequence of float

    Raises
    ------
    ValueError
        If a rate does not leave two nodes.

    Examples
    --------
    >>> hops = np.array([[2, 3]])
    >>> point = fault_points(12, PathSample(hops, hops), [0.5])[0]
    >>> point.all_paths.mean, round(point.any_path.mean, 4)  # C(7, 6) / C(10, 6), and that of 1 and of 2 nodes less it
    (0.03333333333333333, 0.5)
    """
    inner = sample.hops - 1
    terms = np.zeros((len(inner), int(inner.sum(axis=1).max()) + 1))
    for row, lengths in enumerate(inner.tolist()):
        for size, count in _hit_all(tuple(sorted(lengths))).items():
            terms[row, size] = count
    points = []
    for rate in rates:
        failed = round(rate * nodes)
        if not 0 <= failed <= nodes - 2:
            raise ValueError(f"fault rate must leave two nodes of {nodes}, not {rate!r}")
        spared = _spared(nodes - 2, failed, terms.shape[1])
        intact = spared[inner]
        points.append(
            FaultPoint(
                rate=rate,
                failed=failed,
                pairs=len(inner),
                all_paths=_mean(spared[inner.sum(axis=1)]),
                any_path=_mean((1 - terms[:, 0]) - terms[:, 1:] @ spared[1:]),
                mean_hops=_ratio(intact * sample.hops, intact),
                mean_clusters=_ratio(intact * sample.clusters, intact),
            )
        )
    return points


def _spared(nodes: int, failed: int, sizes: int) -> npt.NDArray[np.float64]:
    """Return the chance that none of m nodes fails, m = 0, 1, ..., where so many of all fail."""
    places = np.arange(min(sizes - 1, nodes))
    chances = np.cumprod([1.0, *np.maximum(0, nodes - failed - places) / (nodes - places)])
    return np.concatenate([chances, np.zeros(sizes - len(chances))])


@cache
def _hit_all(lengths: tuple[int, ...]) -> dict[int, int]:
    """Return the polynomial prod (1 - x^length): with s(m) for x^m it is the chance that every path is hit."""
    terms = {0: 1}
    for length in lengths:
        grown = dict(terms)
        for size, count in terms.items():
            grown[size + length] = grown.get(size + length, 0) - count
        terms = grown
    return terms


def _mean(values: npt.NDArray[np.float64]) -> Estimate:
    return Estimate(float(values.mean()), _error(values))


def _error(values: npt.NDArray[np.float64]) -> float:
    """Return the standard error of a mean; 0 of a single value."""
    return float(values.std(ddof=1)) / sqrt(len(values)) if len(values) > 1 else 0.0


def _ratio(parts: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> Estimate | None:
    """Return a mean over paths, each with its weight, and its standard error over pairs."""
    part, weight = parts.sum(axis=1), weights.sum(axis=1)
    if not weight.any():
        return None
    ratio = float(part.sum() / weight.sum())
    return Estimate(ratio, _error(part - ratio * weight) / float(weight.mean()))
