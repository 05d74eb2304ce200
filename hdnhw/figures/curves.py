"""Load curves: latency, or what is accepted, against the rate that is offered."""

from collections.abc import Sequence
from math import ceil, inf
from typing import TYPE_CHECKING, Any

from hdnhw.figures.figure import SERIES
from hdnhw.figures.look import Look
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import choices_text, named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = dict[str, Any]

KINDS = ("latency", "accepted")
"""What is drawn against the offered rate."""

MARKERS = "osD^vPX*"
"""By turns, as the colors are, and dashes when all of both were used: no two of 224 curves look the same."""

DASHES = ("-", "--", ":", "-.")

CEILING, KNEE = 6, 3
"""Latencies are shown up to so many times the lowest one; and at least up to so many times each at zero load."""

THIN: Row = {"linewidth": 0.8, "alpha": 0.7}
"""Lines that are no curves."""


def draw_curves(curves: Sequence[Row], kind: str = "latency") -> "Figure":
    """Draw a curve for each network and pattern against the offered rate, with a legend above.

    Points that are not steady have an open marker. There latency grows with the cycles measured: a curve of latencies
    ends with a dashed line to the first of them, and up from there. Thin lines are the latency at zero load, dotted,
    and the saturation bound of uniform traffic, dashed.

    Parameters
    ----------
    curves : sequence of dict
        As :meth:`hdnhw.measurement.sweep.Sweep.run` returns them.
    kind : str
        One of :data:`KINDS`: mean packet latency, or the accepted rate.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4 + 0.18 * ceil(len(curves) / 2)), layout="constrained")
    axes = figure.add_subplot()
    _plot_curves(axes, curves, kind)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=2, fontsize=8)
    return figure


def add_curves(axes: Any, curves: Sequence[Row], kind: str, look: Look) -> "Axes":
    """Draw curves on axes of someone else's figure, as :func:`draw_curves` does; return them.

    Raises
    ------
    SpecError
        If they are no axes, or something is asked of the figure.
    """
    from matplotlib.axes import Axes

    if not isinstance(axes, Axes):
        raise SpecError(f"plot {choices_text(('.svg', '.png', '.pdf'), axes, 'axes of matplotlib, or a file, ')}")
    for name in {"figure_size", "font_size"} & set(look.given):
        raise SpecError(f"{named(name)} is for a figure in a file; axes have theirs")
    _plot_curves(axes, curves, kind)
    axes.legend()
    look.apply_axes(axes)
    return axes


def _plot_curves(axes: "Axes", curves: Sequence[Row], kind: str) -> None:
    """Draw curves, and name axes and curves."""
    unit = "bits of packets per node per cycle" if "flit_width" in curves[0] else "flits per node per cycle"
    axes.set_xlabel(f"offered rate, {unit}")
    axes.set_ylabel("mean packet latency, cycles" if kind == "latency" else f"accepted rate, {unit}")
    axes.grid(linewidth=0.3)
    draw = _draw_latency if kind == "latency" else _draw_accepted
    for number, (curve, name) in enumerate(zip(curves, names_of(curves), strict=True)):
        look = {"color": SERIES[number % len(SERIES)], "marker": MARKERS[number % len(MARKERS)], "markersize": 4}
        draw(
            axes,
            curve,
            look | {"linestyle": DASHES[number // (len(SERIES) * len(MARKERS)) % len(DASHES)]},
            _label(curve, name),
        )
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    if kind == "latency" and (top := _top(curves)) is not None:
        axes.set_ylim(top=top)
    elif kind == "accepted":
        most = max(_rate(row, "offered_rate") for curve in curves for row in curve["points"])
        axes.plot([0, most], [0, most], color="gray", zorder=1, **THIN)
    _explain(axes, curves, kind)


def _draw_latency(axes: "Axes", curve: Row, look: Row, label: str) -> None:
    rows = [row for row in curve["points"] if row["packet_latency"]]
    known = [row for row in rows if row["steady"] is not False]
    rates, latencies = zip(*map(_point, known), strict=True) if known else ((), ())
    widths = [row["confidence_95"] or 0 for row in known] if any(row.get("seeds") for row in known) else None
    axes.errorbar(rates, latencies, widths, linewidth=1.2, capsize=2, label=label, **look)
    last = max(rates, default=0.0)
    open_rows = [row for row in rows if not row["steady"]]
    over = [_point(row) for row in open_rows if row["steady"] is False]
    beyond = min((point for point in over if point[0] > last), default=None)
    drawn = [_point(row) for row in open_rows if _point(row) <= (beyond or (inf, inf))]
    if drawn:
        axes.plot(*zip(*drawn, strict=True), **look | {"linestyle": "none", "markerfacecolor": "white"})
    if beyond is not None:
        up = [*([(last, latencies[-1])] if known else []), beyond, (beyond[0], 1e3 * beyond[1])]
        axes.plot(*zip(*up, strict=True), color=look["color"], linestyle=(0, (2, 1.5)), linewidth=1.2)
    if (zero := curve.get("zero_load_latency")) is not None:
        axes.hlines(zero, 0, max(last, beyond[0] if beyond else 0), color=look["color"], linestyle=":", **THIN)
    if (bound := _bound(curve)) is not None:
        axes.axvline(bound, color=look["color"], linestyle="--", **THIN)


def _draw_accepted(axes: "Axes", curve: Row, look: Row, label: str) -> None:
    points = [(_rate(row, "offered_rate"), _rate(row, "accepted_rate")) for row in curve["points"]]
    axes.plot(*zip(*points, strict=True), linewidth=1.2, label=label, **look)
    unsteady = [point for point, row in zip(points, curve["points"], strict=True) if not row["steady"]]
    if unsteady:
        axes.plot(*zip(*unsteady, strict=True), **look | {"linestyle": "none", "markerfacecolor": "white"})
    if (bound := _bound(curve)) is not None:
        axes.axhline(bound, color=look["color"], linestyle="--", **THIN)


def _explain(axes: "Axes", curves: Sequence[Row], kind: str) -> None:
    """Add to the legend, behind the curves, what is drawn of all of them."""
    if kind == "accepted":
        axes.errorbar([], [], color="gray", label="accepted as offered", **THIN)
    if any(not row["steady"] for curve in curves for row in curve["points"]):
        look: Row = {"marker": "o", "markersize": 4, "markerfacecolor": "white"}
        axes.errorbar([], [], color="gray", linestyle=(0, (2, 1.5)), label="not known to be steady", **look)
    if kind == "latency" and any(curve.get("zero_load_latency") is not None for curve in curves):
        axes.errorbar([], [], color="gray", linestyle=":", label="at zero load", **THIN)
    if any(_bound(curve) is not None for curve in curves):
        axes.errorbar([], [], color="gray", linestyle="--", label="bound of uniform traffic", **THIN)


def _top(curves: Sequence[Row]) -> float | None:
    """Return the end of the axis of latencies, above the knee of every curve; None without any latency."""
    rows = [row for curve in curves for row in curve["points"] if row["steady"] and row["packet_latency"]]
    if not rows:
        return None
    latencies = [row["packet_latency"]["mean"] for row in rows]
    ended = [curve for curve in curves if not all(row["steady"] for row in curve["points"])]
    knees = [KNEE * (curve.get("zero_load_latency") or 0.0) for curve in ended]
    return float(max([min(CEILING * min(latencies), 1.05 * max(latencies)), *knees]))


def _point(row: Row) -> tuple[float, float]:
    return _rate(row, "offered_rate"), row["packet_latency"]["mean"]


def _rate(row: Row, name: str) -> float:
    """Return a rate, in bits where it is at equal cost."""
    return float(row[f"{name}_bits"] if f"{name}_bits" in row else row[name])


def _bound(curve: Row) -> float | None:
    """Return the saturation bound of channels and terminals."""
    bound: float | None = curve.get("saturation_bound")
    if bound is None:
        return None
    in_bits: float = curve.get("saturation_bound_bits", bound)
    return in_bits * min(1.0, bound) / bound


def names_of(curves: Sequence[Row]) -> list[str]:
    """Return what curves are called: by their networks, and by their patterns if there are several."""
    several = len({curve["pattern"] for curve in curves}) > 1
    return [f"{curve['spec']}, {curve['pattern']}" if several else curve["spec"] for curve in curves]


def _label(curve: Row, name: str) -> str:
    named = f"{name}, {curve['nodes']} nodes"
    if "flit_width" in curve:
        named += f", {curve['packet_length']} flits of {curve['flit_width']} bits"
    return named
