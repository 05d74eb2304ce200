"""HDN paper, sections 2 and 3: quotient graphs, re-indexing and Algorithm 1."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise, permutations, product
from math import prod

import numpy as np
import numpy.typing as npt

from hdnhw.claims.claim import Case, Claim, Finding, judge
from hdnhw.claims.families import compare, dual_net, dual_nets
from hdnhw.claims.hdn_networks import torus_nets, torus_spec
from hdnhw.claims.literal.algorithm1 import algorithm1_lengths
from hdnhw.spec import DualNet, Product
from hdnhw.topology import metrics
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.orbits import representatives

SEARCHED, QUOTIENTS = 20_000, 2100
"""Nodes of networks whose routes are compared with distances; whose clusters' quotient graphs are searched."""

Numbers = npt.NDArray[np.int64]


def _super_nodes(network: DualNetwork) -> list[set[int]]:
    return [set(level.super_node_factors) for level in network.levels]


def _base(network: DualNetwork) -> Product:
    """Return the base network of a dual-net that is given as an HDN."""
    assert isinstance(network.spec, DualNet), "the family is made of these"
    return network.spec.base


def _size(network: DualNetwork, factors: set[int]) -> int:
    return prod(network.factors[factor].size for factor in factors)


def _diameter(network: DualNetwork, factors: set[int]) -> int:
    return sum(network.factors[factor].diameter for factor in factors)


def _cluster(network: DualNetwork) -> tuple[DualNetwork, Numbers]:
    """Return a cluster of the highest level, and the number of the super-node of each of its nodes."""
    levels = [sorted(inside) for inside in _super_nodes(network)]
    base = str(_base(network))
    cluster = dual_net(f"hdn({base}, {levels[:-1]})" if levels[1:] else base)
    return cluster, _numbers(network, network.levels[-1].super_node, cluster.num_nodes)


def _numbers(network: DualNetwork, places: Sequence[int], nodes: int) -> Numbers:
    """Return the number that some digits of each of the first `nodes` nodes make."""
    digits, number = network.decode(np.arange(nodes)), np.zeros(nodes, dtype=np.int64)
    for place in places:
        number = number * network.radices[place] + digits[place]
    return number


def _all_distances(adjacent: npt.NDArray[np.bool_]) -> Numbers:
    """Return the distances between all nodes of a small graph (Floyd and Warshall)."""
    distances = np.where(adjacent, 1, len(adjacent))
    np.fill_diagonal(distances, 0)
    for middle in range(len(adjacent)):
        distances = np.minimum(distances, distances[:, middle, None] + distances[middle])
    return distances


def _quotient_distances(table: npt.NDArray[np.int32], name: Numbers) -> tuple[int, int]:
    """Return the diameter of a graph with the nodes of each name made one, and the most hops from a node to a name."""
    member = name == np.arange(name.max() + 1)[:, None]
    adjacent = np.zeros((len(table), len(table)), dtype=bool)
    adjacent[np.arange(len(table))[:, None], table] = True
    distances = _all_distances(adjacent)
    nearest = [distances[:, inside].min(axis=1) for inside in member]
    return int(_all_distances(member @ adjacent @ member.T).max()), int(np.max(nearest))


def quotients() -> Finding:
    """Search the quotient graphs of the clusters of small networks."""
    cases = []
    for network in dual_nets(QUOTIENTS):
        cluster, name = _cluster(network)
        inside = _super_nodes(network)
        own = metrics.summarize_distances(cluster).diameter
        assert own is not None, "clusters are small"
        published = own - _diameter(network, inside[-1])
        computed, nearest = _quotient_distances(metrics.neighbor_table(cluster), name)
        case = compare(network, published, computed, condition=len(inside) == 1 or inside[-1] <= inside[-2])
        cases.append(replace(case, corrected=nearest == published))
    return judge(
        cases,
        condition="SN^i is contained in SN^(i-1)",
        corrected="what is meant, the most hops from a node to a super-node, is D_(i-1) - D(SN^i)",
    )


