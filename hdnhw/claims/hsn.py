"""HSN paper, sections 1 and 2: sizes, degrees, diameters, diameter links, routing; and the claims of all sections."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import log2
from time import perf_counter
from typing import Any

import numpy as np

from hdnhw.claims.claim import Case, Finding, judge
from hdnhw.claims.families import compare
from hdnhw.claims.hsn_algorithms import CLAIMS as ALGORITHMS
from hdnhw.claims.hsn_corollaries import CLAIMS as COROLLARIES
from hdnhw.claims.hsn_diameters import CLAIMS as DIAMETERS
from hdnhw.claims.hsn_divisors import CLAIMS as DIVISORS
from hdnhw.claims.hsn_hypergraphs import CLAIMS as HYPERGRAPHS
from hdnhw.claims.hsn_nuclei import CLAIMS as SOME_NUCLEI
from hdnhw.claims.hsn_nuclei import MOST_NODES, claim_of, diameter_of, edges_of, network_of
from hdnhw.claims.hsn_slowdown import CLAIMS as SLOWDOWN
from hdnhw.claims.words import by_share
from hdnhw.networks.build import build
from hdnhw.rules.plan import plan
from hdnhw.rules.statistics import routing_statistics
from hdnhw.topology.graph import Network
from hdnhw.topology.metrics import degree_bounds, distances_from, neighbor_table, pair_histogram
from hdnhw.topology.swapped import SwappedNetwork

NUCLEI = (
    *(f"cube({k})" for k in range(1, 6)),
    *(f"complete({size})" for size in (3, 4, 5, 8)),
    *("torus(4)", "torus(5)", "torus(3, 3)", "mesh(3)", "mesh(4)", "mesh(3, 2)", "mesh(3, 3)", "mesh(2, 6)"),
    *("ghc(3, 2)", "ghc(3, 4)", "product(torus(5), complete(3))", "folded_cube(2)", "folded_cube(3)", "folded_cube(4)"),
    *("star(3)", "star(4)", "petersen()", "ccc(3)", "crossed_cube(3)", "crossed_cube(4)", "reduced_cube(1, 1)"),
    *("rdn(cube(1), 1)", "rdn(cube(2), 1)", "rdn(torus(3), 1)", "hdn(cube(2), [[0]])"),
)


def _networks(most: int = MOST_NODES, *, links: str = "") -> list[SwappedNetwork]:
    """Return HSN(l, G) of all nuclei G and levels l with at most so many nodes, the smallest first."""
    sizes = {text: build(text).num_nodes for text in NUCLEI}
    specs = [(levels, text) for text in NUCLEI for levels in range(2, 13) if sizes[text] ** levels <= most]
    specs.sort(key=lambda spec: (sizes[spec[1]] ** spec[0], spec))
    return [network_of(f"hsn({levels}, {text}{links})") for levels, text in specs]


def _average(network: Network) -> float:
    histogram = pair_histogram(network)
    return sum(hops * pairs for hops, pairs in enumerate(histogram)) / (sum(histogram) - histogram[0])


def sizes() -> Finding:
    """Count nodes, and the links between any two clusters of a level."""
    cases = []
    for network in _networks():
        size, levels = network.nucleus.num_nodes, network.spec.levels
        table = neighbor_table(network)
        top, swap = np.arange(len(table)) // size ** (levels - 1), len(network.nucleus.ports) + levels - 2
        linked = table[:, swap] >= 0
        between = np.zeros((size, size), int)
        np.add.at(between, (top[linked], top[table[linked, swap]]), 1)
        apart = ~np.eye(size, dtype=bool)
        counts = sorted({int(count) for count in between[apart]}), int(between[~apart].max())
        published = (size**levels, [size ** (levels - 2)], 0)
        cases.append(compare(network, published, (len(table), *counts)))
    return judge(cases)


def degrees() -> Finding:
    """Compare degrees with the closed form, which is the largest one."""
    cases, least = [], set()
    for network in _networks():
        own, degree = degree_bounds(network.nucleus), (neighbor_table(network) >= 0).sum(axis=1)
        cases.append(compare(network, own[1] + network.spec.levels - 1, int(degree.max())))
        least.add(int(degree.min()) == own[0])
    found = judge(cases)
    if least != {True}:
        return found
    return Finding(
        computed=f"{found.computed} as the largest degree; the least, of node X..X, is that of the nucleus",
        verdict=found.verdict,
        counterexample=found.counterexample,
    )


def diameters() -> Finding:
    """Search the networks from every node."""
    cases = []
    for network in _networks():
        inner, levels = diameter_of(network.nucleus), network.spec.levels
        cases.append(compare(network, inner * levels + levels - 1, diameter_of(network)))
    return judge(cases)


def farthest_pair() -> Finding:
    """Search larger networks from a node X'..X', and look at Y'..Y'."""
    cases, search = [], None
    for text in (
        "hsn(4, petersen())",
        "hsn(3, star(4))",
        "hsn(4, cube(4))",
        "hsn(4, folded_cube(5))",
        "hsn(7, complete(8))",
    ):
        network = network_of(text)
        nucleus, levels = network.nucleus, network.spec.levels
        inner = distances_from(nucleus, 0)
        far = int(inner.argmax()) * sum(nucleus.num_nodes**level for level in range(levels))
        start = perf_counter()
        distance = distances_from(network, 0)
        search = {"spec": text, "nodes": network.num_nodes, "seconds": round(perf_counter() - start, 1)}
        bound = int(inner.max()) * levels + levels - 1
        cases.append(compare(network, (bound, bound), (int(distance[far]), int(distance.max()))))
    found = judge(cases)
    return Finding(
        computed=f"{found.computed}, the largest of {cases[-1].nodes:,} nodes",
        verdict=found.verdict,
        counterexample=found.counterexample,
        search=search,
    )


def routes() -> Finding:
    """Route all pairs of some networks by the paper's rule."""
    cases, stretched = [], 0.0
    for text in ("cube(1)", "complete(3)", "cube(2)", "mesh(3, 2)", "petersen()", "cube(3)"):
        for levels in (2, 3):
            network = network_of(f"hsn({levels}, {text})")
            if network.num_nodes <= 512:
                found = routing_statistics(plan(network.spec))
                bound = levels * diameter_of(network.nucleus) + levels - 1
                stretched = max(stretched, found.worst_stretch)
                cases.append(compare(network, f"at most {bound}", found.max_hops, holds=found.max_hops <= bound))
    found_all = judge(cases)
    return Finding(
        computed=f"{found_all.computed}, all pairs; a route has up to {stretched:g} times its distance",
        verdict=found_all.verdict,
        counterexample=found_all.counterexample,
    )


