"""Networks that claims are checked on, from the smallest up."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from math import prod
from typing import Any

from hdnhw.claims.claim import Case
from hdnhw.networks.build import build
from hdnhw.spec import NetworkSpec
from hdnhw.topology.dualnet import DualNetwork, dual_network
from hdnhw.topology.graph import Network

BASES = (
    "complete(2)",
    "complete(3)",
    "cube(2)",
    "complete(4)",
    "torus(5)",
    "torus(2, 3)",
    "cube(3)",
    "torus(3, 3)",
)
"""Base networks: complete graphs, rings, cubes, and products of like and unlike factors."""


def dual_net(spec: str | NetworkSpec) -> DualNetwork:
    """Return the product or dual-net of a spec."""
    return dual_network(build(spec), "the claim")


def dual_nets(most: int, *, bases: Sequence[str] = BASES) -> list[DualNetwork]:
    """Return all HDN(B, k, S) of at most `most` nodes, k up to 3, the smallest first."""
    found = [dual_net(text) for base in bases for text in _specs(base, most)]
    return sorted(found, key=lambda network: network.num_nodes)


def _specs(base: str, most: int) -> Iterator[str]:
    sizes = dual_net(base).radices
    choices = [list(chosen) for count in range(len(sizes) + 1) for chosen in combinations(range(len(sizes)), count)]

    def extend(nodes: int, below: list[list[int]]) -> Iterator[str]:
        for chosen in choices:
            above = 2 * nodes * nodes // prod(sizes[factor] for factor in chosen)
            if above <= most:
                yield f"hdn({base}, {[*below, chosen]})"
                if len(below) < 2:
                    yield from extend(above, [*below, chosen])

    yield from extend(prod(sizes), [])


def recursive_dual_nets(most: int, *, bases: Sequence[str] = BASES) -> list[DualNetwork]:
    """Return all RDN(B, k) of at most `most` nodes, the smallest first."""
    found = []
    for base in bases:
        k, nodes = 1, 2 * dual_net(base).num_nodes ** 2
        while nodes <= most:
            found.append(dual_net(f"rdn({base}, {k})"))
            k, nodes = k + 1, 2 * nodes**2
    return sorted(found, key=lambda network: network.num_nodes)


def compare(
    network: Network,
    published: Any,
    computed: Any,
    *,
    holds: bool | None = None,
    corrected: Any = None,
    condition: bool | None = None,
) -> Case:
    """Return the case of a network of which a claim says `published`, and the corrected claim `corrected`.

    The claim `holds` if that is what is computed, where nothing else is said.
    """
    return Case(
        str(network.spec),
        network.num_nodes,
        published,
        computed,
        holds=published == computed if holds is None else holds,
        corrected=corrected == computed,
        condition=condition,
    )


def cases_of(specs: Iterable[str], check: Callable[[DualNetwork], Case]) -> list[Case]:
    """Return what `check` returns for each network."""
    return [check(dual_net(spec)) for spec in specs]
