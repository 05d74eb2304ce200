"""Commands about collective operations."""

import argparse
from typing import Any

from hdnhw.cli.options import Result, add_command, add_machine_options, asked_of, ended
from hdnhw.library.collectives import exchange as exchanges
from hdnhw.library.collectives import operations


def exchange(options: argparse.Namespace) -> tuple[Result, int]:
    """Run a total exchange and count what it costs, beside the bound and the papers' formulas."""
    return ended(exchanges.exchange(options.spec, **asked_of(options)))


def collective(options: argparse.Namespace) -> tuple[Result, int]:
    """Run a collective operation other than a total exchange and count what it costs."""
    return ended(operations.collective(options.spec, **asked_of(options)))


def add_collective_commands(commands: Any) -> None:
    """Add the commands ``exchange`` and ``collective``."""
    parser = add_command(
        commands,
        "exchange",
        exchange,
        summary="run a total exchange and count what it costs",
        example="hdnhw exchange 'rdn(cube(3), 1)' --schedule cluster-first --steps",
        asks=exchanges.ExchangeOptions,
    )
    add_machine_options(parser, timed=True)
    parser = add_command(
        commands,
        "collective",
        collective,
        summary="run a collective operation and count what it costs: broadcast to scan",
        example="hdnhw collective 'rdn(cube(3), 1)' --op allreduce --words 1024",
        asks=operations.CollectiveOptions,
    )
    add_machine_options(parser, timed=True)
