"""How often intervals of confidence hold the mean, and whether loads beyond saturation seem steady; ten minutes."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from math import isfinite

import numpy as np

from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.measure import Measurement, measure
from hdnhw.measurement.statistics import mean_of
from hdnhw.model.fabric import FabricModel, model_of
from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec
from hdnhw.spec.load import PRECISION

KNEES = {"mesh(4, 4)": 0.59, "torus(4, 4)": 0.76, "torus(8, 8)": 0.43, "rdn(cube(2), 1)": 0.47, "rdn(cube(3), 1)": 0.43}
"""Of each network: a rate, flits per node per cycle, at which latency is about three times that at zero load."""

SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)
"""Of these rates."""

BEYOND = {"mesh(4, 4)": (0.66, 0.7), "torus(4, 4)": (0.875, 0.9)}
"""Rates a little above what the network carries."""

CYCLES = (10_000, 2000)
"""Of intervals, without a precision."""

LONGER, RUNS = 4, 8
"""What stands for the truth: times as many cycles as the longest interval of a load, in so many runs of other seeds."""


def measured(model: FabricModel, load: LoadSpec, seeds: int) -> list[Measurement]:
    """Measure with so many seeds, each by itself."""
    return [measure(model, replace(load, seed=seed)) for seed in range(1, seeds + 1)]


def truth_of(model: FabricModel, rate: float, interval: int) -> float:
    """Return the mean latency in runs that are far longer than an interval, of other seeds."""
    load = LoadSpec(rate=rate, cycles=LONGER * interval, warmup=interval)
    runs = [measure(model, replace(load, seed=1000 + one)) for one in range(RUNS)]
    return float(np.mean([mean_of(run.packet_latency) for run in runs]))


def coverage(runs: Sequence[Measurement], rate: float, truth: float) -> list[str]:
    """Return the cells of a row: mean interval, steady runs, intervals, how many hold mean and rate, relative width."""
    told = [run for run in runs if isfinite(run.half_width)]
    held = sum(abs(mean_of(run.packet_latency) - truth) <= run.half_width for run in told)
    rates = [run for run in runs if isfinite(run.accepted_half_width)]
    right = sum(abs(run.accepted_rate - rate) <= run.accepted_half_width for run in rates)
    width = np.mean([run.half_width for run in told]) / truth if told else float("nan")
    cycles, steady = np.mean([run.interval for run in runs]), sum(run.steady is True for run in runs)
    counts = [steady, len(told), held, f"{100 * width:.1f} %", f"{right} of {len(rates)}"]
    return [f"{cycles:.0f}", f"{truth:.1f}", *map(str, counts)]


def main() -> None:
    """Print a row for each network and load, then how many runs beyond saturation seem steady."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=40, help="seeds of each load")
    seeds = parser.parse_args().count
    print(f"{seeds} seeds each; precision {PRECISION} unless cycles are given")
    print("| network | rate | asked | cycles | latency | steady | intervals | hold it | half width | rates held |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for spec, knee in KNEES.items():
        model = model_of(FabricSpec(network=parse(spec)))
        for share in SHARES:
            load = LoadSpec(rate=round(share * knee, 4))
            exact = measured(model, replace(load, precision=PRECISION), seeds)
            truth = truth_of(model, load.rate, max(run.interval for run in exact))
            short = {f"{cycles} cycles": measured(model, replace(load, cycles=cycles), seeds) for cycles in CYCLES}
            for what, runs in {f"precision {PRECISION}": exact, **short}.items():
                cells = " | ".join(coverage(runs, load.rate, truth))
                print(f"| {spec} | {load.rate} | {what} | {cells} |", flush=True)
    print("\n| network | rate | cycles | steady of 8 |\n|---|---|---|---|")
    for spec, rates in BEYOND.items():
        model = model_of(FabricSpec(network=parse(spec)))
        for rate in rates:
            for cycles in CYCLES:
                steady = sum(run.steady is True for run in measured(model, LoadSpec(rate=rate, cycles=cycles), 8))
                print(f"| {spec} | {rate} | {cycles} | {steady} |", flush=True)


if __name__ == "__main__":
    main()
