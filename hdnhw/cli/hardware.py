"""Commands that write or measure hardware."""

import argparse
from typing import Any

from hdnhw.cli.options import (
    Result,
    add_command,
    add_endpoint_options,
    add_initial_option,
    add_machine_options,
    add_node_clocks_option,
    ended,
    machine_of,
)
from hdnhw.flow.family import FAMILIES
from hdnhw.flow.spec import UNITS
from hdnhw.library import hardware
from hdnhw.spec import ENDPOINTS


def emit(options: argparse.Namespace) -> tuple[Result, int]:
    """Write the Verilog of a fabric and its manifest."""
    names = ("name", "wrapper", "no_initial", "node_clocks")
    asked = {name: getattr(options, name) for name in names}
    return ended(hardware.emit(options.spec, options.output, **asked, **machine_of(options)))


def synth(options: argparse.Namespace) -> tuple[Result, int]:
    """Measure size and speed of a router, an endpoint or a fabric on an FPGA."""
    names = ("family", "unit", "seeds", "address", "frequency")
    asked = {name: getattr(options, name) for name in names}
    return ended(hardware.synth(options.spec, **asked, **machine_of(options)))


def _add_emit(commands: Any) -> None:
    parser = add_command(
        commands,
        "emit",
        emit,
        summary="write the Verilog of a fabric and its manifest",
        example="hdnhw emit 'rdn(cube(3), 1)' -o build/rdn",
    )
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="directory for the files")
    parser.add_argument("--name", default="fabric", help="name of the top-level module (default fabric)")
    parser.add_argument("--endpoints", choices=list(ENDPOINTS), help="what to put at the terminals")
    parser.add_argument(
        "--wrapper",
        action="store_true",
        help="with wrappers in SystemVerilog, Verilog and VHDL that have one array for the ports of all nodes, and "
        "files of constants",
    )
    add_initial_option(parser)
    add_node_clocks_option(parser)
    add_machine_options(parser)
    add_endpoint_options(parser)


def _add_synth(commands: Any) -> None:
    parser = add_command(
        commands,
        "synth",
        synth,
        summary="measure size and speed of a router, an endpoint or a fabric on an FPGA",
        example="hdnhw synth 'torus(4, 4)' --family ecp5",
    )
    parser.add_argument("--family", choices=list(FAMILIES), default="ecp5", help="default ecp5")
    parser.add_argument("--unit", choices=UNITS, default="router", help="default router")
    parser.add_argument("--endpoints", choices=list(ENDPOINTS), help="which, for --unit endpoint")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="runs of place-and-route (default 3)")
    parser.add_argument(
        "--address", metavar="NODE", help="node whose router or endpoint it is, or pins; default a node in the middle"
    )
    parser.add_argument("--frequency", type=float, metavar="MHZ", help="target of place-and-route")
    add_machine_options(parser)
    add_endpoint_options(parser)


def add_hardware_commands(commands: Any) -> None:
    """Add the commands ``emit`` and ``synth``."""
    _add_emit(commands)
    _add_synth(commands)