def _routes(network: DualNetwork) -> tuple[int, bool]:
    """Return the longest route of Algorithm 1, and whether all are shortest, from a node of each orbit."""
    sources = representatives(network)
    assert sources is not None, "networks of this size have few orbits"
    table, longest, shortest = metrics.neighbor_table(network), 0, True
    for source, _ in sources:
        lengths = algorithm1_lengths(network, [source])[0]
        distances = metrics.distances_from(network, source, table=table)
        assert (lengths >= distances).all(), "no route is shorter than the distance"
        longest, shortest = max(longest, int(lengths.max())), shortest and bool((lengths == distances).all())
    return longest, shortest


def _shortest(networks: Sequence[DualNetwork]) -> Finding:
    cases = []
    for network in networks:
        text = "all routes shortest" if _routes(network)[1] else "some routes longer"
        cases.append(compare(network, "all routes shortest", text, condition=network.is_nested))
    return judge(cases, condition="k = 1 or SN^i is contained in SN^(i-1) for all i > 1")


def shortest() -> Finding:
    """Compare routes of Algorithm 1 with distances in small networks."""
    return _shortest(dual_nets(SEARCHED))


def table3_shortest() -> Finding:
    """Compare routes of Algorithm 1 with distances in the dual-nets of Table 3."""
    return _shortest([dual_net(torus_spec(sizes)) for sizes in ((1,), (2,), (3,), (2, 2), (2, 5), (5, 2))])


def _bounds(network: DualNetwork) -> tuple[int, int, bool]:
    """Return the bound of Theorem 2, the corrected one, and whether no SN^i - SN^(i-1) is longer than a hop."""
    added = [_diameter(network, above - below) for below, above in pairwise(_super_nodes(network))]
    k, whole = len(network.levels), not network.levels[0].cluster
    more = sum(2 ** (k - level + 1) * max(0, hops - 1) for level, hops in enumerate(added, start=2))
    return network.diameter_formula, network.diameter_formula + more, whole or max(added, default=0) < 2


def _bound(networks: Sequence[DualNetwork]) -> Finding:
    cases = []
    for network in networks:
        published, corrected, short = _bounds(network)
        longest = _routes(network)[0]
        cases.append(
            Case(
                network=str(network.spec),
                nodes=network.num_nodes,
                published=f"at most {published} hops",
                computed=longest,
                holds=longest <= published,
                corrected=longest <= corrected,
                condition=short,
            )
        )
    return judge(
        cases,
        condition="D(SN^i - SN^(i-1)) <= 1 for all i > 1, or SN^1 = B",
        corrected="R_k + sum_(i > 1) 2^(k-i+1) max(0, D(SN^i - SN^(i-1)) - 1)",
    )


def bound() -> Finding:
    """Compare the longest routes of Algorithm 1 in small networks with Theorem 2."""
    return _bound(dual_nets(SEARCHED))


def table1_bound() -> Finding:
    """Compare the longest routes of Algorithm 1 in networks of Table 1 with Theorem 2."""
    networks = [dual_net(torus_spec(sizes)) for sizes in torus_nets()]
    return _bound([network for network in networks if network.num_nodes <= SEARCHED])


PRINTED = {(0, 0, 0, 0): (0, 0), (1, 4, 2, 3): (19, 0), (0, 0, 2, 2): (0, 14), (1, 4, 4, 5): (19, 14)}
"""Table 4: (C^1, U^1, SN^1, N^1) and (SN^2, N^2)."""

SERIAL = (0, 285, 14, 299)
"""Table 4: the serial numbers, of both."""


def _moved(index: Sequence[int], first: Sequence[str], upper: Sequence[str], inner: Sequence[str]) -> tuple[int, int]:
    """Return (SN^2, N^2) after the text: b0 moves into SN^2 and b2 into N^2, digits in these orders."""
    sizes = {"c": 2, "u": 5, "b0": 2, "b1": 3, "b2": 5}
    digits = dict(zip(("c", "u", "b2"), index, strict=False))
    digits[first[0]], digits[first[1]] = divmod(index[3], sizes[first[1]])
    names = []
    for order in (upper, inner):
        number = 0
        for digit in order:
            number = number * sizes[digit] + digits[digit]
        names.append(number)
    return names[0], names[1]


