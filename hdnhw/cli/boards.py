"""The command that makes bitstreams."""

from hdnhw.boards.catalogue import BOARDS
from hdnhw.cli.options import Command
from hdnhw.library.boards import build

OF_BOARDS = ("packet_length", "flit_width", "buffers", "crossbar")

COMMANDS = (
    Command(
        build,
        purpose="hardware",
        example="hdnhw build ulx3s-85f 'rdn(cube(2), 1)'",
        arguments={
            "board": f"one of {', '.join(BOARDS)}",
            "spec": "network; each board has a default, as for the sizes",
        },
        machine={"pins": False},
        defaults=dict.fromkeys(OF_BOARDS, "the board's"),
    ),
)
