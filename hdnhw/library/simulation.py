"""Measurements on the cycle-accurate model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from os import PathLike as PathLikeOf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.library.asked import DrawnOptions, WorkerOptions, asks, made_by, plot_of
from hdnhw.library.equal import EQUALS, MOST_BITS, PACKET_BITS, Equal, make_equal
from hdnhw.library.options import (
    FigureOptions,
    MachineOptions,
    NetworkLike,
    PathLike,
    RelayOptions,
    check_choice,
    checked_rates,
    drawn_faults,
    fabric_of,
    figure_apart,
    given,
)
from hdnhw.library.result import Result
from hdnhw.model.engines import COMPILED, ENGINES
from hdnhw.spec import FabricSpec
from hdnhw.spec.load import LEAST_RATE, PRECISION, MeasuredOptions
from hdnhw.spec.options import Choice, Flag, Given, Pattern, Patterns, Size, option, options_of, threads_option
from hdnhw.support.errors import SpecError
from hdnhw.support.files import check_distinct
from hdnhw.support.naming import named
from hdnhw.support.progress import Progress, ProgressBar, say
from hdnhw.support.ranks import check_alone
from hdnhw.support.workers import start_of

if TYPE_CHECKING:
    from hdnhw.figures.page import Sheet
    from hdnhw.measurement.load import LoadSpec
    from hdnhw.measurement.measure import Measurement
    from hdnhw.model.fabric import FabricModel
    from hdnhw.rules.plan import RoutingPlan

EXCHANGE, WAYPOINTS = "exchange", "waypoints"
"""A pattern of one command, and the option that asks for relays."""

FAULTS = "draw N dead nodes, and C dead channels between the others, by --seed; in Python a number, or two"


@dataclass(frozen=True, kw_only=True)
class SimulateOptions(DrawnOptions, MeasuredOptions):
    """Options of the command ``simulate``."""

    trace: PathLike | None = option(
        None,
        Given,
        "send the messages of a text, Parquet or Netrace file instead, until all have arrived or for --cycles",
        metavar="FILE",
    )
    faults: str | int | tuple[int, int] | None = option(None, Given, FAULTS, metavar="N[,C]")
    histogram: bool = option(False, Flag, "show how many messages took how long")
    channels: bool | PathLike = option(
        False,
        Given,
        "count what each type of channel carries, how often it stalls and how many packets its queues hold; a file, "
        ".parquet or .csv, has a row for each channel",
        metavar="FILE",
        alone=True,
    )
    energy: PathLike | None = option(
        None,
        Given,
        "show what flits take, by a text file with a line NAME PICOJOULES for each type of channel and for router",
        metavar="FILE",
    )
    flows: PathLike | None = option(
        None,
        Given,
        "write a row for each pair of nodes to a file, .parquet or .csv: messages, their mean and longest latency",
        metavar="FILE",
    )
    threads: int = threads_option("some thousands of")
    engine: str = option(
        COMPILED, Choice, "what simulates; reference is plain Python to be read, for small networks", choices=ENGINES
    )
    pattern: str = option(
        "uniform", Pattern, "where packets go", more=", exchange, from each to all at once", group="load"
    )
    cycles: int = option(
        10_000,
        Size,
        "cycles of the interval measured; of a trace or exchange, of all",
        metavar="N",
        least=1,
        group="load",
    )
    plot: PathLike | None = plot_of("how many messages took how long")
    command: str = made_by("hdnhw.simulate")


@asks
def simulate(
    spec: NetworkLike,
    *,
    asked: SimulateOptions,
    said: Sequence[str],
    **machine: Annotated[Any, MachineOptions, RelayOptions, FigureOptions],
) -> Result:
    """Measure latency and accepted rate under a load or a trace.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    asked
    machine
        See :class:`hdnhw.MachineOptions`. To send packets by at most so many waypoints around what is dead,
        ``waypoints``, with it also ``timeout``, ``relay_buffers`` and ``relay_queues``. Figures also take
        :class:`hdnhw.FigureOptions`.

    Returns
    -------
    Result
        As docs/simulation.md describes it: latencies in cycles, rates in flits per node per cycle.

    Examples
    --------
    >>> import hdnhw
    >>> found = hdnhw.simulate("torus(4, 4)", rate=0.1, buffers=8)
    >>> found.steady, 40 < found.packet_latency["mean"] < 48
    (True, True)
    """
    from hdnhw.figures.histogram import histogram_sheet

    options, figure = figure_apart(machine)
    outputs = asked.outputs_of(figure)
    run: dict[str, Any] = {"threads": asked.threads, "engine": asked.engine}
    run["histogram"] = asked.histogram or outputs.are_asked
    if asked.trace is not None or asked.pattern == EXCHANGE:
        found = _replay(spec, asked, said, options, **run)
    elif WAYPOINTS in options:
        check_alone(WAYPOINTS)
        return _relayed(fabric_of(spec, RelaySpec.kind, options), asked, said)
    else:
        found = _loaded(fabric_of(spec, None, options), asked, said, **run)
    if outputs.are_asked:
        outputs.write(histogram_sheet(found))
    return found if asked.histogram else Result({name: value for name, value in found.items() if name != "histogram"})


def _loaded(
    fabric: FabricSpec, asked: SimulateOptions, said: Sequence[str], *, histogram: bool, threads: int, engine: str
) -> Result:
    """Measure a fabric under a load."""
    from hdnhw.measurement.seeds import check_seeds, pooled
    from hdnhw.measurement.statistics import bins
    from hdnhw.measurement.sweep import measure_runs, runs_row
    from hdnhw.model.fabric import model_of

    load, seeds, counted = _load(asked, said), asked.seeds, _Counted(asked.channels, asked.energy, asked.flows)
    check_seeds(seeds, load)
    counted.check(seeds)
    model = model_of(fabric, engine)
    counted.begin(model.plan)
    if asked.faults is not None:
        model = model.with_faults(drawn_faults(asked.faults, model.plan.network, load.seed))
    with ProgressBar() as progress:
        if counted.names:
            runs = [counted.measure(model, load, threads, progress.show)]
        else:
            runs = measure_runs(model, load, seeds, progress.show, threads=threads)
    row = runs_row(model, load, runs)
    row.pop("messages_of_seed", None)  # it is for comparisons
    if histogram:
        row["histogram"] = bins(pooled([run.packet_latency for run in runs]))
    row |= counted.rows(model, runs[0])
    if row["note"]:
        say(row["note"])
    return Result(row)


def _load(asked: MeasuredOptions, said: Sequence[str], **others: Any) -> "LoadSpec":
    """Return a load; without cycles its interval is as long as the usual precision asks for."""
    from hdnhw.measurement.load import LoadSpec

    values = {name: getattr(asked, name) for name in options_of(LoadSpec)} | others
    if asked.seeds == 1 and not {"cycles", "precision"}.intersection(said):
        values["precision"] = PRECISION
    return LoadSpec(**values)


class _Counted:
    """What is counted besides, in a run of one seed: channels and queues, energy, flows.

    Attributes
    ----------
    names : list of str
        Of what is asked for.
    """

    def __init__(self, channels: bool | PathLike, energy: PathLike | None, flows: PathLike | None) -> None:
        self._channels = channels is not False
        self._channels_file = None if isinstance(channels, bool) else Path(channels)
        self._energy_file, self._flows_file = (None if file is None else Path(file) for file in (energy, flows))
        asked = {"channels": self._channels, "energy": energy is not None, "flows": flows is not None}
        self.names = [name for name, is_asked in asked.items() if is_asked]

    def check(self, seeds: int) -> None:
        """Raise SpecError if there are several seeds, or a file cannot be written."""
        from hdnhw.model.counts import check_channels
        from hdnhw.model.flows import check_flows

        if seeds > 1 and self.names:
            raise SpecError(f"{named(self.names[0])} must be of one run: with {named('seeds')} there are several")
        if self._channels_file is not None:
            check_channels(self._channels_file)
        if self._flows_file is not None:
            check_flows(self._flows_file)

    def begin(self, plan: "RoutingPlan") -> None:
        """Read the table of energies, and make room for flows."""
        from hdnhw.measurement.energy import read_energy
        from hdnhw.model.flows import Flows

        self._energy = None if self._energy_file is None else read_energy(self._energy_file, plan)
        self._flows = None if self._flows_file is None else Flows(plan.network.num_terminals)

    def measure(self, model: "FabricModel", load: "LoadSpec", threads: int, progress: Progress) -> "Measurement":
        """Measure, and count."""
        from hdnhw.measurement.measure import measure

        counting = self._channels or self._energy is not None
        return measure(model, load, counting=counting, flows=self._flows, threads=threads, progress=progress)

    def rows(self, model: "FabricModel", measured: "Measurement") -> dict[str, Any]:
        """Return what was counted, and write the files."""
        from hdnhw.measurement.energy import energy_row
        from hdnhw.model.counts import buffer_classes, channel_types, write_channels
        from hdnhw.model.flows import write_flows

        found: dict[str, Any] = {}
        if measured.counts is not None and self._energy is not None:
            found["energy"] = energy_row(model.plan, measured.counts, self._energy)
        if measured.counts is not None and self._channels:
            found["channels"] = channel_types(model.plan, measured.counts)
            found["queues"] = buffer_classes(model.machine, measured.counts)
            if self._channels_file is not None:
                write_channels(model.plan, measured.counts, self._channels_file)
        if self._flows is not None and self._flows_file is not None:
            write_flows(self._flows, self._flows_file)
        return found


def _relayed(fabric: FabricSpec, asked: SimulateOptions, said: Sequence[str]) -> Result:
    """Send packets by waypoints around what is dead."""
    from hdnhw.measurement.load import LoadSpec
    from hdnhw.measurement.relayed import measure_relayed
    from hdnhw.model.fabric import model_of

    taken = {*options_of(LoadSpec), "faults", "engine", "command"} - {"precision"}
    for name in said:
        if name not in taken:
            raise SpecError(f"{named(WAYPOINTS)} does not go with {named(name)}")
    if asked.faults is None:
        raise SpecError(f"{named(WAYPOINTS)} is for ways around what is dead: give {named('faults')} as well")
    load = LoadSpec(**{name: getattr(asked, name) for name in options_of(LoadSpec)})
    model = model_of(fabric, asked.engine)
    dead = drawn_faults(asked.faults, model.plan.network, load.seed)
    with ProgressBar() as progress:
        return Result(measure_relayed(model.with_faults(dead), load, progress=progress.show))


def _replay(
    spec: NetworkLike, asked: SimulateOptions, said: Sequence[str], options: Mapping[str, Any], **run: Any
) -> Result:
    """Send messages that are known before: those of a trace, or of a total exchange."""
    from hdnhw.measurement.replay import measure_exchange, measure_trace

    what = named("pattern", EXCHANGE) if asked.trace is None else named("trace")
    taken = {"trace", "cycles", "histogram", "threads", "engine", *options_of(DrawnOptions)}
    for name in (*said, *(name for name in (WAYPOINTS,) if name in options)):
        if name not in taken and not (name == "pattern" and asked.trace is None):
            raise SpecError(f"{what} says which messages there are: it does not go with {named(name)}")
    fabric = fabric_of(spec, None, options)
    with ProgressBar() as progress:
        run |= {"cycles": asked.cycles if "cycles" in said else None, "progress": progress.show}
        if asked.trace is None:
            return Result(measure_exchange(fabric, **run))
        return Result(measure_trace(fabric, Path(asked.trace), **run))


class Curves(Result):
    """The load curves of a sweep: ``saturation``, a row for each network and pattern, ``points``, one a measurement.

    A notebook draws them.

    Parameters
    ----------
    curves : sequence of dict
        As :meth:`hdnhw.measurement.sweep.Sweep.run` returns them.
    more : mapping of str to Any
        Other keys.
    sheet : Sheet
        Says what they are of.

    Examples
    --------
    >>> import hdnhw
    >>> curves = hdnhw.sweep("cube(3)", rates=[0.1, 0.3], workers=1)
    >>> curves.table("points").column("rate").to_pylist()
    [0.1, 0.3]
    """

    def __init__(self, curves: Sequence[dict[str, Any]], more: Mapping[str, Any], sheet: "Sheet") -> None:
        self._curves, self._sheet = curves, sheet
        saturation = [{name: value for name, value in curve.items() if name != "points"} for curve in curves]
        points = [row for curve in curves for row in curve["points"]]
        super().__init__({"saturation": saturation, "points": points, **more})

    def plot(self, where: PathLike | Any, *, kind: str = "latency", **figure: Annotated[Any, FigureOptions]) -> Any:
        """Draw the curves; needs the extra ``sweep``.

        Parameters
        ----------
        where : path or Axes
            A file, .svg, .png or .pdf, whose metadata say what the curves are of; or axes of matplotlib, to which the
            curves are added with a legend, beside what is there.
        kind : str
            ``latency``, mean packet latency against the offered rate, or ``accepted``, accepted against offered rate.
        figure
            See :class:`hdnhw.FigureOptions`; axes of one's own have a size and letters already.

        Returns
        -------
        Axes
            On which they are drawn.

        Raises
        ------
        SpecError
            If it is neither, there is no such kind, or an option is out of range.

        Examples
        --------
        >>> import hdnhw
        >>> from matplotlib.figure import Figure
        >>> axes = Figure().add_subplot()
        >>> curves = hdnhw.sweep("cube(3)", rates=[0.1, 0.3], cycles=1000, workers=1)
        >>> curves.plot(axes, kind="accepted") is axes
        True
        """
        from hdnhw.figures.curves import KINDS, add_curves, draw_curves
        from hdnhw.figures.look import look_of
        from hdnhw.figures.outputs import Outputs

        check_choice("kind", kind, KINDS)
        look = look_of(given(figure), where)
        if not isinstance(where, (str, PathLikeOf)):
            return add_curves(where, self._curves, kind, look)
        drawn = draw_curves(self._curves, kind)
        Outputs(where, None, "hdnhw.sweep", look).write(replace(self._sheet, draw=lambda: drawn))
        return drawn.axes[0]

    def _repr_svg_(self) -> str:
        from hdnhw.figures.curves import draw_curves
        from hdnhw.figures.figure import figure_svg

        return figure_svg(draw_curves(self._curves))


@dataclass(frozen=True, kw_only=True)
class SweepOptions(DrawnOptions, WorkerOptions, MeasuredOptions):
    """Options of the command ``sweep``."""

    without: ClassVar[tuple[str, ...]] = ("rate",)

    rates: str | Sequence[float] | None = option(
        None,
        Given,
        "flits per node per cycle offered (default: searched, up to saturation); with --seeds, networks are compared "
        "in pairs on common random numbers",
        metavar="R,R,...",
    )
    pattern: str | Sequence[str] = option(  # type: ignore[assignment]
        "uniform", Patterns, "where packets go; several have a curve each", group="load"
    )
    equal: str | None = option(
        None,
        Choice,
        "compare at equal cost: flits are as wide as an equal number of pins per router, of wires, or an equal "
        "bisection allows, --flit-width those of the first network, and rates are in bits of packets per node and "
        "cycle",
        choices=tuple(EQUALS),
    )
    packet_bits: int | None = option(
        None, Size, f"with --equal: bits of a packet (default {PACKET_BITS})", metavar="N", least=1, most=MOST_BITS
    )
    results: PathLike | None = option(
        None, Given, "file that is kept up to date, and gone on from: .parquet, .csv or .json", metavar="FILE"
    )
    plot: PathLike | None = plot_of("latency against the offered rate")
    plot_accepted: PathLike | None = plot_of("the accepted against the offered rate")
    command: str = made_by("hdnhw.sweep")


@asks
def sweep(
    *specs: NetworkLike,
    asked: SweepOptions,
    said: Sequence[str],
    **machine: Annotated[Any, MachineOptions, FigureOptions],
) -> Curves:
    """Measure load curves and saturation, many networks at a time.

    Parameters
    ----------
    specs : str, NetworkSpec or Network
    asked
    machine
        See :class:`hdnhw.MachineOptions`; figures also take :class:`hdnhw.FigureOptions`.

    Returns
    -------
    Curves
        As docs/simulation.md describes it.

    Examples
    --------
    >>> import hdnhw
    >>> curves = hdnhw.sweep("cube(3)", rates=[0.1], workers=1)
    >>> [(row["spec"], row["nodes"]) for row in curves.saturation]
    [('cube(3)', 8)]
    """
    from hdnhw.figures.curves import draw_curves
    from hdnhw.figures.curves_page import sweep_sheet
    from hdnhw.figures.look import look_of
    from hdnhw.figures.outputs import Outputs
    from hdnhw.measurement.results import ResultsFile
    from hdnhw.measurement.sweep import Sweep

    if not specs:
        raise SpecError("sweep must have at least one network")
    patterns = _patterns(asked.pattern) if "pattern" in said else ()
    load = _load(asked, said, pattern="uniform")
    of_machine, figure = figure_apart(machine)
    fabrics = [fabric_of(spec, None, of_machine) for spec in specs]
    at_cost = _at_cost(fabrics, asked, of_machine)
    files = {named(name): getattr(asked, name) for name in ("results", "plot", "plot_accepted", "html")}
    check_distinct({name: path if path is None else str(path) for name, path in files.items()})
    look = look_of(figure, asked.plot, asked.plot_accepted, asked.html)
    outputs = Outputs(asked.plot, asked.html, asked.command, look)
    accepted = Outputs(asked.plot_accepted, None, asked.command, look, "plot_accepted")
    kept = ResultsFile(None if asked.results is None else Path(asked.results))
    run: dict[str, Any] = {"patterns": patterns, "seeds": asked.seeds, **_rates(asked.rates, at_cost)}
    with ProgressBar() as progress:
        start = start_of(asked.workers, asked.cluster, progress.say)
        run |= {"results": kept, "say": progress.say, "progress": progress.show}
        measured = fabrics if at_cost is None else at_cost.fabrics
        curves = Sweep(measured, load, **run).run(start)
    more = _compared(curves, at_cost, asked.seeds)
    sheet = sweep_sheet(curves, load, {str(each.network): each.network for each in measured}, more)
    outputs.write(sheet)
    accepted.write(replace(sheet, draw=partial(draw_curves, curves, "accepted")))
    return Curves(curves, more, sheet)


def _patterns(pattern: str | Sequence[str]) -> tuple[str, ...]:
    """Return the patterns of a sweep."""
    patterns = (pattern,) if isinstance(pattern, str) else tuple(pattern)
    for number, one in enumerate(patterns):
        if one == EXCHANGE:
            raise SpecError(f"{named('pattern', EXCHANGE)} is for simulate: a total exchange has no rate to sweep")
        if one in patterns[:number]:
            raise SpecError(f"patterns must differ, and {one} is there twice")
    return patterns


def _rates(rates: str | Sequence[float] | None, at_cost: Equal | None) -> dict[str, Any]:
    """Return the rates of a sweep, those of all machines or of each."""
    if rates is None or at_cost is None:
        return {"rates": None if rates is None else checked_rates("rates", rates, LEAST_RATE, 1, "0.1,0.2,0.3")}
    return {"rates": None, "own_rates": at_cost.rates(checked_rates("rates", rates, LEAST_RATE, at_cost.most, "2,4,8"))}


def _compared(curves: Sequence[dict[str, Any]], at_cost: Equal | None, seeds: int) -> dict[str, Any]:
    """Return what a sweep says besides its curves, and add to them what is in bits."""
    from hdnhw.measurement.seeds import differences

    more: dict[str, Any] = {}
    if at_cost is not None:
        at_cost.tell(curves)
        more = {"equal": at_cost.what, "packet_bits": at_cost.packet_bits, "widths": at_cost.rows}
    if seeds > 1 and len(curves) > 1:
        key = "rate" if at_cost is None else "rate_bits"
        alike = [list(group) for _, group in groupby(curves, itemgetter("pattern"))]
        more["differences"] = [row for group in alike for row in differences(group, key)]
    return more


def _at_cost(fabrics: Sequence[FabricSpec], asked: SweepOptions, machine: Mapping[str, Any]) -> Equal | None:
    """Return the machines at equal cost, None if that is not asked for."""
    if asked.equal is None:
        if asked.packet_bits is not None:
            raise SpecError(
                f"{named('packet_bits')} is for {named('equal')}; without it {named('packet_length')} says how long a "
                "packet is"
            )
        return None
    for name, value in (("packet_length", machine.get("packet_length")), ("lengths", asked.lengths)):
        if value is not None:
            raise SpecError(
                f"with {named('equal')} packets are as long as their bits ask for: {named('packet_bits')}, not "
                f"{named(name)}"
            )
    return make_equal(fabrics, asked.equal, asked.packet_bits)
