"""Commands that run the model."""

import argparse
from collections.abc import Sequence
from typing import Any

from hdnhw.cli.options import (
    DONE,
    DRAWN,
    Parser,
    Result,
    add_command,
    add_drawing_options,
    add_endpoint_options,
    add_faults_option,
    add_load_options,
    add_machine_options,
    add_threads_option,
    add_worker_options,
    ended,
    endpoint_options,
    machine_options,
)
from hdnhw.library import simulation
from hdnhw.library.equal import EQUALS, PACKET_BITS
from hdnhw.model.engines import COMPILED, ENGINES
from hdnhw.spec import RelaySpec

LOAD = ("pattern", "injection", "lengths", "cycles", "precision", "warmup", "seed", "seeds")


def simulate(options: argparse.Namespace) -> tuple[Result, int]:
    """Measure latency and accepted rate of a fabric under a load or a trace, on the cycle-accurate model."""
    names = (*LOAD, "rate", "trace", "faults", "histogram", "energy", "flows", "threads", "engine", *DRAWN)
    asked = {name: getattr(options, name) for name in names}
    asked["channels"] = {None: False, "": True}.get(options.channels, options.channels)
    return ended(simulation.simulate(options.spec, **asked, **machine_options(options), **endpoint_options(options)))


def sweep(options: argparse.Namespace) -> tuple[Result, int]:
    """Measure load curves of one or more fabrics and their saturation."""
    names = (*LOAD, "rates", "equal", "packet_bits", "results", "plot_accepted", *DRAWN, "workers", "cluster")
    asked = {name: getattr(options, name) for name in names}
    curves = simulation.sweep(*options.specs, **asked, **machine_options(options))
    return curves if options.json else _shown(curves), DONE


def _shown(curves: Result) -> Result:
    """Return what of a sweep is printed as text: what fits into the lines of a terminal."""
    from hdnhw.model.sweep import FIGURES

    unit = "_bits" * ("equal" in curves)
    which = ("spec", "pattern") if len({row["pattern"] for row in curves["saturation"]}) > 1 else ("spec",)
    more: Result = {name: curves[name] for name in ("equal", "packet_bits", "widths") if name in curves}
    hidden = () if "pattern" in which else ("pattern",)
    compared = {name: [_short(row, hidden) for row in curves[name]] for name in ("differences",) if curves.get(name)}
    return {
        **more,
        "saturation": [
            {name: row[name] for name in which}
            | {f"{name}{unit}": _with(row[f"{name}{unit}"], row[f"{width}{unit}"]) for name, width in FIGURES.items()}
            for row in curves["saturation"]
        ],
        "points": [_shown_point(row, which) for row in curves["points"]],
        **compared,
        **{f"note on {row['spec']}": row["note"] for row in curves["saturation"] if row["note"]},
        "all figures": "with --json, or kept by --results FILE",
    }


def _short(row: Result, hidden: Sequence[str]) -> Result:
    """Return a difference without the intervals of what is accepted."""
    shown = {name: value for name, value in row.items() if name not in hidden and not name.startswith("accepted")}
    return {name: _rounded(value) for name, value in shown.items()}


def _shown_point(row: Result, which: Sequence[str]) -> Result:
    unit = "_bits" * ("rate_bits" in row)
    figures = {f"{name}{unit}": _rounded(row[f"{name}{unit}"]) for name in ("rate", "accepted_rate")}
    mean = {"mean": _rounded((row["packet_latency"] or {}).get("mean"))}
    width = {"confidence_95": row["confidence_95"]} if "seeds" in row else {}
    return {**{name: row[name] for name in which}, **figures, "packet_latency": mean, **width, "steady": row["steady"]}


def _with(value: float | None, width: float | None) -> Any:
    """Return a figure with half the width of its interval."""
    return value if width is None else f"{value} \u00b1 {width}"


def _rounded(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value


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
    parser.add_argument(
        "--energy",
        metavar="FILE",
        help="show what flits take, by a text file with a line NAME PICOJOULES for each type of channel and for router",
    )
    parser.add_argument(
        "--flows",
        metavar="FILE",
        help="write a row for each pair of nodes to FILE, .parquet or .csv: messages, their mean and longest latency",
    )
    add_threads_option(parser, worth="some thousands")
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default=COMPILED,
        help="what simulates: compiled (default), or reference, plain Python to be read, for small networks",
    )
    add_drawing_options(parser, "how many messages took how long")
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
    add_drawing_options(parser, "latency against the offered rate")
    parser.add_argument("--plot-accepted", metavar="FILE", help="draw the accepted against the offered rate")
    parser.add_argument(
        "--equal",
        choices=EQUALS,
        help="compare at equal cost: flits are as wide as an equal number of pins a router, of wires, or an equal "
        "bisection allows, --flit-width those of the first network, and rates are in bits of packets a node and cycle",
    )
    parser.add_argument(
        "--packet-bits", type=int, metavar="N", help=f"with --equal: bits of a packet (default {PACKET_BITS})"
    )
    parser.add_argument(
        "--results", metavar="FILE", help="file that is kept up to date, and gone on from: .parquet, .csv or .json"
    )
    add_worker_options(parser)
    _add_curve_options(parser, several=True, also=["flit_width"])


def _add_curve_options(parser: Parser, *, patterns: str = "", several: bool = False, also: Sequence[str] = ()) -> None:
    """Add the options of a measurement, and those of the machine on which cycles depend, and some more."""
    add_load_options(parser, patterns=patterns, several=several)
    parser.add_argument(
        "--cycles", type=int, metavar="N", help="cycles of the interval measured (default 10000, more for --precision)"
    )
    parser.add_argument(
        "--precision",
        type=float,
        metavar="P",
        help="go on, up to 128 times as long, until half the 95 %% confidence interval of the mean latency is this "
        "share of it (default 0.1; none with --cycles or --seeds)",
    )
    parser.add_argument("--warmup", type=int, metavar="W", help="cycles before it; default: until it is steady")
    parser.add_argument("--seed", type=int, metavar="S", help="of the random numbers (default 1)")
    parser.add_argument(
        "--seeds",
        type=int,
        default=1,
        metavar="N",
        help="measure with N seeds from this one on, for confidence intervals from independent runs (default 1)",
    )
    add_machine_options(parser, timed=True, also=also)
