"""Commands that write or measure hardware."""

from hdnhw.cli.options import Command
from hdnhw.endpoints import declared
from hdnhw.library import hardware

COMMANDS = (
    Command(
        hardware.emit,
        purpose="hardware",
        example="hdnhw emit 'rdn(cube(3), 1)' -o build/rdn",
        arguments={"output": "DIR directory for the files"},
        machine={},
        endpoints=declared("spec"),
    ),
    Command(
        hardware.synth,
        purpose="hardware",
        example="hdnhw synth 'torus(4, 4)' --family ecp5",
        machine={},
        endpoints=declared("spec"),
    ),
)
