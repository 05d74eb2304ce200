"""Commands about collective operations."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdnhw.cli.options import DONE, FAILED, Parser, Result, add_command, add_machine_options, fabric_spec, say
from hdnhw.cli.progress import ProgressBar
from hdnhw.cli.schedules import bench_of, checked_network, number_of_words, refuse, run_schedule
from hdnhw.cli.trees import add_trees_option, run_trees
from hdnhw.collective.choices import BASELINES, COLLECTIVES, COMBINING, NUMBERS, OPERATORS, ROOTED, SPLITS
from hdnhw.kernels import Stopwatch
from hdnhw.spec import BARRIER, EXCHANGE_ORDERS, ExchangeSpec, SpecError

if TYPE_CHECKING:
    from hdnhw.topology.network import Network

__all__ = ["add_collective_commands", "add_split_option"]

MOST_UNEQUAL = 4096
"""Nodes of a total exchange of unequal messages: 2^24 of them."""


def exchange(options: argparse.Namespace) -> tuple[Result, int]:
    """Run a total exchange and count what it costs, beside the bound and the papers' formulas."""
    from hdnhw.collective.exchange import exchange_schedule

    network = checked_network(options)
    if options.schedule == "network":
        return _network_exchange(options, network)
    if options.at_once:
        raise SpecError(f"--at-once is for the schedule network, not for {options.schedule}")
    schedule = exchange_schedule(network, options.schedule, split=options.split, all_port=options.ports == "all")
    head = {"schedule": options.schedule, "split": options.split}
    if options.lengths is not None or options.trace is not None:
        return _unequal_exchange(options, schedule, head)
    return run_schedule(options, schedule, "exchange", head)


def _unequal_exchange(options: argparse.Namespace, schedule: Any, head: Result) -> tuple[Result, int]:
    """Run a total exchange of messages that have each a length of its own, in words."""
    from hdnhw.collective.cost import unequal_bound
    from hdnhw.collective.executor import execute

    words, all_port = _message_words(options, schedule.network), options.ports == "all"
    return run_schedule(
        options,
        schedule,
        "unequal",
        head | {"most_message_words": int(words.max())},
        count=lambda progress: (
            execute(schedule, all_port=all_port, words=words, progress=progress),
            {"delivered": True, "message_words": float(words.mean())},
        ),
        bound=lambda: unequal_bound(schedule.network, words, all_port=all_port),
    )


def _message_words(options: argparse.Namespace, network: "Network") -> Any:
    """Return the words of the message from each node to each."""
    import numpy as np

    from hdnhw.traffic.lengths import parse_lengths
    from hdnhw.traffic.tracefile import read_trace

    nodes = network.num_nodes
    if options.on == "rtl":
        raise SpecError("--lengths and --trace are for the schedule and the model; a message of engines is a packet")
    if options.words_given:
        raise SpecError("--words is for messages of one length; give --lengths or --trace without it")
    if nodes > MOST_UNEQUAL:
        raise SpecError(f"--lengths and --trace are for up to {MOST_UNEQUAL} nodes; {network.spec} has {nodes}")
    if options.trace is None:
        rng = np.random.default_rng(1 if options.seed is None else options.seed)
        return parse_lengths(options.lengths).draw(nodes * nodes, rng).reshape(nodes, nodes)
    if options.seed is not None:
        raise SpecError("--seed is for --lengths, not for --trace")
    trace = read_trace(Path(options.trace), nodes=nodes, packet_length=1, flit_width=64)
    words = np.zeros((nodes, nodes), np.int64)
    np.add.at(words, (trace.source, trace.destination), trace.flits)
    return words


def _multicast(options: argparse.Namespace, network: "Network", root: int) -> tuple[Result, int]:
    """Run a multicast to the nodes of a list."""
    from hdnhw.collective.cost import multicast_bound
    from hdnhw.collective.executor import execute
    from hdnhw.collective.operations import operation_schedule

    if options.targets is None:
        raise SpecError("a multicast needs --targets, the nodes that get the message")
    targets = [network.parse_node(text) for text in options.targets]
    if len(set(targets)) != len(targets):
        raise SpecError("targets must be distinct nodes")
    if options.on == "rtl":
        raise SpecError("a multicast is for the schedule and the model: engines have no lists of destinations")
    all_port = options.ports == "all"
    schedule = operation_schedule(network, "multicast", root=root, all_port=all_port)
    return run_schedule(
        options,
        schedule,
        "multicast",
        {"op": "multicast", "root": root, "targets": len(targets)},
        count=lambda progress: (
            execute(schedule, all_port=all_port, targets=targets, progress=progress),
            {"delivered": True},
        ),
        bound=lambda: multicast_bound(network, root, targets, all_port=all_port) * options.words,
    )


