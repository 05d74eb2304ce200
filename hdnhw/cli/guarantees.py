"""The command that bounds latencies and rates of flows."""

from hdnhw.cli.options import Command
from hdnhw.library import guarantees as library

COMMANDS = (
    Command(
        library.guarantees,
        purpose="traffic",
        example="hdnhw guarantees 'torus(4, 4)' --rate 0.05 --buffers 32",
        machine={"timed": True},
    ),
)
