"""Disjoint-path paper, section 4: clusters on the paths, and the figures of paths left among failed nodes.

The paths are those of Algorithm 6 with the third clusters of Figure 10 and with loops taken out. Clusters are counted
on all pairs that are drawn; what is left among failed nodes, on those for which the paths are then disjoint. Beside
them stand those of :mod:`hdnhw.multipath.disjoint`.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from math import sqrt
from typing import Any

import numpy as np

from hdnhw.claims.claim import Case, Finding, Verdict, judge
from hdnhw.claims.disjoint_networks import EXAMPLE, disjoint_claim
from hdnhw.claims.families import dual_net
from hdnhw.claims.literal.disjoint import fan, mended_routes
from hdnhw.multipath.disjoint import disjoint_routes
from hdnhw.multipath.path_faults import (
    FaultPoint,
    clusters_of,
    disjoint_paths_of_pairs,
    fault_points,
    pairs_of_case,
    sample_paths,
)

PAIRS, MORE_PAIRS = 400, 1500
"""Pairs drawn a case, with seed 1; those to tell apart curves or means that are close to each other."""

TRIALS = 100_000
"""Sets of failed nodes that are drawn where each node fails for itself."""

SWAP_POINTS = 3
"""Of a rate of failed nodes, by which two curves may meet elsewhere than printed."""

ERRORS = 4
"""Standard errors by which what is drawn may differ from what is said; by chance that is one in 16,000."""

RATES = tuple(percent / 100 for percent in (0, 5, 10, 15, 20, 21, 22, 23, 24, 25, 30))

Paths = list[list[int]]


@cache
def _paths(case: str, pairs: int) -> list[tuple[tuple[int, int], Paths]]:
    """Return the sampled pairs of a case, and the paths of Algorithm 6."""
    network = dual_net(EXAMPLE)
    return [(pair, mended_routes(network, *pair)) for pair in pairs_of_case(network, case, pairs, 1)]


def _clusters(paths: Paths) -> list[int]:
    """Return how many clusters are on each path, the fewest first."""
    network = dual_net(EXAMPLE)
    return sorted(len(clusters_of(network, path)) for path in paths)


@cache
def _points(case: str, of: str, pairs: int) -> list[FaultPoint]:
    """Return what is left of the paths of a case, those of Algorithm 6 or those by address, at each rate."""
    network = dual_net(EXAMPLE)
    make = mended_routes if of == "Algorithm 6" else disjoint_routes
    sample = sample_paths(network, pairs_of_case(network, case, pairs, 1), make)
    return fault_points(network.num_nodes, sample, RATES)


def clusters_used() -> Finding:
    """Count the clusters on each path of Algorithm 6."""
    network = dual_net(EXAMPLE)
    stated = {"A": {1, 2, 4}, "B": {2, 4}, "C": {3, 5}}
    cases = []
    for case, allowed in stated.items():
        found = {count for _, paths in _paths(case, PAIRS) for count in _clusters(paths)}
        cases.append(Case(f"Case {case}", network.num_nodes, sorted(allowed), sorted(found), holds=found <= allowed))
    return judge(cases, of=f"cases, {PAIRS} pairs drawn of each")


def clusters_of_pairs_a() -> Finding:
    """Compare the clusters of each pair of Case A with what is said of pairs of its kind."""
    return _clusters_of_pairs("A", lambda src, dst: [1, 1, 1, 1, 2 if _door(src) == _door(dst) else 4])


def clusters_of_pairs_b() -> Finding:
    """Compare the clusters of each pair of Case B with what is said of pairs of its kind."""
    inner = dual_net(EXAMPLE).num_nodes // 16

    def stated(src: int, dst: int) -> list[int]:
        return [2 if _door(src) == dst // inner or _door(dst) == src // inner else 4, 4, 4, 4, 4]

    return _clusters_of_pairs("B", stated)


def _clusters_of_pairs(case: str, stated: Callable[[int, int], list[int]]) -> Finding:
    """Compare the clusters on the paths of each pair with those that are stated; the table counts both."""
    network, cases, counts = dual_net(EXAMPLE), [], Counter[tuple[str, str]]()
    for (src, dst), paths in _paths(case, MORE_PAIRS):
        said, found = stated(src, dst), _clusters(paths)
        counts[str(said), str(found)] += 1
        cases.append(
            Case(
                network=f"{network.format_node(src)} to {network.format_node(dst)}",
                nodes=network.num_nodes,
                published=said,
                computed=found,
                holds=said == found,
            )
        )
    rows = [{"published": said, "computed": found, "pairs": count} for (said, found), count in sorted(counts.items())]
    return judge(cases, of="pairs drawn", table=rows)


def order() -> Finding:
    """Compare the means of the three cases, each difference with its standard error."""
    means = {case: _mean_clusters(case, MORE_PAIRS) for case in "ABC"}
    cases = []
    for more, fewer in ("BC", "CA"):
        (one, its), (other, others) = means[more], means[fewer]
        cases.append(
            Case(
                network=f"E_case{more} - E_case{fewer}",
                nodes=dual_net(EXAMPLE).num_nodes,
                published="above 0",
                computed=f"{one - other:.3f} +- {sqrt(its**2 + others**2):.3f}",
                holds=one - other > ERRORS * sqrt(its**2 + others**2),
            )
        )
    return judge(cases, of=f"differences, {MORE_PAIRS} pairs drawn of each case")


def limits() -> Finding:
    """Follow the mean over the paths that are left, each weighted with its chance, as more nodes fail."""
    cases, table = [], []
    for case, limit in (("B", 2), ("C", 3)):
        paths = [
            (len(path) - 2, len(clusters_of(dual_net(EXAMPLE), path)))
            for _, some in _paths(case, PAIRS)
            for path in some
        ]
        inner, clusters = np.array(paths).T
        means = []
        for rate in (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9):
            weight = (1 - rate) ** inner
            means.append(float((weight * clusters).sum() / weight.sum()))
            table.append({"case": case, "rate": rate, "mean clusters on a path left": f"{means[-1]:.3f}"})
        falls = all(after < before for before, after in pairwise(means))
        cases.append(
            Case(
                network=f"Case {case}",
                nodes=dual_net(EXAMPLE).num_nodes,
                published=f"to {limit}",
                computed=f"{means[0]:.2f} falls to {means[-1]:.2f}" if falls else "does not fall",
                holds=falls and f"{means[-1]:.2f}" == f"{limit:.2f}",
            )
        )
    return judge(cases, of=f"cases, {PAIRS} pairs drawn of each", table=table)


def _mean_clusters(case: str, pairs: int) -> tuple[float, float]:
    """Return the mean over the pairs of a case of the mean number of clusters on their paths, and its error."""
    means = [float(np.mean(_clusters(paths))) for _, paths in _paths(case, pairs)]
    return float(np.mean(means)), float(np.std(means)) / sqrt(len(means))


def _measured(case: str) -> str:
    mean, error = _mean_clusters(case, PAIRS)
    return f"{mean:.2f} +- {error:.2f} on {PAIRS} pairs drawn"


def clusters_a() -> Finding:
    """Count how often two nodes of a cluster are in one super-node."""
    network = dual_net(EXAMPLE)
    inner = network.num_nodes // 16
    ends = [(0, dst) for dst in range(1, inner)]
    same = Fraction(sum(_door(src) == _door(dst) for src, dst in ends), len(ends))
    expected = (4 + same * 2 + (1 - same) * 4) / 5
    mean, error = _mean_clusters("A", PAIRS)
    computed = f"{float(expected):.3f}, as u and v share a super-node with probability {same}; {_measured('A')}"
    holds = f"{float(expected):.2f}" == "1.55"
    assert abs(mean - expected) < ERRORS * error + 1e-9
    return Finding(
        computed=computed,
        verdict=Verdict.HOLDS if holds else Verdict.FALSE,
        corrected=None if holds else f"(4 x 1 + {same} x 2 + {1 - same} x 4) / 5",
        counterexample=None if holds else f"{EXAMPLE}: 1.55 published, {float(expected):.3f} computed",
    )


def _door(node: int) -> int:
    """Return the cluster that the cross-edge of level 2 leads to from a node."""
    network = dual_net(EXAMPLE)
    cross = network.ports[-1].name
    return network.neighbors(node)[cross] // (network.num_nodes // 16)


def clusters_b() -> Finding:
    """Count how often a fan leads into the cluster of the other node."""
    network = dual_net(EXAMPLE)
    inner, half = network.num_nodes // 16, 8
    reached = Fraction(
        sum(len({path[-1] // inner for path in fan(network, node)}) for node in range(0, network.num_nodes, 8)),
        network.num_nodes // 8 * half,
    )
    mean, error = _mean_clusters("B", PAIRS)
    holds = abs(mean - 3.9) <= ERRORS * error
    return Finding(
        computed=f"{_measured('B')}: the fan of u leads to the cluster of v with probability {reached}, not 15/64",
        verdict=Verdict.HOLDS if holds else Verdict.FALSE,
        counterexample=None if holds else f"{EXAMPLE}: 3.90 published, {mean:.2f} computed",
    )


def clusters_c() -> Finding:
    """Evaluate the expression that is printed, with / 5 as in its first term, and measure."""
    printed, meant = (25 / 8 / 5 * 3 + (5 - 25 / 8) / by * 5 for by in (8, 5))
    mean, error = _mean_clusters("C", PAIRS)
    case = Case(
        network=EXAMPLE,
        nodes=dual_net(EXAMPLE).num_nodes,
        published="3.75",
        computed=f"{printed:.3f}",
        holds=f"{printed:.2f}" == "3.75",
        corrected=f"{meant:.2f}" == "3.75" and abs(mean - meant) <= ERRORS * error,
    )
    place = "the value of the expression, 3.75, and / 5 in its first term"
    found = judge([case], of="expressions", corrected="(25/8) / 5 x 3 + (5 - 25/8) / 5 x 5", elsewhere=place)
    return replace(found, computed=f"the expression is {printed:.3f}, with / 5 it is {meant:.2f}; {_measured('C')}")


def common_clusters() -> Finding:
    """Count the clusters to which both fans of a pair of Case C lead."""
    network = dual_net(EXAMPLE)
    inner = network.num_nodes // 16
    counts = []
    for (src, dst), _ in _paths("C", PAIRS):
        one, other = ({path[-1] // inner for path in fan(network, node)} for node in (src, dst))
        counts.append(len(one & other))
    mean, error = float(np.mean(counts)), float(np.std(counts)) / sqrt(len(counts))
    return judge(
        [
            Case(
                network=EXAMPLE,
                nodes=network.num_nodes,
                published="25/8",
                computed=f"{mean:.2f} +- {error:.2f}",
                holds=abs(mean - 25 / 8) <= ERRORS * error,
            )
        ],
        of=f"network, {PAIRS} pairs drawn",
    )


def all_paths() -> Finding:
    """Let nodes fail, each for itself or a fixed number, and compare with (1 - F)^L in two readings of L."""
    table: list[dict[str, Any]] = []
    worst = dict.fromkeys(READINGS, 0.0)
    for case in "ABC":
        pairs = _disjoint_pairs(case)
        inner = np.array([len(nodes) for nodes in pairs])
        for number, point in enumerate(_points(case, "Algorithm 6", PAIRS)[1:4]):
            drawn = _whole(pairs, point.rate, np.random.default_rng([number, ord(case)]))
            row: dict[str, Any] = {"case": case, "F": point.rate, "pairs": len(pairs)}
            for (alone, ends), reading in zip(product((True, False), (0, 2)), READINGS, strict=True):
                share = drawn if alone else point.all_paths.mean
                formula = float(np.mean((1 - point.rate) ** (inner + ends)))
                errors = abs(formula - share) / sqrt(formula * (1 - formula) / TRIALS)
                worst[reading] = max(worst[reading], errors)
                row |= {("each for itself" if alone else "a fixed number"): f"{share:.5f}"}
                row |= {("(1-F)^L, L with the ends" if ends else "(1-F)^L"): f"{formula:.5f}"}
            table.append(row)
    cases = [
        Case(
            network=reading,
            nodes=dual_net(EXAMPLE).num_nodes,
            published="(1 - F)^L at all nine points",
            computed=f"up to {errors:.1f} standard errors off",
            holds=errors <= ERRORS,
            condition=reading == READINGS[0],
        )
        for reading, errors in worst.items()
    ]
    return judge(cases, of="readings", condition=READINGS[0], table=table)


READINGS = (
    "each node fails for itself, and L is without the two ends",
    "each node fails for itself, and L is with the two ends",
    "a fixed number of nodes fails, and L is without the two ends",
    "a fixed number of nodes fails, and L is with the two ends",
)


def _disjoint_pairs(case: str) -> list[list[int]]:
    """Return the nodes on the paths of each pair whose paths are disjoint, but for its ends."""
    network = dual_net(EXAMPLE)
    found = disjoint_paths_of_pairs(network, pairs_of_case(network, case, PAIRS, 1), mended_routes)
    return [[node for path in paths for node in path[1:-1]] for paths in found]


def _whole(pairs: list[list[int]], rate: float, rng: np.random.Generator) -> float:
    """Return the share of trials in which none of the nodes on the paths of a pair fails, each failing for itself."""
    whole, nodes = 0, dual_net(EXAMPLE).num_nodes
    for chosen in rng.integers(len(pairs), size=TRIALS).tolist():
        failed = rng.random(nodes) < rate
        whole += not failed[pairs[chosen]].any()
    return whole / TRIALS


def _left(case: str, of: str, pairs: int, name: str) -> list[float]:
    """Return a figure of what is left, at each rate."""
    return [getattr(point, name).mean for point in _points(case, of, pairs)]


def _least(name: str, best: Callable[..., float]) -> Finding:
    """Check at each rate above 0 that Case A is the best, by the paths of Algorithm 6."""
    cases, table = [], []
    ours = {f"{case} by address": _left(case, "by address", PAIRS, name) for case in "ABC"}
    theirs = {case: _left(case, "Algorithm 6", PAIRS, name) for case in "ABC"}
    for number, rate in enumerate(RATES):
        table.append({"rate": rate, **{of: round(values[number], 4) for of, values in (theirs | ours).items()}})
        if rate:
            values = {case: left[number] for case, left in theirs.items()}
            shown = ", ".join(f"{case} {value:.3f}" for case, value in values.items())
            holds = values["A"] == best(values.values())
            cases.append(Case(f"F = {rate:.0%}", 1024, "A best", shown, holds=holds))
    return replace(judge(cases, of=f"rates, {PAIRS} pairs drawn a case and all sets of failed nodes"), table=table)


def figure12() -> Finding:
    """Compare the success of all paths."""
    return _least("all_paths", max)


def figure13() -> Finding:
    """Compare the success of at least one path."""
    return _least("any_path", max)


def figure14() -> Finding:
    """Compare the lengths of the paths that are left."""
    return _least("mean_hops", min)


def shorter() -> Finding:
    """Check that the paths that are left are the shorter the more nodes fail."""
    cases = []
    for case in "ABC":
        hops = _left(case, "Algorithm 6", PAIRS, "mean_hops")
        falls = all(after < before for before, after in pairwise(hops))
        shown = " ".join(f"{hop:.2f}" for hop in hops)
        cases.append(Case(f"Case {case}", 1024, "falls", shown, holds=falls))
    return judge(cases, of=f"cases, {PAIRS} pairs drawn of each and all sets of failed nodes at {len(RATES)} rates")


def swap() -> Finding:
    """Find the rate at which the paths of Case B become shorter than those of Case C."""
    found = {of: _swap(of) for of in ("Algorithm 6", "by address")}
    rate = found["Algorithm 6"]
    holds = rate is not None and abs(rate - 0.23) <= SWAP_POINTS / 100
    shown = {of: "no swap: B is shorter at every rate" if at is None else f"at {at:.1%}" for of, at in found.items()}
    return Finding(
        computed=f"{shown['Algorithm 6']}, {MORE_PAIRS} pairs drawn; by address {shown['by address']}",
        verdict=Verdict.HOLDS if holds else Verdict.FALSE,
        counterexample=None if holds else f"{EXAMPLE}: 23% published, {shown['Algorithm 6']} computed",
    )


def _swap(of: str) -> float | None:
    """Return the rate between the first two points with B longer, then shorter than C; None if B is never longer."""
    ours, theirs = (_left(case, of, MORE_PAIRS, "mean_hops") for case in "BC")
    gaps = [one - other for one, other in zip(ours, theirs, strict=True)]
    for number in range(1, len(gaps)):
        if gaps[number - 1] > 0 >= gaps[number]:
            share = gaps[number - 1] / (gaps[number - 1] - gaps[number])
            return RATES[number - 1] + share * (RATES[number] - RATES[number - 1])
    return None


CLAIMS = (
    disjoint_claim(
        "section 4",
        "clusters on a path of Case A, B, C",
        "1, 2 or 4; 2 or 4; 3 or 5",
        clusters_used,
    ),
    disjoint_claim(
        "section 4",
        "clusters on the five paths of a pair of Case A",
        "four paths of one cluster; the fifth of two if both nodes are in one super-node, otherwise of four",
        clusters_of_pairs_a,
    ),
    disjoint_claim(
        "section 4",
        "clusters on the five paths of a pair of Case B",
        "a path of two clusters if the super-node id of a node is the cluster id of the other one; all others of four",
        clusters_of_pairs_b,
    ),
    disjoint_claim("section 4", "E_caseA, mean clusters on a path", "1.55", clusters_a, "E6"),
    disjoint_claim(
        "section 4",
        "E_caseB, mean clusters on a path",
        "3.90",
        clusters_b,
        "E6",
        f"as far as {ERRORS} standard errors of the mean that is drawn; fans are those of every eighth node",
    ),
    disjoint_claim(
        "section 4", "E_caseC, mean clusters on a path", "(25/8) / 5 x 3 + (5 - 25/8) / 8 x 5 = 3.75", clusters_c, "E6"
    ),
    disjoint_claim("section 4", "clusters to which both nodes of Case C lead", "25/8", common_clusters),
    disjoint_claim(
        "section 4",
        "mean clusters on a path, the three cases in order",
        "E_caseB > E_caseC > E_caseA",
        order,
        reading=f"as measured without faults; a difference is one if it is more than {ERRORS} standard errors",
    ),
    disjoint_claim(
        "section 4",
        "mean clusters on the paths left as more nodes fail",
        "E_caseB converges to 2, E_caseC to 3",
        limits,
        reading="each path counts with the chance that none of its inner nodes fails, at rates of up to 90%",
    ),
    disjoint_claim(
        "section 4, (1)",
        "probability that all paths are left, L nodes on them",
        "(1 - F)^L",
        all_paths,
        reading=f"pairs whose paths are disjoint; F = 5, 10, 15% in each case; {TRIALS} trials where each node fails "
        f"for itself, all sets of so many nodes where a number is fixed; a reading is right if all nine are within "
        f"{ERRORS} standard errors of so many trials",
    ),
    disjoint_claim("Figure 12", "success of all paths: Case A is highest", "at every rate", figure12),
    disjoint_claim("Figure 13", "success of at least one path: Case A is highest", "at every rate", figure13),
    disjoint_claim("Figure 14", "length of the paths left: Case A is shortest", "at every rate", figure14),
    disjoint_claim("Figure 14", "length of the paths left as more nodes fail", "falls", shorter),
    disjoint_claim(
        "Figure 14",
        "rate at which the paths of Case B become shorter than those of Case C",
        "around 23%",
        swap,
        reading=f"around: to {SWAP_POINTS} points",
    ),
)
