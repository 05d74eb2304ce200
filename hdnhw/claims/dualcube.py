"""Dual-cube paper, sections 1 and 2: the network after its own definition, and other cubes beside it."""

from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from hdnhw.claims.claim import Case, Claim, Finding, Verdict, judge
from hdnhw.claims.families import compare
from hdnhw.claims.hdn_tables import searched_sizes
from hdnhw.claims.words import by_word, is_about
from hdnhw.networks.build import build
from hdnhw.topology import metrics

PAIRS, LARGE = 6, 8
"""Largest r of which all pairs are looked at; of all networks."""

ORIGIN_NODES, ORIGIN_PROCESSORS = 2, 2
"""Of an Origin2000: nodes of a router, with a link each, and processors of a node."""

Table = npt.NDArray[np.int32]
Nodes = npt.NDArray[np.int64]


def case_of(r: int, published: object, computed: object, *, corrected: object = None) -> Case:
    """Return the case of F_r; the condition is r >= 2."""
    return Case(
        network=f"F_{r}",
        nodes=2 ** (2 * r - 1),
        published=published,
        computed=computed,
        holds=published == computed,
        corrected=corrected == computed,
        condition=r >= 2,
    )


def links_of(r: int) -> Table:
    """Return the neighbors of every node of F_r after conditions (1) to (3) of section 2, bit u_i being bit i - 1."""
    nodes = np.arange(2 ** (2 * r - 1))
    shift = (r - 1) * (nodes >> (2 * r - 2))
    return np.stack([*(nodes ^ 1 << (i - 1) + shift for i in range(1, r)), nodes ^ 1 << (2 * r - 2)], axis=1).astype(
        np.int32
    )


def bits_apart(r: int) -> Nodes:
    """Return in how many bits all pairs of nodes differ."""
    nodes = np.arange(2 ** (2 * r - 1))
    return np.bitwise_count(nodes[:, None] ^ nodes).astype(np.int64)


def definition() -> Finding:
    """Compare the graph of section 2 with the recursive dual-net on the (r-1)-cube, and count its links."""
    cases = []
    for r in range(1, LARGE + 1):
        table = links_of(r)
        same = np.array_equal(np.sort(table), np.sort(metrics.neighbor_table(build(f"dualcube({r})"))))
        degrees = {len(set(row)) for row in table.tolist()}
        cases.append(case_of(r, (2 ** (2 * r - 1), {r}), (len(table), degrees if same else None)))
    return judge(cases)


def one_bit() -> Finding:
    """Compare edges with the pairs of nodes that differ in one bit."""
    cases = []
    for r in range(2, PAIRS + 1):
        table, differ = links_of(r), bits_apart(r) == 1
        only_if = bool(differ[np.arange(len(table))[:, None], table].all())
        pairs, edges = int(differ.sum()) // 2, table.size // 2
        case = case_of(r, f"{pairs} pairs, {pairs} edges", f"{pairs} pairs, {edges} edges")
        cases.append(replace(case, corrected=only_if))
    return judge(cases, corrected="only if they differ in one bit")


def eight_links() -> Finding:
    """Count the nodes of the dual-cube of eight links."""
    sizes = {r: searched_sizes(build(f"dualcube({r})")) for r in (7, 8)}
    correct = sizes[7][:2] == (8192, 7) and sizes[8][1] == 8
    case = replace(case_of(8, "eight thousands", sizes[8][0]), holds=8000 <= sizes[8][0] < 9000, corrected=correct)
    return judge([case], corrected="8,192 with seven links per node, 32,768 with eight")


def sizes_by_links() -> Finding:
    """Count the nodes of a hypercube, a hierarchical cubic network and a dual-cube of n links per node."""
    cases = []
    for n in range(2, 8):
        specs = {f"cube({n})": 2**n, f"hcn({n - 1})": 2 ** (2 * n - 2), f"dualcube({n})": 2 ** (2 * n - 1)}
        for spec, published in specs.items():
            network = build(spec)
            most = metrics.degree_bounds(network)[1]
            cases.append(compare(network, (n, published), (most, len(metrics.neighbor_table(network)))))
    return judge(cases)


