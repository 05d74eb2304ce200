"""Commands about collective operations."""

import argparse
from dataclasses import replace
from fractions import Fraction
from importlib.metadata import entry_points
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdnhw.cli.options import (
    DONE,
    FAILED,
    Parser,
    Result,
    add_command,
    add_machine_options,
    fabric_spec,
    network_of,
    say,
)
from hdnhw.cli.progress import ProgressBar
from hdnhw.collective.choices import SPLITS
from hdnhw.kernels import Stopwatch
from hdnhw.spec import (
    EXCHANGE_ORDERS,
    CollectiveSpec,
    EndpointSpec,
    ExchangeSpec,
    FabricSpec,
    SpecError,
)
from hdnhw.spec.options import options_of

if TYPE_CHECKING:
    from hdnhw.topology.network import Network

__all__ = ["add_collective_commands", "add_split_option"]

MOST_WORDS = 1 << 20
"""Of a message."""


def exchange(options: argparse.Namespace) -> tuple[Result, int]:
    """Run a total exchange and count what it costs, beside the bound and the papers' formulas."""
    from hdnhw.collective.exchange import exchange_schedule

    network = _network(options)
    if options.schedule == "network":
        return _network_exchange(options, network)
    if options.at_once:
        raise SpecError(f"--at-once is for the schedule network, not for {options.schedule}")
    schedule = exchange_schedule(network, options.schedule, split=options.split, all_port=options.ports == "all")
    return _run(options, schedule, "exchange", {"schedule": options.schedule, "split": options.split})


def collective(options: argparse.Namespace) -> tuple[Result, int]:
    """Run a broadcast, scatter or all-gather and count what it costs."""
    from hdnhw.collective.operations import operation_schedule
    from hdnhw.collective.spread import allgather_schedule

    network, all_port = _network(options), options.ports == "all"
    if options.op != "allgather" and options.as_printed:
        raise SpecError(f"--as-printed is for allgather, not for {options.op}")
    if options.op == "allgather":
        if options.root is not None:
            raise SpecError("an allgather has no root")
        schedule = allgather_schedule(network, as_printed=options.as_printed, all_port=all_port)
    else:
        root = network.parse_node(options.root or "0")
        schedule = operation_schedule(network, options.op, root=root, all_port=all_port)
    return _run(options, schedule, options.op, {"op": options.op, "root": schedule.root})


def _network(options: argparse.Namespace) -> "Network":
    from hdnhw.collective.executor import check_size
    from hdnhw.report.timespace import check_picture

    if options.on == "rtl":
        _check_rtl(options)
    if options.words is None:
        options.words = 1
    if not 1 <= options.words <= MOST_WORDS:
        raise SpecError(f"words must be 1 to {MOST_WORDS}, not {options.words}")
    for what, value in (("startup time", options.startup_time), ("word time", options.word_time)):
        if value is not None and not 0 <= value < inf:
            raise SpecError(f"{what} must be a number that is not negative, not {value}")
    if options.on in (None, "schedule") and getattr(options, "schedule", None) != "network":
        for name in options_of(FabricSpec, timed=True):
            if getattr(options, name) is not None:
                raise SpecError(f"--{name.replace('_', '-')} is for a machine: give --on model or --on rtl as well")
    network = network_of(options.spec)
    check_size(network)
    if options.plot is not None:
        check_picture(Path(options.plot), network.num_nodes)
    return network


def _run(options: argparse.Namespace, schedule: Any, operation: str, head: Result) -> tuple[Result, int]:
    """Execute a schedule and compare it with its bound and formulas."""
    from hdnhw.collective.executor import ScheduleError, execute
    from hdnhw.report.timespace import plot_timespace

    watch, network = Stopwatch(), schedule.network
    result: Result = {"spec": str(network.spec), "nodes": network.num_nodes, **head, "ports": options.ports}
    result |= {"on": options.on or "schedule", "message_words": options.words}
    try:
        with ProgressBar() as progress:
            counted = execute(schedule, all_port=options.ports == "all", progress=progress.show)
    except ScheduleError as error:
        say(f"hdnhw: {error}")
        return result | {"delivered": False, "error": str(error)}, FAILED
    result |= _costs(options, schedule, operation, counted)
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


