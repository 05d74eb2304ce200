"""A sweep as a page: the figure, a table of networks, a table of points, and the options."""

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from hdnhw.figures.curves import CEILING, draw_curves, names_of
from hdnhw.figures.page import NOTHING, Group, Line, Sheet, Table, shown, table_of
from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.sweep import FIGURES
from hdnhw.rules.schemes import fabric_plan
from hdnhw.spec import FabricSpec, NetworkSpec
from hdnhw.spec.options import options_of

SHOWS = (
    "Mean packet latency in cycles against the offered rate in flits per node per cycle, a line for each network and "
    "pattern; the table of points has the figures."
)
CAPTION = (
    "A point with an open marker is not steady: latency grows there with the cycles measured. A dashed line leads to "
    f"the first such point of a curve. The axis ends at {CEILING} times the lowest latency, or three times the highest "
    "at zero load."
)

OF_NETWORKS = (
    "Ports are those of the largest router to other routers, virtual channels the most of any port. The zero-load "
    "latency is the mean latency of messages that meet no others, in cycles; beside it stands the offered rate at "
    "which the mean latency is three times that, interpolated between the rates measured. The saturation throughput is "
    "the most that was accepted at any rate, with none where the network carried all that was offered; the overload "
    "throughput what was accepted at the highest rate measured. The bound is the rate of uniform traffic at which the "
    "busiest channel, or the terminal, is full."
)
OF_POINTS = (
    "Rates are in flits per node per cycle. Latencies are those of packets, in cycles from creation to that in which "
    "the tail is taken; ± is half the width of the 95 % confidence interval of the mean, and of the accepted rate. "
    "Where a point is not steady, latencies grow with the cycles measured and mean little: more is offered than the "
    "network carries, or nearly so. Where nothing is said, the cycles were too few to tell."
)


WARM_UP = "until it is steady (MSER, White 1997, of the mean latencies of blocks of cycles)"


def sweep_sheet(
    curves: Sequence[dict[str, Any]],
    load: LoadSpec,
    networks: Mapping[str, NetworkSpec],
    more: Mapping[str, Any] = MappingProxyType({}),
) -> Sheet:
    """Return the figure of a sweep with its tables.

    Parameters
    ----------
    curves : sequence of dict
        As :meth:`hdnhw.measurement.sweep.Sweep.run` returns them, at least one.
    load : LoadSpec
        What was offered, but for rate and pattern.
    networks : mapping of str to NetworkSpec
        Text -> network: the text of one in memory cannot be read.
    more : mapping of str to Any
        Of what is at equal cost, and rows of differences: as :func:`hdnhw.sweep` returns it.
    """
    return Sheet(
        title="Load curves: " + ", ".join(dict.fromkeys(curve["spec"] for curve in curves)),
        draw=partial(draw_curves, curves),
        shows=SHOWS,
        heading="Latency against offered rate",
        caption=CAPTION,
        tables=[_networks(curves, networks), *(table_of(*one) for one in _further(more)), _points(curves)],
        options=_options(curves, load, more),
    )


def _further(more: Mapping[str, Any]) -> list[tuple[str, Sequence[Mapping[str, Any]]]]:
    """Return heading and rows of the tables that not every sweep has."""
    return [(name.capitalize(), more[name]) for name in ("widths", "differences") if more.get(name)]


def _networks(curves: Sequence[dict[str, Any]], networks: Mapping[str, NetworkSpec]) -> Table:
    cells = [_network_cells(curve, networks[curve["spec"]]) for curve in curves]
    lines = [
        Line([name, *own.values()], link=f"points-{number}")
        for number, (name, own) in enumerate(zip(names_of(curves), cells, strict=True), start=1)
    ]
    notes = {curve["spec"]: curve["note"] for curve in curves if curve["note"]}
    return Table("Networks", "networks", ["network", *cells[0]], [Group(lines)], OF_NETWORKS, notes)


def _points(curves: Sequence[dict[str, Any]]) -> Table:
    groups = [
        Group(
            [Line(list(_point_cells(row).values()), is_pale=not row["steady"]) for row in curve["points"]],
            name,
            f"points-{number}",
        )
        for number, (name, curve) in enumerate(zip(names_of(curves), curves, strict=True), start=1)
    ]
    return Table("Points", "points", list(_point_cells(curves[0]["points"][0])), groups, OF_POINTS)


def _network_cells(curve: dict[str, Any], network: NetworkSpec) -> dict[str, str]:
    """Return heading -> text of a network."""
    lowest = curve["points"][0]
    routing = fabric_plan(network, lowest["modes"], lowest["lanes"])
    bound = None if curve["saturation_bound"] is None else min(1.0, curve["saturation_bound"])
    throughput = curve["saturation_throughput"]
    return {
        "nodes": str(curve["nodes"]),
        "ports": str(len(routing.shapes[0].ports)),
        "virtual channels": str(routing.max_vcs),
        "modes": routing.modes or NOTHING,
        "zero-load latency": _text(curve["zero_load_latency"], 2),
        **{name.replace("_", " "): _with_width(curve[name], curve[width]) for name, width in FIGURES.items()},
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
        "\u00b1 accepted": _text(row["accepted_confidence_95"], 4),
        "mean": _text(latency.get("mean"), 2),
        "±": _text(row["confidence_95"], 2),
        **{name: _text(latency.get(name), 0) for name in ("p50", "p95", "p99", "max")},
        "hops": _text(row["mean_hops"], 3),
        "steady": {True: "yes", False: "no", None: NOTHING}[row["steady"]],
    }


def _with_width(value: float | None, width: float | None) -> str:
    """Return a figure with half the width of its interval."""
    return NOTHING if value is None else f"{value}" if width is None else f"{value} \u00b1 {width}"


def _text(value: float | None, decimals: int) -> str:
    return NOTHING if value is None else f"{value:.{decimals}f}"


def _options(curves: Sequence[dict[str, Any]], load: LoadSpec, more: Mapping[str, Any]) -> dict[str, str]:
    """Return name -> text of what all runs had in common: machine and load; and of the patterns."""
    row = curves[0]["points"][0]
    units = {"packet_length": " flits", "buffers": " packet buffers per port"}
    machine = [name for name in options_of(FabricSpec, timed=True) if name != "modes"]
    seeds = row.get("seeds", 1)
    if more.get("equal"):
        machine.remove("packet_length")
    return {
        **({"equal": more["equal"], "packet": f"{more['packet_bits']} bits"} if more.get("equal") else {}),
        **{name.replace("_", " "): f"{shown(row[name])}{units.get(name, '')}" for name in machine},
        "pattern": ", ".join(dict.fromkeys(curve["pattern"] for curve in curves)),
        "messages": "a packet each" if load.lengths is None else f"{load.lengths} flits",
        "injection": load.injection,
        "cycles measured": str(load.cycles)
        + ("" if load.precision is None else f", and more until the mean is within {100 * load.precision:g} %"),
        "warm-up": WARM_UP if load.warmup is None else f"{load.warmup} cycles",
        "95 % confidence": "from the correlation of each run" if seeds == 1 else f"by the means of {seeds} seeds",
        "seed": str(load.seed) if seeds == 1 else f"{load.seed} to {load.seed + seeds - 1}",
    }
