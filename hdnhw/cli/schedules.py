"""What commands have in common that run a schedule: its counts, the model, the engines, tables and pictures."""

import argparse
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from importlib.metadata import entry_points
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdnhw.cli.options import DONE, FAILED, Result, fabric_spec, network_of, say
from hdnhw.cli.progress import ProgressBar
from hdnhw.kernels import Stopwatch
from hdnhw.spec import OPERATIONS, REGISTER_OPERATIONS, CollectiveSpec, EndpointSpec, FabricSpec, SpecError
from hdnhw.spec.options import options_of

if TYPE_CHECKING:
    from hdnhw.collective.cost import Cost
    from hdnhw.topology.network import Network

__all__ = ["Count", "Progress", "bench_of", "checked_network", "number_of_words", "refuse", "run_schedule"]

MOST_WORDS = 1 << 20
"""Of a message."""


def refuse(options: argparse.Namespace, names: Iterable[str], why: str) -> None:
    """Raise SpecError if one of some options is given; `why`, with ``{}`` for the option, says why it must not be.

    One that is not given is None, False, or ``one``, the default of ``--ports``.
    """
    for name in names:
        value = getattr(options, name)
        if value is not None and value is not False and value != "one":
            raise SpecError(why.format(f"--{name.replace('_', '-')}"))


def checked_network(options: argparse.Namespace) -> "Network":
    """Return the network of a schedule; refuse options that do not go together before anything is counted."""
    from hdnhw.collective.executor import check_size
    from hdnhw.report.timespace import check_picture

    if options.on == "rtl":
        _check_rtl(options)
    options.words_given = options.words is not None
    if options.words is None:
        options.words = 1
    if not 1 <= options.words <= MOST_WORDS:
        raise SpecError(f"words must be 1 to {MOST_WORDS}, not {options.words}")
    for what, value in (("startup time", options.startup_time), ("word time", options.word_time)):
        if value is not None and not 0 <= value < inf:
            raise SpecError(f"{what} must be a number that is not negative, not {value}")
    if options.on in (None, "schedule") and getattr(options, "schedule", None) != "network":
        machine = options_of(FabricSpec, timed=True)
        refuse(options, machine, "{} is for a machine: give --on model or --on rtl as well")
    network = network_of(options.spec)
    check_size(network)
    if options.plot is not None:
        check_picture(Path(options.plot), network.num_nodes)
    return network


Progress = Callable[[str, float], None]

Count = Callable[[Progress], tuple[Any, Result]]
"""Runs a schedule: takes what is told the progress; returns what was counted, and more that the user sees."""


def run_schedule(
    options: argparse.Namespace,
    schedule: Any,
    operation: str,
    head: Result,
    *,
    count: Count | None = None,
    bound: Callable[[], "Cost"] | None = None,
) -> tuple[Result, int]:
    """Execute a schedule and compare it with its bound and formulas.

    `count` and `bound` are by default those of the operation with equal messages of all nodes, or of the root.
    """
    from hdnhw.collective.cost import lower_bound
    from hdnhw.collective.executor import ScheduleError, execute
    from hdnhw.report.timespace import plot_timespace

    watch, network = Stopwatch(), schedule.network
    result: Result = {"spec": str(network.spec), "nodes": network.num_nodes, **head, "ports": options.ports}
    result |= {"on": options.on or "schedule", "message_words": options.words}
    try:
        with ProgressBar() as progress:
            if count is None:
                counted = execute(schedule, all_port=options.ports == "all", progress=progress.show)
                more: Result = {"delivered": True}
            else:
                counted, more = count(progress.show)
    except ScheduleError as error:
        say(f"hdnhw: {error}")
        return result | {"delivered": False, "error": str(error)}, FAILED
    if bound is None:
        root = schedule.root or 0
        least = lower_bound(network, operation, root=root, all_port=counted.all_port, words=options.words)
    else:
        least = bound()
    result |= more | _costs(options, schedule, operation, counted, least)
    if options.on == "model":
        result |= _on_model(options, counted)
    if options.on == "rtl":
        result |= _on_rtl(options, schedule, operation)
    result["seconds"] = round(watch.seconds, 3)
    if options.steps:
        result["steps"] = _steps(schedule, counted, options.words, result.get("cycles_per_step"))
    if options.plot is not None:
        plot_timespace(schedule, counted, Path(options.plot))
    return result, DONE if result["delivered"] else FAILED


