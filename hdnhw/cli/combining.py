"""The command ``collective`` for operations that combine contributions."""

import argparse
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from hdnhw.cli.options import Result
from hdnhw.cli.schedules import Count, Progress, run_schedule
from hdnhw.collective.choices import BASELINES
from hdnhw.spec import SpecError

if TYPE_CHECKING:
    from hdnhw.collective.combining import Combined
    from hdnhw.collective.executor import Execution
    from hdnhw.collective.operators import Operator
    from hdnhw.topology.network import Network

__all__ = ["CHECKED_WORDS", "run_combining", "times_of"]

CHECKED_WORDS = 16
"""Words of a vector that are moved: all others would go the same way."""

STARTUP_TIME, WORD_TIME = 27.0, 1.0
"""t_s and t_w, by which an algorithm is chosen if none are given: those of the default machine, in cycles."""


def run_combining(options: argparse.Namespace, network: "Network", root: int) -> tuple[Result, int]:
    """Run an operation of :data:`hdnhw.collective.choices.COMBINING` on random words, and count what it costs."""
    from hdnhw.collective.cost import block_words, lower_bound
    from hdnhw.collective.operators import operator_of

    if options.op != "allreduce" and options.algorithm is not None:
        raise SpecError(f"--algorithm is for allreduce, not for {options.op}")
    operator = operator_of(options.operator or "sum", options.numbers or "int32")
    head: Result = {"op": options.op, "operator": operator.name, "numbers": str(operator.numbers)}
    if options.op == "reduce":
        head |= {"root": root}
    if options.op in ("reduce", "reducescatter"):
        schedule, count = _one_schedule(options, network, operator, root)
        return run_schedule(options, schedule, options.op, head, count=count)
    vector, algorithm, gathered = options.words, "short", None
    if options.on == "rtl" and options.op == "allreduce":
        options.algorithm = options.algorithm or "long"
        vector *= network.num_nodes if options.algorithm == "long" else 1
    if options.op == "allreduce":
        algorithm = options.algorithm
        if algorithm is None:
            algorithm, gathered = _faster(options, network)
        head |= {"algorithm": algorithm}
    head |= {"vector_words": vector}
    if algorithm in BASELINES:
        from hdnhw.cli.allreduce import run_routed

        return run_routed(options, network, operator, head)
    if algorithm == "long":
        options.words = block_words(vector, network.num_nodes)
        schedule, count = _in_blocks(options, network, operator, gathered)
    else:
        schedule, count = _in_registers(options, network, operator)
    bound = partial(lower_bound, network, options.op, all_port=options.ports == "all", words=vector)
    return run_schedule(options, schedule, options.op, head, count=count, bound=bound)


def _one_schedule(
    options: argparse.Namespace, network: "Network", operator: "Operator", root: int
) -> tuple[Any, Count]:
    from hdnhw.collective.combining import combine
    from hdnhw.collective.operations import operation_schedule

    schedule = operation_schedule(network, options.op, root=root, all_port=options.ports == "all")
    return schedule, _counted(options, partial(combine, schedule, operator, all_port=options.ports == "all"))


def _in_blocks(
    options: argparse.Namespace, network: "Network", operator: "Operator", gathered: "Execution | None"
) -> tuple[Any, Count]:
    from hdnhw.collective.combining import combine_and_gather
    from hdnhw.collective.operations import allreduce_phases

    phases, all_port = allreduce_phases(network, all_port=options.ports == "all"), options.ports == "all"
    run = partial(combine_and_gather, phases, operator, all_port=all_port, gathered=gathered)
    return phases, _counted(options, run)


def _in_registers(options: argparse.Namespace, network: "Network", operator: "Operator") -> tuple[Any, Count]:
    from hdnhw.collective.combining import combine_registers
    from hdnhw.collective.prefix import allreduce_schedule, scan_schedule

    if options.ports == "all":
        which = "--algorithm short" if options.op == "allreduce" else options.op
        raise SpecError(f"{which} is for one port a step, not for --ports all")
    if options.op == "allreduce":
        schedule = allreduce_schedule(network)
    else:
        schedule = scan_schedule(network, exclusive=options.op == "exscan")
    return schedule, _counted(options, partial(combine_registers, schedule, operator))


def _counted(options: argparse.Namespace, run: Callable[..., "Combined"]) -> Count:
    """Return what runs a schedule on some words of each message, and says what came out."""
    words = min(options.words, CHECKED_WORDS)

    def count(progress: Progress) -> tuple[Any, Result]:
        combined = run(words=words, progress=progress)
        more: Result = {"delivered": combined.wrong == 0, "checked_words": words, "wrong": combined.wrong}
        if combined.nodes_agree is not None:
            more["nodes_agree"] = combined.nodes_agree
        return combined.execution, more

    return count


def times_of(options: argparse.Namespace) -> tuple[float, float]:
    """Return t_s and t_w, those of the default machine if none are given."""
    return (
        STARTUP_TIME if options.startup_time is None else options.startup_time,
        WORD_TIME if options.word_time is None else options.word_time,
    )


def _faster(options: argparse.Namespace, network: "Network") -> tuple[str, "Execution | None"]:
    """Return the algorithm of an all-reduce that takes less time by the cost model; and the all-gather if it was run.

    It is not where whole vectors take no longer than its steps, twice, with the N - 1 blocks that a node must get.
    """
    from hdnhw.collective.combining import combine_registers
    from hdnhw.collective.cost import Cost, block_words
    from hdnhw.collective.executor import execute
    from hdnhw.collective.operations import operation_schedule
    from hdnhw.collective.operators import operator_of
    from hdnhw.collective.prefix import allreduce_schedule

    if options.ports == "all":
        return "long", None
    times, block = times_of(options), block_words(options.words, network.num_nodes)
    counted = combine_registers(allreduce_schedule(network), operator_of("sum", "int32")).execution
    short = (Cost(counted.startups, counted.words) * options.words).time(*times)
    gather = operation_schedule(network, "allgather")
    least = Cost(len(gather.steps), network.num_nodes - 1) * block
    if short <= least.times(2).time(*times):
        return "short", None
    gathered = execute(gather)
    long = (Cost(gathered.startups, gathered.words) * block).times(2).time(*times)
    return ("short" if short <= long else "long"), gathered
