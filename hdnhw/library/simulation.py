"""Measurements on the cycle-accurate model."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from os import PathLike as PathLikeOf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from hdnhw.files import check_distinct
from hdnhw.library.equal import Equal, make_equal
from hdnhw.library.options import (
    DrawnMachineOptions,
    DrawnRelayOptions,
    FigureOptions,
    NetworkLike,
    PathLike,
    check_choice,
    check_integers,
    checked_rates,
    drawn_faults,
    fabric_of,
    figure_apart,
    given,
)
from hdnhw.library.result import Result
from hdnhw.library.workers import start_of
from hdnhw.model.engines import COMPILED, ENGINES
from hdnhw.progress import Progress, ProgressBar, say
from hdnhw.ranks import check_alone
from hdnhw.spec import FabricSpec, RelaySpec, SpecError
from hdnhw.spec.checks import shown
from hdnhw.spec.options import flag_of

if TYPE_CHECKING:
    from hdnhw.model.fabric import FabricModel
    from hdnhw.model.load import LoadSpec
    from hdnhw.model.measure import Measurement
    from hdnhw.report.page import Sheet
    from hdnhw.rules.plan import RoutingPlan


def simulate(
    spec: NetworkLike,
    *,
    rate: float | None = None,
    pattern: str | None = None,
    injection: str | None = None,
    lengths: str | None = None,
    cycles: int | None = None,
    precision: float | None = None,
    warmup: int | None = None,
    seed: int | None = None,
    seeds: int = 1,
    trace: PathLike | None = None,
    faults: str | int | tuple[int, int] | None = None,
    waypoints: int | None = None,
    histogram: bool = False,
    channels: bool | PathLike = False,
    energy: PathLike | None = None,
    flows: PathLike | None = None,
    threads: int | None = None,
    engine: str = COMPILED,
    plot: PathLike | None = None,
    html: PathLike | None = None,
    command: str = "hdnhw.simulate",
    **machine: Unpack[DrawnRelayOptions],
) -> Result:
    """Measure latency and accepted rate under a load or a trace, on the cycle-accurate model.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    rate : float, optional
        Flits a node and cycle that are offered (default 0.1).
    pattern : str, optional
        Where packets go (default ``uniform``), or ``exchange``, from each node to all at once; docs/simulation.md lists
        them.
    injection : str, optional
        ``bernoulli`` (default), or ``on_off(BURST, PEAK)`` in cycles and flits a cycle.
    lengths : str, optional
        Of messages in flits: a number, ``uniform(LEAST, MOST)`` or ``mix(LENGTH, SHARE, ...)``; default: one packet.
    cycles : int, optional
        Of the interval measured; of a trace or exchange, until all has arrived. Default: 10,000, and as many more as
        `precision` needs.
    precision : float, optional
        Make the interval longer, up to 128 times, until half the width of the 95 % confidence interval of the mean
        latency is this share of it (default 0.1 where no cycles are given and there is one seed).
    warmup : int, optional
        Cycles before it; default: until it is steady.
    seed : int, optional
        Of the random numbers (default 1).
    seeds : int
        Measure with so many seeds from this one on: means, and the confidence interval of the mean from independent
        seeds in place of batches of one.
    trace : path, optional
        Send the messages of a text, Parquet or Netrace file instead.
    faults : int or tuple of int, optional
        Draw so many dead nodes, or dead nodes and dead channels.
    waypoints : int, optional
        Send packets by at most so many waypoints around what is dead.
    histogram : bool
        Also return how many messages took how long.
    channels : bool or path
        Also return what each type of channel carries, how often it stalls and how many packets its queues hold; a file,
        .parquet or .csv, gets a row for each channel.
    energy : path, optional
        Also return what flits take, by a text file with a line ``NAME PICOJOULES`` for each type of channel, and for
        ``router``.
    flows : path, optional
        Write there, .parquet or .csv, a row for each pair of nodes: how many messages it had, and their mean and
        longest latency.
    threads : int, optional
        That share the routers (default 1): worth it from some thousands of routers on. The result is the same.
    engine : str
        ``compiled`` (default), or ``reference``: the same in plain Python, for small networks, much slower;
        :mod:`hdnhw.model.reference` is to be read.
    plot : path, optional
        Draw how many messages took how long there: .svg, .png or .pdf. Needs the extra ``sweep``, as what follows does.
    html : path, optional
        Write a page there with this figure, tables and all figures.
    command : str
        What plot and page say that they were made by.
    machine
        See :class:`hdnhw.MachineOptions`; with waypoints, ``timeout``, ``relay_buffers`` and ``relay_queues`` too.
        Figures also take :class:`hdnhw.FigureOptions`.

    Returns
    -------
    Result
        As docs/simulation.md describes it: latencies in cycles, rates in flits a node and cycle.

    Examples
    --------
    >>> import hdnhw
    >>> found = hdnhw.simulate("torus(4, 4)", rate=0.1, buffers=8)
    >>> found.steady, 40 < found.packet_latency["mean"] < 48
    (True, True)
    """
    from hdnhw.report.histogram import histogram_sheet
    from hdnhw.report.look import look_of
    from hdnhw.report.outputs import Outputs

    check_integers(seeds=seeds)
    check_choice("engine", engine, ENGINES)
    options, figure = figure_apart(machine)
    outputs = Outputs(plot, html, command, look_of(figure, plot, html))
    load_options = {
        "pattern": pattern,
        "injection": injection,
        "lengths": lengths,
        "rate": rate,
        "cycles": cycles,
        "precision": precision,
        "warmup": warmup,
        "seed": seed,
    }
    run: dict[str, Any] = {"histogram": histogram or outputs.are_asked, "threads": 1 if threads is None else threads}
    run["engine"] = engine
    if trace is not None or (isinstance(pattern, str) and pattern == "exchange"):
        others: dict[str, Any] = load_options | {"channels": channels or None, "energy": energy, "flows": flows}
        others |= {"faults": faults, "waypoints": waypoints}
        others["seeds"] = None if seeds == 1 else seeds
        found = _replay(fabric_of(spec, None, options), trace, others, **run)
    elif waypoints is not None:
        check_alone("waypoints")
        refused = {"histogram": histogram, "channels": channels, "energy": energy is not None}
        refused |= {"flows": flows is not None, "seeds": seeds != 1, "precision": precision is not None}
        refused |= {"threads": threads is not None, "plot": plot is not None, "html": html is not None}
        fabric = fabric_of(spec, RelaySpec.kind, {**options, "waypoints": waypoints})
        return _relayed(fabric, load_options, faults, [name for name, value in refused.items() if value], engine)
    else:
        found = _loaded(
            fabric_of(spec, None, options), load_options, faults, _Counted(channels, energy, flows), seeds, **run
        )
    if outputs.are_asked:
        outputs.write(histogram_sheet(found))
    return found if histogram else Result({name: value for name, value in found.items() if name != "histogram"})


def _loaded(
    fabric: FabricSpec,
    load_options: dict[str, Any],
    faults: Any,
    counted: "_Counted",
    seeds: int,
    *,
    histogram: bool,
    threads: int,
    engine: str,
) -> Result:
    """Measure a fabric under a load."""
    from hdnhw.model.fabric import model_of
    from hdnhw.model.seeds import check_seeds, pooled
    from hdnhw.model.statistics import bins
    from hdnhw.model.sweep import measure_runs, runs_row

    load = _load(seeds, **load_options)
    check_seeds(seeds, load)
    counted.check(seeds)
    model = model_of(fabric, engine)
    counted.begin(model.plan)
    if faults is not None:
        model = model.with_faults(drawn_faults(faults, model.plan.network, load.seed))
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


def _load(seeds: int, **options: Any) -> "LoadSpec":
    """Return a load; without cycles its interval is as long as the usual precision asks for."""
    from hdnhw.model.load import PRECISION, LoadSpec

    if seeds == 1 and options["cycles"] is None and options["precision"] is None:
        options["precision"] = PRECISION
    return LoadSpec(**given(options))


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
            raise SpecError(f"{self.names[0]} must be of one run: with seeds there are several")
        if self._channels_file is not None:
            check_channels(self._channels_file)
        if self._flows_file is not None:
            check_flows(self._flows_file)

    def begin(self, plan: "RoutingPlan") -> None:
        """Read the table of energies, and make room for flows."""
        from hdnhw.model.energy import read_energy
        from hdnhw.model.flows import Flows

        self._energy = None if self._energy_file is None else read_energy(self._energy_file, plan)
        self._flows = None if self._flows_file is None else Flows(plan.network.num_terminals)

    def measure(self, model: "FabricModel", load: "LoadSpec", threads: int, progress: Progress) -> "Measurement":
        """Measure, and count."""
        from hdnhw.model.measure import measure

        counting = self._channels or self._energy is not None
        return measure(model, load, counting=counting, flows=self._flows, threads=threads, progress=progress)

    def rows(self, model: "FabricModel", measured: "Measurement") -> dict[str, Any]:
        """Return what was counted, and write the files."""
        from hdnhw.model.counts import buffer_classes, channel_types, write_channels
        from hdnhw.model.energy import energy_row
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


def _relayed(
    fabric: FabricSpec, load_options: dict[str, Any], faults: Any, refused: Sequence[str], engine: str
) -> Result:
    """Send packets by waypoints around what is dead."""
    from hdnhw.model.fabric import model_of
    from hdnhw.model.load import LoadSpec
    from hdnhw.model.relayed import measure_relayed

    for name in refused:
        raise SpecError(f"waypoints do not go with {name}")
    if faults is None:
        raise SpecError("waypoints lead around what is dead: they need faults")
    model, load = model_of(fabric, engine), LoadSpec(**given(load_options))
    dead = drawn_faults(faults, model.plan.network, load.seed)
    with ProgressBar() as progress:
        return Result(measure_relayed(model.with_faults(dead), load, progress=progress.show))


def _replay(
    fabric: FabricSpec, trace: PathLike | None, others: dict[str, Any], *, histogram: bool, threads: int, engine: str
) -> Result:
    """Send messages that are known before: those of a trace, or of a total exchange."""
    from hdnhw.model.replay import measure_exchange, measure_trace

    what, cycles = "pattern exchange" if trace is None else "a trace", others.pop("cycles")
    for name in given(others):
        if not (name == "pattern" and trace is None):
            raise SpecError(f"{what} says which messages there are: it does not go with {name}")
    with ProgressBar() as progress:
        run = {"cycles": cycles, "histogram": histogram, "threads": threads, "engine": engine}
        run |= {"progress": progress.show}
        if trace is None:
            return Result(measure_exchange(fabric, **run))
        return Result(measure_trace(fabric, Path(trace), **run))


class Curves(Result):
    """The load curves of a sweep: ``saturation``, a row for each network and pattern, ``points``, one a measurement.

    A notebook draws them.

    Parameters
    ----------
    curves : sequence of dict
        As :meth:`hdnhw.model.sweep.Sweep.run` returns them.
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

    def plot(self, where: PathLike | Any, *, kind: str = "latency", **figure: Unpack[FigureOptions]) -> Any:
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
        from hdnhw.report.curves import KINDS, add_curves, draw_curves
        from hdnhw.report.look import look_of
        from hdnhw.report.outputs import Outputs

        check_choice("kind", kind, KINDS)
        look = look_of(given(figure), where)
        if not isinstance(where, (str, PathLikeOf)):
            return add_curves(where, self._curves, kind, look)
        drawn = draw_curves(self._curves, kind)
        Outputs(where, None, "hdnhw.sweep", look).write(replace(self._sheet, draw=lambda: drawn))
        return drawn.axes[0]

    def _repr_svg_(self) -> str:
        from hdnhw.report.curves import draw_curves
        from hdnhw.report.figure import figure_svg

        return figure_svg(draw_curves(self._curves))


