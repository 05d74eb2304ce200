"""Jellyfish: random regular graphs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from hdnhw.networks.families.graph import circle
from hdnhw.spec import NetworkSpec
from hdnhw.spec.checks import check_edges, check_ports, integer
from hdnhw.support.errors import SpecError
from hdnhw.topology.family import Family

if TYPE_CHECKING:
    from hdnhw.topology.edges import EdgeNetwork

ROUNDS = 1000
"""In which the ends that are left over are paired."""


@dataclass(frozen=True, repr=False)
class Jellyfish(NetworkSpec, maker="jellyfish"):
    """A random regular graph."""

    num_nodes: int
    degree: int
    seed: int


def jellyfish(n: int, degree: int, seed: int = 1) -> Jellyfish:
    """Make a random graph of `n` nodes of one degree (Singla et al., Jellyfish, NSDI 2012), drawn from a seed."""
    nodes, ports = integer(n, "jellyfish size", 4), integer(degree, "jellyfish degree", 3)
    if ports >= nodes or nodes * ports % 2:
        raise SpecError(f"jellyfish degree must be below its size, their product even, not {ports} and {nodes}")
    made = Jellyfish(nodes, ports, integer(seed, "jellyfish seed", 0))
    check_ports(str(made), ports)
    check_edges(str(made), nodes * ports // 2)
    return made


@lru_cache(maxsize=8)
def network(spec: Jellyfish) -> EdgeNetwork:
    """Return the network: ends of edges are paired at random, and drawn again until it is connected."""
    import numpy as np

    from hdnhw.topology.edges import network_of_edges
    from hdnhw.topology.metrics import table_distances

    rng = np.random.default_rng(spec.seed)
    while True:
        edges = _draw(spec, rng)
        if edges is None:
            continue
        made = network_of_edges(spec, spec.num_nodes, sorted(edges))
        if (table_distances(made.table, 0) >= 0).all():
            return made


def _draw(spec: Jellyfish, rng: object) -> set[tuple[int, int]] | None:
    """Pair the ends of edges (Steger and Wormald, 1999); None if the last ones cannot be paired."""
    import numpy as np

    assert isinstance(rng, np.random.Generator)
    edges: set[tuple[int, int]] = set()
    ends = np.repeat(np.arange(spec.num_nodes), spec.degree)
    for _ in range(ROUNDS):
        if not len(ends):
            return edges
        left = []
        for one, other in np.sort(rng.permutation(ends).reshape(-1, 2), axis=1).tolist():
            if one == other or (one, other) in edges:
                left += [one, other]
            else:
                edges.add((one, other))
        ends = np.array(left, np.int64)
    return None


FAMILY = Family(makers=(jellyfish,), spec=Jellyfish, network=network, layout=circle)
