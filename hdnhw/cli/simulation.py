"""Commands that run the model."""

from collections.abc import Sequence
from typing import Any

from hdnhw.cli.options import Command, Result
from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.library import simulation


def _shown(curves: Result) -> Result:
    """Return what of a sweep is printed as text: what fits into the lines of a terminal."""
    from hdnhw.measurement.sweep import FIGURES

    unit = "_bits" * ("equal" in curves)
    which = ("spec", "pattern") if len({row["pattern"] for row in curves["saturation"]}) > 1 else ("spec",)
    more: Result = {name: curves[name] for name in ("equal", "packet_bits", "widths") if name in curves}
    hidden = () if "pattern" in which else ("pattern",)
    compared = {name: [_short(row, hidden) for row in curves[name]] for name in ("differences",) if curves.get(name)}
    return {
        **more,
        "saturation": [
            {name: row[name] for name in which}
            | {f"{name}{unit}": _with(row[f"{name}{unit}"], row[f"{width}{unit}"]) for name, width in FIGURES.items()}
            for row in curves["saturation"]
        ],
        "points": [_shown_point(row, which) for row in curves["points"]],
        **compared,
        **{f"note on {row['spec']}": row["note"] for row in curves["saturation"] if row["note"]},
        "all figures": "with --json, or kept by --results FILE",
    }


def _short(row: Result, hidden: Sequence[str]) -> Result:
    """Return a difference without the intervals of what is accepted."""
    shown = {name: value for name, value in row.items() if name not in hidden and not name.startswith("accepted")}
    return {name: _rounded(value) for name, value in shown.items()}


def _shown_point(row: Result, which: Sequence[str]) -> Result:
    unit = "_bits" * ("rate_bits" in row)
    figures = {f"{name}{unit}": _rounded(row[f"{name}{unit}"]) for name in ("rate", "accepted_rate")}
    mean = {"mean": _rounded((row["packet_latency"] or {}).get("mean"))}
    width = {"confidence_95": row["confidence_95"]} if "seeds" in row else {}
    return {**{name: row[name] for name in which}, **figures, "packet_latency": mean, **width, "steady": row["steady"]}


def _with(value: float | None, width: float | None) -> Any:
    """Return a figure with half the width of its interval."""
    return value if width is None else f"{value} \u00b1 {width}"


def _rounded(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value


OF_CYCLES: dict[str, Any] = {"machine": {"timed": True}, "also": ["flit_width"]}
"""Options of a machine on which cycles depend, or what is said of them."""

COMMANDS = (
    Command(
        simulation.simulate,
        purpose="traffic",
        example="hdnhw simulate 'rdn(cube(3), 1)' --pattern uniform --rate 0.2",
        endpoints=[RelaySpec.kind],
        **OF_CYCLES,
    ),
    Command(
        simulation.sweep,
        purpose="traffic",
        example="hdnhw sweep 'rdn(cube(3), 1)' 'torus(8, 16)' --plot curves.svg",
        shown=_shown,
        **OF_CYCLES,
    ),
)
