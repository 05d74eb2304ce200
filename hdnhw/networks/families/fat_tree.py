"""The fat tree of three levels of equal switches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from hdnhw.spec import NetworkSpec
from hdnhw.spec.checks import integer
from hdnhw.support.errors import SpecError
from hdnhw.topology.family import Family

if TYPE_CHECKING:
    from hdnhw.topology.edges import EdgeNetwork
    from hdnhw.topology.places import Block

MOST_PORTS = 64


@dataclass(frozen=True, repr=False)
class FatTree(NetworkSpec, maker="fat_tree"):
    """The fat tree of switches of k ports."""

    k: int


def fat_tree(k: int) -> FatTree:
    """Make the fat tree of k^3 / 4 nodes and 5 k^2 / 4 switches of `k` ports (Al-Fares et al., SIGCOMM 2008)."""
    ports = integer(k, "fat_tree ports", 2)
    if ports % 2 or ports > MOST_PORTS:
        raise SpecError(f"fat_tree ports must be an even number, {MOST_PORTS} at most, not {ports}")
    return FatTree(ports)


def _rows(spec: FatTree) -> tuple[int, int, int, int, int]:
    """Return the first number of nodes, edge, aggregation and core switches, and how many nodes there are in all."""
    half = spec.k // 2
    nodes, switches = spec.k * half * half, spec.k * half
    return 0, nodes, nodes + switches, nodes + 2 * switches, nodes + 2 * switches + half * half


def _edges(spec: FatTree) -> Iterator[tuple[int, int]]:
    half = spec.k // 2
    _, edge, middle, core, _ = _rows(spec)
    yield from ((node, edge + node // half) for node in range(edge))
    for pod in range(spec.k):
        for up in range(half):
            switch = middle + pod * half + up
            yield from ((edge + pod * half + down, switch) for down in range(half))
            yield from ((switch, core + up * half + top) for top in range(half))


@lru_cache(maxsize=8)
def network(spec: FatTree) -> EdgeNetwork:
    """Return the network: nodes first, then edge switches, aggregation switches and core switches."""
    from hdnhw.topology.edges import network_of_edges

    _, nodes, _, _, total = _rows(spec)
    return network_of_edges(spec, total, _edges(spec), num_terminals=nodes, diameter=6)


def layout(network: EdgeNetwork) -> Block:
    """Return a row for each kind of switch, the nodes at the bottom."""
    import numpy as np

    from hdnhw.topology.places import CLUSTER, PITCH, Block

    assert isinstance(network.spec, FatTree)
    rows = _rows(network.spec)
    width = PITCH * network.num_terminals
    places = np.zeros((network.num_nodes, 2))
    for level, (first, last) in enumerate(pairwise(rows)):
        places[first:last, 0] = (np.arange(last - first) + 0.5) * width / (last - first)
        places[first:last, 1] = (3 - level) * 2 * PITCH + CLUSTER / 2
    return Block(places, width, 6 * PITCH + CLUSTER)


FAMILY = Family(makers=(fat_tree,), spec=FatTree, network=network, layout=layout)