def _costs(options: argparse.Namespace, schedule: Any, operation: str, counted: Any) -> Result:
    """Return what was counted, its bound and the papers' formulas, for messages of so many words."""
    from hdnhw.collective.cost import Cost, corrected_formula, lower_bound, paper_formula
    from hdnhw.topology.flow import flow_bound
    from hdnhw.topology.metrics import neighbor_table

    network, words = schedule.network, options.words
    bound = lower_bound(network, operation, root=schedule.root or 0, all_port=counted.all_port) * words
    cost, printed = Cost(counted.startups, counted.words) * words, paper_formula(network, operation)
    result: Result = {
        "delivered": True,
        "messages": counted.messages,
        "startups": cost.startups,
        "nonempty_startups": counted.nonempty_startups,
        "words": cost.words,
        "lower_bound_startups": bound.startups,
        "lower_bound_words": _number(bound.words),
        "words_per_step": [most * words for most in counted.words_per_step],
        "total_words": counted.total_words * words,
        "paper_formula_startups": None if printed is None else printed.startups,
        "paper_formula_words": None if printed is None else _number(printed.words * words),
    }
    if operation == "exchange":
        right = corrected_formula(network, split=getattr(options, "split", "destination"))
        result["corrected_formula_words"] = None if right is None else _number(right.words * words)
        if counted.all_port:
            least = flow_bound(neighbor_table(network))
            result["flow_bound_words"] = None if least is None else _number(least * words)
    result |= {"links_used": counted.links_used, "links": counted.links, "cost": str(cost)}
    if options.startup_time is not None or options.word_time is not None:
        result["time"] = cost.time(options.startup_time or 0.0, options.word_time or 0.0)
    return result


def _number(words: float | Fraction) -> int | float:
    return int(words) if words == int(words) else float(words)


def _on_model(options: argparse.Namespace, counted: Any) -> Result:
    from hdnhw.model.collective import measure_steps

    with ProgressBar() as progress:
        return measure_steps(fabric_spec(options), counted, words=options.words, progress=progress.show)


def _bench(spec: FabricSpec, endpoints: EndpointSpec) -> Any:
    """Return the bench of a machine with endpoints; it lies outside the package."""
    from hdnhw.emit.fabric import emit_fabric

    (point,) = entry_points(group="hdnhw.benches", name=endpoints.kind)
    return point.load()(emit_fabric(replace(spec, endpoints=endpoints)))


def _on_rtl(options: argparse.Namespace, schedule: Any, operation: str) -> Result:
    order = {"order": options.schedule} if operation == "exchange" else {}
    engines = CollectiveSpec(operations=(operation,), root=schedule.root or 0, **order)
    measured: Result = _bench(fabric_spec(options), engines).measure(operation, say=say)
    return measured


def _check_rtl(options: argparse.Namespace) -> None:
    """Refuse what engines cannot do, and let a message be what they send: a packet."""
    length = replace(fabric_spec(options), endpoints=CollectiveSpec()).packet_length
    if options.words not in (None, length):
        raise SpecError(f"words must be those of a packet on rtl, {length}, not {options.words}")
    if options.ports == "all":
        raise SpecError("--ports all is for the schedule and the model; engines use one port a step")
    if getattr(options, "split", "destination") != "destination":
        raise SpecError(f"split must be destination on rtl, not {options.split}")
    if getattr(options, "as_printed", False):
        raise SpecError("--as-printed is for the schedule and the model")
    options.words = length


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


