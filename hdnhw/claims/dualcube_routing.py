"""Dual-cube paper, sections 3 and 4: distances, bisection, recursive construction, routing and broadcast."""

from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from hdnhw.claims.claim import Claim, Finding, judge
from hdnhw.claims.dualcube import bits_apart, case_of, links_of
from hdnhw.claims.families import compare
from hdnhw.claims.hdn_tables import searched_sizes
from hdnhw.networks.build import build
from hdnhw.topology import metrics
from hdnhw.topology.cut_bound import known_bound
from hdnhw.topology.cuts import bisection, cut_edges

PAIRS, ROUTED, LARGE = 6, 5, 8
"""Largest r of which all pairs are searched, of which they are routed, of which there is one search."""

CUT, PROVED = 6, 3
"""Largest r of which a smaller cut is looked for; of which there is a proof that there is none."""

Table = npt.NDArray[np.int32]
Nodes = npt.NDArray[np.int64]


def _all_distances(table: Table) -> Nodes:
    """Return the distances between all nodes."""
    nodes = len(table)
    distances, ball = np.full((nodes, nodes), -1, dtype=np.int16), np.eye(nodes, dtype=bool)
    hops = 0
    while (distances < 0).any():
        distances[ball & (distances < 0)] = hops
        ball, hops = ball | ball[table].any(axis=1), hops + 1
    return distances.astype(np.int64)


def clusters_of(r: int) -> tuple[Nodes, Nodes]:
    """Return the class and the cluster id of every node."""
    nodes = np.arange(2 ** (2 * r - 1))
    kind, mask = nodes >> (2 * r - 2), (1 << (r - 1)) - 1
    return kind, np.where(kind == 0, nodes >> (r - 1), nodes) & mask


def distances() -> Finding:
    """Search from all nodes, and compare with Theorem 1."""
    cases = []
    for r in range(1, PAIRS + 1):
        (kind, cluster), found = clusters_of(r), _all_distances(links_of(r))
        apart = (kind[:, None] == kind) & (cluster[:, None] != cluster)
        wrong = int((found != bits_apart(r) + 2 * apart).sum())
        cases.append(case_of(r, "0 pairs differ", f"{wrong} pairs differ"))
    return judge(cases)


def diameter() -> Finding:
    """Search."""
    cases = []
    for r in range(1, LARGE + 1):
        hops = searched_sizes(build(f"dualcube({r})"))[2]
        cases.append(case_of(r, 2 * r, hops, corrected=2 * r - (r == 1)))
    return judge(cases, condition="r >= 2", corrected="2r for r >= 2; F_1 is one edge, its diameter 1")


def _average(r: int, kind: int | None = None) -> Fraction:
    """Return the mean distance from node 0 to all nodes, itself too, or to those of one class."""
    row = _all_distances(links_of(r))[0] if r < 4 else metrics.distances_from(build(f"dualcube({r})"), 0)
    chosen = row if kind is None else row[clusters_of(r)[0] == kind]
    return Fraction(int(chosen.sum()), len(chosen))


def class_averages() -> Finding:
    """Average the distances to each class."""
    cases = []
    for r in range(1, LARGE + 1):
        published = Fraction(r), r + 1 - Fraction(4, 2**r)
        cases.append(case_of(r, published, (_average(r, 1), _average(r, 0))))
    return judge(cases)


def average() -> Finding:
    """Average the distances in F_(2r-1), and in F_r."""
    cases = []
    for r in range(1, 5):
        published = r + Fraction(1, 2) - Fraction(2, 2**r)
        case = case_of(2 * r - 1, f"{float(published):g}", f"{float(_average(2 * r - 1)):g}")
        cases.append(replace(case, corrected=_average(r) == published))
    correct = "that is the average of F_r, the node itself included"
    return judge(cases, corrected=correct, elsewhere="the same section, which counts 2^(2r-1) nodes, those of F_r")


def cube_average() -> Finding:
    """Average the distances in hypercubes."""
    cases = []
    for n in range(1, 17):
        network = build(f"cube({n})")
        row = metrics.distances_from(network, 0)
        cases.append(compare(network, Fraction(n, 2), Fraction(int(row.sum()), len(row))))
    return judge(cases)


def cost() -> Finding:
    """Multiply degree and diameter of a dual-cube and of the hypercube of as many nodes."""
    cases, rows = [], []
    for r in range(2, LARGE + 1):
        n = 2 * r - 1
        (_, d, hops), (_, cube_d, cube_hops) = (searched_sizes(build(s)) for s in (f"dualcube({r})", f"cube({n})"))
        own, other = d * hops, cube_d * cube_hops
        cases.append(replace(case_of(r, f"less than {other}", own), holds=own < other))
        row: dict[str, object] = {"n": n, "degree": d, "diameter": hops, "cost": own, "cost of the cube": other}
        rows.append({**row, "average distance": f"{float(_average(r)):g}", "of the cube": n / 2})
    return replace(judge(cases), table=rows)


