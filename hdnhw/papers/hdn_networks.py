"""HDN paper, sections 2 and 3: sizes, degrees, diameters, symmetry, routing."""

from itertools import product
from math import prod

from hdnhw.papers.claim import Case, Claim, Finding, judge
from hdnhw.spec import parse
from hdnhw.topology.network import build

__all__ = ["CLAIMS"]

SUPER_NODES = {1: [], 2: [0], 3: [1], 5: [2], 6: [0, 1], 10: [0, 2], 15: [1, 2], 30: [0, 1, 2]}
"""Factor indices of the super-nodes of the torus 2 x 3 x 5, by their size."""

TABLE1 = """
1800 900 600 360 300 180 120 60
6480000 3240000 2160000 1296000 1080000 648000 432000 216000
1620000 810000 540000 324000 270000 162000 108000 54000
720000 360000 240000 144000 120000 72000 48000 24000
259200 129600 86400 51840 43200 25920 17280 8640
180000 90000 60000 36000 30000 18000 12000 6000
64800 32400 21600 12960 10800 6480 4320 2160
28800 14400 9600 5760 4800 2880 1920 960
7200 3600 2400 1440 1200 720 480 240
"""
"""As printed: k = 1, then k = 2 with a row for each s_1 and a column for each s_2."""


def _torus_nets() -> list[tuple[int, ...]]:
    """Return the (s_1) and (s_1, s_2) of Table 1 in its order."""
    return [(size,) for size in SUPER_NODES] + list(product(SUPER_NODES, repeat=2))


def _torus_spec(sizes: tuple[int, ...]) -> str:
    return f"hdn(torus(2, 3, 5), {[SUPER_NODES[size] for size in sizes]})"


def table1() -> Finding:
    """Count the nodes of all networks of Table 1."""
    cases = []
    for sizes, printed in zip(_torus_nets(), map(int, TABLE1.split()), strict=True):
        spec = _torus_spec(sizes)
        nodes = build(parse(spec)).num_nodes
        cases.append(Case(network=spec, nodes=nodes, published=printed, computed=nodes, holds=printed == nodes))
    return judge(cases)


def size_formula() -> Finding:
    """Compare the closed form of the size with the networks of Table 1."""
    cases = []
    for sizes in _torus_nets():
        spec, k = _torus_spec(sizes), len(sizes)
        nodes = build(parse(spec)).num_nodes
        published = 60**2**k / (2 * prod(sizes))
        corrected = 60**2**k / (2 * prod(size**2 ** (k - level) for level, size in enumerate(sizes, start=1)))
        cases.append(
            Case(
                network=spec,
                nodes=nodes,
                published=f"{published:g}",
                computed=nodes,
                holds=published == nodes,
                corrected=corrected == nodes,
                condition=prod(sizes[:-1]) == 1,
            )
        )
    return judge(
        cases,
        condition="s_i = 1 for all i < k",
        corrected="n_k = (2 n_0)^(2^k) / (2 prod s_i^(2^(k-i)))",
    )


CLAIMS = (
    Claim(
        paper="HDN",
        where="Table 1",
        claim="nodes of HDN(B, 1, S) and HDN(B, 2, S), B the torus 2 x 3 x 5",
        published="72 cells, 60 to 6,480,000",
        check=table1,
    ),
    Claim(
        paper="HDN",
        where="abstract, Theorem 1, Theorem 3, Table 2",
        claim="number of nodes in closed form",
        published="n_k = (2 n_0)^(2^k) / (2 prod s_i)",
        check=size_formula,
        erratum="E1",
    ),
)
