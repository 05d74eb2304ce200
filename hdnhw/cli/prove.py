"""The command that proves what holds for the emitted Verilog."""

from hdnhw.cli.options import Command
from hdnhw.endpoints import declared
from hdnhw.library import proofs

COMMANDS = (
    Command(
        proofs.prove,
        purpose="hardware",
        example="hdnhw prove 'rdn(cube(3), 1)'",
        arguments={
            "spec": "network, for example 'rdn(cube(3), 1)', or the folder of an emitted fabric, for its text and "
            "options",
            "output": "DIR write certificate.json into the folder that has the fabric of SPEC",
        },
        machine={},
        endpoints=declared("spec"),
    ),
)
