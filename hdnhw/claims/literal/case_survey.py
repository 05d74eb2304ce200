"""What is left among failed nodes by the disjoint-path paper's cases: of disjoint paths, and of routes by waypoints."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import lru_cache
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.claims.literal.disjoint import mended_routes
from hdnhw.multipath.disjoint import disjoint_routes, short_routes
from hdnhw.multipath.path_faults import (
    CASES,
    Estimate,
    Maker,
    fault_points,
    has_case,
    pairs_of_case,
    sample_paths,
)
from hdnhw.multipath.survey import FaultSurvey, Start
from hdnhw.networks.build import build
from hdnhw.spec import NetworkSpec
from hdnhw.support.errors import SpecError
from hdnhw.support.progress import Progress
from hdnhw.topology.dualnet import DualNetwork

MAKERS: Mapping[str, Maker] = {"short": short_routes, "address": disjoint_routes, "mended": mended_routes}
"""Kinds of paths: two of :mod:`hdnhw.multipath.disjoint`, and the paper's Algorithm 6 as far as it can be taken."""


def dual_net_of(spec: NetworkSpec) -> DualNetwork:
    """Return a network in which two nodes are of Case A, B or C.

    Raises
    ------
    SpecError
        If it is no dual-net, or has no levels.
    """
    network = build(spec)
    if not isinstance(network, DualNetwork) or not network.levels:
        raise SpecError(f"cases A, B and C are those of dual-nets with a level or more, not of {spec}")
    return network


def paths_left(
    network: DualNetwork, kind: str, rates: Sequence[float], *, pairs: int, seed: int
) -> list[dict[str, Any]]:
    """Return what is left of the paths of pairs of each case, those of figures 12 to 14 of the disjoint-path paper.

    Parameters
    ----------
    network : DualNetwork
    kind : str
        A key of `MAKERS`.
    rates : sequence of float
        Failed nodes a node.
    pairs : int
        Drawn of each case; those for which `kind` makes no disjoint paths are left out.
    seed : int
        Of the pairs.

    Returns
    -------
    list of dict
        For each case and rate ``pairs``, ``all_paths``, ``any_path``, ``mean_hops`` and ``mean_clusters``, see
        :class:`hdnhw.multipath.path_faults.FaultPoint`, each with its standard error over the pairs.
    """
    rows = []
    for case in filter(lambda case: has_case(network, case), CASES):
        sample = sample_paths(network, pairs_of_case(network, case, pairs, seed), MAKERS[kind])
        for point in fault_points(network.num_nodes, sample, rates):
            row = {"paths": kind, "case": case, "rate": point.rate, "failed": point.failed, "pairs": point.pairs}
            for name in ("all_paths", "any_path", "mean_hops", "mean_clusters"):
                row |= _estimated(name, getattr(point, name))
            rows.append(row)
    return rows


def _estimated(name: str, estimate: Estimate | None) -> dict[str, float | None]:
    """Return a mean and its standard error as two members of a row."""
    mean, error = (None, None) if estimate is None else (estimate.mean, estimate.error)
    return {name: mean, f"{name}_error": error}


@lru_cache(maxsize=1)
def _pairs(spec: NetworkSpec) -> list[npt.NDArray[np.bool_]]:
    """Return which pairs of two nodes are of each case that there is, shape (num_nodes, num_nodes)."""
    network = dual_net_of(spec)
    digits = np.array([network.decode(node) for node in range(network.num_nodes)])
    class_bit, cluster = digits[:, 0], digits[:, 1 : 1 + len(network.levels[-1].cluster)]
    one_class = class_bit[:, None] == class_bit
    one_cluster = one_class.copy()
    for column in cluster.T:
        one_cluster &= column[:, None] == column
    other = ~np.eye(network.num_nodes, dtype=np.bool_)
    of_case = {"A": one_cluster & other, "B": ~one_class, "C": one_class & ~one_cluster}
    return [of_case[case] for case in CASES if has_case(network, case)]


class _CaseSurvey(FaultSurvey):
    """Trials that tell the pairs of the cases apart."""

    def trial(self, number: int) -> list[float]:
        """Return, for each case, the shares of healthy pairs that are connected, and joined by 0, 1, ... waypoints."""
        return [share for row in self.detours(number).joined(_pairs(self.network), self.waypoints) for share in row]


def waypoints_left(
    network: DualNetwork,
    rates: Sequence[float],
    *,
    options: Mapping[str, Any],
    trials: int,
    start: Start,
    progress: Progress = lambda *_: None,
) -> list[dict[str, Any]]:
    """Return the share of the healthy pairs of each case that routing by waypoints joins.

    Parameters
    ----------
    network : DualNetwork
    rates : sequence of float
        Dead nodes a node.
    options : mapping
        The other attributes of :class:`hdnhw.multipath.survey.FaultSurvey`: modes, lanes, waypoints and seed.
    trials : int
        Sets of dead nodes at each rate; one at a rate of 0.
    start : callable
        Starts the workers.
    progress : callable

    Returns
    -------
    list of dict
        For each case and rate ``reached``: the share by at most 0, 1, ... waypoints, and ``connected``: that between
        which there is any path at all; means of the trials, each with its standard error over the trials.
    """
    cases = [case for case in CASES if has_case(network, case)]
    found = {}
    with start() as executor:
        for number, rate in enumerate(rates):
            survey = _CaseSurvey(network=network.spec, rate=rate, channel_rate=0.0, **options)
            failed = round(rate * network.num_nodes)
            count = trials if failed else 1
            shown = _share_of(progress, number, len(rates))
            shares = survey.rows(count, lambda: nullcontext(executor), shown).reshape(count, len(cases), -1)
            errors = shares.std(axis=0, ddof=1) / sqrt(count) if count > 1 else np.zeros(shares.shape[1:])
            for case, mean, error in zip(cases, shares.mean(axis=0).tolist(), errors.tolist(), strict=True):
                found[case, number] = {
                    "case": case,
                    "rate": rate,
                    "failed": failed,
                    "trials": count,
                    "connected": mean[0],
                    "connected_error": error[0],
                    "reached": mean[1:],
                    "reached_error": error[1:],
                }
    return [found[case, number] for case in cases for number in range(len(rates))]


def _share_of(progress: Progress, done: int, of: int) -> Progress:
    """Return what tells the progress of one rate of several."""
    return lambda what, share: progress(f"rate {done + 1} of {of}: {what}", (done + share) / of)
