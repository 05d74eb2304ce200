"""RDN paper, section II: base networks that are no products of rings and complete graphs."""

from functools import partial

import numpy as np

from hdnhw.claims.claim import Case, Claim, Finding, judge
from hdnhw.claims.families import compare
from hdnhw.networks.build import build
from hdnhw.topology.graph import Network
from hdnhw.topology.metrics import neighbor_table, summarize_distances
from hdnhw.topology.symmetry import symmetry

SYMMETRIC = (
    ("star(3)", 1),
    ("petersen()", 1),
    ("crossed_cube(3)", 1),
    ("folded_cube(3)", 1),
    ("dualcube(2)", 1),
    ("hdn(cube(2), [[0]])", 1),
    ("star(2)", 2),
    ("reduced_cube(2, 1)", 1),
)
"""Small bases and k: star and Petersen graphs, kinds of cubes, dual-nets."""

LARGER = (("star(4)", 1), ("ccc(3)", 1), ("hcn(2)", 1), ("rdn(star(3), 1)", 1))
"""More of them; HCN(2, 2) is regular and not symmetric."""


def _sizes(network: Network) -> tuple[int, set[int], int | None]:
    """Return nodes, the degrees that nodes have, and the diameter, as they are found."""
    degrees = {int(count) for count in (neighbor_table(network) >= 0).sum(axis=1)}
    return network.num_nodes, degrees, summarize_distances(network).diameter


def _networks(bases: tuple[tuple[str, int], ...]) -> list[tuple[Network, Network, int]]:
    """Return bases, the dual-nets over them, and their levels."""
    return [(build(base), build(f"rdn({base}, {k})"), k) for base, k in bases]


def sizes() -> Finding:
    """Count nodes and neighbors and search, of the base and of the dual-net over it."""
    cases = []
    for base, network, k in _networks(SYMMETRIC + LARGER):
        (nodes, degrees, diameter), found = _sizes(base), _sizes(network)
        assert diameter is not None, "so small a base is searched"
        published = (2 * nodes) ** 2**k // 2, {degree + k for degree in degrees}, (diameter + 2 << k) - 2
        cases.append(compare(network, published, found))
    return judge(cases)


def _orbits(network: Network) -> int:
    found = symmetry(neighbor_table(network))
    assert found is not None, "so small a network's automorphisms are found"
    return len(np.unique(found.node_orbit))


def symmetric() -> Finding:
    """Find all automorphisms of bases that have one orbit of nodes, and of the dual-nets over them."""
    cases: list[Case] = []
    for base, network, _ in _networks(SYMMETRIC):
        if _orbits(base) == 1:
            cases.append(compare(network, 1, _orbits(network)))
    return judge(cases)


_claim = partial(Claim, "RDN")


CLAIMS = (
    _claim(
        "Theorem 1",
        "nodes, degree and diameter over other bases",
        "(2 n_0)^(2^k) / 2, d_0 + k, 2^k D_0 + 2^(k+1) - 2",
        sizes,
        reading="over any regular base, as RDN^0(B) is; the theorem assumes a symmetric one, which HCN(2, 2) is not",
    ),
    _claim("section II", "symmetry over other bases", "the RDN is symmetric if the base network is", symmetric),
)