def sweep(
    *specs: NetworkLike,
    rates: str | Sequence[float] | None = None,
    pattern: str | Sequence[str] | None = None,
    injection: str | None = None,
    lengths: str | None = None,
    cycles: int | None = None,
    precision: float | None = None,
    warmup: int | None = None,
    seed: int | None = None,
    seeds: int = 1,
    equal: str | None = None,
    packet_bits: int | None = None,
    results: PathLike | None = None,
    plot: PathLike | None = None,
    plot_accepted: PathLike | None = None,
    html: PathLike | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    command: str = "hdnhw.sweep",
    **machine: Unpack[DrawnMachineOptions],
) -> Curves:
    """Measure load curves and saturation, many networks at a time.

    Parameters
    ----------
    specs : str, NetworkSpec or Network
    rates : str or sequence of float, optional
        Flits a node and cycle; default: searched, up to saturation.
    pattern, injection, lengths, cycles, precision, warmup, seed
        See :func:`hdnhw.simulate`; with several patterns there is a curve of each network for each of them.
    equal : str, optional
        Compare at equal ``pins``, ``wires`` or ``bisection``: the first network has flits of `flit_width` bits, the
        others as many bits as make the product the same, and rates are in bits of packets a node and cycle.
    packet_bits : int, optional
        With `equal`: of a packet on all networks (default 256).
    seeds : int
        Measure every point with so many seeds from `seed` on. They offer the same messages to networks of as many nodes
        (common random numbers); with `rates`, ``differences`` are those from the first network, in pairs.
    results : path, optional
        File that is kept up to date, and gone on from: .parquet, which needs the extra ``parquet``, .csv or .json.
    plot : path, optional
        Draw latency against the offered rate there: .svg, .png or .pdf. Needs the extra ``sweep``, as what follows
        does.
    plot_accepted : path, optional
        Draw the accepted against the offered rate there.
    html : path, optional
        Write a page with the curves, tables of all figures and the options.
    workers : int, optional
        Processes (default: one a processor).
    cluster : str, optional
        Address of a Dask scheduler whose workers are used instead.
    command : str
        What plot and page say that they were made by.
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
    from hdnhw.model.results import ResultsFile
    from hdnhw.model.sweep import Sweep
    from hdnhw.report.curves import draw_curves
    from hdnhw.report.curves_page import sweep_sheet
    from hdnhw.report.look import look_of
    from hdnhw.report.outputs import Outputs

    if not specs:
        raise SpecError("sweep must have at least one network")
    check_integers(seeds=seeds, packet_bits=packet_bits)
    patterns = _patterns(pattern)
    options = {"injection": injection, "lengths": lengths, "cycles": cycles, "precision": precision}
    load = _load(seeds, **options, warmup=warmup, seed=seed)
    of_machine, figure = figure_apart(machine)
    fabrics = [fabric_of(spec, None, of_machine) for spec in specs]
    at_cost = _at_cost(fabrics, equal, packet_bits, load, of_machine)
    files = {"results": results, "plot": plot, "plot_accepted": plot_accepted, "html": html}
    check_distinct({flag_of(name): path if path is None else str(path) for name, path in files.items()})
    look = look_of(figure, plot, plot_accepted, html)
    outputs, accepted = Outputs(plot, html, command, look), Outputs(plot_accepted, None, command, look)
    kept = ResultsFile(None if results is None else Path(results))
    asked: dict[str, Any] = {"patterns": patterns, "seeds": seeds, **_rates(rates, at_cost)}
    with ProgressBar() as progress:
        start = start_of(workers, cluster, progress.say)
        asked |= {"results": kept, "say": progress.say, "progress": progress.show}
        measured = Sweep(fabrics if at_cost is None else at_cost.fabrics, load, **asked)
        curves = measured.run(start)
    more = _compared(curves, at_cost, seeds)
    sheet = sweep_sheet(curves, load, more)
    outputs.write(sheet)
    accepted.write(replace(sheet, draw=partial(draw_curves, curves, "accepted")))
    return Curves(curves, more, sheet)


def _patterns(pattern: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the patterns of a sweep, none if nothing is said of them."""
    several = isinstance(pattern, Iterable) and not isinstance(pattern, str)
    patterns: tuple[Any, ...] = () if pattern is None else tuple(pattern) if several else (pattern,)
    for number, one in enumerate(patterns):
        if not isinstance(one, str):
            raise TypeError(f"pattern must be text, or several, not {shown(one)}")
        if one == "exchange":
            raise SpecError("pattern exchange is for simulate: a total exchange has no rate to sweep")
        if one in patterns[:number]:
            raise SpecError(f"patterns must differ, and {one} is there twice")
    return patterns


