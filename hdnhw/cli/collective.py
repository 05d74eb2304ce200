"""Commands about collective operations."""

from hdnhw.cli.options import Command
from hdnhw.library.collectives import exchange, operations

COMMANDS = (
    Command(
        exchange.exchange,
        purpose="collective operations",
        example="hdnhw exchange 'rdn(cube(3), 1)' --schedule cluster-first --steps",
        machine={"timed": True},
    ),
    Command(
        operations.collective,
        purpose="collective operations",
        example="hdnhw collective 'rdn(cube(3), 1)' --op allreduce --words 1024",
        machine={"timed": True},
    ),
)