def printed_path() -> Finding:
    """Cross the level-l link from where the printed path does, and look where it leads."""
    cases = []
    for network in _networks(729):
        size, levels = network.nucleus.num_nodes, network.spec.levels
        high, nodes = size ** (levels - 1), np.arange(network.num_nodes)
        swap, own = neighbor_table(network)[:, len(network.nucleus.ports) + levels - 2], nodes % size
        as_printed = as_defined = True
        for target in range(size):
            away = nodes // high != target
            there, rest = swap[nodes - own + target], target * high + nodes % high
            as_printed &= bool((there == rest)[away].all())
            as_defined &= bool((there == rest - own + nodes // high)[away].all())
        cases.append(
            replace(compare(network, "as printed", "as printed" if as_printed else "not"), corrected=as_defined)
        )
    place = "section 2.1, which defines the link"
    return judge(cases, corrected="X_l X_(l-1:2) Y_l -> Y_l X_(l-1:2) X_l", elsewhere=place)


def leaders() -> Finding:
    """See whether every leader has a diameter link."""
    cases = []
    for network in _networks(729, links=", diameter_links=True"):
        size, table = network.nucleus.num_nodes, neighbor_table(network)
        nodes = np.arange(len(table))
        own = nodes[nodes // size % size == nodes % size]
        links = int((table[own, len(network.nucleus.ports)] >= 0).sum())
        even = size % 2 == 0
        cases.append(compare(network, f"{len(own)} leaders linked", f"{links} leaders linked", condition=even))
    return judge(cases, condition="M is even")


def _beside_links() -> Iterator[tuple[SwappedNetwork, SwappedNetwork]]:
    """Yield networks without and with diameter links."""
    return zip(_networks(1296), _networks(1296, links=", diameter_links=True"), strict=True)


def average_with_links() -> Finding:
    """Compare average distances with and without diameter links."""
    cases = []
    for network, linked in _beside_links():
        without, with_links = _average(network), _average(linked)
        cases.append(compare(linked, f"below {without:.3f}", f"{with_links:.3f}", holds=with_links < without))
    return judge(cases)


def diameter_with_links() -> Finding:
    """Compare diameters with and without diameter links, and count the cases."""
    reduced = set()
    rows: list[dict[str, Any]] = []
    for network, linked in _beside_links():
        without, with_links = diameter_of(network), diameter_of(linked)
        rows.append({"network": str(network.spec), "diameter": without, "with diameter links": with_links})
        if with_links < without:
            reduced.add(str(network.spec.nucleus))
    fewer = sum(row["with diameter links"] < row["diameter"] for row in rows)
    never = [text for text in NUCLEI if text not in reduced]
    nuclei = f"with {len(reduced)} of {len(NUCLEI)} nuclei on some; never with {', '.join(never)}"
    return by_share(fewer, len(rows), computed=f"reduced on {fewer} of {len(rows)} networks; {nuclei}", table=rows)


def divisors() -> Finding:
    """Take the top digit over each divisor: where links lead, and the diameter."""
    cases = []
    for network in _networks(729):
        size, levels = network.nucleus.num_nodes, network.spec.levels
        for top in range(2, size):
            if size % top == 0:
                cut = build(f"hsn({levels}, {network.spec.nucleus}, top={top})")
                high, nodes = size ** (levels - 1), np.arange(cut.num_nodes)
                rest = nodes % size
                there = rest % top * high + nodes % high - rest + rest // top * top + nodes // high
                table = neighbor_table(cut)[:, len(network.nucleus.ports) + levels - 2]
                links = bool((np.where(there == nodes, -1, there) == table).all())
                bound = diameter_of(network.nucleus) * levels + levels - 1
                found = diameter_of(cut)
                cases.append(
                    compare(
                        cut,
                        f"diameter at most {bound}",
                        f"{found}, links as printed: {links}",
                        holds=links and found <= bound,
                    )
                )
    return judge(cases)


def subclasses() -> Finding:
    """Build HCN(k, k) and HFN(k, k) node by node from their own definitions, and compare edges."""
    cases = []
    for name, k in [*(("hcn", k) for k in range(1, 6)), *(("hfn", k) for k in range(2, 6))]:
        size, flips = 1 << k, [1 << bit for bit in range(k)] + [(1 << k) - 1] * (name == "hfn")
        own = set()
        for cluster, node in product(range(size), repeat=2):
            others = [(cluster, node ^ flip) for flip in flips]
            others += [(node, cluster)] if cluster != node else [(~node % size, ~node % size)] * (name == "hcn")
            here = cluster * size + node
            own |= {(min(here, u * size + v), max(here, u * size + v)) for u, v in others}
        links = ", diameter_links=True" if name == "hcn" else ""
        base = "cube" if name == "hcn" else "folded_cube"
        network = network_of(f"hsn(2, {base}({k}){links})")
        cases.append(
            compare(network, f"{len(own)} edges of {name}({k})", f"{len(own & edges_of(network))} edges of {name}({k})")
        )
    return judge(cases)


def subclass_degrees() -> Finding:
    """Compare the degrees of HCN, HFN and 3-HCN of n dimensions with what is printed."""
    printed = [(f"hcn({k})", k + 1) for k in range(1, 7)] + [(f"hfn({k})", k + 2) for k in range(2, 7)]
    printed += [(text, k + 2) for k in range(1, 5) for text in (f"hcn3({k})", f"hsn(3, cube({k}))")]
    return judge([compare(build(text), degree, degree_bounds(build(text))[1]) for text, degree in printed])


def _below_cube(texts: Sequence[str], condition: str | None = None, *, least: int = 0) -> Finding:
    """See whether diameters are below that of the hypercube of the same size; `least` dimensions are the condition."""
    cases = []
    for text in texts:
        network = build(text)
        cube, found = log2(network.num_nodes), diameter_of(network)
        cases.append(
            Case(text, network.num_nodes, f"below {cube:g}", found, holds=found < cube, condition=cube >= least)
        )
    return judge(cases, condition=condition)


def hcn_diameters() -> Finding:
    """Search HCN(k, k)."""
    return _below_cube([f"hcn({k})" for k in range(1, 7)], "k >= 3", least=6)


def hfn_diameters() -> Finding:
    """Search HFN(k, k)."""
    return _below_cube([f"hfn({k})" for k in range(2, 7)])


def hcn3_diameters() -> Finding:
    """Search the 3-HCN with diameter links."""
    return _below_cube([f"hcn3({k})" for k in range(1, 5)], "k >= 2", least=6)


def hcn3_without_links() -> Finding:
    """Search the 3-HCN without diameter links."""
    return _below_cube([f"hsn(3, cube({k}))" for k in range(1, 5)])


CLAIMS = (
    claim_of(
        "section 2.1, equations 2 and 3",
        "nodes of HSN(l, G), and links between two level-l clusters and within one",
        "M^l, M^(l-2) and none",
        sizes,
    ),
    claim_of("equation 4", "node degree of HSN(l, G)", "d_1 + l - 1", degrees, "E16"),
    claim_of("section 2.1", "every leader connects to the one with X' = M - X'' - 1", "all leaders", leaders, "E16"),
    claim_of("section 2.1", "diameter links reduce the average distance", "always", average_with_links),
    claim_of(
        "section 2.1",
        "diameter links reduce the diameter",
        "in most cases",
        diameter_with_links,
        "E16",
        "of the networks of the table: those of up to 1,296 nodes on nuclei chosen here",
    ),
    claim_of(
        "section 2.2",
        "top digit over a divisor M_l of M: links as printed, and the diameter of section 2.3 as a bound",
        "X_l X_(l-1:2) X_1 to X_R X_(l-1:2) (X_Q M_l + X_l); D <= D_1 l + l - 1",
        divisors,
    ),
    *DIVISORS,
    claim_of(
        "section 2.2",
        "HCN(k, k) is HSN(2, Q_k) with diameter links, HFN(k, k) is HSN(2, FQ_k)",
        "the same edges",
        subclasses,
    ),
    claim_of(
        "section 1", "degrees of HCN, HFN and 3-HCN of n dimensions", "n/2 + 1, n/2 + 2, n/3 + 2", subclass_degrees
    ),
    claim_of("sections 1 and 2.2", "diameter of HCN(k, k)", "below that of the hypercube", hcn_diameters, "E16"),
    claim_of("sections 1 and 2.2", "diameter of HFN(k, k)", "below that of the hypercube", hfn_diameters),
    claim_of(
        "sections 1 and 2.2",
        "diameter of the 3-HCN with diameter links",
        "below that of the hypercube",
        hcn3_diameters,
        "E16",
    ),
    claim_of(
        "sections 1 and 2.2",
        "diameter of the 3-HCN without diameter links",
        "below that of the hypercube",
        hcn3_without_links,
        "E16",
    ),
    claim_of("section 2.3", "level-l hop of the printed path", "Y_l X_(l-1:2) X_1", printed_path, "E16"),
    claim_of("equation 1", "hops of the recursive routing", "at most l T_R(1) + l - 1", routes),
    claim_of("Theorem 2.1", "diameter of HSN(l, G)", "D_1 l + l - 1", diameters),
    claim_of(
        "Theorem 2.1, proof",
        "distance from X'..X' to Y'..Y', and the farthest node from X'..X'",
        "D_1 l + l - 1",
        farthest_pair,
    ),
    *ALGORITHMS,
    *SLOWDOWN,
    *COROLLARIES,
    *DIAMETERS,
    *SOME_NUCLEI,
    *HYPERGRAPHS,
)
