"""All-reduce by the algorithms that route their messages, and all algorithms side by side for vectors of some sizes."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hdnhw.library.collectives.combining import CHECKED_WORDS, times_of
from hdnhw.library.collectives.schedules import (
    BACKGROUND,
    MOST_WORDS,
    Row,
    ScheduleOptions,
    checked_network,
    number_of_words,
    refuse,
)
from hdnhw.library.result import Result
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.support.progress import ProgressBar, Stopwatch

if TYPE_CHECKING:
    from hdnhw.collectives.baselines import Baseline
    from hdnhw.collectives.operators import Operator
    from hdnhw.topology.graph import Network

SIZES = tuple(4**power for power in range(10))
"""Words of the vectors that are compared if none are named: up to 1 MiB in words of four bytes."""

ALONE = (
    *("words", "message_packets", "slices", "algorithm", "operator", "numbers", "root", "as_printed", "steps", "plot"),
    *BACKGROUND,
)
"""Options that say how one all-reduce is run, or what is shown of it."""


def run_routed(asked: ScheduleOptions, network: "Network", operator: "Operator", head: Row) -> Result:
    """Run an all-reduce whose messages are routed, on random words, and count what it costs."""
    from hdnhw.collectives.baselines import baseline_of, farthest_hops, run_baseline
    from hdnhw.collectives.cost import any_partner_bound

    _refuse_steps_over_ports(asked)
    baseline, watch = baseline_of(head["algorithm"], network), Stopwatch()
    words, bound = baseline.words(asked.message_words), any_partner_bound(network.num_nodes, asked.message_words)
    checked = min(words, CHECKED_WORDS)
    with ProgressBar() as progress:
        moved = run_baseline(baseline, operator, words=checked, progress=progress.show)
        hops = farthest_hops(network, baseline, progress.show)
    cost = baseline.cost(asked.message_words)
    result: Row = {"spec": str(network.spec), "nodes": network.num_nodes, **head}
    result |= {"on": asked.on or "schedule", "message_words": words, "delivered": moved.wrong == 0}
    result |= {"checked_words": checked, "checked_blocks": moved.blocks, "wrong": moved.wrong}
    result |= {"nodes_agree": moved.nodes_agree, "startups": cost.startups, "words": cost.words}
    result |= {"hops": sum(hops) * baseline.repeats, "lower_bound_startups": bound.startups}
    result |= {"lower_bound_words": number_of_words(bound.words), "cost": str(cost)}
    if asked.startup_time is not None or asked.word_time is not None:
        result["time"] = cost.time(asked.startup_time or 0.0, asked.word_time or 0.0)
    cycles: list[int] | None = None
    if asked.on == "model":
        measured = _on_model(asked, baseline, words)
        cycles = measured.pop("cycles_per_step")
        result |= measured
    result["seconds"] = round(watch.seconds, 3)
    if asked.steps:
        result["steps"] = _steps(baseline, words, hops, cycles)
    return Result(result, passed=result["delivered"])


def _refuse_steps_over_ports(asked: ScheduleOptions) -> None:
    """Refuse what is of schedules whose steps are ports."""
    refuse(
        asked,
        ("ports", "slices", "plot", "html"),
        f"{{}} is for schedules over ports; {asked.algorithm} routes its messages",
    )


def _on_model(asked: ScheduleOptions, baseline: "Baseline", words: int) -> Row:
    from hdnhw.measurement.collective import measure_baseline

    with ProgressBar() as progress:
        return measure_baseline(asked.fabric, baseline, words=words, among=asked.among, progress=progress.show)


def _steps(baseline: "Baseline", words: int, hops: list[int], cycles: list[int] | None) -> list[Row]:
    """Return a row for each step."""
    rows = []
    for number in range(baseline.startups):
        which = number // baseline.repeats
        row: Row = {"step": number, "words": words, "hops": hops[which]}
        rows.append(row if cycles is None else row | {"cycles": cycles[which]})
    return rows


def compare_sizes(asked: ScheduleOptions) -> Result:
    """Compare the algorithms of an all-reduce on vectors of several sizes."""
    from hdnhw.collectives.comparison import compared
    from hdnhw.figures.bandwidth import bandwidth_sheet
    from hdnhw.figures.outputs import Outputs

    sizes = _check_compared(asked)
    outputs = Outputs(asked.bandwidth, asked.html, asked.command, asked.look, "bandwidth")
    watch = Stopwatch()
    asked, network = checked_network(replace(asked, html=None, figure={}))
    times = times_of(asked)
    with ProgressBar() as progress:
        algorithms = compared(network, progress.show)
        rows = [_costs(network.num_nodes, algorithms, size, times) for size in sizes]
        if asked.on == "model":
            _add_cycles(asked, algorithms, rows, progress)
    result: Row = {"spec": str(network.spec), "nodes": network.num_nodes, "op": "allreduce"}
    result |= {"on": asked.on or "schedule", "startup_time": times[0], "word_time": times[1]}
    result |= {"startups": {algorithm.name: algorithm.cost(1).startups for algorithm in algorithms}}
    result |= {"seconds": round(watch.seconds, 3), "sizes": rows}
    outputs.write(bandwidth_sheet(result, asked.machine))
    return Result(result)


def _check_compared(asked: ScheduleOptions) -> list[int]:
    """Refuse what says more of a single run; return the sizes."""
    name = named("bandwidth" if asked.sizes is None else "sizes")
    if asked.op != "allreduce":
        raise SpecError(f"{name} is for allreduce, not for {asked.op}")
    refuse(asked, ALONE, f"{name} compares all algorithms: leave out {{}}")
    if asked.on == "rtl" or asked.all_port:
        raise SpecError(f"{name} is for one port per step, on the schedule or the model")
    if asked.sizes is None:
        return list(SIZES)
    try:
        sizes = sorted(
            {int(part) for part in (asked.sizes.split(",") if isinstance(asked.sizes, str) else asked.sizes)}
        )
    except ValueError:
        sizes = []
    if not sizes or not 1 <= sizes[0] <= sizes[-1] <= MOST_WORDS:
        raise SpecError(
            f"{named('sizes')} must be words from 1 to {MOST_WORDS}, such as 1,64,4096, not {asked.sizes!r}"
        )
    return sizes


def _costs(nodes: int, algorithms: Any, size: int, times: tuple[float, float]) -> Row:
    """Return what the cost model says of vectors of one size."""
    from hdnhw.collectives.cost import any_partner_bound

    bound = any_partner_bound(nodes, size)
    row: Row = {"vector_words": size, "bound": round(bound.time(*times), 3)}
    return row | {algorithm.name: algorithm.cost(size).time(*times) for algorithm in algorithms}


def _add_cycles(asked: ScheduleOptions, algorithms: Any, rows: list[Row], progress: ProgressBar) -> None:
    from hdnhw.measurement.collective import measure_allreduce

    fabric = asked.fabric
    for algorithm in algorithms:
        for number, row in enumerate(rows, start=1):
            measured = measure_allreduce(fabric, algorithm, vector_words=row["vector_words"])
            row[f"{algorithm.name}_cycles"] = measured["cycles"]
            progress.show(f"{algorithm.name}, {row['vector_words']} words", number / len(rows))
