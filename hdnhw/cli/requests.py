"""The command that measures requests and replies."""

from hdnhw.cli.options import Command
from hdnhw.library import requests as library

COMMANDS = (
    Command(
        library.requests,
        purpose="traffic",
        example="hdnhw requests 'rdn(cube(3), 1)' --window 8 --buffers 8",
        machine={"timed": True},
    ),
)
