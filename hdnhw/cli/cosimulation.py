"""Commands that need a simulator."""

from hdnhw.cli.options import Command
from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.library.cosimulation import cosim, demo, kinds_of_tests

COMMANDS = (
    Command(
        cosim,
        purpose="hardware",
        example="hdnhw cosim 'rdn(cube(3), 1)' --test random --packets 100000",
        machine={},
        endpoints=[*kinds_of_tests().values(), RelaySpec.kind],
    ),
    Command(demo, purpose="hardware", example="hdnhw demo"),
)
