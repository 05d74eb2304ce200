"""Collective operations but the total exchange."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

from hdnhw.collectives.choices import COLLECTIVES, COMBINING, ROOTED
from hdnhw.library.collectives.schedules import Asked, Row, checked_network, refuse, run_schedule
from hdnhw.library.faults import dead_of
from hdnhw.library.options import (
    DrawnMachineOptions,
    NetworkLike,
    NodeLike,
    PathLike,
    check_choice,
    figure_apart,
    network_of,
    node_of,
    spec_of,
)
from hdnhw.library.result import Result
from hdnhw.progress import Stopwatch
from hdnhw.spec import BARRIER, SpecError

if TYPE_CHECKING:
    from hdnhw.topology.graph import Network

OPERATIONS = (*COLLECTIVES, BARRIER)
"""That there are."""


def collective(
    spec: NetworkLike,
    *,
    op: str,
    root: NodeLike | None = None,
    targets: Sequence[NodeLike] | None = None,
    dead_nodes: Sequence[NodeLike] | None = None,
    dead_channels: Sequence[str] | None = None,
    operator: str | None = None,
    numbers: str | None = None,
    algorithm: str | None = None,
    sizes: str | Sequence[int] | None = None,
    bandwidth: PathLike | None = None,
    as_printed: bool = False,
    trees: str | None = None,
    words: int | None = None,
    message_packets: int | None = None,
    ports: str = "one",
    on: str | None = None,
    steps: bool = False,
    plot: PathLike | None = None,
    html: PathLike | None = None,
    command: str = "hdnhw.collective",
    startup_time: float | None = None,
    word_time: float | None = None,
    background: float | None = None,
    background_pattern: str | None = None,
    background_seed: int | None = None,
    repeats: int | None = None,
    **machine: Unpack[DrawnMachineOptions],
) -> Result:
    """Run a collective operation other than a total exchange and count what it costs.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    op : str
        ``broadcast``, ``multicast``, ``scatter``, ``allgather``, ``gather``, ``reduce``, ``reducescatter``,
        ``allreduce``, ``scan``, ``exscan`` or ``barrier``.
    root : int or str, optional
        Number or address of the only source, or destination (default 0).
    targets : sequence of int or str, optional
        Of a multicast: the nodes that get the message.
    dead_nodes, dead_channels : sequence, optional
        Of a broadcast: what is dead, see :func:`hdnhw.waypoints`; it goes to all live nodes.
    operator, numbers : str, optional
        What combines contributions: ``sum`` (default), ``min``, ``max``, ``and``, ``or`` or ``xor``; and what a word
        is: ``int8`` to ``int64``, ``uint8`` to ``uint64`` or ``float32`` (default ``int32``).
    algorithm : str, optional
        Of an all-reduce: ``short``, whole vectors in the fewest start-ups, or ``long``, blocks in the fewest words
        (default: what takes less time of these two); ``ring`` or ``doubling``, what MPI libraries run on any network.
    sizes : str or sequence of int, optional
        Of an all-reduce: compare all algorithms on vectors of so many words each.
    bandwidth : path, optional
        Of an all-reduce: draw words of the vector a cycle against its size there, for all algorithms.
    as_printed : bool
        Of an all-gather: send also what the partner already has, as in the paper.
    trees : str, optional
        Of an all-gather, reduce-scatter or all-reduce over all ports: long vectors in chunks of a word along spanning
        trees, packed for this network (``best``) or by the ``digits`` of addresses.
    words : int, optional
        Words, or flits, of a message (default 1; on rtl those of whole packets, one if omitted); of an all-reduce or
        scan, of each node's vector.
    message_packets : int, optional
        On rtl: packets of a message of the engines, in place of `words` (default 1).
    ports : str
        That a node uses in a step: ``one`` or ``all``.
    on : str, optional
        ``schedule``: count what it sends (default); ``model``: run its steps on the cycle-accurate model as well;
        ``rtl``: run the operation on engines in the emitted Verilog, which needs the extra ``sim``.
    steps : bool
        Also return a row for each step.
    plot : path, optional
        Draw which port each node uses in each step there: .svg, .png or .pdf. Needs the extra ``sweep``, as what
        follows does.
    html : path, optional
        Write a page there with the figure, all tables and the options.
    command : str
        What plot and page say that they were made by.
    startup_time, word_time : float, optional
        t_s and t_w of the cost model, for the time.
    background : float, optional
        On the model: run the operation also among packets of so many flits a node and cycle, in their steady state.
    background_pattern : str, optional
        Where these go, see :func:`hdnhw.simulate` (default ``uniform``).
    background_seed : int, optional
        Of their random numbers (default 1).
    repeats : int, optional
        How often the operation is run among them (default 5).
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
    of_machine, figure = figure_apart(machine)
    asked = Asked(
        spec=spec_of(spec),
        op=op,
        machine=of_machine,
        figure=figure,
        words=words,
        message_packets=message_packets,
        ports=ports,
        on=on,
        steps=steps,
        plot=plot,
        html=html,
        command=command,
        startup_time=startup_time,
        word_time=word_time,
        background=background,
        background_pattern=background_pattern,
        background_seed=background_seed,
        repeats=repeats,
        root=root,
        targets=targets,
        dead_nodes=dead_nodes or None,
        dead_channels=dead_channels or None,
        operator=operator,
        numbers=numbers,
        algorithm=algorithm,
        sizes=sizes,
        bandwidth=bandwidth,
        as_printed=as_printed,
        trees=trees,
    )
    return _collective(asked)


