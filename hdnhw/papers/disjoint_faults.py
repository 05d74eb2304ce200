"""Disjoint-path paper, section 4: clusters on the paths, and the figures of paths left among failed nodes.

The paths are those of Algorithm 6 with the third clusters of Figure 10 and with loops taken out, of the pairs for which
they are then disjoint; beside them stand those of :mod:`hdnhw.routing.disjoint`.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import sqrt

import numpy as np

from hdnhw.papers.claim import Case, Finding, Verdict, judge
from hdnhw.papers.disjoint_networks import EXAMPLE, disjoint_claim
from hdnhw.papers.families import dual_net
from hdnhw.routing.disjoint import disjoint_routes
from hdnhw.routing.disjoint_literal import fan, mended_routes
from hdnhw.routing.path_faults import FaultPoint, clusters_of, hops_of_pairs, pairs_of_case, try_faults

__all__ = ["CLAIMS"]

PAIRS, PAIRS_OF_SWAP = 400, 1500
"""Pairs drawn a case, with seed 1; those for the rate at which two curves of a small angle meet."""

TRIALS = 100_000
"""At each rate."""

RATES = tuple(percent / 100 for percent in (0, 5, 10, 15, 20, 21, 22, 23, 24, 25, 30))

Paths = list[list[int]]


@cache
def _paths(case: str) -> list[tuple[tuple[int, int], Paths]]:
    """Return the sampled pairs of a case, and the paths of Algorithm 6."""
    network = dual_net(EXAMPLE)
    return [(pair, mended_routes(network, *pair)) for pair in pairs_of_case(network, case, PAIRS, 1)]


@cache
def _points(case: str, of: str, pairs: int) -> list[FaultPoint]:
    """Return what is left of the paths of a case, those of Algorithm 6 or those by address, at each rate."""
    network = dual_net(EXAMPLE)
    make = mended_routes if of == "Algorithm 6" else disjoint_routes
    hops = hops_of_pairs(network, pairs_of_case(network, case, pairs, 1), make)
    return try_faults(network.num_nodes, hops, RATES, trials=TRIALS, seed=1)


def clusters_used() -> Finding:
    """Count the clusters on each path of Algorithm 6."""
    network = dual_net(EXAMPLE)
    stated = {"A": {1, 2, 4}, "B": {2, 4}, "C": {3, 5}}
    cases = []
    for case, allowed in stated.items():
        found = {len(clusters_of(network, path)) for _, paths in _paths(case) for path in paths}
        cases.append(
            Case(
                network=f"Case {case}",
                nodes=network.num_nodes,
                published=sorted(allowed),
                computed=sorted(found),
                holds=found <= allowed,
            )
        )
    return judge(cases, of=f"cases, {PAIRS} pairs drawn of each")


def _mean_clusters(case: str) -> tuple[float, float]:
    """Return the mean over the pairs of a case of the mean number of clusters on their paths, and its error."""
    network = dual_net(EXAMPLE)
    means = [sum(len(clusters_of(network, path)) for path in paths) / len(paths) for _, paths in _paths(case)]
    return float(np.mean(means)), float(np.std(means)) / sqrt(len(means))


def _measured(case: str) -> str:
    mean, error = _mean_clusters(case)
    return f"{mean:.2f} +- {error:.2f} on {PAIRS} pairs drawn"


def clusters_a() -> Finding:
    """Count how often two nodes of a cluster are in one super-node."""
    network = dual_net(EXAMPLE)
    inner = network.num_nodes // 16
    ends = [(0, dst) for dst in range(1, inner)]
    same = Fraction(sum(_door(src) == _door(dst) for src, dst in ends), len(ends))
    expected = (4 + same * 2 + (1 - same) * 4) / 5
    mean, error = _mean_clusters("A")
    computed = f"{float(expected):.3f}, as u and v share a super-node with probability {same}; {_measured('A')}"
    holds = f"{float(expected):.2f}" == "1.55"
    assert abs(mean - expected) < 4 * error + 1e-9
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
    mean, error = _mean_clusters("B")
    holds = abs(mean - 3.9) <= 4 * error
    return Finding(
        computed=f"{_measured('B')}: the fan of u leads to the cluster of v with probability {reached}, not 15/64",
        verdict=Verdict.HOLDS if holds else Verdict.FALSE,
        counterexample=None if holds else f"{EXAMPLE}: 3.90 published, {mean:.2f} computed",
    )


def clusters_c() -> Finding:
    """Evaluate the expression that is printed, and measure."""
    printed, meant = (25 / 8 / 5 * 3 + (5 - 25 / 8) / by * 5 for by in (8, 5))
    mean, error = _mean_clusters("C")
    right = abs(mean - meant) <= 4 * error and f"{meant:.2f}" == "3.75"
    return Finding(
        computed=f"the expression is {printed:.3f}, with / 5 in place of / 8 it is {meant:.2f}; {_measured('C')}",
        verdict=Verdict.MISPRINT if right else Verdict.FALSE,
        corrected="(25/8) / 5 x 3 + (5 - 25/8) / 5 x 5" if right else None,
        counterexample=f"{EXAMPLE}: 3.75 published, {printed:.3f} computed",
    )


def common_clusters() -> Finding:
    """Count the clusters to which both fans of a pair of Case C lead."""
    network = dual_net(EXAMPLE)
    inner = network.num_nodes // 16
    counts = []
    for (src, dst), _ in _paths("C"):
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
                holds=abs(mean - 25 / 8) <= 4 * error,
            )
        ],
        of=f"network, {PAIRS} pairs drawn",
    )


def all_paths() -> Finding:
    """Compare the trials with (1 - F)^L, L the nodes on the paths but for the two ends."""
    cases = []
    for case in "ABC":
        inner = np.array([sum(len(path) - 2 for path in paths) for _, paths in _paths(case)])
        for point in _points(case, "Algorithm 6", PAIRS)[1:4]:
            formula = float(np.mean((1 - point.rate) ** inner))
            cases.append(
                Case(
                    network=f"Case {case}, F = {point.rate:.0%}",
                    nodes=1024,
                    published=f"{formula:.4f}",
                    computed=f"{point.all_paths:.4f}",
                    holds=abs(formula - point.all_paths) < 0.02,
                )
            )
    return judge(cases, of=f"points to 0.02, {TRIALS} trials each")


def _least(what: Callable[[FaultPoint], float | None], best: Callable[..., float]) -> Finding:
    """Check at each rate above 0 that Case A is the best, by the paths of Algorithm 6."""
    cases, table = [], []
    for number, rate in enumerate(RATES):
        values = {case: what(_points(case, "Algorithm 6", PAIRS)[number]) or 0.0 for case in "ABC"}
        ours = {f"{case} by address": what(_points(case, "by address", PAIRS)[number]) or 0.0 for case in "ABC"}
        table.append({"rate": rate, **{name: round(value, 4) for name, value in (values | ours).items()}})
        if rate:
            shown = ", ".join(f"{case} {value:.3f}" for case, value in values.items())
            holds = values["A"] == best(values.values())
            cases.append(Case(network=f"F = {rate:.0%}", nodes=1024, published="A best", computed=shown, holds=holds))
    return replace(judge(cases, of=f"rates, {TRIALS} trials each"), table=table)


def figure12() -> Finding:
    """Compare the success of all paths."""
    return _least(lambda point: point.all_paths, max)


def figure13() -> Finding:
    """Compare the success of at least one path."""
    return _least(lambda point: point.any_path, max)


def figure14() -> Finding:
    """Compare the lengths of the paths that are left."""
    return _least(lambda point: point.mean_hops, min)


def shorter() -> Finding:
    """Check that the paths that are left are the shorter the more nodes fail."""
    cases = []
    for case in "ABC":
        hops = [point.mean_hops or 0.0 for point in _points(case, "Algorithm 6", PAIRS)]
        falls = all(after < before for before, after in pairwise(hops))
        shown = " ".join(f"{hop:.2f}" for hop in hops)
        cases.append(Case(network=f"Case {case}", nodes=1024, published="falls", computed=shown, holds=falls))
    return judge(cases, of=f"cases, {TRIALS} trials at each of {len(RATES)} rates")


def swap() -> Finding:
    """Find the rate at which the paths of Case B become shorter than those of Case C; 3 points are around it."""
    found = {of: _swap(of) for of in ("Algorithm 6", "by address")}
    rate = found["Algorithm 6"]
    holds = rate is not None and abs(rate - 0.23) <= 0.03
    shown = {of: "no swap: B is shorter at every rate" if at is None else f"at {at:.1%}" for of, at in found.items()}
    return Finding(
        computed=f"{shown['Algorithm 6']}, {PAIRS_OF_SWAP} pairs drawn; by address {shown['by address']}",
        verdict=Verdict.HOLDS if holds else Verdict.FALSE,
        counterexample=None if holds else f"{EXAMPLE}: 23% published, {shown['Algorithm 6']} computed",
    )


def _swap(of: str) -> float | None:
    """Return the rate between the first two points with B longer, then shorter than C; None if B is never longer."""
    gaps = [
        (one.mean_hops or 0.0) - (other.mean_hops or 0.0)
        for one, other in zip(_points("B", of, PAIRS_OF_SWAP), _points("C", of, PAIRS_OF_SWAP), strict=True)
    ]
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
    disjoint_claim("section 4", "E_caseA, mean clusters on a path", "1.55", clusters_a, "E6"),
    disjoint_claim("section 4", "E_caseB, mean clusters on a path", "3.90", clusters_b, "E6"),
    disjoint_claim(
        "section 4", "E_caseC, mean clusters on a path", "(25/8) / 5 x 3 + (5 - 25/8) / 8 x 5 = 3.75", clusters_c, "E6"
    ),
    disjoint_claim("section 4", "clusters to which both nodes of Case C lead", "25/8", common_clusters),
    disjoint_claim("section 4, (1)", "probability that all paths are left, L nodes on them", "(1 - F)^L", all_paths),
    disjoint_claim("Figure 12", "success of all paths: Case A is highest", "at every rate", figure12),
    disjoint_claim("Figure 13", "success of at least one path: Case A is highest", "at every rate", figure13),
    disjoint_claim("Figure 14", "length of the paths left: Case A is shortest", "at every rate", figure14),
    disjoint_claim("Figure 14", "length of the paths left as more nodes fail", "falls", shorter),
    disjoint_claim(
        "Figure 14", "rate at which the paths of Case B become shorter than those of Case C", "around 23%", swap
    ),
)