def _serial_degrees() -> list[int]:
    """Return the degrees inside the super-nodes if serial numbers are divided by 15."""
    network = dual_net("hdn(torus(2, 3, 5), [[0, 1]])")
    b_0, b_1, b_2 = network.base_digits
    cluster = [place for place in range(len(network.radices)) if place < b_0]
    name = _numbers(network, [*cluster, b_2, b_0, b_1], network.num_nodes) // 15
    return sorted({int(degree) for degree in (name[metrics.neighbor_table(network)] == name[:, None]).sum(axis=1)})


def table4() -> Finding:
    """Move digits as the text says, in every order that digits could have."""
    orders = product(permutations(("b0", "b1")), permutations(("c", "u", "b0")), permutations(("b1", "b2")))
    readings = [{index: _moved(index, *order) for index in PRINTED} for order in orders]
    natural, rows, cases = readings[0], [], []
    degrees, right = _serial_degrees(), 2 + 2
    fits = sum(reading == PRINTED for reading in readings)
    for number, (index, printed) in enumerate(PRINTED.items()):
        serial = ((index[0] * 5 + index[1]) * 5 + index[2]) * 6 + index[3]
        rows.append(
            {"index": index, "published": printed, "computed": natural[index], "serial / 15": divmod(serial, 15)}
        )
        cases.append(
            Case(
                network=str(index),
                nodes=number,
                published=printed,
                computed=natural[index],
                holds=printed == natural[index],
                corrected=not fits and degrees != [right],
            )
        )
    place = "the text of section 3, which moves the digits of those B_j, in any order that they could have"
    found = judge(cases, of="rows", elsewhere=place)
    text = f"{found.computed}; {fits} of {len(readings)} orders of digits fit all rows; printed is the serial number"
    text += f" divided by 15, which makes super-nodes of degrees {degrees} where C3 x C5 has {right}"
    return replace(found, computed=text, table=rows)


def example() -> Finding:
    """Count what the parts of an address can be in the example of section 3."""
    network = dual_net("hdn(torus(2, 3, 5), [[0, 1], [1, 2]])")
    cluster, name = _cluster(network)
    (level,) = cluster.levels
    places = [level.class_digit], level.cluster, level.super_node
    parts = [prod(cluster.radices[place] for place in some) for some in places]
    inside = [_size(network, inside) for inside in _super_nodes(network)]
    computed = (*parts, inside[0], int(name.max()) + 1, inside[1])
    return judge([compare(network, (2, 5, 5, 6, 20, 15), computed)], of="examples")


def difference() -> Finding:
    """Take the factors of one super-node that another one has not, in the example."""
    network = dual_net("hdn(torus(2, 3, 5), [[0, 1], [1, 2]])")
    below, above = _super_nodes(network)
    sizes = [network.factors[factor].size for factor in sorted(below - above)]
    return judge([compare(network, [2], sizes)], of="examples")


def serial_numbers() -> Finding:
    """Evaluate both serial numbers of the four examples of Table 4."""
    cases = []
    for number, (index, name) in enumerate(PRINTED.items()):
        (c, u, sn, n), (above, inner) = index, name
        found = c * 150 + u * 30 + sn * 6 + n, above * 15 + inner
        printed = SERIAL[number]
        case = Case(str(index), number, (printed, printed), found, holds=found == (printed, printed))
        cases.append(case)
    return judge(cases, of="rows")


def inner_calls() -> Finding:
    """Route in clusters between nodes of the same N^k, as the proof of Theorem 2 has it, from every node."""
    cases = []
    for network in dual_nets(QUOTIENTS):
        if len(network.levels) > 1 and network.levels[0].cluster:
            cluster, name = _cluster(network)
            inside = network.levels[-1].super_node_factors
            places = [cluster.base_digits[factor] for factor in inside]
            node_id = _numbers(cluster, places, cluster.num_nodes)
            lengths = algorithm1_lengths(cluster, range(cluster.num_nodes))
            longest = int(lengths[node_id[:, None] == node_id].max())
            published = cluster.diameter_formula - _diameter(network, set(inside))
            case = compare(network, f"at most {published} hops", longest, condition=_bounds(network)[2])
            cases.append(replace(case, holds=longest <= published))
            assert name.max() + 1 == cluster.num_nodes // _size(network, set(inside)), "each super-node has a number"
    return judge(cases, condition="D(SN^i - SN^(i-1)) <= 1 for all i > 1")


