"""The command that proves what holds for the emitted Verilog."""

import argparse
from pathlib import Path
from typing import Any

from hdnhw.cli.options import (
    DONE,
    FAILED,
    Result,
    add_command,
    add_endpoint_options,
    add_machine_options,
    fabric_spec,
    say,
)
from hdnhw.prove.finding import SECONDS
from hdnhw.spec import ENDPOINTS, SpecError

__all__ = ["add_prove_command"]


def prove(options: argparse.Namespace) -> tuple[Result, int]:
    """Prove that emitted routers route by the rule and keep the channel protocol, and that the wires are right."""
    from hdnhw.flow.tools import ToolError
    from hdnhw.prove.certificate import check_certificate
    from hdnhw.prove.fabric import prove_fabric

    if (options.spec is None) == (options.check is None):
        raise SpecError("prove takes either SPEC or --check FILE")
    if options.check is not None:
        found = check_certificate(Path(options.check))
        return found, DONE if found["text"] is not None and found["proved"] else FAILED
    spec = fabric_spec(options)
    output = None if options.output is None else Path(options.output)
    try:
        result = prove_fabric(spec, seconds=options.seconds, output=output, say=say)
    except ToolError as error:
        say(f"hdnhw: {error}")
        return {"spec": str(spec.network), "proved": False, "error": str(error)}, FAILED
    return result, DONE if result["proved"] else FAILED


def add_prove_command(commands: Any) -> None:
    """Add the command ``prove``."""
    parser = add_command(
        commands,
        "prove",
        prove,
        summary="prove that the emitted Verilog routes by the rule, delivers packets once and is wired as it should be",
        example="hdnhw prove 'rdn(cube(3), 1)'",
        spec=False,
    )
    parser.add_argument("spec", nargs="?", metavar="SPEC", help="network, for example 'rdn(cube(3), 1)'")
    parser.add_argument(
        "-o", "--output", metavar="DIR", help="write certificate.json into the folder of this fabric's manifest"
    )
    parser.add_argument("--check", metavar="FILE", help="tell whether a certificate belongs to the text beside it")
    help_text = f"after which a search is given up (default {SECONDS:g})"
    parser.add_argument("--seconds", type=float, default=SECONDS, metavar="S", help=help_text)
    parser.add_argument("--endpoints", choices=list(ENDPOINTS), help="what stands at the terminals")
    add_machine_options(parser)
    add_endpoint_options(parser)
