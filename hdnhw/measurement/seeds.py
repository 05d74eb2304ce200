"""A point measured with several seeds, and the differences between networks to which they offer the same messages."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import isinf
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.measurement.lanes import EndlessRouteError, in_reach, measure_lanes
from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.measure import Measurement, measure
from hdnhw.measurement.results import Row
from hdnhw.measurement.statistics import half_width, summarize
from hdnhw.model.fabric import FabricModel
from hdnhw.spec.load import MOST_SEEDS
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.support.progress import Progress

Integers = npt.NDArray[np.int64]

DECIMALS = 6
"""Of rates."""


def check_seeds(seeds: int, load: LoadSpec) -> None:
    """Raise SpecError unless a load can be measured with so many seeds."""
    if not 1 <= seeds <= MOST_SEEDS:
        raise SpecError(f"{named('seeds')} must be 1 to {MOST_SEEDS}, not {seeds}")
    if seeds > 1 and load.precision is not None:
        raise SpecError(f"{named('precision')} is for one seed: with several, more seeds make the interval narrower")


def measure_seeds(
    model: FabricModel, load: LoadSpec, seeds: int, *, threads: int = 1, progress: Progress = lambda *_: None
) -> list[Measurement]:
    """Measure a load with so many seeds from its own on, on common random numbers; see :func:`measure_loads`."""
    check_seeds(seeds, load)
    return measure_loads(model, loads_of(load, seeds), common=True, threads=threads, progress=progress)


def loads_of(load: LoadSpec, seeds: int) -> list[LoadSpec]:
    """Return a load with so many seeds from its own on."""
    return [replace(load, seed=load.seed + number) for number in range(seeds)]


def measure_loads(
    model: FabricModel,
    loads: Sequence[LoadSpec],
    *,
    common: bool = False,
    threads: int = 1,
    progress: Progress = lambda *_: None,
) -> list[Measurement]:
    """Measure loads, in lanes if they are in reach, else one after the other; see :func:`measure`."""
    if in_reach(model, loads):
        with suppress(EndlessRouteError):
            return measure_lanes(model, loads, common=common, progress=progress)
    found = []
    for number, load in enumerate(loads):

        def told(stage: str, share: float, number: int = number) -> None:
            progress(f"seed {number + 1} of {len(loads)}: {stage}", (number + share) / len(loads))

        found.append(measure(model, load, common=common, threads=threads, progress=told))
    return found


def seeds_row(runs: Sequence[Measurement]) -> Row:
    """Return what several seeds say, by the names of the keys of a single run.

    Means are those of the seeds, each with the same weight; percentiles and maxima those of all messages together.
    Half the width of the 95 % confidence intervals is by Student's t from the means of the seeds, which are independent
    of each other; there is none where a seed has delivered nothing or is not steady.

    Parameters
    ----------
    runs : sequence of Measurement
        Of :func:`measure_seeds`, two or more.
    """
    latencies = [_mean(run.packet_latency) for run in runs]
    known = [latency for latency in latencies if latency is not None]
    accepted = [run.accepted_rate for run in runs]
    whole = len(known) == len(runs) and all(run.steady for run in runs)
    interval = half_width(known) if whole else float("inf")
    delivered, packets = sum(run.delivered for run in runs), sum(run.packets for run in runs)
    return {
        "seeds": len(runs),
        "warmup": max(run.warmup for run in runs),
        "steady": min((run.steady for run in runs), key=[False, None, True].index),
        "note": next((run.note for run in runs if run.note), None),
        "offered_rate": _rounded(run.offered_rate for run in runs),
        "accepted_rate": _rounded(accepted),
        "created": sum(run.created for run in runs),
        "packets": packets,
        "payload_share": _rounded(run.payload_share for run in runs if run.packets) if packets else None,
        "delivered": delivered,
        "packet_latency": _summary([run.packet_latency for run in runs]),
        "network_latency": _summary([run.network_latency for run in runs]),
        "confidence_95": None if isinf(interval) else round(interval, 3),
        "accepted_confidence_95": round(half_width(accepted), DECIMALS),
        "mean_hops": round(float(np.mean([run.mean_hops for run in runs if run.delivered])), 4) if delivered else None,
        "fairness": round(float(np.nanmean([run.fairness for run in runs])), 4) if any(accepted) else None,
        "cycles": sum(run.cycles for run in runs),
        "seconds": round(sum(run.seconds for run in runs), 3),
        "latency_of_seed": latencies,
        "accepted_rate_of_seed": [round(rate, DECIMALS) for rate in accepted],
        "messages_of_seed": [run.messages for run in runs],
    }


def _rounded(values: Any) -> float:
    return round(float(np.mean(list(values))), DECIMALS)


def _mean(histogram: Any) -> float | None:
    summary = summarize(histogram)
    return None if summary is None else summary["mean"]


def pooled(histograms: Sequence[Integers]) -> Integers:
    """Return one histogram of all messages of several."""
    whole = np.zeros(max(map(len, histograms)), np.int64)
    for one in histograms:
        whole[: len(one)] += one
    return whole


def _summary(histograms: Sequence[Integers]) -> dict[str, float] | None:
    """Return a summary of all messages of several runs, its mean that of the runs' means."""
    summary = summarize(pooled(histograms))
    means = [mean for mean in map(_mean, histograms) if mean is not None]
    return None if summary is None else summary | {"mean": round(float(np.mean(means)), 4)}


def differences(curves: Sequence[Mapping[str, Any]], key: str = "rate") -> list[Row]:
    """Return by how much networks differ from the first of them, at each load at which both are steady.

    The differences are those of pairs: of the same seed, so of the same messages where the networks have as many nodes.
    What the messages alone bring about falls out, and intervals are narrower than those of the two means.

    Parameters
    ----------
    curves : sequence of dict
        As :meth:`hdnhw.measurement.sweep.Sweep.run` returns them, of points measured with several seeds.
    key : str
        Of a point: the load by which points belong together.

    Returns
    -------
    list of dict
        ``spec``, ``than`` (the first network), ``pattern``, the load, ``packet_latency`` (cycles) and
        ``confidence_95`` of the difference, ``accepted_rate`` and ``accepted_confidence_95``, ``differs``, whether 0 is
        outside the interval of the latencies, and ``same_messages``, whether both got the same.

    References
    ----------
    Law, Simulation Modeling and Analysis, sections 10.2 (paired-t confidence interval) and 11.2 (common random
    numbers).
    """
    first, *others = curves
    of_load = {row[key]: row for row in first["points"]}
    return [
        _difference(row, of_load[row[key]], key)
        for curve in others
        for row in curve["points"]
        if row[key] in of_load and _is_known(row) and _is_known(of_load[row[key]])
    ]


def _is_known(row: Mapping[str, Any]) -> bool:
    """Return whether a point has a latency for each seed that means something."""
    return bool(row["steady"]) and None not in row["latency_of_seed"]


def _difference(row: Mapping[str, Any], base: Mapping[str, Any], key: str) -> Row:
    latency, accepted = (np.subtract(row[name], base[name]) for name in ("latency_of_seed", "accepted_rate_of_seed"))
    width = half_width(latency)
    return {
        "spec": row["spec"],
        "than": base["spec"],
        "pattern": row["pattern"],
        key: row[key],
        "packet_latency": round(float(latency.mean()), 4),
        "confidence_95": round(width, 4),
        "accepted_rate": round(float(accepted.mean()), DECIMALS),
        "accepted_confidence_95": round(half_width(accepted), DECIMALS),
        "differs": bool(abs(latency.mean()) > width),
        "same_messages": row["messages_of_seed"] == base["messages_of_seed"],
    }