def collective(options: argparse.Namespace) -> tuple[Result, int]:
    """Run a collective operation other than a total exchange and count what it costs."""
    from hdnhw.cli.allreduce import compare_sizes
    from hdnhw.cli.barrier import run_barrier
    from hdnhw.cli.combining import run_combining
    from hdnhw.collective.operations import operation_schedule
    from hdnhw.collective.spread import allgather_schedule

    if options.op == BARRIER:
        return run_barrier(options)
    if options.trees is not None:
        return run_trees(options)
    if options.sizes is not None or options.bandwidth is not None:
        return compare_sizes(options)
    network, all_port = checked_network(options), options.ports == "all"
    if options.op != "allgather" and options.as_printed:
        raise SpecError(f"--as-printed is for allgather, not for {options.op}")
    if options.op not in ROOTED and options.root is not None:
        raise SpecError(f"--root is for {', '.join(ROOTED)}; there is none in {options.op}")
    if options.op != "multicast" and options.targets is not None:
        raise SpecError(f"--targets is for multicast, not for {options.op}")
    root = network.parse_node(options.root or "0")
    if options.op in COMBINING:
        return run_combining(options, network, root)
    refuse(options, ("operator", "numbers", "algorithm"), f"{{}} is for {', '.join(COMBINING)}, not for {options.op}")
    if options.op == "multicast":
        return _multicast(options, network, root)
    if options.op == "allgather":
        schedule = allgather_schedule(network, as_printed=options.as_printed, all_port=all_port)
    else:
        schedule = operation_schedule(network, options.op, root=root, all_port=all_port)
    return run_schedule(options, schedule, options.op, {"op": options.op, "root": schedule.root})


def _network_exchange(options: argparse.Namespace, network: "Network") -> tuple[Result, int]:
    """Route the packets of a total exchange on the model, and let the emitted Verilog do it as well."""
    from hdnhw.model.collective import measure_network_exchange

    given = {
        "--split": options.split != "destination",
        "--ports": options.ports != "one",
        "--lengths or --trace": options.lengths is not None or options.trace is not None,
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
    bench = bench_of(fabric_spec(options), ExchangeSpec(at_once=options.at_once)) if options.on == "rtl" else None
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
        "flow_bound_words": None if least is None else number_of_words(least),
    } | nothing
    if bench is not None:
        result |= bench.measure(say=say)
    result["seconds"] = round(watch.seconds, 3)
    return result, DONE if result["delivered"] else FAILED


def _add_combining_options(parser: Parser) -> None:
    combined = f"{', '.join(COMBINING)}: "
    parser.add_argument("--operator", choices=OPERATORS, help=f"{combined}what combines contributions (default sum)")
    parser.add_argument("--numbers", choices=NUMBERS, help=f"{combined}what a word is (default int32)")
    parser.add_argument(
        "--algorithm",
        choices=("short", "long", *BASELINES),
        help="allreduce: whole vectors in the fewest start-ups, or a reduce-scatter and an all-gather of blocks in the "
        "fewest words (default: what takes less time of these two); or what MPI libraries run on any network, its "
        "messages routed: the ring of node numbers, or recursive doubling",
    )
    parser.add_argument(
        "--sizes", metavar="M,...", help="allreduce: compare all algorithms on vectors of so many words each"
    )
    parser.add_argument(
        "--bandwidth",
        metavar="FILE",
        help="allreduce: draw words of the vector a cycle against its size, for all algorithms, in .svg, .png or .pdf; "
        "with --on model the cycles of the model beside the cost model",
    )


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
        "--words",
        type=int,
        metavar="M",
        help="words, or flits, of a message (default 1; on rtl those of a packet); of an allreduce or scan, of each "
        "node's vector",
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
    unequal = parser.add_mutually_exclusive_group()
    unequal.add_argument(
        "--lengths",
        metavar="DIST",
        help="words of each message: a number, uniform(LEAST, MOST) or mix(LENGTH, SHARE, ...)",
    )
    unequal.add_argument(
        "--trace", metavar="FILE", help="words of each message: those of all messages of a trace from a node to a node"
    )
    parser.add_argument("--seed", type=int, metavar="S", help="of the random numbers of --lengths (default 1)")
    parser.add_argument("--at-once", action="store_true", help="network: offer all messages in cycle 0")
    _add_options(parser)
    parser = add_command(
        commands,
        "collective",
        collective,
        summary="run a collective operation and count what it costs: broadcast to scan",
        example="hdnhw collective 'rdn(cube(3), 1)' --op allreduce --words 1024",
    )
    parser.add_argument("--op", choices=(*COLLECTIVES, BARRIER), required=True, help="which one")
    parser.add_argument(
        "--root", metavar="NODE", help="node number or address of the only source, or destination (default 0)"
    )
    parser.add_argument("--targets", nargs="+", metavar="NODE", help="multicast: the nodes that get the message")
    _add_combining_options(parser)
    parser.add_argument(
        "--as-printed", action="store_true", help="allgather: send also what the partner already has, as in the paper"
    )
    add_trees_option(parser)
    _add_options(parser)
