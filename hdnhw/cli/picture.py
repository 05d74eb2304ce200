"""The command that draws networks, and what goes on in them."""

from hdnhw.cli.options import Command
from hdnhw.library import picture

COMMANDS = (
    Command(
        picture.picture,
        purpose="networks",
        example="hdnhw picture 'rdn(cube(2), 1)' --paths 0 31 -o paths.svg",
        arguments={"output": "FILE SVG file to write"},
        machine={"routes": True},
    ),
)
