"""The command that helps to choose a machine for a network."""

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdnhw.cli.options import DONE, FAILED, Parser, Result, add_command, add_machine_options, machine_words
from hdnhw.cli.progress import ProgressBar
from hdnhw.cli.workers import workers
from hdnhw.flow.family import FAMILIES, PLACED_FAMILIES
from hdnhw.spec import FabricSpec, NetworkSpec, SpecError, parse
from hdnhw.spec.options import options_of

if TYPE_CHECKING:
    from hdnhw.flow.machines import Measured

__all__ = ["add_machines_command"]

SHAPE = ("packet_length", "flit_width")
"""Options that say in how many flits of how many bits a packet is."""

SHOWN = {
    "sites": ("sites", 0),
    "block_rams": ("block_rams", 0),
    "fmax_mhz": ("mhz", 1),
    "ns": ("ns", 1),
    "saturation_throughput": ("accepts", 3),
    "bound_share": ("of_bound", 2),
    "gbits_per_node": ("gbits", 2),
    "gbits_per_1000_sites": ("per_1000_sites", 2),
}
"""Keys of a row -> columns of the table on a terminal, behind the options, and digits there behind the point."""


def machines(options: argparse.Namespace) -> tuple[Result, int]:
    """Measure machines on a network, and say which are worth building."""
    from hdnhw.flow.machines import MOST_HOPS, buildable, measure_machines
    from hdnhw.report.curves import check_plot
    from hdnhw.report.machines import plot_machines

    network, family = parse(options.spec), options.family
    if not 1 <= options.hops <= MOST_HOPS:
        raise SpecError(f"hops must be 1 to {MOST_HOPS}, not {options.hops}")
    if options.plot is not None:
        check_plot(Path(options.plot))
    found, left_out = buildable(network, _asked(options), packet_bits=options.packet_bits, family=family)
    with ProgressBar() as bar:
        start = workers(options, bar.say)
        measured, failed = measure_machines(found, start, family=family, seeds=options.seeds, progress=bar.show)
    rows = _rows(measured, network, options)
    if options.plot is not None and rows:
        plot_machines(rows, Path(options.plot), network=str(network), hops=options.hops)
    about = {name: getattr(options, name) for name in ("packet_bits", "hops", "seeds", "family")}
    device = {"device": FAMILIES[family].device, "speed": FAMILIES[family].speed}
    result = {"spec": str(network), **about, **device, "machines": rows}
    result["left_out"] = [{"options": machine_words(one.options), "why": one.why} for one in (*left_out, *failed)]
    has_failed = not rows or any(one.failed for one in failed)
    return result if options.json else _shown(result), FAILED if has_failed else DONE


def _asked(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the options of the machines that are asked for: what holds for all takes the place of what each has."""
    from hdnhw.flow.machines import usual_machines

    given = _given(options)
    replaced = {*given, *(SHAPE if given.keys() & SHAPE else ())}
    asked = usual_machines() if options.machine is None else [_read(text) for text in options.machine]
    return [{name: value for name, value in one.items() if name not in replaced} | given for one in asked]


def _read(text: str) -> dict[str, Any]:
    """Return the options of a machine that are written as on a command line."""
    parser = Parser(prog="hdnhw machines: --machine", add_help=False, allow_abbrev=False)
    add_machine_options(parser)
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise SpecError(f"machine must be options such as '--buffers 8', not {text!r}: {error}") from None
    return _given(parser.parse_args(words))


def _given(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options of a machine that are not left to their defaults."""
    asked = {name: getattr(options, name) for name in options_of(FabricSpec)}
    return {name: value for name, value in asked.items() if value is not None}


def _rows(measured: "Sequence[Measured]", network: NetworkSpec, options: argparse.Namespace) -> list[Result]:
    """Return a row for each machine: what it is, and what it gives."""
    from hdnhw.flow.machines import default_options, front, options_given

    hops, default = options.hops, default_options(network, options.family)
    best = front(measured, hops)
    rows = []
    for one in measured:
        spec, share = one.machine.spec, one.bound_share
        rows.append(
            {
                "packet": f"{spec.packet_length}x{spec.flit_width}",
                "options": machine_words(options_given(spec)),
                **one.machine.options(),
                "sites": one.sites,
                "block_rams": one.block_rams,
                "fmax_mhz": one.fmax_mhz,
                "fmax_of_seed": list(one.fmax_of_seed),
                "latency_cycles": one.latency_cycles(hops),
                "ns": round(one.latency_ns(hops), 1),
                "saturation_throughput": round(one.saturation_throughput, 6),
                "saturation_bound": one.saturation_bound,
                "bound_share": None if share is None else round(share, 4),
                "gbits_per_node": round(one.gbits_per_node, 3),
                "gbits_per_1000_sites": round(one.gbits_per_1000_sites, 3),
                "front": one in best,
                "default": one.machine.options() == default,
            }
        )
    return rows


def _shown(result: Result) -> Result:
    """Return what is printed as text: the options by which machines differ in each row, the others once."""
    rows = result["machines"]
    names = [name for name in options_of(FabricSpec) if name not in SHAPE]
    differ = [name for name in names if len({str(row[name]) for row in rows}) > 1]
    alike = {name: rows[0][name] for name in names if name not in differ and rows}
    table = [{"packet": row["packet"]} | {name: row[name] for name in differ} | _figures(row) for row in rows]
    shown = {name: value for name, value in result.items() if name not in ("machines", "left_out")} | alike
    return shown | {name: value for name, value in (("machines", table), ("left_out", result["left_out"])) if value}


def _figures(row: Result) -> Result:
    """Return the figures of a row as they are printed."""
    figures = {
        shown: round(row[name], digits) if isinstance(row[name], float) else row[name]
        for name, (shown, digits) in SHOWN.items()
    }
    return figures | {name: row[name] for name in ("front", "default")}


def add_machines_command(commands: Any) -> None:
    """Add the command ``machines``."""
    parser = add_command(
        commands,
        "machines",
        machines,
        summary="measure machines that can be built on a network, and say which are worth it",
        example="hdnhw machines 'torus(4, 4)' --plot machines.svg",
    )
    parser.set_defaults(workers=None, cluster=None)
    parser.add_argument(
        "--machine",
        action="append",
        metavar="OPTIONS",
        help="a machine to measure in place of the usual ones, as in --machine '--buffers 8 --queueing voq' or "
        "--machine=--crc; repeat it for more; options of a machine outside of it hold for all",
    )
    parser.add_argument("--packet-bits", type=int, default=256, metavar="N", help="bits of a packet (default 256)")
    parser.add_argument("--hops", type=int, default=4, metavar="H", help="channels of the latency (default 4)")
    parser.add_argument("--family", choices=list(PLACED_FAMILIES), default="ecp5", help="default ecp5")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="runs of place-and-route (default 3)")
    parser.add_argument("--plot", metavar="FILE", help="draw Gbit/s a node against ns: .svg, .png or .pdf")
    add_machine_options(parser, defaults=dict.fromkeys(options_of(FabricSpec), ""))