def several_hundreds() -> Finding:
    """Count the nodes of the hypercube of eight links."""
    nodes, links, _ = searched_sizes(build("cube(8)"))

    def judged(limit: float) -> Finding:
        holds = links == 8 and 100 <= nodes < 100 * limit
        return Finding(computed=f"{nodes} nodes", verdict=Verdict.HOLDS if holds else Verdict.FALSE)

    return by_word("several", judged)


def folded_cubes() -> Finding:
    """Search folded hypercubes."""
    networks = [(n, build(f"folded_cube({n})")) for n in range(2, 13)]
    return judge([compare(network, (2**n, n + 1, -(-n // 2)), searched_sizes(network)) for n, network in networks])


def crossed_cubes() -> Finding:
    """Search crossed cubes."""
    networks = [(n, build(f"crossed_cube({n})")) for n in range(1, 12)]
    return judge([compare(network, (2**n, n, -(-(n + 1) // 2)), searched_sizes(network)) for n, network in networks])


def cubic_links() -> Finding:
    """Count the nodes and links of hierarchical cubic networks."""
    cases = []
    for n in range(2, 7):
        network = build(f"hcn({n})")
        cases.append(
            compare(network, (2 ** (2 * n), (n + 1, n + 1)), (network.num_nodes, metrics.degree_bounds(network)))
        )
    return judge(cases)


def cubic_diameter() -> Finding:
    """Search hierarchical cubic networks, and compare with the hypercube of as many nodes."""
    networks = {n: build(f"hcn({n})") for n in range(2, 7)}
    found = {n: searched_sizes(network)[2] for n, network in networks.items()}
    rows = [
        {"n": n, "nodes": networks[n].num_nodes, "D": hops, "D of the cube": 2 * n, "ratio": f"{hops / (2 * n):.2f}"}
        for n, hops in found.items()
    ]

    def judged(limit: float) -> Finding:
        cases = []
        for n, hops in found.items():
            case = compare(networks[n], "about 0.75", f"{hops / (2 * n):.2f}")
            holds = is_about(hops / (2 * n), 0.75, limit)
            cases.append(replace(case, holds=holds, corrected=hops == n + (n + 1) // 3 + 1))
        return judge(cases, corrected="D = n + floor((n + 1) / 3) + 1 of these", table=rows)

    return by_word("about", judged)


def cycles_degree() -> Finding:
    """Count the links of cube-connected cycles."""
    networks = [build(f"ccc({n})") for n in range(3, 13)]
    return judge([compare(network, (3, 3), metrics.degree_bounds(network)) for network in networks])


def reduced_cubes() -> Finding:
    """Count the nodes and links of reduced hypercubes."""
    cases = []
    for m in (1, 2):
        for k in range(m, 7):
            network = build(f"reduced_cube({k}, {m})")
            found = len(metrics.neighbor_table(network)), *metrics.degree_bounds(network)
            cases.append(compare(network, (2**2**m * 2**k, k + 1, k + 1), found))
    return judge(cases)


def figure1() -> Finding:
    """Count the links of the three networks of Figure 1."""
    networks = [build(spec) for spec in ("crossed_cube(3)", "hcn(2)", "reduced_cube(2, 1)")]
    return judge([compare(network, (3, 3), metrics.degree_bounds(network)) for network in networks])


def origin() -> Finding:
    """Join 32 3-cubes of routers by a 5-cube for each place in them, and count what is there."""
    small, large = (metrics.neighbor_table(build(spec)).astype(np.int64) for spec in ("cube(3)", "cube(5)"))
    routers, places = len(large) * len(small), np.arange(len(large) * len(small))
    cube, place = places // len(small), places % len(small)
    # Router (cube, place); behind it, node `cube` of the 5-cube of its place, numbered after all routers.
    cray = routers + place * len(large) + cube
    local = small[place] + (cube * len(small))[:, None]
    edges = {(int(own), int(other)) for own, row in enumerate(local) for other in row if own < other}
    edges |= set(zip(places.tolist(), cray.tolist(), strict=True))
    edges |= {
        (routers + which * len(large) + int(own), routers + which * len(large) + int(other))
        for which in range(len(small))
        for own, row in enumerate(large)
        for other in row
        if own < other
    }
    links = np.bincount(np.array(sorted(edges)).ravel(), minlength=2 * routers)
    found = {
        "processors": routers * ORIGIN_NODES * ORIGIN_PROCESSORS,
        "CrayRouters": len(small),
        "routers": routers,
        "links of a router": sorted({int(count) + ORIGIN_NODES for count in links[:routers]}),
    }
    published = {"processors": 1024, "CrayRouters": 8, "routers": 256, "links of a router": [6]}
    rows = [{"what": what, "published": str(published[what]), "computed": str(found[what])} for what in published]
    case = Case("Origin2000", 2 * routers, published, found, holds=published == found)
    return replace(judge([case], of="machine"), table=rows)


def figure3() -> Finding:
    """List the edges of F_4 with an end in cluster 0 of class 1."""
    r = 4
    table, top, low = links_of(r), 1 << (2 * r - 2), (1 << (r - 1)) - 1
    own = [node for node in range(len(table)) if node & top and not node & low]
    inside = {(u, int(v)) for u in own for v in table[u] if u < v and int(v) in own}
    across = sorted((int(v), u) for u in own for v in table[u] if not int(v) & top)
    clusters = [v >> (r - 1) for v, _ in across]
    published = "8 cross-edges, one from each cluster of class 0, each from node 000"
    right = clusters == list(range(low + 1)) and all(v & low == 0 and u == v ^ top for v, u in across)
    right &= len(inside) == 12 and len(own) == low + 1
    computed = f"{len(across)} cross-edges, from {len(set(clusters))} clusters of class 0"
    rows = [{"from class 0": f"{v:07b}", "to cluster 0 of class 1": f"{u:07b}"} for v, u in across]
    return replace(judge([replace(case_of(r, published, computed), holds=right)], of="network"), table=rows)


_claim = partial(Claim, "DC")


CLAIMS = (
    _claim(
        "abstract, sections 1, 3",
        "nodes of a dual-cube that an edge joins",
        "iff they differ in one bit",
        one_bit,
        "E17",
    ),
    _claim(
        "section 1",
        "nodes of a hypercube with up to eight links per node",
        "several hundreds",
        several_hundreds,
    ),
    _claim(
        "section 1",
        "nodes of a dual-cube with up to eight links per node",
        "eight thousands",
        eight_links,
        "E17",
        "from 8,000 up to 9,000",
    ),
    _claim("section 1", "folded hypercube: nodes, links per node, diameter", "2^n, n + 1, ceil(n / 2)", folded_cubes),
    _claim("section 1", "crossed cube: nodes, links per node, diameter", "2^n, n, ceil((n + 1) / 2)", crossed_cubes),
    _claim("section 1", "HCN(n, n): nodes, links of every node", "2^(2n), n + 1", cubic_links),
    _claim(
        "section 1",
        "HCN(n, n): diameter beside a hypercube",
        "about three-fourth",
        cubic_diameter,
        "E17",
        "for every n",
    ),
    _claim("section 1", "cube-connected cycles: links of every node", "3, independent of n", cycles_degree),
    _claim("section 1", "RH(k, m): 2^(2^m) k-cubes, links of every node", "k + 1", reduced_cubes),
    _claim("Figure 1", "links of every node of CQ(3), HCN(2, 2) and RH(2, 1)", "3", figure1),
    _claim("section 1", "nodes of n-cube, HCN, dual-cube of n links", "2^n, 2^(2n-2), 2^(2n-1)", sizes_by_links),
    _claim(
        "section 1",
        "the largest Origin2000: processors, CrayRouters, routers, links of a router",
        "2^5 x 2^3 x 4 = 1024, 8 of 5 dimensions, 256, 6",
        origin,
        reading="a CrayRouter is a 5-cube, whose nodes have a CrayLink each to the routers of one place in 32 3-cubes; "
        "a router has two links to nodes of two processors",
    ),
    _claim("section 2", "F_r, the RDN of the (r-1)-cube: nodes, links", "2^(2r-1), r", definition),
    _claim(
        "Figure 3",
        "edges of F_4 to cluster 0 of class 1",
        "one from each cluster of class 0",
        figure3,
        reading="the drawing is not in the text that was checked; by section 2 they come from nodes of ID 000",
    ),
)