def _rates(rates: str | Sequence[float] | None, at_cost: Equal | None) -> dict[str, Any]:
    """Return the rates of a sweep, those of all machines or of each."""
    from hdnhw.model.load import LEAST_RATE

    if rates is None or at_cost is None:
        return {"rates": None if rates is None else checked_rates(rates, LEAST_RATE, 1, "0.1,0.2,0.3")}
    return {"rates": None, "own_rates": at_cost.rates(checked_rates(rates, LEAST_RATE, at_cost.most, "2,4,8"))}


def _compared(curves: Sequence[dict[str, Any]], at_cost: Equal | None, seeds: int) -> dict[str, Any]:
    """Return what a sweep says besides its curves, and add to them what is in bits."""
    from hdnhw.model.seeds import differences

    more: dict[str, Any] = {}
    if at_cost is not None:
        at_cost.tell(curves)
        more = {"equal": at_cost.what, "packet_bits": at_cost.packet_bits, "widths": at_cost.rows}
    if seeds > 1 and len(curves) > 1:
        key = "rate" if at_cost is None else "rate_bits"
        alike = [list(group) for _, group in groupby(curves, itemgetter("pattern"))]
        more["differences"] = [row for group in alike for row in differences(group, key)]
    return more


def _at_cost(
    fabrics: Sequence[FabricSpec], equal: str | None, packet_bits: int | None, load: Any, machine: Mapping[str, Any]
) -> Equal | None:
    """Return the machines at equal cost, None if that is not asked for."""
    if equal is None:
        if packet_bits is not None:
            raise SpecError("--packet-bits is for --equal; without it --packet-length says how long a packet is")
        return None
    for name, value in (("--packet-length", machine.get("packet_length")), ("--lengths", load.lengths)):
        if value is not None:
            raise SpecError(f"with --equal packets are as long as their bits ask for: --packet-bits, not {name}")
    return make_equal(fabrics, equal, packet_bits)