def halves() -> Finding:
    """Cut dual-cubes between halves of the clusters of both classes."""
    cases = []
    for r in range(2, LARGE + 1):
        (_, cluster), table = clusters_of(r), links_of(r)
        inside = cluster < 2 ** (r - 2)
        assert 2 * inside.sum() == len(table), "half of the clusters have half of the nodes"
        cases.append(case_of(r, 2 ** (2 * r - 1) // 4, cut_edges(table, inside)))
    return judge(cases)


def least_cut() -> Finding:
    """Look for smaller cuts, and count those networks of which none is: F_r is RDN(Q_(r-1), 1)."""
    cases = []
    for r in range(2, CUT + 1):
        bound = known_bound(build(f"dualcube({r})"))
        found = bisection(np.ascontiguousarray(links_of(r)), at_least=bound, quick=True)
        assert found.exact
        cases.append(case_of(r, 2 ** (2 * r - 1) // 4, found.edges))
    return judge(cases)


def construction() -> Finding:
    """Make F_r of four F_(r-1), and compare the edges."""
    cases, edges = [], {(0, 1)}
    for r in range(2, LARGE):
        edges = _four_times(edges, r)
        table = links_of(r)
        own = {(node, int(other)) for node, row in enumerate(table) for other in row if node < other}
        cases.append(case_of(r, len(own), len(own) if edges == own else len(edges & own)))
    return judge(cases)


def _four_times(edges: set[tuple[int, int]], r: int) -> set[tuple[int, int]]:
    """Return the edges of F_r from those of F_(r-1), which has r - 2 bits in each of the two ids."""
    width = r - 2

    def node(own: int, b_2: int, b_1: int) -> int:
        kind, upper, lower = own >> 2 * width, own >> width & (1 << width) - 1, own & (1 << width) - 1
        return ((2 * kind + b_2 << width | upper) * 2 + b_1) << width | lower

    result = {(node(u, b_2, b_1), node(v, b_2, b_1)) for u, v in edges for b_2 in (0, 1) for b_1 in (0, 1)}
    for own in range(2 ** (2 * width + 1)):
        for bit in (0, 1):
            result.add(
                (node(own, 0, bit), node(own, 1, bit)) if own >> 2 * width else (node(own, bit, 0), node(own, bit, 1))
            )
    return result


def routing() -> Finding:
    """Route all pairs as section 4 says; every hop must be an edge."""
    cases = []
    for r in range(1, ROUTED + 1):
        nodes, distances = np.arange(2 ** (2 * r - 1)), _all_distances(links_of(r))
        hops = np.array([_route(r, int(source), nodes) for source in nodes])
        cases.append(case_of(r, "0 longer", f"{int((hops != distances).sum())} longer"))
    return judge(cases)


def _route(r: int, source: int, targets: Nodes) -> Nodes:
    """Return the hops from `source` to each of `targets`."""
    top, low = 1 << (2 * r - 2), (1 << (r - 1)) - 1
    own, other = (low, low << (r - 1)) if source < top else (low << (r - 1), low)
    links, here, hops = links_of(r), np.full_like(targets, source), np.zeros_like(targets)
    leaves = (targets & top) != (source & top)
    apart = leaves | ((targets & other) != (source & other))

    def flip(bit: int, which: npt.NDArray[np.bool_]) -> None:
        assert (links[here[which]] == here[which, None] ^ bit).any(axis=1).all(), "only edges are followed"
        here[which] ^= bit
        hops[which] += 1

    def match(field: int, which: npt.NDArray[np.bool_]) -> None:
        for bit in (1 << place for place in range(2 * r - 2) if field >> place & 1):
            flip(bit, which & ((here ^ targets) & bit > 0))

    match(own, np.ones_like(apart))
    flip(top, apart)
    match(other, apart)
    flip(top, apart & ~leaves)
    assert (here == targets).all(), "every packet arrives"
    return hops


def _broadcast(r: int, source: int) -> list[list[tuple[int, int]]]:
    """Return what is sent in each step, as (sender, receiver): section 4."""
    links, sent = links_of(r), []
    informed, last = [source], r - 1

    def everyone(senders: list[int], port: int) -> list[int]:
        step = [(node, int(links[node, port])) for node in senders]
        if step:
            sent.append(step)
        return [receiver for _, receiver in step]

    informed += everyone(informed, last)
    roots = set(informed)
    for port in range(last):
        informed += everyone(informed, port)
    entered = everyone([node for node in informed if node not in roots], last)
    for port in range(last):
        entered += everyone(entered, port)
    return sent


def _receipts(r: int, source: int) -> tuple[int, bool]:
    """Return the steps, and whether each node receives once, and sends or receives one message per step."""
    steps = _broadcast(r, source)
    receivers = [receiver for step in steps for _, receiver in step]
    once = sorted([source, *receivers]) == list(range(2 ** (2 * r - 1)))
    one_port = all(len({node for pair in step for node in pair}) == 2 * len(step) for step in steps)
    known, in_order = {source}, True
    for step in steps:
        in_order &= all(sender in known for sender, _ in step)
        known |= {receiver for _, receiver in step}
    return len(steps), once and one_port and in_order


def broadcast() -> Finding:
    """Broadcast from a node of each class, and count steps."""
    cases = []
    for r in range(1, LARGE + 1):
        steps, fair = zip(*(_receipts(r, source) for source in (0, 2 ** (2 * r - 1) - 1)), strict=True)
        assert all(fair), "every node receives once, and has one port"
        cases.append(case_of(r, 2 * r, max(steps), corrected=2 * r - (r == 1)))
    return judge(cases, condition="r >= 2", corrected="2r for r >= 2, and 1 for r = 1")


def one_port() -> Finding:
    """Broadcast from every node of small dual-cubes."""
    cases = []
    for r in range(1, ROUTED + 1):
        fair = all(_receipts(r, source)[1] for source in range(2 ** (2 * r - 1)))
        cases.append(case_of(r, True, fair))
    return judge(cases)


def optimal() -> Finding:
    """Compare the steps of the broadcast with the diameter."""
    cases = []
    for r in range(1, PAIRS + 1):
        cases.append(case_of(r, int(_all_distances(links_of(r)).max()), _receipts(r, 0)[0]))
    return judge(cases)


def figure5() -> Finding:
    """Broadcast in F_3 from 00000, and compare the step of every node with the stages of the text."""
    r, source = 3, 0
    steps = _broadcast(r, source)
    told = {receiver: step for step, sent in enumerate(steps, start=1) for _, receiver in sent}
    top, (kind, cluster) = 1 << (2 * r - 2), clusters_of(r)
    roots = {source, source ^ top}
    near = {node for node in range(2 * top) if any((kind[node], cluster[node]) == (kind[o], cluster[o]) for o in roots)}
    crossed = {node ^ top for node in near - roots}
    stages = [({source ^ top}, 1, 1), (near - roots, 2, r), (crossed, r + 1, r + 1)]
    stages.append((set(range(2 * top)) - near - crossed, r + 2, 2 * r))
    right = all(first <= told[node] <= last for nodes, first, last in stages for node in nodes)
    # In a binomial tree as many are told in a step as know already.
    right &= [len(sent) for sent in steps] == [1, 2, 4, 6, 6, 12]
    rows = [
        {"step": step, "nodes": len(sent), "receivers": " ".join(f"{receiver:05b}" for _, receiver in sorted(sent))}
        for step, sent in enumerate(steps, start=1)
    ]
    counts = [row["nodes"] for row in rows]
    case = replace(case_of(r, "1, 2 + 4, 6, 6 + 12", f"{counts}"), holds=right)
    return replace(judge([case], of="network"), table=rows)


_claim = partial(Claim, "DC")


CLAIMS = (
    _claim("sections 1, 3", "cost, degree times diameter, beside a hypercube (Table 1)", "significantly less", cost),
    _claim("section 3", "edges between halves of the clusters of both classes, 2^n nodes", "2^n / 4", halves),
    _claim("section 3", "bisection width, 2^n nodes", "2^n / 4 is the minimum", least_cut),
    _claim("section 3", "F_r from four F_(r-1)", "two nodes are joined, and addressed, as in F_r", construction),
    _claim("section 4", "length of the path that routing finds", "that of a shortest path", routing),
    _claim("Theorem 1", "distance of nodes that differ in k bits", "k + 2 in clusters of one class, else k", distances),
    _claim("Theorem 1", "diameter of F_r", "2r", diameter, "E17"),
    _claim("section 4", "average distance in an n-cube, to all nodes", "n / 2", cube_average),
    _claim("section 4", "average distance in F_r to class 1, to class 0", "r, r + 1 - 1 / 2^(r-2)", class_averages),
    _claim("section 4", "average distance in F_(2r-1)", "r + 1 / 2 - 1 / 2^(r-1)", average, "E17"),
    _claim("section 4", "broadcast: receipts, ports", "each node once, one neighbor at a time", one_port),
    _claim("section 4", "broadcast: steps", "1 + (r - 1) + 1 + (r - 1) = 2r", broadcast, "E17"),
    _claim(
        "Figure 5",
        "broadcast in F_3 from 00000: step of every node",
        "the neighbor, both clusters by binomial trees, over all their other cross-edges, all other clusters",
        figure5,
        reading="the drawing's numbers are not in the text that was checked; the stages are those of section 4",
    ),
    _claim("Theorem 2", "broadcast: time", "d(F_r), optimal", optimal),
)
