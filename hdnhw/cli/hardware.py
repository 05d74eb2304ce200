"""Commands that write or measure hardware."""

import argparse
from typing import Any

from hdnhw.cli.options import (
    Result,
    add_command,
    add_endpoint_options,
    add_machine_options,
    asked_of,
    ended,
    machine_of,
)
from hdnhw.flow.spec import SynthOptions
from hdnhw.library import hardware
from hdnhw.spec import ENDPOINTS


def emit(options: argparse.Namespace) -> tuple[Result, int]:
    """Write the Verilog of a fabric and its manifest."""
    return ended(hardware.emit(options.spec, options.output, **asked_of(options) | machine_of(options)))


def synth(options: argparse.Namespace) -> tuple[Result, int]:
    """Measure size and speed of a router, an endpoint or a fabric on an FPGA."""
    return ended(hardware.synth(options.spec, **asked_of(options) | machine_of(options)))


def _add_emit(commands: Any) -> None:
    parser = add_command(
        commands,
        "emit",
        emit,
        summary="write the Verilog of a fabric and its manifest",
        example="hdnhw emit 'rdn(cube(3), 1)' -o build/rdn",
        asks=hardware.EmitOptions,
    )
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="directory for the files")
    parser.add_argument("--endpoints", choices=list(ENDPOINTS), help="what to put at the terminals")
    add_machine_options(parser)
    add_endpoint_options(parser)


def _add_synth(commands: Any) -> None:
    parser = add_command(
        commands,
        "synth",
        synth,
        summary="measure size and speed of a router, an endpoint or a fabric on an FPGA",
        example="hdnhw synth 'torus(4, 4)' --family ecp5",
        asks=SynthOptions,
    )
    parser.add_argument("--endpoints", choices=list(ENDPOINTS), help="which, for --unit endpoint")
    add_machine_options(parser)
    add_endpoint_options(parser)


def add_hardware_commands(commands: Any) -> None:
    """Add the commands ``emit`` and ``synth``."""
    _add_emit(commands)
    _add_synth(commands)
