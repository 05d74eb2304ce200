"""Load curves: latency against the rate that is offered."""

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CEILING", "draw_curves", "names_of"]

MARKERS = "osD^vPX"
"""By turns, as the ten colours are and, every ten curves, the dashes: no two of 280 curves look the same."""

DASHES = ("-", "--", ":", "-.")

CEILING = 6
"""Latencies are shown up to so many times the lowest one."""


def draw_curves(curves: Sequence[dict[str, Any]]) -> "Figure":
    """Draw mean packet latency against the offered rate, a line for each network and pattern.

    Parameters
    ----------
    curves : sequence of dict
        As :meth:`hdnhw.model.sweep.Sweep.run` returns them.
    """
    from matplotlib.figure import Figure

    there = dict.fromkeys(curve["note"] for curve in curves if curve["note"])
    notes = {note: "*" * number for number, note in enumerate(there, start=1)}
    figure = Figure(figsize=(7, 4 + 0.18 * ceil(len(curves) / 2) + 0.15 * len(notes)), layout="constrained")
    axes = figure.add_subplot()
    lowest, highest, in_bits = float("inf"), 0.0, "flit_width" in curves[0]
    for number, (curve, name) in enumerate(zip(curves, names_of(curves), strict=True)):
        rows = [row for row in curve["points"] if row["packet_latency"] and row["steady"]]
        rates = [row["offered_rate_bits" if in_bits else "offered_rate"] for row in rows]
        latencies = [row["packet_latency"]["mean"] for row in rows]
        look = f"C{number % 10}{MARKERS[number % len(MARKERS)]}{DASHES[number // 10 % len(DASHES)]}"
        widths = [row["confidence_95"] or 0 for row in rows] if any(row.get("seeds") for row in rows) else None
        label = _label(curve, name) + notes.get(curve["note"], "")
        axes.errorbar(rates, latencies, widths, fmt=look, markersize=4, linewidth=1.2, capsize=2, label=label)
        lowest, highest = min([lowest, *latencies]), max([highest, *latencies])
    if highest:
        axes.set_ylim(0, min(CEILING * lowest, 1.05 * highest))
    axes.set_xlim(left=0)
    unit = "bits of packets a node and cycle" if in_bits else "flits a node and cycle"
    axes.set_xlabel(f"offered rate, {unit}")
    axes.set_ylabel("mean packet latency, cycles")
    axes.grid(linewidth=0.3)
    title = f"network: saturation throughput, {unit}"
    figure.legend(loc="outside upper center", ncols=2, fontsize=8, title=title, title_fontsize=8)
    figure.supxlabel("\n".join(f"{mark} {note}" for note, mark in notes.items()), x=0.01, ha="left", fontsize=7)
    return figure


def names_of(curves: Sequence[dict[str, Any]]) -> list[str]:
    """Return what curves are called: by their networks, and by their patterns if there are several."""
    several = len({curve["pattern"] for curve in curves}) > 1
    return [f"{curve['spec']}, {curve['pattern']}" if several else curve["spec"] for curve in curves]


def _label(curve: dict[str, Any], name: str) -> str:
    named = f"{name}, {curve['nodes']} nodes"
    if "flit_width" in curve:
        named += f", {curve['packet_length']} flits of {curve['flit_width']} bits"
    throughput = curve.get("saturation_throughput_bits", curve["saturation_throughput"])
    return named + ("" if throughput is None else f": {throughput:.{2 if 'flit_width' in curve else 3}f}")
