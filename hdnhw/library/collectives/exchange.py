"""Total exchanges: by a schedule, of messages of unequal length, or simply routed."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from hdnhw.collectives.choices import SPLITS
from hdnhw.library.collectives.schedules import (
    Asked,
    Row,
    bench_of,
    checked_network,
    number_of_words,
    run_schedule,
)
from hdnhw.library.options import DrawnMachineOptions, NetworkLike, PathLike, check_choice, figure_apart, spec_of
from hdnhw.library.result import Result
from hdnhw.progress import ProgressBar, Stopwatch, say
from hdnhw.spec import EXCHANGE_ORDERS, MOST_MESSAGE_PACKETS, ExchangeSpec, SpecError

if TYPE_CHECKING:
    from hdnhw.topology.graph import Network

SCHEDULES = (*EXCHANGE_ORDERS, "network")
"""Orders of a total exchange, and packets that are simply routed."""

MOST_UNEQUAL = 4096
"""Nodes of a total exchange of unequal messages: 2^24 of them."""


def exchange(
    spec: NetworkLike,
    *,
    schedule: str = "cluster-first",
    split: str = "destination",
    lengths: str | None = None,
    trace: PathLike | None = None,
    seed: int | None = None,
    at_once: bool = False,
    words: int | None = None,
    message_packets: int | None = None,
    ports: str = "one",
    on: str | None = None,
    steps: bool = False,
    plot: PathLike | None = None,
    html: PathLike | None = None,
    command: str = "hdnhw.exchange",
    startup_time: float | None = None,
    word_time: float | None = None,
    background: float | None = None,
    background_pattern: str | None = None,
    background_seed: int | None = None,
    repeats: int | None = None,
    **machine: Unpack[DrawnMachineOptions],
) -> Result:
    """Run a total exchange, in which every node has a message for every other one, and count what it costs.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    schedule : str
        ``paper``, the papers' order; ``cluster-first``, the one of fewest words; ``network``, packets that are simply
        routed.
    split : str
        Which node of a super-node a message crosses from, in the order of the papers: the one with the base digits of
        its ``destination``, with its own (``source``), with their ``sum``, or its ``first``.
    lengths : str, optional
        Words of each message: a number, ``uniform(LEAST, MOST)`` or ``mix(LENGTH, SHARE, ...)``.
    trace : path, optional
        Words of each message: those of all messages of a trace from a node to a node.
    seed : int, optional
        Of the random numbers of `lengths` (default 1).
    at_once : bool
        Offer all messages in cycle 0; for the schedule ``network``.
    words : int, optional
        Words, or flits, of a message (default 1; on rtl those of whole packets, one if omitted).
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
    of_machine, figure = figure_apart(machine)
    asked = Asked(
        spec=spec_of(spec),
        op="exchange",
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
        schedule=schedule,
        split=split,
        lengths=lengths,
        trace=trace,
        seed=seed,
        at_once=at_once,
    )
    return _exchange(asked, schedule)


def _exchange(asked: Asked, order: str) -> Result:
    from hdnhw.collectives.exchange import exchange_schedule

    check_choice("schedule", order, SCHEDULES)
    check_choice("split", asked.split, SPLITS)
    if asked.lengths is not None and asked.trace is not None:
        raise SpecError("--lengths does not go with --trace")
    asked, network = checked_network(asked)
    if order == "network":
        return _network_exchange(asked, network)
    if asked.at_once:
        raise SpecError(f"--at-once is for the schedule network, not for {order}")
    schedule = exchange_schedule(network, order, split=asked.split, all_port=asked.all_port)
    head = {"schedule": order, "split": asked.split}
    if asked.is_unequal:
        return _unequal_exchange(asked, schedule, head)
    return run_schedule(asked, schedule, "exchange", head)


def _unequal_exchange(asked: Asked, schedule: Any, head: Row) -> Result:
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


def _packets(asked: Asked, words: Any) -> Any:
    """Return how many packets the messages of engines have; shape (nodes, nodes)."""
    length = asked.fabric.packet_length
    most = MOST_MESSAGE_PACKETS * length
    if words.max() > most:
        raise SpecError(
            f"messages must have at most {most} words on rtl, {MOST_MESSAGE_PACKETS} packets, not {words.max()}"
        )
    return -(-words // length)


def _lengths(asked: Asked, network: "Network") -> Any:
    """Return the words of the message from each node to each; shape (nodes, nodes)."""
    import numpy as np

    from hdnhw.traffic.lengths import parse_lengths
    from hdnhw.traffic.tracefile import read_trace

    nodes = network.num_nodes
    if asked.words is not None:
        raise SpecError("--words is for messages of one length; give --lengths or --trace without it")
    if nodes > MOST_UNEQUAL:
        raise SpecError(f"--lengths and --trace are for up to {MOST_UNEQUAL} nodes; {network.spec} has {nodes}")
    if asked.lengths is not None:
        rng = np.random.default_rng(1 if asked.seed is None else asked.seed)
        return parse_lengths(asked.lengths).draw(nodes * nodes, rng).reshape(nodes, nodes)
    if asked.seed is not None:
        raise SpecError("--seed is for --lengths, not for --trace")
    trace = read_trace(Path(asked.trace or ""), nodes=nodes, packet_length=1, flit_width=64)
    words = np.zeros((nodes, nodes), np.int64)
    np.add.at(words, (trace.source, trace.destination), trace.flits)
    return words


def _network_exchange(asked: Asked, network: "Network") -> Result:
    """Route the packets of a total exchange on the model, and let the emitted Verilog do it as well."""
    from hdnhw.model.collective import measure_network_exchange

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


def _refuse_steps(asked: Asked) -> None:
    """Refuse what says more of the steps of a schedule."""
    given = {
        "--split": asked.split != "destination",
        "--ports": asked.all_port,
        "--lengths or --trace": asked.is_unequal,
        "--steps": asked.steps,
        "--plot": asked.plot is not None,
        "--html": asked.html is not None,
        "--startup-time": asked.startup_time is not None,
        "--word-time": asked.word_time is not None,
        "--on schedule": asked.on == "schedule",
        "--message-packets": asked.message_packets is not None,
        "--background": asked.background is not None,
    }
    for name, is_given in given.items():
        if is_given:
            raise SpecError(f"{name} is for schedules with steps; network has none")
