"""Disjoint-path paper, sections 3.2 and 3.3: Algorithms 2 to 6 as printed, Theorems 3 and 4."""

from collections.abc import Callable, MutableSequence, Sequence
from dataclasses import replace
from math import factorial
from random import Random
from typing import Any

from hdnhw.claims.claim import Case, Finding, judge
from hdnhw.claims.disjoint_networks import EXAMPLE, disjoint_claim
from hdnhw.claims.families import compare, dual_net, dual_nets
from hdnhw.claims.literal.disjoint import (
    fan,
    length_bounds,
    literal_routes,
    mended_routes,
    super_node_diameters,
    without_loops,
)
from hdnhw.multipath.disjoint import disjoint_routes
from hdnhw.multipath.flows import fault_of_paths, shortest_disjoint_paths
from hdnhw.multipath.path_faults import pairs_of_case
from hdnhw.networks.build import build
from hdnhw.topology.connectivity import disjoint_paths
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.metrics import neighbor_table

SAMPLE = 60
"""Pairs drawn a case and network, with seed 1."""

SAMPLED = f"networks, of each at most {SAMPLE} pairs drawn"

MOST = 130
"""Nodes of the small networks; the network of section 4 is added."""

Maker = Callable[[DualNetwork, int, int], list[list[int]]]


def _networks() -> list[DualNetwork]:
    """Return the networks that claims are checked on, the smallest first."""
    return [*dual_nets(MOST), dual_net(EXAMPLE)]


def _networks_with_clusters() -> list[DualNetwork]:
    """Return those that meet the condition of Theorem 3, d0 + k clusters of each class."""
    return [network for network in _networks() if super_nodes_of(network, len(network.levels)) >= len(network.ports)]


def networks_with_fans() -> list[DualNetwork]:
    """Return those of them with d0 + 1 super-nodes of level 1 in a base network."""
    return [network for network in _networks_with_clusters() if _has_fans(network)]


def _has_fans(network: DualNetwork) -> bool:
    return super_nodes_of(network, 1) > len(network.ports) - len(network.levels)


