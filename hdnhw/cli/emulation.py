"""Commands about other networks on HSNs and dual-nets: their steps and algorithms, and embeddings."""

from hdnhw.cli.options import Command
from hdnhw.library import emulation

COMMANDS = (
    Command(
        emulation.embed,
        purpose="networks",
        example="hdnhw embed 'rdn(cube(3), 1)' 'torus(8, 16)'",
        arguments={"guest": "what is placed: the spec of a network"},
    ),
    Command(
        emulation.emulate, purpose="collective operations", example="hdnhw emulate 'hsn(3, cube(2))' --all-port --steps"
    ),
)
