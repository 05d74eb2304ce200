"""The command that helps to choose a machine for a network."""

import shlex
from typing import Any

from hdnhw.cli.options import Command, Parser, Result, add_machine_options, machine_options
from hdnhw.library import machines as library
from hdnhw.library.machines import SHAPE
from hdnhw.spec import FabricSpec
from hdnhw.spec.options import options_of
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named

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


def _read(text: str) -> dict[str, Any]:
    """Return the options of a machine that are written as on a command line."""
    parser = Parser(prog="hdnhw machines: --machine", add_help=False, allow_abbrev=False)
    add_machine_options(parser)
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise SpecError(f"{named('machine')} must be options such as '--buffers 8', not {text!r}: {error}") from None
    return machine_options(parser.parse_args(words))


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


COMMANDS = (
    Command(
        library.machines,
        purpose="hardware",
        example="hdnhw machines 'torus(4, 4)' --plot machines.svg",
        machine={},
        defaults=dict.fromkeys(options_of(FabricSpec), ""),
        reads={"machine": _read},
        shown=_shown,
    ),
)
