"""Commands that need a simulator."""

from hdnhw.cli.options import Command
from hdnhw.library.cosimulation import cosim, demo
from hdnhw.spec import AxiMemorySpec, AxiStreamSpec, RelaySpec

COMMANDS = (
    Command(
        cosim,
        example="hdnhw cosim 'rdn(cube(3), 1)' --test random --packets 100000",
        machine={},
        endpoints=[AxiStreamSpec.kind, AxiMemorySpec.kind, RelaySpec.kind],
    ),
    Command(demo, example="hdnhw demo"),
)
