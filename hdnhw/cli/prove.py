"""The command that proves what holds for the emitted Verilog."""

import argparse
from pathlib import Path
from typing import Any

from hdnhw.cli.options import (
    Result,
    add_command,
    add_endpoint_options,
    add_machine_options,
    asked_of,
    ended,
    endpoint_options,
    machine_of,
)
from hdnhw.library import proofs
from hdnhw.spec import ENDPOINTS


def prove(options: argparse.Namespace) -> tuple[Result, int]:
    """Prove that emitted routers route by the rule and keep the channel protocol, and that the wires are right."""
    asked = asked_of(options) | {"output": options.output}
    if options.spec is None or Path(options.spec).is_dir():
        machine = {"endpoints": options.endpoints, **endpoint_options(options)}
    else:
        machine = machine_of(options)
    return ended(proofs.prove(options.spec, **asked | machine))


def add_prove_command(commands: Any) -> None:
    """Add the command ``prove``."""
    parser = add_command(
        commands,
        "prove",
        prove,
        summary="prove that Verilog routes by the rule, delivers packets once and is wired as it should be",
        example="hdnhw prove 'rdn(cube(3), 1)'",
        spec=False,
        asks=proofs.ProveOptions,
    )
    help_text = "network, for example 'rdn(cube(3), 1)', or the folder of an emitted fabric, for its text and options"
    parser.add_argument("spec", nargs="?", metavar="SPEC", help=help_text)
    parser.add_argument(
        "-o", "--output", metavar="DIR", help="write certificate.json into the folder that has the fabric of SPEC"
    )
    parser.add_argument("--endpoints", choices=list(ENDPOINTS), help="what stands at the terminals")
    add_machine_options(parser)
    add_endpoint_options(parser)
