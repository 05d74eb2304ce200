"""Collective operations that combine contributions."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from hdnhw.collectives.choices import BASELINES
from hdnhw.library.collectives.schedules import Count, Row, ScheduleOptions, run_schedule
from hdnhw.library.result import Result
from hdnhw.spec import OPERATORS
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.support.progress import Progress

if TYPE_CHECKING:
    from hdnhw.collectives.combining import Combined
    from hdnhw.collectives.cost import Cost
    from hdnhw.collectives.executor import Execution
    from hdnhw.collectives.operators import Operator
    from hdnhw.topology.graph import Network

ALGORITHMS = ("short", "long", *BASELINES)
"""Of an all-reduce."""

CHECKED_WORDS = 16
"""Words of a vector that are moved: all others would go the same way."""

STARTUP_TIME, WORD_TIME = 27.0, 1.0
"""t_s and t_w, by which an algorithm is chosen if none are given: those of the default machine, in cycles."""


def run_combining(asked: ScheduleOptions, network: "Network", root: int) -> Result:
    """Run an operation of :data:`hdnhw.collectives.choices.COMBINING` on random words, and count what it costs."""
    operator = _operator(asked)
    head: Row = {"op": asked.op, "operator": operator.name, "numbers": str(operator.numbers)}
    if asked.op == "reduce":
        head |= {"root": root}
    if asked.op in ("reduce", "reducescatter"):
        schedule, count = _one_schedule(asked, network, operator, root)
        return run_schedule(asked, schedule, asked.op, head, count=count)
    if asked.op == "allreduce":
        return _allreduce(asked, network, operator, head)
    return _vectors(asked, network, operator, head | {"vector_words": asked.message_words})


def _operator(asked: ScheduleOptions) -> "Operator":
    from hdnhw.collectives.operators import operator_of

    if asked.op != "allreduce" and asked.algorithm is not None:
        raise SpecError(f"{named('algorithm')} is for allreduce, not for {asked.op}")
    name, numbers = asked.operator or OPERATORS[0], asked.numbers or "int32"
    return operator_of(name, numbers)


def _allreduce(asked: ScheduleOptions, network: "Network", operator: "Operator", head: Row) -> Result:
    """Run an all-reduce by the algorithm that is asked for; on engines the long one, else the faster, by default."""
    from hdnhw.collectives.cost import block_words
    from hdnhw.library.collectives.allreduce import run_routed

    vector, algorithm, gathered = asked.message_words, asked.algorithm, None
    if asked.on == "rtl":
        algorithm = algorithm or "long"
        vector *= network.num_nodes if algorithm == "long" else 1
    if algorithm is None:
        algorithm, gathered = _faster(asked, network)
    head |= {"algorithm": algorithm, "vector_words": vector}
    if algorithm in BASELINES:
        return run_routed(asked, network, operator, head)
    if algorithm == "short":
        return _vectors(asked, network, operator, head)
    asked = replace(asked, words=block_words(vector, network.num_nodes))
    schedule, count = _in_blocks(asked, network, operator, gathered)
    return run_schedule(asked, schedule, asked.op, head, count=count, bound=_bound(asked, network, vector))


def _vectors(asked: ScheduleOptions, network: "Network", operator: "Operator", head: Row) -> Result:
    """Run an operation that combines whole vectors in registers."""
    schedule, count = _in_registers(asked, network, operator)
    bound = _bound(asked, network, asked.message_words)
    return run_schedule(asked, schedule, asked.op, head, count=count, bound=bound)


def _bound(asked: ScheduleOptions, network: "Network", vector: int) -> Callable[[], "Cost"]:
    from hdnhw.collectives.cost import lower_bound

    return partial(lower_bound, network, asked.op, all_port=asked.all_port, words=vector)


def _one_schedule(asked: ScheduleOptions, network: "Network", operator: "Operator", root: int) -> tuple[Any, Count]:
    from hdnhw.collectives.combining import combine
    from hdnhw.collectives.operations import operation_schedule

    schedule = operation_schedule(network, asked.op, root=root, all_port=asked.all_port)
    return schedule, _counted(asked, partial(combine, schedule, operator, all_port=asked.all_port))


def _in_blocks(
    asked: ScheduleOptions, network: "Network", operator: "Operator", gathered: "Execution | None"
) -> tuple[Any, Count]:
    from hdnhw.collectives.combining import combine_and_gather
    from hdnhw.collectives.operations import allreduce_phases

    phases, all_port = allreduce_phases(network, all_port=asked.all_port), asked.all_port
    run = partial(combine_and_gather, phases, operator, all_port=all_port, gathered=gathered)
    return phases, _counted(asked, run)


def _in_registers(asked: ScheduleOptions, network: "Network", operator: "Operator") -> tuple[Any, Count]:
    from hdnhw.collectives.combining import combine_registers
    from hdnhw.collectives.prefix import allreduce_schedule, scan_schedule

    if asked.all_port:
        which = named("algorithm", "short") if asked.op == "allreduce" else asked.op
        raise SpecError(f"{which} is for one port per step, not for {named('ports', 'all')}")
    if asked.op == "allreduce":
        schedule = allreduce_schedule(network)
    else:
        schedule = scan_schedule(network, exclusive=asked.op == "exscan")
    return schedule, _counted(asked, partial(combine_registers, schedule, operator))


def _counted(asked: ScheduleOptions, run: Callable[..., "Combined"]) -> Count:
    """Return what runs a schedule on some words of each message, and says what came out."""
    words = min(asked.message_words, CHECKED_WORDS)

    def count(progress: Progress) -> tuple[Any, Row]:
        combined = run(words=words, progress=progress)
        more: Row = {"delivered": combined.wrong == 0, "checked_words": words, "wrong": combined.wrong}
        if combined.nodes_agree is not None:
            more["nodes_agree"] = combined.nodes_agree
        return combined.execution, more

    return count


def times_of(asked: ScheduleOptions) -> tuple[float, float]:
    """Return t_s and t_w, those of the default machine if none are given."""
    return (
        STARTUP_TIME if asked.startup_time is None else asked.startup_time,
        WORD_TIME if asked.word_time is None else asked.word_time,
    )


def _faster(asked: ScheduleOptions, network: "Network") -> tuple[str, "Execution | None"]:
    """Return the algorithm of an all-reduce that takes less time by the cost model; and the all-gather if it was run.

    It is not where whole vectors take no longer than its steps, twice, with the N - 1 blocks that a node must get. On a
    machine, the cost model is that of its channels.
    """
    from hdnhw.collectives.combining import combine_registers
    from hdnhw.collectives.cost import Cost, block_words
    from hdnhw.collectives.executor import execute
    from hdnhw.collectives.operations import operation_schedule
    from hdnhw.collectives.operators import operator_of
    from hdnhw.collectives.prefix import allreduce_schedule
    from hdnhw.machine.machine import make_machine
    from hdnhw.measurement.predicted import predicted_cycles

    if asked.all_port:
        return "long", None
    times, block = times_of(asked), block_words(asked.message_words, network.num_nodes)
    by_machine = asked.startup_time is asked.word_time is None and (asked.on == "model" or asked.machine)
    machine = make_machine(asked.fabric) if by_machine else None

    def time(counted: "Execution", words: int) -> float:
        if machine is not None:
            return sum(predicted_cycles(machine, counted, words))
        return (Cost(counted.startups, counted.words) * words).time(*times)

    counted = combine_registers(allreduce_schedule(network), operator_of("sum", "int32")).execution
    short = time(counted, asked.message_words)
    gather = operation_schedule(network, "allgather")
    least = Cost(len(gather.steps), network.num_nodes - 1) * block
    if machine is not None:
        times = machine.timing.zero_load_latency(1) + 1 - machine.timing.packet_length, 1
    if short <= least.times(2).time(*times):
        return "short", None
    gathered = execute(gather)
    return ("short" if short <= 2 * time(gathered, block) else "long"), gathered
