"""The command that shows packets in waveforms."""

from hdnhw.cli.options import Command, Result
from hdnhw.library import waves as library
from hdnhw.library.result import Result as Found


def tree(found: Found) -> Result:
    """Return what is printed: each queue below the one that it waits for."""
    rows = [dict(row) for row in found.get("waits", ())]
    for row in rows:
        row["queue"] = "  " * row.pop("depth") + row["queue"]
    return {**found, "waits": rows} if rows else dict(found)


COMMANDS = (
    Command(
        library.waves,
        purpose="hardware",
        example="hdnhw waves dump.vcd build/rdn -o packets.vcd",
        arguments={
            "dump": "VCD of a simulation, from the reset on, or a trace of packets",
            "folder": "folder of the emitted fabric",
            "output": "FILE write a VCD of packets, for GTKWave and Surfer, or a picture, SVG",
        },
        shown=tree,
    ),
)
