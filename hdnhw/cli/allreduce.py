"""All-reduce by the algorithms that route their messages, and all algorithms side by side for vectors of some sizes."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdnhw.cli.combining import CHECKED_WORDS, times_of
from hdnhw.cli.options import DONE, FAILED, Result, fabric_spec
from hdnhw.cli.progress import ProgressBar
from hdnhw.cli.schedules import MOST_WORDS, checked_network, number_of_words, refuse
from hdnhw.kernels import Stopwatch
from hdnhw.spec import SpecError

if TYPE_CHECKING:
    from hdnhw.collective.baselines import Baseline
    from hdnhw.collective.operators import Operator
    from hdnhw.topology.network import Network

__all__ = ["compare_sizes", "run_routed"]

SIZES = tuple(4**power for power in range(10))
"""Words of the vectors that are compared if none are named: up to 1 MiB in words of four bytes."""

ALONE = ("words", "algorithm", "operator", "numbers", "root", "as_printed", "steps", "plot")
"""Options that say how one all-reduce is run, or what is shown of it."""


def run_routed(
    options: argparse.Namespace, network: "Network", operator: "Operator", head: Result
) -> tuple[Result, int]:
    """Run an all-reduce whose messages are routed, on random words, and count what it costs."""
    from hdnhw.collective.baselines import baseline_of, farthest_hops, run_baseline
    from hdnhw.collective.cost import any_partner_bound

    _refuse_steps_over_ports(options)
    baseline, watch = baseline_of(options.algorithm, network), Stopwatch()
    words, bound = baseline.words(options.words), any_partner_bound(network.num_nodes, options.words)
    checked = min(words, CHECKED_WORDS)
    with ProgressBar() as progress:
        moved = run_baseline(baseline, operator, words=checked, progress=progress.show)
        hops = farthest_hops(network, baseline, progress.show)
    cost = baseline.cost(options.words)
    result: Result = {"spec": str(network.spec), "nodes": network.num_nodes, **head}
    result |= {"on": options.on or "schedule", "message_words": words, "delivered": moved.wrong == 0}
    result |= {"checked_words": checked, "checked_blocks": moved.blocks, "wrong": moved.wrong}
    result |= {"nodes_agree": moved.nodes_agree, "startups": cost.startups, "words": cost.words}
    result |= {"hops": sum(hops) * baseline.repeats, "lower_bound_startups": bound.startups}
    result |= {"lower_bound_words": number_of_words(bound.words), "cost": str(cost)}
    if options.startup_time is not None or options.word_time is not None:
        result["time"] = cost.time(options.startup_time or 0.0, options.word_time or 0.0)
    cycles: list[int] | None = None
    if options.on == "model":
        measured = _on_model(options, baseline, words)
        cycles = measured.pop("cycles_per_step")
        result |= measured
    result["seconds"] = round(watch.seconds, 3)
    if options.steps:
        result["steps"] = _steps(baseline, words, hops, cycles)
    return result, DONE if result["delivered"] else FAILED


def _refuse_steps_over_ports(options: argparse.Namespace) -> None:
    given = {"--ports all": options.ports == "all", "--plot": options.plot is not None}
    for name, is_given in given.items():
        if is_given:
            raise SpecError(f"{name} is for schedules over ports; {options.algorithm} routes its messages")


def _on_model(options: argparse.Namespace, baseline: "Baseline", words: int) -> Result:
    from hdnhw.model.collective import measure_baseline

    with ProgressBar() as progress:
        return measure_baseline(fabric_spec(options), baseline, words=words, progress=progress.show)


def _steps(baseline: "Baseline", words: int, hops: list[int], cycles: list[int] | None) -> list[Result]:
    """Return a row for each step."""
    rows = []
    for number in range(baseline.startups):
        which = number // baseline.repeats
        row: Result = {"step": number, "words": words, "hops": hops[which]}
        rows.append(row if cycles is None else row | {"cycles": cycles[which]})
    return rows


def compare_sizes(options: argparse.Namespace) -> tuple[Result, int]:
    """Compare the algorithms of an all-reduce on vectors of several sizes."""
    from hdnhw.collective.comparison import compared
    from hdnhw.report.bandwidth import check_plot, plot_bandwidth

    sizes = _check_compared(options)
    if options.bandwidth is not None:
        check_plot(Path(options.bandwidth))
    network, watch = checked_network(options), Stopwatch()
    times = times_of(options)
    with ProgressBar() as progress:
        algorithms = compared(network, progress.show)
        rows = [_costs(network.num_nodes, algorithms, size, times) for size in sizes]
        if options.on == "model":
            _add_cycles(options, algorithms, rows, progress)
    result: Result = {"spec": str(network.spec), "nodes": network.num_nodes, "op": "allreduce"}
    result |= {"on": options.on or "schedule", "startup_time": times[0], "word_time": times[1]}
    result |= {"startups": {algorithm.name: algorithm.cost(1).startups for algorithm in algorithms}}
    result |= {"seconds": round(watch.seconds, 3), "sizes": rows}
    if options.bandwidth is not None:
        plot_bandwidth(result, Path(options.bandwidth))
    return result, DONE


def _check_compared(options: argparse.Namespace) -> list[int]:
    """Refuse what says more of a single run; return the sizes."""
    name = "--bandwidth" if options.sizes is None else "--sizes"
    if options.op != "allreduce":
        raise SpecError(f"{name} is for allreduce, not for {options.op}")
    refuse(options, ALONE, f"{name} compares all algorithms: leave out {{}}")
    if options.on == "rtl" or options.ports == "all":
        raise SpecError(f"{name} is for one port a step, on the schedule or the model")
    if options.sizes is None:
        return list(SIZES)
    try:
        sizes = sorted({int(part) for part in options.sizes.split(",")})
    except ValueError:
        sizes = []
    if not sizes or not 1 <= sizes[0] <= sizes[-1] <= MOST_WORDS:
        raise SpecError(f"sizes must be words from 1 to {MOST_WORDS}, such as 1,64,4096, not {options.sizes!r}")
    return sizes


def _costs(nodes: int, algorithms: Any, size: int, times: tuple[float, float]) -> Result:
    """Return what the cost model says of vectors of one size."""
    from hdnhw.collective.cost import any_partner_bound

    bound = any_partner_bound(nodes, size)
    row: Result = {"vector_words": size, "bound": round(bound.time(*times), 3)}
    return row | {algorithm.name: algorithm.cost(size).time(*times) for algorithm in algorithms}


def _add_cycles(options: argparse.Namespace, algorithms: Any, rows: list[Result], progress: ProgressBar) -> None:
    from hdnhw.model.collective import measure_allreduce

    fabric = fabric_spec(options)
    for algorithm in algorithms:
        for number, row in enumerate(rows, start=1):
            measured = measure_allreduce(fabric, algorithm, vector_words=row["vector_words"])
            row[f"{algorithm.name}_cycles"] = measured["cycles"]
            progress.show(f"{algorithm.name}, {row['vector_words']} words", number / len(rows))
