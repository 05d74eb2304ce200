"""Total exchanges: by a schedule, of messages of unequal length, or simply routed."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hdnhw.collectives.choices import SPLITS
from hdnhw.endpoints.exchange.spec import ExchangeSpec
from hdnhw.library.asked import asks, made_by
from hdnhw.library.collectives.schedules import (
    Row,
    ScheduleOptions,
    bench_of,
    checked_network,
    number_of_words,
    one_length,
    refuse,
    run_schedule,
)
from hdnhw.library.options import FigureOptions, MachineOptions, NetworkLike, PathLike
from hdnhw.library.result import Result
from hdnhw.spec import EXCHANGE_ORDERS, MOST_MESSAGE_PACKETS
from hdnhw.spec.options import Choice, Flag, Given, Size, Text, option
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.support.progress import ProgressBar, Stopwatch, say

if TYPE_CHECKING:
    from hdnhw.topology.graph import Network

SCHEDULES = (*EXCHANGE_ORDERS, "network")
"""Orders of a total exchange, and packets that are simply routed."""

SPLIT = (
    "which node of a super-node a message crosses from, in the order of the papers: the one with the base digits of "
    "its destination, with its own (source), with their sum, or its first"
)

MOST_UNEQUAL = 4096
"""Nodes of a total exchange of unequal messages: 2^24 of them."""


@dataclass(frozen=True, kw_only=True)
class ExchangeOptions(ScheduleOptions):
    """Options of the command ``exchange``."""

    schedule: str = option(
        SCHEDULES[1],
        Choice,
        "the papers' order, the one of fewest words, or packets that are simply routed",
        choices=SCHEDULES,
    )
    split: str = option(SPLITS[0], Choice, SPLIT, choices=SPLITS)
    message_sizes: str | None = option(
        None,
        Text,
        "words of each message: a number, uniform(LEAST, MOST) or mix(LENGTH, SHARE, ...)",
        metavar="DIST",
    )
    trace: PathLike | None = option(
        None,
        Given,
        "words of each message: those of all messages of a trace from a node to a node",
        metavar="FILE",
    )
    seed: int | None = option(
        None, Size, "seed of the random numbers of --message-sizes (default 1)", metavar="S", least=0
    )
    at_once: bool = option(False, Flag, "network: inject all messages at cycle 0")
    command: str = made_by("hdnhw.exchange")


@asks
def exchange(
    spec: NetworkLike, *, asked: ExchangeOptions, **machine: Annotated[Any, MachineOptions, FigureOptions]
) -> Result:
    """Run a total exchange (all-to-all), and count what it costs.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    asked
    machine
        See :class:`hdnhw.MachineOptions`; on the model and rtl. Figures also take :class:`hdnhw.FigureOptions`.

    Returns
    -------
    Result
        As docs/collectives.md describes it: start-ups, words, bounds and the papers' formulas, on the model and rtl
        cycles too; `passed` is whether every message was ``delivered``.

    Raises
    ------
    SpecError
        If an option is out of range, or does not go with another.

    Examples
    --------
    >>> import hdnhw
    >>> found = hdnhw.exchange("rdn(cube(2), 1)")
    >>> found.startups, found.words, found.lower_bound_words
    (6, 104, 104)
    """
    from hdnhw.collectives.exchange import exchange_schedule

    if asked.message_sizes is not None and asked.trace is not None:
        raise SpecError(f"{named('message_sizes')} does not go with {named('trace')}")
    order, (asked, network) = asked.schedule, checked_network(asked.on_network(spec, machine))
    if order == "network":
        return _network_exchange(asked, network)
    if asked.at_once:
        raise SpecError(f"{named('at_once')} is for the schedule network, not for {order}")
    schedule = exchange_schedule(network, order, split=asked.split, all_port=asked.all_port)
    head = {"schedule": order, "split": asked.split}
    if asked.is_unequal:
        return _unequal_exchange(asked, schedule, head)
    return run_schedule(asked, schedule, "exchange", head)


def _unequal_exchange(asked: ExchangeOptions, schedule: Any, head: Row) -> Result:
    """Run a total exchange of messages that have each a length of its own, in words."""
    from hdnhw.collectives.cost import unequal_bound
    from hdnhw.collectives.executor import execute

    words, all_port = _lengths(asked, schedule.network), asked.all_port
    packets = _packets(asked, words) if asked.on == "rtl" else None
    return run_schedule(
        asked,
        schedule,
        "unequal",
        head | {"most_message_words": int(words.max())},
        count=lambda progress: (
            execute(schedule, all_port=all_port, words=words, progress=progress),
            {"delivered": True, "message_words": float(words.mean())},
        ),
        bound=lambda: unequal_bound(schedule.network, words, all_port=all_port),
        packets=packets,
    )


def _packets(asked: ExchangeOptions, words: Any) -> Any:
    """Return how many packets the messages of engines have; shape (nodes, nodes)."""
    length = asked.fabric.packet_length
    most = MOST_MESSAGE_PACKETS * length
    if words.max() > most:
        raise SpecError(
            f"messages must have at most {most} words on rtl, {MOST_MESSAGE_PACKETS} packets, not {words.max()}"
        )
    return -(-words // length)


def _lengths(asked: ExchangeOptions, network: "Network") -> Any:
    """Return the words of the message from each node to each; shape (nodes, nodes)."""
    import numpy as np

    from hdnhw.traffic.lengths import parse_lengths
    from hdnhw.traffic.tracefile import read_trace

    nodes = network.num_nodes
    refuse(asked, ("words", "slices"), one_length())
    if nodes > MOST_UNEQUAL:
        names = f"{named('message_sizes')} and {named('trace')}"
        raise SpecError(f"{names} are for up to {MOST_UNEQUAL} nodes; {network.spec} has {nodes}")
    if asked.message_sizes is not None:
        rng = np.random.default_rng(1 if asked.seed is None else asked.seed)
        return parse_lengths(asked.message_sizes).draw(nodes * nodes, rng).reshape(nodes, nodes)
    if asked.seed is not None:
        raise SpecError(f"{named('seed')} is for {named('message_sizes')}, not for {named('trace')}")
    trace = read_trace(Path(asked.trace or ""), nodes=nodes, packet_length=1, flit_width=64)
    words = np.zeros((nodes, nodes), np.int64)
    np.add.at(words, (trace.source, trace.destination), trace.flits)
    return words


def _network_exchange(asked: ExchangeOptions, network: "Network") -> Result:
    """Route the packets of a total exchange on the model, and let the emitted Verilog do it as well."""
    from hdnhw.measurement.collective import measure_network_exchange

    _refuse_steps(asked)
    watch, words = Stopwatch(), asked.message_words
    bench = bench_of(asked.fabric, ExchangeSpec(at_once=asked.at_once)) if asked.on == "rtl" else None
    with ProgressBar() as progress:
        row = measure_network_exchange(asked.fabric, words=words, at_once=asked.at_once, progress=progress.show)
    result: Row = {"spec": str(network.spec), "nodes": network.num_nodes, "schedule": "network"}
    result |= {"on": asked.on or "model", "message_words": words} | row
    least = row["flow_bound_words"]
    result |= {
        "lower_bound_words": row["words"],
        "flow_bound_words": None if least is None else number_of_words(least),
        **dict.fromkeys(("startups", "words_per_step", "paper_formula_words")),
    }
    if bench is not None:
        result |= bench.measure(say=say)
    result["seconds"] = round(watch.seconds, 3)
    return Result(result, passed=result["delivered"])


def _refuse_steps(asked: ExchangeOptions) -> None:
    """Refuse what says more of the steps of a schedule."""
    why = "is for schedules with steps; network has none"
    if asked.on == "schedule":
        raise SpecError(f"{named('on', 'schedule')} {why}")
    names = ("split", "ports", "message_sizes", "trace", "slices", "steps", "plot", "html", "startup_time", "word_time")
    refuse(asked, (*names, "message_packets", "background"), f"{{}} {why}")