def super_node_range() -> Finding:
    """Count the super-nodes of the highest level, and evaluate the formula for the range of their ids."""
    cases = []
    for network in [*dual_nets(QUOTIENTS), dual_net("hdn(torus(2, 3, 5), [[0, 1], [1, 2]])")]:
        if len(network.levels) > 1:
            below, above = _super_nodes(network)[-2:]
            cluster, name = _cluster(network)
            clusters = prod(cluster.radices[place] for place in cluster.levels[-1].cluster)
            published = Fraction(2 * clusters, _size(network, above - below)) * _size(network, below - above)
            computed = int(name.max()) + 1
            cases.append(compare(network, published, computed, corrected=published * clusters))
    corrected = "2 |U^(i-1)| |SN^(i-1)_id| |SN^(i-1) - SN^i| / |SN^i - SN^(i-1)|"
    place = "the same sentence: the super-nodes SN^i in HDN(B, i-1, S) are N_(i-1) / s_i, which this is"
    return judge(cases, corrected=corrected, elsewhere=place)


def simple_reindexing() -> Finding:
    """Look whether super-nodes of two levels are the same, where they are of one size."""
    cases = []
    for network in dual_nets(QUOTIENTS):
        if len(network.levels) > 1:
            below, above = _super_nodes(network)[-2:]
            cluster, name = _cluster(network)
            level = cluster.levels[-1]
            old = _numbers(cluster, [level.class_digit, *level.cluster, *level.super_node], cluster.num_nodes)
            one_to_one = len({*zip(name.tolist(), old.tolist(), strict=True)}) == name.max() + 1 == old.max() + 1
            if _size(network, below) == _size(network, above):
                text = "one to one" if one_to_one else "not one to one"
                cases.append(compare(network, "one to one", text, condition=below == above))
    return judge(cases, condition="SN^(i-1) = SN^i")


_claim = partial(Claim, "HDN")


BOUND = "2^k R(B) - sum_(j < k) 2^j R(SN^(k-j)) + 2^(k+1) - 2 steps at most"

CLAIMS = (
    _claim("section 2", "diameter of the quotient graph Q_(i-1)", "D_(i-1) - D(SN^i)", quotients, "E9"),
    _claim(
        "section 3", "range of SN^i_id", "2 |U^(i-1) / (SN^i - SN^(i-1))| |SN^(i-1) - SN^i|", super_node_range, "E7"
    ),
    _claim("section 3", "re-indexing where s_(i-1) = s_i", "one to one from (C, U, SN) to SN^i_id", simple_reindexing),
    _claim("section 3", "ranges of C^1, U^1, SN^1, N^1, SN^2, N^2 in the example", "2, 5, 5, 6, 20, 15", example),
    _claim("Table 4", "re-indexing, four examples", "(0, 0), (19, 0), (0, 14), (19, 14)", table4, "E7"),
    _claim("section 3", "the difference graph SN_1 - SN_2 in the example", "C_2", difference),
    _claim("Table 4", "serial numbers of the four examples, of both indices", "0, 285, 14, 299", serial_numbers),
    _claim("section 3", "Algorithm 1", "finds a shortest path", shortest, "E3"),
    _claim("section 3, on Table 3", "Algorithm 1", "finds a shortest path", table3_shortest, "E3"),
    _claim("Theorem 2", "routes of Algorithm 1", BOUND, bound, "E3"),
    _claim(
        "Theorem 2, proof",
        "hops of a recursive call, from u to u' with the same N^k",
        "R_(k-1) - R(SN^k)",
        inner_calls,
        "E3",
        "R_(k-1) as Theorem 2 has it, the route of Algorithm 1 between any two nodes of a cluster with the same N^k",
    ),
    _claim("Theorem 2, on Table 1", "routes of Algorithm 1, networks of up to 20,000 nodes", BOUND, table1_bound, "E3"),
)
