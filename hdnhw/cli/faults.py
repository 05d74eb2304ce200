"""Commands about dead nodes and channels."""

from typing import Any

from hdnhw.cli.options import Command, Result
from hdnhw.library import faults

DIGITS = 4
"""Of numbers in a table."""

TABLES = ("paths_left", "rates", "waypoints_left")
"""Keys with rows."""


def _printed(found: Result) -> Result:
    return {name: _shown(value) if name in TABLES else value for name, value in found.items()}


def _shown(rows: list[Result]) -> list[Result]:
    """Return rows as a table shows them: numbers rounded, and for a list a column for each number of waypoints."""

    def shown(value: Any) -> Any:
        if isinstance(value, list):
            return {str(most): shown(part) for most, part in enumerate(value)}
        return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value

    return [{name: shown(value) for name, value in row.items()} for row in rows]


COMMANDS = (
    Command(
        faults.faults,
        purpose="routes",
        example="hdnhw faults 'hdn(cube(3), [[0], [0, 1, 2]])' --fault-rate 0.1 --trials 100",
        machine={"routes": True},
        shown=_printed,
    ),
    Command(
        faults.waypoints,
        purpose="routes",
        example="hdnhw waypoints 'hdn(cube(3), [[2]])' 0 --dead-nodes 1 17 --dead-channels 0:cross1",
        arguments={"dst": "node number or address; all nodes if omitted"},
        machine={"routes": True},
    ),
)
