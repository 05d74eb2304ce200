"""A sweep as one HTML file that needs nothing else: figure, tables, options."""

from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from hdnhw.files import check_output
from hdnhw.model.measure import LoadSpec
from hdnhw.report.curves import CEILING, curves_svg
from hdnhw.routing.plan import plan
from hdnhw.spec import FabricSpec, parse
from hdnhw.spec.options import options_of

__all__ = ["check_page", "sweep_page"]

LIBRARIES = ("hdnhw", "numpy", "numba", "matplotlib")
"""On whose versions the page depends."""

NOTHING = "—"
"""Where there is no figure."""


def check_page(path: Path) -> None:
    """Raise SpecError unless a page can be written to a file of this name."""
    check_output("page", path, (".html", ".htm"))
    import_module("matplotlib.figure")  # an error now, not after the work


def sweep_page(curves: Sequence[dict[str, Any]], *, load: LoadSpec, command: str) -> str:
    """Return the page of a sweep as HTML; it is the same for the same curves and versions.

    Parameters
    ----------
    curves : sequence of dict
        As :meth:`hdnhw.model.sweep.Sweep.run` returns them, at least one.
    load : LoadSpec
        What was offered, but for the rate.
    command : str
        The command line that makes the page.
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True)
    template = environment.from_string(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))
    return template.render(
        title="Load curves: " + ", ".join(curve["spec"] for curve in curves),
        figure=curves_svg(curves),
        ceiling=CEILING,
        networks=[
            {
                "name": curve["spec"],
                "cells": _network_cells(curve),
                "note": curve["note"],
                "points": [{"steady": row["steady"], "cells": _point_cells(row)} for row in curve["points"]],
            }
            for curve in curves
        ],
        options=_options(curves[0]["points"][0], load),
        command=command,
        versions={name: version(name) for name in LIBRARIES},
    )


def _network_cells(curve: dict[str, Any]) -> dict[str, str]:
    """Return heading -> text of a network."""
    lowest = curve["points"][0]
    routing = plan(parse(curve["spec"]), lowest["modes"], lowest["lanes"])
    bound = None if curve["saturation_bound"] is None else min(1.0, curve["saturation_bound"])
    throughput = curve["saturation_throughput"]
    return {
        "nodes": str(curve["nodes"]),
        "ports": str(len(routing.shapes[0].ports)),
        "virtual channels": str(routing.max_vcs),
        "modes": routing.modes or NOTHING,
        "zero-load latency": _text(curve["zero_load_latency"], 2),
        "rate at 3x latency": _text(curve["rate_at_3x_latency"], 3),
        "saturation throughput": _text(throughput, 3),
        "overload throughput": _text(curve["overload_throughput"], 3),
        "bound": _text(bound, 3),
        "share of bound": NOTHING if None in (bound, throughput) else f"{100 * throughput / bound:.0f} %",
    }


def _point_cells(row: dict[str, Any]) -> dict[str, str]:
    """Return heading -> text of a point."""
    latency = row["packet_latency"] or {}
    return {
        "rate": _text(row["rate"], 4),
        "offered": _text(row["offered_rate"], 4),
        "accepted": _text(row["accepted_rate"], 4),
        "mean": _text(latency.get("mean"), 2),
        "±": _text(row["confidence_95"], 2),
        **{name: _text(latency.get(name), 0) for name in ("p50", "p95", "p99", "max")},
        "hops": _text(row["mean_hops"], 3),
        "steady": "yes" if row["steady"] else "no",
    }


def _text(value: float | None, decimals: int) -> str:
    return NOTHING if value is None else f"{value:.{decimals}f}"


def _value(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _options(row: dict[str, Any], load: LoadSpec) -> dict[str, str]:
    """Return name -> text of what all runs had in common."""
    units = {"packet_length": " flits", "buffers": " packet buffers a port"}
    machine = [name for name in options_of(FabricSpec, timed=True) if name != "modes"]
    return {
        **{name.replace("_", " "): f"{_value(row[name])}{units.get(name, '')}" for name in machine},
        "pattern": load.pattern,
        "messages": "a packet each" if load.lengths is None else f"{load.lengths} flits",
        "injection": load.injection,
        "cycles measured": str(load.cycles),
        "warm-up": "until it is steady" if load.warmup is None else f"{load.warmup} cycles",
        "seed": str(load.seed),
    }
