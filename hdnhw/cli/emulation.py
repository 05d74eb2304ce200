"""Commands about other networks on HSNs and dual-nets: their steps and algorithms, and embeddings."""

from typing import Any

from hdnhw.cli.options import add_command, calls
from hdnhw.library import emulation


def add_emulation_commands(commands: Any) -> None:
    """Add the commands ``embed`` and ``emulate``."""
    parser = add_command(
        commands,
        "embed",
        calls(emulation.embed, "spec", "guest"),
        summary="place the nodes of a ring, mesh, hypercube, tree or other graph on a network, and route its edges",
        example="hdnhw embed 'rdn(cube(3), 1)' 'torus(8, 16)'",
        asks=emulation.EmbedOptions,
    )
    parser.add_argument("guest", metavar="GUEST", help="what is placed: the spec of a network")
    add_command(
        commands,
        "emulate",
        calls(emulation.emulate, "spec"),
        summary="run a step, or an algorithm, of the product of an HSN's nuclei on the HSN, or an algorithm of a "
        "hypercube on a dual-net over one, with data that are moved",
        example="hdnhw emulate 'hsn(3, cube(2))' --all-port --steps",
        asks=emulation.EmulateOptions,
    )
