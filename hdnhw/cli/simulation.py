"""Commands that run the model."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hdnhw.cli.options import (
    DONE,
    Parser,
    Result,
    add_command,
    add_endpoint_options,
    add_faults_option,
    add_load_options,
    add_machine_options,
    drawn_faults,
    fabric_spec,
    load_spec,
    rates_of,
    say,
)
from hdnhw.cli.progress import ProgressBar
from hdnhw.cli.workers import add_worker_options, workers
from hdnhw.files import check_distinct, replacing
from hdnhw.spec import RelaySpec, SpecError

__all__ = ["add_simulation_commands"]


def simulate(options: argparse.Namespace) -> tuple[Result, int]:
    """Measure latency and accepted rate of a fabric under a load or a trace, on the cycle-accurate model."""
    from hdnhw.model.counts import buffer_classes, channel_types, check_channels, write_channels
    from hdnhw.model.fabric import model_of
    from hdnhw.model.measure import bins, measure
    from hdnhw.model.sweep import measurement_row

    if options.trace is not None or options.pattern == "exchange":
        return _replay(options), DONE
    if options.channels:
        check_channels(Path(options.channels))
    if options.endpoint_waypoints is not None:
        return _relayed(options), DONE
    fabric, load = fabric_spec(options), load_spec(options)
    model = model_of(fabric)
    if options.faults is not None:
        model = model.with_faults(drawn_faults(options.faults, model.plan.network, load.seed))
    with ProgressBar() as progress:
        measured = measure(model, load, counting=options.channels is not None, progress=progress.show)
    row = measurement_row(model, load, measured)
    if options.histogram:
        row["histogram"] = bins(measured.packet_latency)
    if measured.counts is not None:
        row["channels"] = channel_types(model.plan, measured.counts)
        row["queues"] = buffer_classes(model.machine, measured.counts)
        if options.channels:
            write_channels(model.plan, measured.counts, Path(options.channels))
    if not row["steady"]:
        say("not steady: latencies grow with the cycles that are measured")
    return row, DONE


def _relayed(options: argparse.Namespace) -> Result:
    """Send packets by waypoints around what is dead."""
    from hdnhw.model.fabric import model_of
    from hdnhw.model.relayed import measure_relayed

    for name in ("histogram", "channels"):
        if getattr(options, name):
            raise SpecError(f"--waypoints does not go with --{name}")
    if options.faults is None:
        raise SpecError("--waypoints leads around what is dead: it needs --faults")
    options.endpoints = "relay"
    model, load = model_of(fabric_spec(options)), load_spec(options)
    faults = drawn_faults(options.faults, model.plan.network, load.seed)
    with ProgressBar() as progress:
        return measure_relayed(model.with_faults(faults), load, progress=progress.show)


def _replay(options: argparse.Namespace) -> Result:
    """Send messages that are known before: those of a trace, or of a total exchange."""
    from hdnhw.model.replay import measure_exchange, measure_trace

    given = "--pattern exchange" if options.trace is None else "--trace"
    names = ("pattern", "injection", "lengths", "rate", "warmup", "seed", "channels", "faults", "endpoint_waypoints")
    for name in names:
        if getattr(options, name) is not None and not (name == "pattern" and options.trace is None):
            shown = name.removeprefix("endpoint_")
            raise SpecError(f"{given} says which messages there are: it does not go with --{shown}")
    with ProgressBar() as progress:
        run = {"cycles": options.cycles, "histogram": options.histogram, "progress": progress.show}
        if options.trace is None:
            return measure_exchange(fabric_spec(options), **run)
        return measure_trace(fabric_spec(options), Path(options.trace), **run)


def sweep(options: argparse.Namespace) -> tuple[Result, int]:
    """Measure load curves of one or more fabrics and their saturation."""
    from hdnhw.model.results import ResultsFile
    from hdnhw.model.sweep import Sweep
    from hdnhw.model.warmup import compile_model
    from hdnhw.report.curves import check_plot, plot_curves
    from hdnhw.report.page import check_page, sweep_page

    if options.pattern == "exchange":
        raise SpecError("pattern exchange is for simulate: a total exchange has no rate to sweep")
    load, fabrics = load_spec(options), []
    for spec in options.specs:
        options.spec = spec
        fabrics.append(fabric_spec(options))
    check_distinct({f"--{name}": getattr(options, name) for name in ("results", "plot", "html")})
    if options.plot is not None:
        check_plot(Path(options.plot))
    if options.html is not None:
        check_page(Path(options.html))
    results = ResultsFile(None if options.results is None else Path(options.results))
    rates = _rates(options.rates)
    with ProgressBar() as progress:
        start = workers(options, progress.say)
        measured = Sweep(fabrics, load, rates=rates, results=results, say=progress.say, progress=progress.show)
        if options.cluster is None:
            compile_model()
        curves = measured.run(start)
    if options.plot is not None:
        plot_curves(curves, Path(options.plot))
    if options.html is not None:
        page = sweep_page(curves, load=load, command=options.command)
        with replacing(Path(options.html)) as new:
            new.write_text(page, encoding="utf-8")
    saturation = [{name: value for name, value in curve.items() if name != "points"} for curve in curves]
    points = [row for curve in curves for row in curve["points"]]
    return {"saturation": saturation, "points": points} if options.json else _shown(saturation, points), DONE


def _shown(saturation: Sequence[Result], points: Sequence[Result]) -> Result:
    """Return what of a sweep is printed as text: what fits into the lines of a terminal."""
    names = ("spec", "rate_at_3x_latency", "saturation_throughput", "overload_throughput")
    return {
        "saturation": [{name: _rounded(row[name]) for name in names} for row in saturation],
        "points": [_shown_point(row) for row in points],
        **{f"note on {row['spec']}": row["note"] for row in saturation if row["note"]},
        "all figures": "with --json, or kept by --results FILE",
    }


def _shown_point(row: Result) -> Result:
    figures = {name: _rounded(row[name]) for name in ("rate", "accepted_rate")}
    mean = {"mean": _rounded((row["packet_latency"] or {}).get("mean"))}
    return {"spec": row["spec"], **figures, "packet_latency": mean, "steady": row["steady"]}


def _rounded(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value


def _rates(text: str | None) -> list[float] | None:
    from hdnhw.model.measure import LEAST_RATE

    return None if text is None else rates_of(text, LEAST_RATE, 1, "0.1,0.2,0.3")


def add_simulation_commands(commands: Any) -> None:
    """Add the commands ``simulate`` and ``sweep``."""
    parser = add_command(
        commands,
        "simulate",
        simulate,
        summary="measure latency and accepted rate under a load or a trace, on the cycle-accurate model",
        example="hdnhw simulate 'rdn(cube(3), 1)' --pattern uniform --rate 0.2",
    )
    parser.add_argument("--rate", type=float, metavar="R", help="flits a node and cycle that are offered (default 0.1)")
    parser.add_argument(
        "--trace",
        metavar="FILE",
        help="send the messages of a text, Parquet or Netrace file instead, until all have arrived or for --cycles N",
    )
    add_faults_option(parser)
    add_endpoint_options(parser, [RelaySpec.kind])
    parser.add_argument("--histogram", action="store_true", help="show how many messages took how long")
    parser.add_argument(
        "--channels",
        nargs="?",
        const="",
        metavar="FILE",
        help="count what each type of channel carries, how often it stalls and how many packets its queues hold; "
        "FILE, .parquet or .csv, has a row for each channel",
    )
    _add_curve_options(parser, patterns=", or exchange, from each to all at once", also=["flit_width"])
    parser = add_command(
        commands,
        "sweep",
        sweep,
        summary="measure load curves and saturation, many networks at a time",
        example="hdnhw sweep 'rdn(cube(3), 1)' 'torus(8, 16)' --plot curves.svg",
        spec=False,
    )
    parser.set_defaults(rate=None)
    parser.add_argument("specs", nargs="+", metavar="SPEC", help="networks, for example 'rdn(cube(3), 1)'")
    parser.add_argument(
        "--rates", metavar="R,R,...", help="flits a node and cycle; default: searched, up to saturation"
    )
    parser.add_argument("--plot", metavar="FILE", help="draw the curves: .svg, .png or .pdf")
    parser.add_argument(
        "--html", metavar="FILE", help="write a page with the curves, tables of all figures and the options"
    )
    parser.add_argument("--results", metavar="FILE", help="Parquet file that is kept up to date, and gone on from")
    add_worker_options(parser)
    _add_curve_options(parser)


def _add_curve_options(parser: Parser, *, patterns: str = "", also: Sequence[str] = ()) -> None:
    """Add the options of a measurement, and those of the machine on which cycles depend, and some more."""
    add_load_options(parser, patterns=patterns)
    parser.add_argument("--cycles", type=int, metavar="N", help="cycles of the interval measured (default 10000)")
    parser.add_argument("--warmup", type=int, metavar="W", help="cycles before it; default: until it is steady")
    parser.add_argument("--seed", type=int, metavar="S", help="of the random numbers (default 1)")
    add_machine_options(parser, timed=True, also=also)