def _network_exchange(options: argparse.Namespace, network: "Network") -> tuple[Result, int]:
    """Route the packets of a total exchange on the model, and let the emitted Verilog do it as well."""
    from hdnhw.model.collective import measure_network_exchange

    given = {
        "--split": options.split != "destination",
        "--ports": options.ports != "one",
        "--steps": options.steps,
        "--plot": options.plot is not None,
        "--startup-time": options.startup_time is not None,
        "--word-time": options.word_time is not None,
        "--on schedule": options.on == "schedule",
    }
    for name, is_given in given.items():
        if is_given:
            raise SpecError(f"{name} is for schedules with steps; network has none")
    watch = Stopwatch()
    bench = _bench(fabric_spec(options), ExchangeSpec(at_once=options.at_once)) if options.on == "rtl" else None
    with ProgressBar() as progress:
        row = measure_network_exchange(
            fabric_spec(options), words=options.words, at_once=options.at_once, progress=progress.show
        )
    head: Result = {
        "spec": str(network.spec),
        "nodes": network.num_nodes,
        "schedule": "network",
        "on": options.on or "model",
    }
    nothing = dict.fromkeys(("startups", "words_per_step", "paper_formula_words"))
    result = head | {"message_words": options.words} | row
    least = row["flow_bound_words"]
    result |= {
        "lower_bound_words": row["words"],
        "flow_bound_words": None if least is None else _number(least),
    } | nothing
    if bench is not None:
        result |= bench.measure(say=say)
    result["seconds"] = round(watch.seconds, 3)
    return result, DONE if result["delivered"] else FAILED


def add_split_option(parser: Parser, default: str | None = None) -> None:
    """Add the option that says where messages of a total exchange cross from."""
    parser.add_argument(
        "--split",
        choices=SPLITS,
        default=default,
        help="which node of a super-node a message crosses from, in the order of the papers: the one with the base "
        "digits of its destination (default), with its own, with their sum, or its first",
    )


def _add_options(parser: Parser) -> None:
    parser.add_argument(
        "--words", type=int, metavar="M", help="words, or flits, of a message (default 1; on rtl those of a packet)"
    )
    parser.add_argument(
        "--ports", choices=("one", "all"), default="one", help="ports that a node uses in a step (default one)"
    )
    parser.add_argument(
        "--on",
        choices=("schedule", "model", "rtl"),
        help="count what the schedule sends (default), or run its steps on the cycle-accurate model as well, or the "
        "operation on engines in the emitted Verilog",
    )
    parser.add_argument("--steps", action="store_true", help="show a table of the steps")
    parser.add_argument(
        "--plot", metavar="FILE", help="draw which port each node uses in each step: .svg, .png or .pdf"
    )
    parser.add_argument("--startup-time", type=float, metavar="T", help="t_s of the cost model, for the time")
    parser.add_argument("--word-time", type=float, metavar="T", help="t_w of the cost model, for the time")
    add_machine_options(parser, timed=True)


def add_collective_commands(commands: Any) -> None:
    """Add the commands ``exchange`` and ``collective``."""
    parser = add_command(
        commands,
        "exchange",
        exchange,
        summary="run a total exchange and count what it costs",
        example="hdnhw exchange 'rdn(cube(3), 1)' --schedule cluster-first --steps",
    )
    parser.add_argument(
        "--schedule",
        choices=(*EXCHANGE_ORDERS, "network"),
        default="cluster-first",
        help="the papers' order, the one of fewest words (default), or packets that are simply routed",
    )
    add_split_option(parser, default="destination")
    parser.add_argument("--at-once", action="store_true", help="network: offer all messages in cycle 0")
    _add_options(parser)
    parser = add_command(
        commands,
        "collective",
        collective,
        summary="run a broadcast, scatter or all-gather and count what it costs",
        example="hdnhw collective 'rdn(cube(3), 1)' --op scatter --root 5",
    )
    parser.add_argument("--op", choices=("broadcast", "scatter", "allgather"), required=True, help="which one")
    parser.add_argument("--root", metavar="NODE", help="node number or address of the only source (default 0)")
    parser.add_argument(
        "--as-printed", action="store_true", help="allgather: send also what the partner already has, as in the paper"
    )
    _add_options(parser)