def _fewest(network: DualNetwork) -> int:
    """Return the fewest paths of Algorithm 3 from a node, of 32 or more that are tried."""
    return min(len(fan(network, node)) for node in range(0, network.num_nodes, max(1, network.num_nodes // 32)))


def _printed(network: DualNetwork, src: int, dst: int) -> list[list[int]]:
    return literal_routes(network, src, dst)


def _erased(network: DualNetwork, src: int, dst: int) -> list[list[int]]:
    return [without_loops(path) for path in literal_routes(network, src, dst)]


def _fails(network: DualNetwork, pairs: Sequence[tuple[int, int]], make: Maker) -> list[tuple[int, int]]:
    """Return the pairs for which a maker of paths does not make d0 + k disjoint ones."""
    around = [set(row) for row in neighbor_table(network).tolist()]
    fails = []
    for pair in pairs:
        paths = make(network, *pair)
        if len(paths) < len(network.ports) or fault_of_paths(around.__getitem__, *pair, paths):
            fails.append(pair)
    return fails


def _pairs(network: DualNetwork, case: str) -> list[tuple[int, int]]:
    """Return a sample of the pairs of a case, each once; none where there are none."""
    alone = not network.levels[-1].cluster
    return [] if case == "C" and alone else sorted(set(pairs_of_case(network, case, SAMPLE, 1)))


def figure4() -> Finding:
    """Count neighbors and super-nodes in the torus of Figure 4."""
    torus, factors = build("torus(2, 3, 5)"), (0, 1)
    near = [torus.decode(node) for node in torus.neighbors(0).values()]
    outside = [digits for digits in near if any(digits[factor] for factor in factors)]
    return judge([compare(torus, (5, 3), (len(near), len(outside)))], of="network")


def algorithm3() -> Finding:
    """Count the paths of Algorithm 3 as printed, and as the prose has it."""
    cases = []
    for network in networks_with_fans():
        printed, prose = (len(fan(network, 0, own_edge=own)) for own in (False, True))
        case = compare(network, len(network.ports), printed)
        cases.append(replace(case, corrected=prose == len(network.ports)))
    place = "the text to Figure 5, which adds the path over u's own cross-edge"
    return judge(cases, corrected="with the path over u's own cross-edge", elsewhere=place)


def enough_super_nodes() -> Finding:
    """Ask Algorithm 3 for fans on networks that meet the condition of Theorem 3."""
    cases = [
        compare(network, f"{len(network.ports)} paths", f"{_fewest(network)} paths", condition=_has_fans(network))
        for network in _networks_with_clusters()
    ]
    return judge(cases, condition="|B| / s_1 >= d_0 + 1")


def super_nodes_of(network: DualNetwork, level: int) -> int:
    """Return the super-nodes of a level in a cluster, which are the clusters of a class."""
    count = 1
    for place in network.levels[level - 1].cluster:
        count *= network.radices[place]
    return count


def existence() -> Finding:
    """Find d0 + k disjoint paths by address for pairs of all networks, below the condition too, and count the most."""
    cases, met = [], 0
    for network in _networks():
        table, want = neighbor_table(network), len(network.ports)
        pairs = [pair for case in "ABC" for pair in _pairs(network, case)]
        fails = _fails(network, pairs, disjoint_routes)
        apart = [(src, dst) for src, dst in pairs[::20] if dst not in table[src]]
        most = max([want, *(disjoint_paths(table, src, dst) for src, dst in apart)])
        computed = f"{want} paths" if not fails else f"not for {len(fails)} pairs"
        cases.append(compare(network, f"{most} paths", computed))
        met += super_nodes_of(network, len(network.levels)) >= want
    found = judge(cases, of=f"{SAMPLED} a case")
    return replace(found, computed=f"{found.computed}; {met} of them meet the condition")


def case_a() -> Finding:
    """Run Algorithm 6 on pairs in one cluster."""
    return _case("A")


def case_b() -> Finding:
    """Run Algorithm 6 on pairs in clusters of two classes."""
    return _case("B")


def case_c() -> Finding:
    """Run Algorithm 6 on pairs in two clusters of a class."""
    return _case("C")


def _case(case: str) -> Finding:
    cases, table = [], []
    for network in networks_with_fans():
        pairs = _pairs(network, case)
        makers = {"as printed": _printed, "without loops": _erased, "third cluster": mended_routes}
        fails = {name: _fails(network, pairs, make) for name, make in makers.items()}
        first = fails["as printed"][0] if fails["as printed"] else None
        cases.append(
            Case(
                network=str(network.spec),
                nodes=network.num_nodes,
                published="all pairs",
                computed=f"not {first and ' to '.join(map(network.format_node, first))}",
                holds=first is None,
                corrected=case == "C" and not fails["third cluster"],
            )
        )
        shares = {name: f"{1 - len(some) / len(pairs):.2f}" for name, some in fails.items()}
        table.append({"network": str(network.spec), "pairs": len(pairs), **shares})
    found = judge(cases, of=SAMPLED, corrected="over a third cluster of its own (Figure 10), with loops taken out")
    return replace(found, table=table)


TRIES = 200
"""Choices that are drawn for a pair until one works."""

ORDERS = 1000
"""Choices that are run for a pair after that: if it has no more, all of them."""


def chosen_a() -> Finding:
    """Run Algorithm 6 on pairs in one cluster until a choice works."""
    return _chosen("A")


def chosen_b() -> Finding:
    """Run Algorithm 6 on pairs in clusters of two classes until a choice works."""
    return _chosen("B")


class EveryOrder(Random):
    """Draws nothing: from one run to the next, what is shuffled comes in every order in turn."""

    def __init__(self) -> None:
        super().__init__(0)
        self.orders: list[list[int]] = []
        """Of each shuffle of the run: the number of its order, and how many there are."""
        self.number = 0

    def shuffle(self, x: MutableSequence[Any]) -> None:
        if self.number == len(self.orders):
            self.orders.append([0, factorial(len(x))])
        order, left = self.orders[self.number][0], list(x)
        self.number += 1
        for place in range(len(x)):
            order, chosen = divmod(order, len(left))
            x[place] = left.pop(chosen)

    def goes_on(self) -> bool:
        """Make the next run another one; say whether there is any."""
        self.number = 0
        while self.orders:
            self.orders[-1][0] += 1
            if self.orders[-1][0] < self.orders[-1][1]:
                return True
            self.orders.pop()
        return False


def _drawn(choices: Random) -> Maker:
    """Return a maker that follows Algorithm 6 with these choices, over third clusters and without loops."""

    def make(network: DualNetwork, src: int, dst: int) -> list[list[int]]:
        return [without_loops(path) for path in literal_routes(network, src, dst, third_cluster=True, choices=choices)]

    return make


def _orders_tried(network: DualNetwork, pair: tuple[int, int]) -> tuple[int, bool]:
    """Run Algorithm 6 with every choice for a pair until one works; return how many were run, and whether one did."""
    choices = EveryOrder()
    for tried in range(1, ORDERS + 1):
        if not _fails(network, [pair], _drawn(choices)):
            return tried, True
        if not choices.goes_on():
            return tried, False
    return ORDERS + 1, False


def _not_drawn(network: DualNetwork, pairs: Sequence[tuple[int, int]]) -> tuple[list[tuple[int, int]], int]:
    """Draw choices until each pair has one that works; return the pairs that have none yet, and how many were drawn."""
    left, tries = list(pairs), 0
    while left and tries < TRIES:
        left, tries = _fails(network, left, _drawn(Random(tries))), tries + 1
    return left, tries


def theorem3() -> Finding:
    """Run Algorithm 6 with any choice that it leaves, where it has its distributed paths."""
    cases, table = [], []
    for network in _networks_with_clusters():
        want, fewest = len(network.ports), _fewest(network)
        pairs = [pair for case in "ABC" for pair in _pairs(network, case)] if fewest == want else []
        tried = {pair: _orders_tried(network, pair) for pair in _not_drawn(network, pairs)[0]}
        never = [pair for pair, (count, works) in tried.items() if count <= ORDERS and not works]
        pair = " to ".join(map(network.format_node, never[0])) if never else ""
        computed = f"no choice makes {want} from {pair}" if never else f"{fewest} distributed paths"
        case = compare(network, f"{want} paths", computed)
        cases.append(replace(case, holds=fewest == want and not never))
        row = {"network": str(network.spec), "d_0 + k": want, "clusters": super_nodes_of(network, len(network.levels))}
        row |= {"distributed paths": fewest, "pairs": len(pairs) or "", "pairs without a choice": len(never)}
        table.append(row | {"the first": pair})
    return judge(cases, of=SAMPLED, table=table)


def _chosen(case: str) -> Finding:
    cases, table = [], []
    for network in networks_with_fans():
        pairs = len(_pairs(network, case))
        left, tries = _not_drawn(network, _pairs(network, case))
        tried = {pair: _orders_tried(network, pair) for pair in left}
        without = sum(not works for _, works in tried.values())
        cases.append(compare(network, f"{pairs} pairs", f"{pairs - without} pairs"))
        row = {"network": str(network.spec), "pairs": pairs, "choices drawn": tries}
        table.append(
            row | {"then run": max((count for count, _ in tried.values()), default=""), "without one": without}
        )
    return judge(cases, of=SAMPLED, table=table)


def theorem4_solved() -> Finding:
    """Solve the recurrence of the proof of Theorem 4 and compare."""
    cases = []
    for network in _networks():
        bounds = length_bounds(network)
        cases.append(compare(network, bounds["printed"], bounds["line above"], corrected=bounds["solved"]))
    place = "the line above it, 3 D(Q^(k-1)) + 2 D(B) - D(SN^k) + 2k + 4, solved"
    return judge(cases, corrected="- 4 D(SN^k) in place of - D(SN^k)", elsewhere=place)


def fan_length() -> Finding:
    """Find the longest path of Algorithm 2 from any node."""
    cases = []
    for network in networks_with_fans():
        base, inside = super_node_diameters(network)
        nodes, k = network.num_nodes, len(inside)
        fans = [fan(network, node, own_edge=False) for node in range(0, nodes, max(1, nodes // 64))]
        most = max(len(path) - 1 - k for paths in fans for path in paths)
        bounds = [1 + base - inside[-1], 1 + base - inside[0]]
        cases.append(
            Case(str(network.spec), nodes, bounds[0], most, holds=most <= bounds[0], corrected=most <= bounds[1])
        )
    return judge(cases, corrected="1 + D(B) - D(SN^1)")


def theorem4_line() -> Finding:
    """Compare what Algorithm 6 makes, over third clusters, with the bound before it was solved."""
    return _theorem4("line above", "2 (D(B) - D(SN^1) + k + 1) for the two fans, not 2 (D(B) - D(SN^k) + k + 1)")


def theorem4_printed() -> Finding:
    """Compare what Algorithm 6 makes, over third clusters, with the bound as printed."""
    return _theorem4("printed", None)


def _theorem4(name: str, corrected: str | None) -> Finding:
    cases, table = [], []
    for network in networks_with_fans():
        pairs = [pair for case in "ABC" for pair in _pairs(network, case)]
        fails = set(_fails(network, pairs, mended_routes))
        good = [pair for pair in pairs if pair not in fails]
        most = max(len(path) - 1 for pair in good for path in mended_routes(network, *pair))
        bounds = length_bounds(network)
        cases.append(
            Case(
                network=str(network.spec),
                nodes=network.num_nodes,
                published=f"at most {bounds[name]}",
                computed=most,
                holds=most <= bounds[name],
                corrected=most <= bounds["with SN^1"],
            )
        )
        if corrected is None:
            table.append({"network": str(network.spec), **bounds, "Algorithm 6": most, **_longest(network, good)})
    return replace(judge(cases, of=f"{SAMPLED} a case, where it finds them", corrected=corrected), table=table)


def _longest(network: DualNetwork, pairs: Sequence[tuple[int, int]]) -> dict[str, int]:
    """Return the longest of the repaired paths, and of those of least total length."""
    table = neighbor_table(network)
    by_address = max(len(disjoint_routes(network, *pair)[-1]) for pair in pairs)
    by_flow = max(len(shortest_disjoint_paths(table, *pair)[-1]) for pair in pairs)
    return {"by address": by_address - 1, "by a flow": by_flow - 1}


FIXED = (
    "to the letter, walks that visit a node twice included, and where the text leaves a choice: neighbors in the "
    "order of ports, unused super-nodes and w in that of their numbers, and in Case B the paths joined in their order"
)

CHOSEN = (
    f"of what the text leaves open (neighbors, unused super-nodes, w, which paths are joined) any choice will do: up "
    f"to {TRIES} are drawn for a pair, then all there are if no more than {ORDERS}, and loops are taken out"
)

CLAIMS = (
    disjoint_claim(
        "Figure 4",
        "neighbors of u in the torus 2 x 3 x 5, and those of them in other super-nodes than u",
        "5 and 3",
        figure4,
        "E10",
    ),
    disjoint_claim("Algorithms 3, 5", "number of distributed paths", "d_0 + k", algorithm3, "E6"),
    disjoint_claim(
        "Theorem 3, proof",
        "the distributed paths exist if there are d_0 + k clusters of each class",
        "d_0 + k paths to d_0 + k clusters",
        enough_super_nodes,
        "E6",
    ),
    disjoint_claim(
        "Theorem 3",
        "Algorithm 6 finds d_0 + k disjoint paths if there are d_0 + k clusters of each class",
        "between any two nodes",
        theorem3,
        "E6",
        f"{CHOSEN}; where distributed paths are missing, as |B| / s_1 <= d_0, no choice helps",
    ),
    disjoint_claim(
        "Algorithm 6, Case A",
        "finds d_0 + k disjoint paths between two nodes of a cluster",
        "all pairs",
        case_a,
        "E6",
        FIXED,
    ),
    disjoint_claim(
        "Algorithm 6, Case A",
        "can find d_0 + k disjoint paths between two nodes of a cluster",
        "all pairs",
        chosen_a,
        reading=CHOSEN,
    ),
    disjoint_claim(
        "Algorithm 6, Case B",
        "finds d_0 + k disjoint paths between clusters of two classes",
        "all pairs",
        case_b,
        "E6",
        FIXED,
    ),
    disjoint_claim(
        "Algorithm 6, Case B",
        "can find d_0 + k disjoint paths between clusters of two classes",
        "all pairs",
        chosen_b,
        reading=CHOSEN,
    ),
    disjoint_claim(
        "Algorithm 6, Case C",
        "finds d_0 + k disjoint paths between two clusters of a class",
        "all pairs",
        case_c,
        "E6",
        FIXED,
    ),
    disjoint_claim("Theorem 4, proof", "longest path of Algorithm 2", "1 + D(B) - D(SN^k)", fan_length, "E6"),
    disjoint_claim(
        "Theorem 4",
        "the solved form of 3 D(Q^(k-1)) + 2 D(B) - D(SN^k) + 2k + 4",
        "(3 2^(k-1) + 2) D(B) - 3 sum_(j=0)^(k-2) 2^j D(SN^(k-1-j)) - D(SN^k) + 3 2^k + 2k - 2",
        theorem4_solved,
        "E6",
    ),
    disjoint_claim(
        "Theorem 4, proof",
        "length of the disjoint paths of Algorithm 6",
        "at most 2 (D(B) - D(SN^k) + k + 1) + 3 D(Q^(k-1)) + 2 + D(SN^k)",
        theorem4_line,
        "E6",
    ),
    disjoint_claim(
        "Theorem 4",
        "length of the disjoint paths of Algorithm 6",
        "at most (3 2^(k-1) + 2) D(B) - 3 sum_(j=0)^(k-2) 2^j D(SN^(k-1-j)) - D(SN^k) + 3 2^k + 2k - 2",
        theorem4_printed,
        "E6",
    ),
)

FUTURE = (
    disjoint_claim(
        "section 5, and after Theorem 3",
        "d_0 + k disjoint paths exist; without enough clusters they may, which is left as future work",
        "between any two nodes",
        existence,
        reading="that there are such paths, whatever finds them: here by address, not by Algorithm 6",
    ),
)
"""What the paper leaves as future work."""
