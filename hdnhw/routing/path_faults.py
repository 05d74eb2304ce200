"""Disjoint paths where nodes have failed: how many of them are left, by trials.

The simulation of the disjoint-path paper, section 4: nodes fail at random, two healthy ones are drawn, and the paths
between them, made without knowing what has failed, are intact if no node on them has. Only their lengths matter, as no
two share a node.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import prange

from hdnhw.kernels import kernel
from hdnhw.routing.disjoint import disjoint_routes
from hdnhw.routing.nest import Node
from hdnhw.topology.disjoint import fault_of_paths
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.metrics import neighbor_table
from hdnhw.topology.network import Network

__all__ = [
    "FaultPoint",
    "case_of",
    "clusters_of",
    "disjoint_paths_of_pairs",
    "hops_of_pairs",
    "pairs_of_case",
    "try_faults",
]

Maker = Callable[[Network, int, int], list[list[int]]]

CHUNK = 4096
"""Trials with one random generator, so that results do not depend on the number of threads."""


@dataclass(frozen=True, kw_only=True)
class FaultPoint:
    """What came out at one rate of faults.

    Attributes
    ----------
    rate : float
        Failed nodes a node.
    trials : int
    all_paths, any_path : float
        Share of trials in which every path was intact, and at least one.
    mean_hops : float or None
        Of the intact paths of all trials; None if there was none.
    """

    rate: float
    trials: int
    all_paths: float
    any_path: float
    mean_hops: float | None


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


def pairs_of_case(network: DualNetwork, case: str, count: int, seed: int) -> list[tuple[int, int]]:
    """Return pairs of two nodes drawn from all of a case, each as likely as any other."""
    end = 1 + len(network.levels[-1].cluster)
    if case == "C" and end == 1:
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
    around = [set(row) for row in neighbor_table(network).tolist()]
    made = ((pair, make(network, *pair)) for pair in pairs)
    return [
        paths
        for pair, paths in made
        if len(paths) == len(network.ports) and fault_of_paths(around.__getitem__, *pair, paths) is None
    ]


def hops_of_pairs(
    network: DualNetwork, pairs: Sequence[tuple[int, int]], make: Maker = disjoint_routes
) -> npt.NDArray[np.int32]:
    """Return the lengths of the paths of each pair, shape (pairs, ports), see :func:`disjoint_paths_of_pairs`."""
    found = disjoint_paths_of_pairs(network, pairs, make)
    return np.array([[len(path) - 1 for path in paths] for paths in found], np.int32)


def try_faults(
    nodes: int, hops: npt.NDArray[np.int32], rates: Sequence[float], *, trials: int, seed: int
) -> list[FaultPoint]:
    """Let nodes fail and count intact paths.

    Parameters
    ----------
    nodes : int
        Of the network. ``round(rate * nodes)`` of them fail, drawn from all but the two of the pair.
    hops : ndarray of int32, shape (pairs, paths)
        As :func:`hops_of_pairs` makes it; each trial takes one pair at random.
    rates : sequence of float
    trials : int
        At each rate.
    seed : int
        Same seed, same result.
    """
    points = []
    for number, rate in enumerate(rates):
        failed = round(rate * nodes)
        if not 0 <= failed <= nodes - 2:
            raise ValueError(f"fault rate must leave two nodes of {nodes}, not {rate!r}")
        chunks = -(-trials // CHUNK)
        start = np.random.SeedSequence([seed, number]).generate_state(chunks, np.uint64)
        every, some, intact, length = _try(hops, nodes - 2, failed, trials, start).sum(axis=0).tolist()
        points.append(
            FaultPoint(
                rate=rate,
                trials=trials,
                all_paths=every / trials,
                any_path=some / trials,
                mean_hops=length / intact if intact else None,
            )
        )
    return points


@kernel("int64[:, ::1](int32[:, ::1], int64, int64, int64, uint64[::1])", parallel=True)
def _try(hops: Any, nodes: int, failed: int, trials: int, start: Any) -> Any:
    """Return trials with all paths, trials with a path, intact paths and their hops; a row for each generator."""
    counts = np.zeros((len(start), 4), np.int64)
    pairs, paths = hops.shape
    for chunk in prange(len(start)):
        state = start[chunk]
        for _ in range(min(CHUNK, trials - chunk * CHUNK)):
            state, drawn = _draw(state, pairs)
            left, faults, intact = nodes, failed, 0
            for path in range(paths):
                whole = True
                for _ in range(hops[drawn, path] - 1):
                    state, place = _draw(state, left)
                    left -= 1
                    if place < faults:
                        faults -= 1
                        whole = False
                if whole:
                    intact += 1
                    counts[chunk, 3] += hops[drawn, path]
            counts[chunk, 0] += intact == paths
            counts[chunk, 1] += intact > 0
            counts[chunk, 2] += intact
    return counts


@kernel("Tuple((uint64, int64))(uint64, int64)", inline="always")
def _draw(state: Any, below: Any) -> tuple[Any, Any]:
    """Return the next state of SplitMix64 and a number below another."""
    state = np.uint64(state + np.uint64(0x9E3779B97F4A7C15))
    mixed = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed = mixed ^ (mixed >> np.uint64(31))
    return state, np.int64((mixed >> np.uint64(32)) * np.uint64(below) >> np.uint64(32))
