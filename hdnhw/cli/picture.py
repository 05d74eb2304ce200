"""The command that draws networks, and what goes on in them."""

from typing import Any

from hdnhw.cli.options import add_command, add_machine_options, calls
from hdnhw.library import picture as library
from hdnhw.library.picture import PICTURE_LIMIT


def add_picture_command(commands: Any) -> None:
    """Add the command ``picture``."""
    parser = add_command(
        commands,
        "picture",
        calls(library.picture, "spec", "output"),
        summary=f"draw a network of up to {PICTURE_LIMIT} nodes, or what goes on in it, as SVG",
        example="hdnhw picture 'rdn(cube(2), 1)' --paths 0 31 -o paths.svg",
        asks=library.PictureOptions,
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="SVG file to write")
    add_machine_options(parser, routes=True)
