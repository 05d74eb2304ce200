"""Commands about collective operations."""

from typing import Any

from hdnhw.cli.options import add_command, add_machine_options, calls
from hdnhw.library.collectives import exchange as exchanges
from hdnhw.library.collectives import operations


def add_collective_commands(commands: Any) -> None:
    """Add the commands ``exchange`` and ``collective``."""
    parser = add_command(
        commands,
        "exchange",
        calls(exchanges.exchange, "spec"),
        summary="run a total exchange and count what it costs",
        example="hdnhw exchange 'rdn(cube(3), 1)' --schedule cluster-first --steps",
        asks=exchanges.ExchangeOptions,
    )
    add_machine_options(parser, timed=True)
    parser = add_command(
        commands,
        "collective",
        calls(operations.collective, "spec"),
        summary="run a collective operation and count what it costs: broadcast to scan",
        example="hdnhw collective 'rdn(cube(3), 1)' --op allreduce --words 1024",
        asks=operations.CollectiveOptions,
    )
    add_machine_options(parser, timed=True)
