"""The command for systems of blocks with addresses."""

from hdnhw.cli.options import Command
from hdnhw.library import systems

COMMANDS = (
    Command(
        systems.system,
        purpose="hardware",
        example="hdnhw system soc.toml -o build/soc",
        arguments={"file": "description of a system in TOML", "output": "DIR directory for the files"},
    ),
)
