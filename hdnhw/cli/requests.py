"""The command that measures requests and replies."""

from typing import Any

from hdnhw.cli.options import add_command, add_machine_options, calls
from hdnhw.library import requests as library
from hdnhw.spec.requests import RequestSpec


def add_requests_command(commands: Any) -> None:
    """Add the command ``requests``."""
    parser = add_command(
        commands,
        "requests",
        calls(library.requests, "spec"),
        summary="measure how many requests are answered, and how fast, when no node has more than a window of them "
        "under way",
        example="hdnhw requests 'rdn(cube(3), 1)' --window 8 --buffers 8",
        asks=RequestSpec,
    )
    add_machine_options(parser, timed=True)
    parser.set_defaults(ranks=True)  # what threads can share, processes of mpirun can