def _collective(asked: Asked) -> Result:
    from hdnhw.library.collectives.allreduce import compare_sizes
    from hdnhw.library.collectives.barrier import run_barrier
    from hdnhw.library.collectives.trees import run_trees

    check_choice("op", asked.op, OPERATIONS)
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


def _one_operation(asked: Asked, network: "Network") -> Result:
    """Run an operation by its steps."""
    from hdnhw.collectives.operations import operation_schedule
    from hdnhw.collectives.spread import allgather_schedule
    from hdnhw.library.collectives.combining import run_combining

    if asked.op != "allgather" and asked.as_printed:
        raise SpecError(f"--as-printed is for allgather, not for {asked.op}")
    if asked.op not in ROOTED and asked.root is not None:
        raise SpecError(f"--root is for {', '.join(ROOTED)}; there is none in {asked.op}")
    if asked.op != "multicast" and asked.targets is not None:
        raise SpecError(f"--targets is for multicast, not for {asked.op}")
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


def _among_dead(asked: Asked, network: "Network") -> Result:
    """Run a broadcast to all live nodes."""
    from hdnhw.collectives.executor import check_size
    from hdnhw.collectives.live import live_broadcast
    from hdnhw.library.collectives.barrier import OF_MESSAGES
    from hdnhw.topology.metrics import neighbor_table

    if asked.op != "broadcast":
        raise SpecError(f"--dead-nodes and --dead-channels are for broadcast, not for {asked.op}")
    others = [name for name in (*OF_MESSAGES, *asked.machine) if name not in ("root", "steps")]
    refuse(asked, others, "{} does not go with dead nodes or channels")
    if asked.on not in (None, "schedule"):
        raise SpecError("a broadcast among dead nodes is run on the schedule alone")
    check_size(network)
    watch, root = Stopwatch(), node_of(network, 0 if asked.root is None else asked.root)
    faults = dead_of(network, asked.dead_nodes or (), asked.dead_channels or ())
    if faults.nodes[root]:
        raise SpecError(f"root must be a live node; {root} is dead")
    found = live_broadcast(neighbor_table(network), faults, root)
    result: Row = {"spec": str(network.spec), "nodes": network.num_nodes, "op": asked.op, "root": root}
    result |= {**faults.counts, "live": found.live, "reached": found.reached, "delivered": found.reached == found.live}
    result |= {"startups": len(found.steps), "lower_bound_startups": found.lower_bound}
    if asked.steps:
        result["steps"] = [
            {"step": step, "sends": [list(ends) for ends in sends]} for step, sends in enumerate(found.steps)
        ]
    return Result(result | {"seconds": round(watch.seconds, 3)}, passed=result["delivered"])


def _multicast(asked: Asked, network: "Network", root: int) -> Result:
    """Run a multicast to the nodes of a list."""
    from hdnhw.collectives.cost import multicast_bound
    from hdnhw.collectives.executor import execute
    from hdnhw.collectives.operations import operation_schedule

    if asked.targets is None:
        raise SpecError("a multicast needs --targets, the nodes that get the message")
    targets = [node_of(network, node) for node in asked.targets]
    if len(set(targets)) != len(targets):
        raise SpecError("targets must be distinct nodes")
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
