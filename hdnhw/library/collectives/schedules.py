"""What functions have in common that run a schedule: its counts, the model, the engines, tables and pictures."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any, Self, TypeVar

from hdnhw.collectives.choices import BASELINES, SPLITS
from hdnhw.endpoints import declared
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.library.asked import DrawnOptions, plot_of
from hdnhw.library.options import NodeLike, PathLike, fabric_of, figure_apart, given, network_of, spec_of
from hdnhw.library.result import Result
from hdnhw.spec import (
    BARRIER,
    ENGINE_OPERATIONS,
    MOST_MESSAGE_PACKETS,
    MULTICAST,
    REGISTER_OPERATIONS,
    EndpointSpec,
    FabricSpec,
    NetworkSpec,
)
from hdnhw.spec.load import LEAST_RATE, MOST_REPEATS
from hdnhw.spec.options import Choice, Flag, Pattern, Rate, Size, option, options_of
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import choices_text, named
from hdnhw.support.progress import Progress, ProgressBar, Stopwatch, say

if TYPE_CHECKING:
    from hdnhw.collectives.cost import Cost
    from hdnhw.figures.look import Look
    from hdnhw.figures.outputs import Outputs
    from hdnhw.measurement.collective import Among
    from hdnhw.topology.graph import Network

PORTS, PLACES = ("one", "all"), ("schedule", "model", "rtl")
"""That a node uses in a step; and where an operation is run."""

BACKGROUND = ("background", "background_pattern", "background_seed", "repeats")
"""Options for packets among which an operation is run on the model."""

MOST_WORDS = 1 << 20
"""Of a message."""

MOST_SLICES = 1 << 10
"""Of a message."""

Row = dict[str, Any]
"""Keys and values of a result, or a row of a table in it."""


@dataclass(frozen=True, kw_only=True)
class ScheduleOptions(DrawnOptions):
    """Options of both ``exchange`` and ``collective``, and on what they are run.

    Attributes
    ----------
    spec : NetworkSpec or None
        None before :meth:`on_network`.
    machine, figure : mapping of str to Any
        Options of the machine, and of the figure, that are given.
    """

    words: int | None = option(
        None,
        Size,
        "words, or flits, per message (default 1; on rtl those of whole packets, one if omitted); of an "
        "allreduce or scan, of each node's vector",
        metavar="M",
        least=1,
    )
    message_packets: int | None = option(
        None,
        Size,
        "on rtl: packets per message of the engines, in place of --words (default 1)",
        metavar="M",
        least=1,
        most=MOST_MESSAGE_PACKETS,
        unit="packets",
    )
    ports: str = option(PORTS[0], Choice, "ports that a node uses in a step", choices=PORTS)
    on: str | None = option(
        None,
        Choice,
        "count what the schedule sends (default), or also run its steps on the cycle-accurate model, or the "
        "operation on engines in the emitted Verilog, which needs the extra sim",
        choices=PLACES,
    )
    slices: int | None = option(
        None,
        Size,
        "on model: also run it with the words of each message cut into C slices, which nodes send on as they come, so "
        "that long and narrow channels are busy while other slices take other steps",
        metavar="C",
        least=2,
        most=MOST_SLICES,
    )
    steps: bool = option(False, Flag, "show a table of the steps")
    plot: PathLike | None = plot_of("which port each node uses in each step")
    startup_time: float | None = option(
        None, Rate, "t_s of the cost model, for the time", metavar="T", least=0, most=inf, open=True
    )
    word_time: float | None = option(
        None, Rate, "t_w of the cost model, for the time", metavar="T", least=0, most=inf, open=True
    )
    background: float | None = option(
        None,
        Rate,
        "on model: also run the operation among packets of RATE flits per node per cycle, in their steady state",
        metavar="RATE",
        least=LEAST_RATE,
        most=1,
        unit="flits per node per cycle",
        group="background traffic",
    )
    background_pattern: str | None = option(
        None,
        Pattern,
        "where these packets go (default uniform)",
        metavar="PATTERN",
        group="background traffic",
    )
    background_seed: int | None = option(
        None, Size, "seed of their random numbers (default 1)", metavar="S", least=0, group="background traffic"
    )
    repeats: int | None = option(
        None,
        Size,
        "runs of the operation among them (default 5)",
        metavar="R",
        least=1,
        most=MOST_REPEATS,
        group="background traffic",
    )

    spec: NetworkSpec | None = None
    machine: Mapping[str, Any] = field(default_factory=dict)
    figure: Mapping[str, Any] = field(default_factory=dict)

    # Options of one of the two commands, as the other one has them.
    op: str = "exchange"
    schedule: str | None = None
    split: str = SPLITS[0]
    message_sizes: str | None = None
    trace: PathLike | None = None
    targets: Sequence[NodeLike] | None = None
    operator: str | None = None
    numbers: str | None = None
    algorithm: str | None = None
    bandwidth: PathLike | None = None
    as_printed: bool = False
    sizes: str | Sequence[int] | None = None
    trees: str | None = None

    def on_network(self, spec: Any, options: Mapping[str, Any]) -> Self:
        """Return the same on a network and machine; figures look as is asked among these options."""
        machine, figure = figure_apart(options)
        for name in machine:
            if name not in options_of(FabricSpec):
                raise TypeError(f"there is no option {name!r} of a machine")
        asked = replace(self, spec=spec_of(spec), machine=machine, figure=figure)
        _ = asked.look
        return asked

    @property
    def fabric(self) -> FabricSpec:
        """The machine, without endpoints."""
        return fabric_of(self.spec, None, self.machine)

    @property
    def look(self) -> "Look":
        """How the figures look."""
        from hdnhw.figures.look import look_of

        return look_of(self.figure, self.plot, self.html, self.bandwidth)

    @property
    def outputs(self) -> "Outputs":
        """The files that are drawn, each looked at anew."""
        from hdnhw.figures.outputs import Outputs

        return Outputs(self.plot, self.html, self.command, self.look)

    @property
    def among(self) -> "Among | None":
        """The packets among which the operation is run as well."""
        from hdnhw.measurement.collective import Among
        from hdnhw.measurement.load import LoadSpec

        if self.background is None:
            return None
        load = {"pattern": self.background_pattern, "seed": self.background_seed}
        return Among(LoadSpec(rate=self.background, **given(load)), **given({"repeats": self.repeats}))

    @property
    def is_unequal(self) -> bool:
        """Whether messages have each a length of its own."""
        return self.message_sizes is not None or self.trace is not None

    @property
    def all_port(self) -> bool:
        """Whether a node uses all its ports in a step."""
        return self.ports == "all"

    @property
    def is_predicted(self) -> bool:
        """Whether it is known what each step takes on a machine: a node sends packets to one neighbor."""
        one = self.op != BARRIER and self.algorithm not in BASELINES and not self.all_port
        return one and self.sizes is None and self.bandwidth is None

    @property
    def message_words(self) -> int:
        """Words of a message: 1 if nothing is said of them."""
        return 1 if self.words is None else self.words


T = TypeVar("T", bound=ScheduleOptions)


def refuse(asked: ScheduleOptions, names: Iterable[str], why: str) -> None:
    """Raise SpecError if one of some options is not its default; `why`, with ``{}`` for the option, says why."""
    defaults = {member.name: member.default for member in fields(asked)}
    for name in names:
        if name in asked.machine or (name in defaults and getattr(asked, name) != defaults[name]):
            raise SpecError(why.format(named(name)))


def one_length() -> str:
    """Return why an option is refused where messages have each a length of its own."""
    return f"{{}} is for messages of one length; give {named('message_sizes')} or {named('trace')} without it"


def checked_network(asked: T) -> tuple[T, "Network"]:
    """Refuse options that do not go together before anything is counted.

    Returns
    -------
    asked : ScheduleOptions
        The same; on engines with the words of their messages.
    network : Network
    """
    from hdnhw.collectives.executor import check_size
    from hdnhw.figures.timespace import check_drawn

    if asked.on == "rtl":
        asked = _on_engines(asked)
    else:
        refuse(asked, ("message_packets",), f"{{}} is for engines: give {named('on', 'rtl')} as well")
    if asked.message_words > MOST_WORDS:
        raise SpecError(f"{named('words')} must be 1 to {MOST_WORDS}, not {asked.words}")
    if asked.on in (None, "schedule") and asked.schedule != "network" and not asked.is_predicted:
        machine = f"{named('on', 'model')} or {named('on', 'rtl')}"
        refuse(asked, options_of(FabricSpec), f"{{}} is for a machine: give {machine} as well")
    network = network_of(asked.spec)
    check_size(network)
    if asked.outputs.are_asked:
        check_drawn(network.num_nodes)
    _check_background(asked, network)
    if asked.on != "model" or asked.all_port:
        refuse(asked, ("slices",), f"{{}} is for one port per step on the model: give {named('on', 'model')} as well")
    return asked, network


def _check_background(asked: ScheduleOptions, network: "Network") -> None:
    """Refuse packets among which nothing is run, and such as cannot be on a network."""
    if asked.on != "model":
        refuse(asked, BACKGROUND, f"{{}} is for the model: give {named('on', 'model')} as well")
    among = asked.among
    if among is None:
        refuse(asked, BACKGROUND, f"{{}} is for packets in the background: give {named('background')} as well")
    else:
        from hdnhw.traffic.patterns import parse_pattern

        parse_pattern(among.load.pattern, network)


Count = Callable[[Progress], tuple[Any, Row]]
"""Runs a schedule: takes what is told the progress; returns what was counted, and more that the user sees."""


def run_schedule(
    asked: ScheduleOptions,
    schedule: Any,
    operation: str,
    head: Row,
    *,
    count: Count | None = None,
    bound: Callable[[], "Cost"] | None = None,
    packets: Any = None,
) -> Result:
    """Execute a schedule and compare it with its bound and formulas.

    `count` and `bound` are by default those of the operation with equal messages of all nodes, or of the root;
    `packets` says of a total exchange on engines how many the messages have, if they are not equal.
    """
    from hdnhw.collectives.cost import lower_bound
    from hdnhw.collectives.executor import ScheduleError, execute
    from hdnhw.figures.timespace import timespace_sheet

    watch, network = Stopwatch(), schedule.network
    result: Row = {"spec": str(network.spec), "nodes": network.num_nodes, **head, "ports": asked.ports}
    result |= {"on": asked.on or "schedule", "message_words": asked.message_words}
    about = {**result, **asked.machine}
    try:
        with ProgressBar() as progress:
            if count is None:
                counted = execute(schedule, all_port=asked.all_port, progress=progress.show)
                more: Row = {"delivered": True}
            else:
                counted, more = count(progress.show)
    except ScheduleError as error:
        say(f"hdnhw: {error}")
        return Result(result | {"delivered": False, "error": str(error)}, passed=False)
    if bound is None:
        root = schedule.root or 0
        least = lower_bound(network, operation, root=root, all_port=counted.all_port, words=asked.message_words)
    else:
        least = bound()
    result |= more | _costs(asked, schedule, operation, counted, least)
    if asked.is_predicted and (asked.on == "model" or asked.machine) and asked.on != "rtl":
        result |= _predicted(asked, counted)
    if asked.on == "model":
        result |= _on_model(asked, counted)
    if asked.on == "rtl":
        measured = _on_rtl(asked, schedule, operation, packets)
        result |= measured | _shares(measured, least)
    result["seconds"] = round(watch.seconds, 3)
    if asked.steps or asked.outputs.are_asked:
        steps = _steps(schedule, counted, asked.message_words, result.get("cycles_per_step"))
    if asked.outputs.are_asked:
        asked.outputs.write(timespace_sheet(schedule, counted, about, _others(result, about), steps))
    if asked.steps:
        result["steps"] = steps
    return Result(result, passed=result["delivered"])


def _costs(asked: ScheduleOptions, schedule: Any, operation: str, counted: Any, bound: "Cost") -> Row:
    """Return what was counted beside its bound and the papers' formulas, for messages of so many words."""
    from hdnhw.collectives.cost import Cost, corrected_formula, paper_formula
    from hdnhw.topology.flow import flow_bound
    from hdnhw.topology.metrics import neighbor_table

    network, words = schedule.network, asked.message_words
    cost, printed = Cost(counted.startups, counted.words) * words, paper_formula(network, operation)
    result: Row = {
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
        right = corrected_formula(network, split=asked.split)
        result["corrected_formula_words"] = None if right is None else number_of_words(right.words * words)
        if counted.all_port:
            least = flow_bound(neighbor_table(network))
            result["flow_bound_words"] = None if least is None else number_of_words(least * words)
    result |= {"links_used": counted.links_used, "links": counted.links, "cost": str(cost)}
    if asked.startup_time is not None or asked.word_time is not None:
        result["time"] = cost.time(asked.startup_time or 0.0, asked.word_time or 0.0)
    return result


def number_of_words(words: float | Fraction) -> int | float:
    """Return words as a user sees them: an integer where they are one."""
    return int(words) if words == int(words) else float(words)


def _predicted(asked: ScheduleOptions, counted: Any) -> Row:
    from hdnhw.machine.machine import make_machine
    from hdnhw.measurement.predicted import predicted_cycles

    cycles = predicted_cycles(make_machine(asked.fabric), counted, asked.message_words)
    return {"predicted_cycles": sum(cycles), "predicted_cycles_per_step": cycles}


def _on_model(asked: ScheduleOptions, counted: Any) -> Row:
    from hdnhw.measurement.collective import measure_steps
    from hdnhw.measurement.slices import measure_slices

    words = asked.message_words
    with ProgressBar() as progress:
        row = measure_steps(asked.fabric, counted, words=words, among=asked.among, progress=progress.show)
        if asked.slices is None:
            return row
        row |= measure_slices(asked.fabric, counted, words=words, slices=asked.slices, progress=progress.show)
    return row | {"gain": round(row["cycles"] / row["sliced_cycles"], 4)}


def bench_of(spec: FabricSpec, endpoints: EndpointSpec) -> Any:
    """Return the bench of a machine with endpoints."""
    from hdnhw.verilog.fabric import emit_fabric

    return declared("bench")[endpoints.kind].of(emit_fabric(replace(spec, endpoints=endpoints)))


def _on_rtl(asked: ScheduleOptions, schedule: Any, operation: str, packets: Any) -> Row:
    order: Row = {"order": asked.schedule} if asked.op == "exchange" else {}
    if asked.algorithm == "short":
        operation = f"{operation}-short"
    lengths: Row = {}
    if packets is not None:
        operation, lengths = asked.op, {"message_packets": max(1, int(packets.max())), "variable_messages": True}
    engines = replace(_engines(asked), operations=(operation,), root=schedule.root or 0, **order, **lengths)
    bench = bench_of(asked.fabric, engines)
    measured: Row
    if operation == MULTICAST:
        measured = bench.measure_multicast(asked.targets, say=say)
    else:
        measured = bench.measure(operation, packets=packets, say=say)
    return measured


def _shares(measured: Row, bound: "Cost") -> Row:
    """Return the words of the bound over the cycles, of all flits and of those that carry data."""
    if not measured["delivered"]:
        return {}
    share = float(bound.words / measured["cycles"])
    return {
        "share": round(share, 4),
        "data_share": round(share * measured["data_flits"] / measured["packet_length"], 4),
    }


def _on_engines(asked: T) -> T:
    """Refuse what engines cannot do, and let messages of equal length be what they send: whole packets."""
    if asked.all_port:
        raise SpecError(f"{named('ports', 'all')} is for the schedule and the model; engines use one port per step")
    if asked.split != "destination":
        raise SpecError(f"{named('split')} must be destination on rtl, not {asked.split}")
    if asked.as_printed:
        raise SpecError(f"{named('as_printed')} is for the schedule and the model")
    if asked.op not in (*ENGINE_OPERATIONS, *REGISTER_OPERATIONS):
        raise SpecError(f"{asked.op} is for the schedule and the model; engines have none")
    if asked.algorithm not in (None, "short", "long"):
        raise SpecError(f"{named('algorithm')} on rtl {choices_text(('short', 'long'), asked.algorithm)}")
    if asked.is_unequal:
        refuse(
            asked,
            ("message_packets",),
            one_length(),
        )
        return asked
    length = replace(asked.fabric, endpoints=_engines(asked)).packet_length
    if asked.words is not None:
        asked = replace(asked, message_packets=_whole_packets(asked, length))
    return replace(asked, words=_engines(asked).message_packets * length)


def _whole_packets(asked: ScheduleOptions, length: int) -> int:
    """Return how many packets of engines have the words that are asked for in a message, or in a block of a vector."""
    assert asked.words is not None
    if asked.op in REGISTER_OPERATIONS or asked.algorithm == "short":
        if asked.words != length:
            raise SpecError(f"{named('words')} must be those of a packet on rtl, {length}, not {asked.words}")
        return 1
    blocks = network_of(asked.spec).num_nodes if asked.op == "allreduce" else 1
    packets, rest = divmod(asked.words, blocks * length)
    if rest or packets < 1:
        of_blocks = f" of {blocks} blocks" * (blocks > 1)
        raise SpecError(
            f"{named('words')} must be a multiple of {blocks * length} on rtl, whole packets{of_blocks}, not "
            f"{asked.words}"
        )
    if asked.message_packets not in (None, packets):
        raise SpecError(
            f"{named('message_packets')} must be {packets} for {asked.words} words, not {asked.message_packets}"
        )
    return packets


def _engines(asked: ScheduleOptions) -> CollectiveSpec:
    """Return engines that combine as it is asked, with messages of so many packets."""
    about = {"numbers": asked.numbers, "message_packets": asked.message_packets}
    operators = None if asked.operator is None else (asked.operator,)
    return CollectiveSpec(**given(about | {"operators": operators}))


def _others(result: Row, about: Row) -> Row:
    """Return what of a result is a figure, and not what was asked for."""
    return {name: value for name, value in result.items() if name not in about}


def _steps(schedule: Any, counted: Any, words: int, cycles: list[int] | None) -> list[Row]:
    """Return a row for each step."""
    rows = []
    for number, (step, sent) in enumerate(zip(schedule.steps, counted.sent, strict=True)):
        names = [schedule.network.ports[send.port].name for send in step.sends]
        row: Row = {"step": number, "stage": step.stage, "ports": ",".join(names)}
        row |= {"senders": int(sent.any(axis=1).sum()), "words": counted.words_per_step[number] * words}
        row["total_words"] = int(sent.sum()) * words
        rows.append(row if cycles is None else row | {"cycles": cycles[number]})
    return rows