def _costs(options: argparse.Namespace, schedule: Any, operation: str, counted: Any, bound: "Cost") -> Result:
    """Return what was counted beside its bound and the papers' formulas, for messages of so many words."""
    from hdnhw.collective.cost import Cost, corrected_formula, paper_formula
    from hdnhw.topology.flow import flow_bound
    from hdnhw.topology.metrics import neighbor_table

    network, words = schedule.network, options.words
    cost, printed = Cost(counted.startups, counted.words) * words, paper_formula(network, operation)
    result: Result = {
        "messages": counted.messages,
        "startups": cost.startups,
        "nonempty_startups": counted.nonempty_startups,
        "words": cost.words,
        "lower_bound_startups": bound.startups,
        "lower_bound_words": number_of_words(bound.words),
        "words_per_step": [most * words for most in counted.words_per_step],
        "total_words": counted.total_words * words,
        "paper_formula_startups": None if printed is None else printed.startups,
        "paper_formula_words": None if printed is None else number_of_words(printed.words * words),
    }
    if operation == "exchange":
        right = corrected_formula(network, split=getattr(options, "split", "destination"))
        result["corrected_formula_words"] = None if right is None else number_of_words(right.words * words)
        if counted.all_port:
            least = flow_bound(neighbor_table(network))
            result["flow_bound_words"] = None if least is None else number_of_words(least * words)
    result |= {"links_used": counted.links_used, "links": counted.links, "cost": str(cost)}
    if options.startup_time is not None or options.word_time is not None:
        result["time"] = cost.time(options.startup_time or 0.0, options.word_time or 0.0)
    return result


def number_of_words(words: float | Fraction) -> int | float:
    """Return words as a user sees them: an integer where they are one."""
    return int(words) if words == int(words) else float(words)


def _on_model(options: argparse.Namespace, counted: Any) -> Result:
    from hdnhw.model.collective import measure_steps

    with ProgressBar() as progress:
        return measure_steps(fabric_spec(options), counted, words=options.words, progress=progress.show)


def bench_of(spec: FabricSpec, endpoints: EndpointSpec) -> Any:
    """Return the bench of a machine with endpoints; it lies outside the package."""
    from hdnhw.emit.fabric import emit_fabric

    (point,) = entry_points(group="hdnhw.benches", name=endpoints.kind)
    return point.load().of(emit_fabric(replace(spec, endpoints=endpoints)))


def _on_rtl(options: argparse.Namespace, schedule: Any, operation: str) -> Result:
    order = {"order": options.schedule} if operation == "exchange" else {}
    if getattr(options, "algorithm", None) == "short":
        operation = f"{operation}-short"
    engines = replace(_engines(options), operations=(operation,), root=schedule.root or 0, **order)
    measured: Result = bench_of(fabric_spec(options), engines).measure(operation, say=say)
    return measured


def _check_rtl(options: argparse.Namespace) -> None:
    """Refuse what engines cannot do, and let a message be what they send: a packet."""
    length = replace(fabric_spec(options), endpoints=_engines(options)).packet_length
    if options.words not in (None, length):
        raise SpecError(f"words must be those of a packet on rtl, {length}, not {options.words}")
    if options.ports == "all":
        raise SpecError("--ports all is for the schedule and the model; engines use one port a step")
    if getattr(options, "split", "destination") != "destination":
        raise SpecError(f"split must be destination on rtl, not {options.split}")
    if getattr(options, "as_printed", False):
        raise SpecError("--as-printed is for the schedule and the model")
    if getattr(options, "op", OPERATIONS[0]) not in (*OPERATIONS, *REGISTER_OPERATIONS):
        raise SpecError(f"{options.op} is for the schedule and the model; engines have none")
    if getattr(options, "algorithm", None) not in (None, "short", "long"):
        raise SpecError(f"algorithm must be short or long on rtl, not {options.algorithm}")
    options.words = length


def _engines(options: argparse.Namespace) -> CollectiveSpec:
    """Return engines that combine as the options say."""
    operator, numbers = (getattr(options, name, None) for name in ("operator", "numbers"))
    default = CollectiveSpec()
    return CollectiveSpec(operators=(operator,) if operator else default.operators, numbers=numbers or default.numbers)


def _steps(schedule: Any, counted: Any, words: int, cycles: list[int] | None) -> list[Result]:
    """Return a row for each step."""
    rows = []
    for number, (step, sent) in enumerate(zip(schedule.steps, counted.sent, strict=True)):
        names = [schedule.network.ports[send.port].name for send in step.sends]
        row: Result = {"step": number, "stage": step.stage, "ports": ",".join(names)}
        row |= {"senders": int(sent.any(axis=1).sum()), "words": counted.words_per_step[number] * words}
        row["total_words"] = int(sent.sum()) * words
        rows.append(row if cycles is None else row | {"cycles": cycles[number]})
    return rows
