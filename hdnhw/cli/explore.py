"""The command that makes a page on which a network is explored."""

from hdnhw.cli.options import Command
from hdnhw.library import explorer

COMMANDS = (
    Command(
        explorer.explore,
        purpose="networks",
        example="hdnhw explore 'rdn(cube(2), 1)' -o page.html",
        arguments={"output": "FILE HTML file to write"},
        machine={"timed": True},
    ),
)
