"""Collective operations but the total exchange."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from hdnhw.collectives.choices import COLLECTIVES, COMBINING, NUMBERS, ROOTED
from hdnhw.library.asked import asks, made_by
from hdnhw.library.collectives.allreduce import compare_sizes
from hdnhw.library.collectives.barrier import OF_MESSAGES, run_barrier
from hdnhw.library.collectives.combining import ALGORITHMS, run_combining
from hdnhw.library.collectives.schedules import Row, ScheduleOptions, checked_network, refuse, run_schedule
from hdnhw.library.collectives.trees import TREES, run_trees
from hdnhw.library.faults import DeadOptions, dead_of
from hdnhw.library.options import FigureOptions, MachineOptions, NetworkLike, NodeLike, PathLike, network_of, node_of
from hdnhw.library.result import Result
from hdnhw.spec import BARRIER, OPERATORS
from hdnhw.spec.options import REQUIRED, Choice, Flag, Given, Several, option
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.support.progress import Stopwatch

if TYPE_CHECKING:
    from hdnhw.topology.graph import Network

OPERATIONS = (*COLLECTIVES, BARRIER)
"""All operations of the command."""


@dataclass(frozen=True, kw_only=True)
class CollectiveOptions(ScheduleOptions, DeadOptions):
    """Options of the command ``collective``."""

    op: str = option(REQUIRED, Choice, "the operation", choices=OPERATIONS)
    root: NodeLike | None = option(
        None, Given, "number or address of the only source, or destination (default 0)", metavar="NODE"
    )
    targets: Sequence[NodeLike] | None = option(
        None, Several, "multicast: the nodes that get the message", metavar="NODE"
    )
    operator: str | None = option(
        None, Choice, "what combines contributions (default sum)", choices=OPERATORS, group="operations that combine"
    )
    numbers: str | None = option(
        None, Choice, "type of a word (default int32)", choices=NUMBERS, group="operations that combine"
    )
    algorithm: str | None = option(
        None,
        Choice,
        "allreduce: whole vectors in the fewest start-ups (short), or a reduce-scatter and an all-gather of blocks in "
        "the fewest words (long; default: what takes less time of these two); or what MPI libraries run on any "
        "network, its messages routed: the ring of node numbers, or recursive doubling",
        choices=ALGORITHMS,
        group="operations that combine",
    )
    sizes: str | Sequence[int] | None = option(
        None,
        Given,
        "allreduce: compare all algorithms on vectors of these sizes, in words",
        metavar="M,...",
        group="operations that combine",
    )
    bandwidth: PathLike | None = option(
        None,
        Given,
        "allreduce: draw words of the vector a cycle against its size, for all algorithms, in .svg, .png or .pdf; with "
        "--on model the cycles of the model beside the cost model",
        metavar="FILE",
        group="operations that combine",
    )
    as_printed: bool = option(False, Flag, "allgather: send also what the partner already has, as in the paper")
    trees: str | None = option(
        None,
        Choice,
        "allgather, reducescatter, allreduce over all ports: long vectors in chunks of a word along spanning "
        "trees, packed for this network (best) or by the digits of addresses, beside the fewest rounds possible",
        choices=TREES,
        alone=TREES[0],
    )
    command: str = made_by("hdnhw.collective")


@asks
def collective(
    spec: NetworkLike, *, asked: CollectiveOptions, **machine: Annotated[Any, MachineOptions, FigureOptions]
) -> Result:
    """Run a collective operation other than a total exchange, and count what it costs.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    asked
    machine
        See :class:`hdnhw.MachineOptions`; on the model and rtl. Figures also take :class:`hdnhw.FigureOptions`.

    Returns
    -------
    Result
        As docs/collectives.md describes it: start-ups, words and bounds, on the model and rtl cycles too; `passed` is
        whether what was to arrive was ``delivered``, and every result as numpy has it.

    Raises
    ------
    SpecError
        If an option is out of range, or does not go with another or with the operation.

    Examples
    --------
    >>> import hdnhw
    >>> found = hdnhw.collective("rdn(cube(2), 1)", op="allreduce", words=64, algorithm="long")
    >>> found.startups, found.words, found.wrong, found.delivered
    (12, 124, 0, True)
    >>> hdnhw.collective("torus(4, 4)", op="barrier").cycles
    5
    """
    asked = asked.on_network(spec, machine)
    network = network_of(asked.spec)
    if network.num_terminals < network.num_nodes:
        raise SpecError(f"a collective operation is among all nodes, and {network.spec} has switches without terminals")
    if asked.dead_nodes or asked.dead_channels:
        return _among_dead(asked, network)
    if asked.op == BARRIER:
        return run_barrier(asked)
    if asked.trees is not None:
        return run_trees(asked)
    if asked.sizes is not None or asked.bandwidth is not None:
        return compare_sizes(asked)
    return _one_operation(*checked_network(asked))


def _one_operation(asked: CollectiveOptions, network: "Network") -> Result:
    """Run an operation by its steps."""
    from hdnhw.collectives.operations import operation_schedule
    from hdnhw.collectives.spread import allgather_schedule

    if asked.op != "allgather" and asked.as_printed:
        raise SpecError(f"{named('as_printed')} is for allgather, not for {asked.op}")
    if asked.op not in ROOTED and asked.root is not None:
        raise SpecError(f"{named('root')} is for {', '.join(ROOTED)}; there is none in {asked.op}")
    if asked.op != "multicast" and asked.targets is not None:
        raise SpecError(f"{named('targets')} is for multicast, not for {asked.op}")
    root = node_of(network, 0 if asked.root is None else asked.root)
    if asked.op in COMBINING:
        return run_combining(asked, network, root)
    refuse(asked, ("operator", "numbers", "algorithm"), f"{{}} is for {', '.join(COMBINING)}, not for {asked.op}")
    if asked.op == "multicast":
        return _multicast(asked, network, root)
    if asked.op == "allgather":
        schedule = allgather_schedule(network, as_printed=asked.as_printed, all_port=asked.all_port)
    else:
        schedule = operation_schedule(network, asked.op, root=root, all_port=asked.all_port)
    return run_schedule(asked, schedule, asked.op, {"op": asked.op, "root": schedule.root})


def _among_dead(asked: CollectiveOptions, network: "Network") -> Result:
    """Run a broadcast to all live nodes."""
    from hdnhw.collectives.executor import check_size
    from hdnhw.collectives.live import live_broadcast
    from hdnhw.topology.metrics import neighbor_table

    if asked.op != "broadcast":
        raise SpecError(f"{named('dead_nodes')} and {named('dead_channels')} are for broadcast, not for {asked.op}")
    others = [name for name in (*OF_MESSAGES, *asked.machine) if name not in ("root", "steps")]
    refuse(asked, others, "{} does not go with dead nodes or channels")
    if asked.on not in (None, "schedule"):
        raise SpecError("a broadcast among dead nodes is run on the schedule alone")
    check_size(network)
    watch, root = Stopwatch(), node_of(network, 0 if asked.root is None else asked.root)
    faults = dead_of(network, asked)
    if faults.nodes[root]:
        raise SpecError(f"{named('root')} must be a live node; {root} is dead")
    found = live_broadcast(neighbor_table(network), faults, root)
    result: Row = {"spec": str(network.spec), "nodes": network.num_nodes, "op": asked.op, "root": root}
    result |= {**faults.counts, "live": found.live, "reached": found.reached, "delivered": found.reached == found.live}
    result |= {"startups": len(found.steps), "lower_bound_startups": found.lower_bound}
    if asked.steps:
        result["steps"] = [
            {"step": step, "sends": [list(ends) for ends in sends]} for step, sends in enumerate(found.steps)
        ]
    return Result(result | {"seconds": round(watch.seconds, 3)}, passed=result["delivered"])


def _multicast(asked: CollectiveOptions, network: "Network", root: int) -> Result:
    """Run a multicast to the nodes of a list."""
    from hdnhw.collectives.cost import multicast_bound
    from hdnhw.collectives.executor import execute
    from hdnhw.collectives.operations import operation_schedule

    if asked.targets is None:
        raise SpecError(f"a multicast needs {named('targets')}, the nodes that get the message")
    targets = [node_of(network, node) for node in asked.targets]
    if len(set(targets)) != len(targets):
        raise SpecError(f"{named('targets')} must be distinct nodes")
    schedule = operation_schedule(network, "multicast", root=root, all_port=asked.all_port)
    return run_schedule(
        replace(asked, targets=targets),
        schedule,
        "multicast",
        {"op": "multicast", "root": root, "targets": len(targets)},
        count=lambda progress: (
            execute(schedule, all_port=asked.all_port, targets=targets, progress=progress),
            {"delivered": True},
        ),
        bound=lambda: multicast_bound(network, root, targets, all_port=asked.all_port) * asked.message_words,
    )
