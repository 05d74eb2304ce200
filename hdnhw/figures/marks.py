"""What is drawn on the picture of a network: routes, disjoint paths, what is dead, and the steps of a schedule."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from hdnhw.figures.figure import SERIES
from hdnhw.figures.legend import DARK

if TYPE_CHECKING:
    from hdnhw.collectives.executor import Execution
    from hdnhw.collectives.schedule import Schedule
    from hdnhw.topology.faults import Faults
    from hdnhw.topology.graph import Network
    from hdnhw.topology.levels import LeveledNetwork

PATH_COLORS = SERIES[:-1]
"""Of paths, in turn; the last one is for their ends."""

DASHES = ("", "8 3", "2 2")
"""Of paths in turn, all colors with the first, then with the next; of steps the first two in turn."""

BROKEN = "1 4"
"""Dashes of a path on which something is dead."""

RAMP = ("#0d0887", "#6001a6", "#a01a9c", "#cf4c74", "#f0804e", "#e3a41c")
"""Colors of steps from the first to the last, dark to light, mixed in between (after plasma of Matplotlib)."""

SHARED, HELD = DARK, "#7d868b"
"""Colors of nodes: on several paths, as their ends are; and of those that had a message before the steps drawn."""

Hops = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Trace:
    """Hops drawn in one color: a route, a path, or what a step sends.

    Attributes
    ----------
    name : str
        Of the group in the SVG: ``path0``, ``step3``.
    color : str
    hops : tuple of (int, int)
        From node to node.
    text : str
        For the legend.
    dash : str
        Lengths of dashes and gaps, pixels; nothing for a solid line.
    """

    name: str
    color: str
    hops: Hops
    text: str
    dash: str = ""


@dataclass(frozen=True)
class Marks:
    """All that is drawn on a network; nothing by default.

    Attributes
    ----------
    traces : tuple of Trace
    fills : mapping of int to str
        Node -> color.
    fill_texts : mapping of str to str
        Color of nodes -> what it means, for the legend, beside the colors of traces.
    rings : mapping of int to str
        Node -> ``end`` or ``waypoint``.
    ring_texts : mapping of str to str
        Kind of ring -> what it means.
    notes : mapping of int to str
        Node -> what stands below its label.
    note_text : str
        What that means.
    dead_nodes : frozenset of int
    dead_channels : frozenset of (int, int)
        From node to node.
    """

    traces: tuple[Trace, ...] = ()
    fills: Mapping[int, str] = field(default_factory=dict)
    fill_texts: Mapping[str, str] = field(default_factory=dict)
    rings: Mapping[int, str] = field(default_factory=dict)
    ring_texts: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[int, str] = field(default_factory=dict)
    note_text: str = ""
    dead_nodes: frozenset[int] = frozenset()
    dead_channels: frozenset[tuple[int, int]] = frozenset()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not (self.traces or self.dead_nodes or self.dead_channels)


def dead_marks(network: "Network", faults: "Faults") -> Marks:
    """Return what is dead, by nodes."""
    names = [port.name for port in network.ports]
    channels = {(node, network.neighbors(node)[names[port]]) for node, port in np.argwhere(faults.channels).tolist()}
    return Marks(dead_nodes=frozenset(np.flatnonzero(faults.nodes).tolist()), dead_channels=frozenset(channels))


def is_broken(path: Sequence[int], dead: Marks) -> bool:
    """Return whether a node or channel of a path is dead."""
    return not dead.dead_nodes.isdisjoint(path) or not dead.dead_channels.isdisjoint(pairwise(path))


def path_marks(
    paths: Mapping[str, Sequence[int]], waypoints: Sequence[Sequence[int]] = (), dead: Marks | None = None
) -> Marks:
    """Return paths between the same two nodes, each in a color of its own.

    Parameters
    ----------
    paths : mapping of str to sequence of int
        What the legend calls a path -> its nodes.
    waypoints : sequence of sequences of int
        Nodes that are marked as waypoints, path by path.
    dead : Marks, optional
        What is dead, of :func:`dead_marks`: paths on which something is are dashed.
    """
    dead = dead or Marks()
    traces: list[Trace] = []
    fills: dict[int, str] = {}
    rings: dict[int, str] = {}
    for number, (name, nodes) in enumerate(paths.items()):
        broken, (color, dash) = is_broken(nodes, dead), _path_look(number)
        length = f"{len(nodes) - 1} hop{'s' * (len(nodes) != 2)}"
        text = f"{name}: {length}{', broken' * broken}"
        traces.append(Trace(f"path{number}", color, tuple(pairwise(nodes)), text, BROKEN if broken else dash))
        fills |= {node: color if fills.get(node, color) == color else SHARED for node in nodes}
        rings |= dict.fromkeys((nodes[0], nodes[-1]), "end")
    shared = {node for node, color in fills.items() if color == SHARED and node not in rings}
    ends = {"end": "source and destination" if len(rings) == 2 else "source, and ends of paths"} if rings else {}
    rings |= {node: "waypoint" for some in waypoints for node in some if node not in rings}
    return replace(
        dead,
        traces=tuple(traces),
        fills=fills | {node: SHARED for node, kind in rings.items() if kind == "end"},
        fill_texts={SHARED: "on several paths"} if shared else {},
        rings=rings,
        ring_texts=ends | ({"waypoint": "waypoint"} if "waypoint" in rings.values() else {}),
    )


def _path_look(number: int) -> tuple[str, str]:
    """Return color and dashes of a path."""
    return PATH_COLORS[number % len(PATH_COLORS)], DASHES[number // len(PATH_COLORS) % len(DASHES)]


def cluster_marks(network: "LeveledNetwork", node: int) -> Marks:
    """Return the cross-edges of the highest level that leave the cluster of a node."""
    level, port = network.levels[-1], f"cross{len(network.levels)}"
    places = (level.class_digit, *level.cluster)
    own = [network.decode(node)[place] for place in places]
    members = [other for other in range(network.num_nodes) if [network.decode(other)[place] for place in places] == own]
    leaving = tuple((member, network.neighbors(member)[port]) for member in members)
    return Marks(
        traces=(Trace("cluster", PATH_COLORS[0], leaving, "cross-edge of the cluster"),),
        fills=dict.fromkeys(members, SHARED) | {other: PATH_COLORS[0] for _, other in leaving},
        fill_texts={SHARED: "in the cluster"},
    )


def embedding_marks(nodes: Sequence[int], routes: Collection[Sequence[int]]) -> Marks:
    """Return a guest on a network: its nodes as notes, and its edges' routes, those of one length in one color.

    Parameters
    ----------
    nodes : sequence of int
        The node of each of the guest's.
    routes : collection of sequences of int
        The nodes on each route.
    """
    traces = []
    for number, hops in enumerate(sorted({len(route) - 1 for route in routes})):
        chosen = [route for route in routes if len(route) - 1 == hops]
        over = tuple(sorted({ends for route in chosen for ends in pairwise(route)}))
        text = f"{len(chosen)} edge{'s' * (len(chosen) != 1)} of the guest: {hops} hop{'s' * (hops != 1)} each"
        color, dash = _path_look(number)
        traces.append(Trace(f"hops{hops}", color, over, text, dash))
    notes = {node: str(number) for number, node in enumerate(nodes)}
    return Marks(traces=tuple(traces), notes=notes, note_text="that of the guest")


def step_marks(schedule: "Schedule", counted: "Execution", drawn: range, whose: int | None) -> Marks:
    """Return what is sent in some steps of a schedule.

    Parameters
    ----------
    schedule : Schedule
    counted : Execution
        Of the messages that are drawn.
    drawn : range
        Steps, by their numbers. With all of them each node bears the first in which it is sent a message; where
        messages go to one node, or parts of its result, the last in which it sends some.
    whose : int or None
        Source of the messages that are drawn, None if every node is one; or where they go to.
    """
    steps, colors = range(len(schedule.steps)), _step_colors(len(schedule.steps))
    sent = [_sent(counted, step) for step in steps]
    gives = schedule.combines or schedule.to_root
    step_of = {} if whose is None else (_last_given if gives else _first_brought)(sent, whose)
    traces = tuple(
        Trace(f"step{step}", colors[step], sent[step], f"step {step}: {schedule.steps[step].stage}", DASHES[step % 2])
        for step in drawn
        if sent[step]
    )
    fills = {node: colors[step] for node, step in step_of.items() if step in drawn}
    held = {node: HELD for node, step in step_of.items() if step < drawn.start}
    is_whole, (before, below) = drawn == steps and whose is not None, _step_texts(schedule)
    return Marks(
        traces=traces,
        fills=held | fills | ({} if whose is None else {whose: SHARED}),
        fill_texts={HELD: before} if held.keys() - {whose} else {},
        rings={} if whose is None else {whose: "end"},
        ring_texts={} if whose is None else {"end": "destination" if gives else "source"},
        notes={node: str(step) for node, step in step_of.items() if step in drawn} if is_whole else {},
        note_text=below if is_whole else "",
    )


def _first_brought(sent: Sequence[Hops], source: int) -> dict[int, int]:
    """Return for each node the first step that brings it something, -1 for the source."""
    first = {source: -1}
    for step, hops in enumerate(sent):
        first = {other: step for _, other in hops} | first
    return first


def _last_given(sent: Sequence[Hops], destination: int) -> dict[int, int]:
    """Return for each node but the destination the last step in which it sends something."""
    last = {node: step for step, hops in enumerate(sent) for node, _ in hops}
    return {node: step for node, step in last.items() if node != destination}


def _step_texts(schedule: "Schedule") -> tuple[str, str]:
    """Return what is said of nodes that were done before the steps drawn, and of the step in a node."""
    if schedule.combines:
        return "has given its part away before", "the step in which it gives its part away"
    if schedule.to_root:
        return "has sent its last messages before", "the last step in which it sends messages on"
    what = "the message" if schedule.copies else "a message"
    return f"has had {what} before", f"the first step that brings {what}"


def _sent(counted: "Execution", step: int) -> Hops:
    """Return the channels over which something is sent in a step."""
    places = np.argwhere(counted.sent[step])
    return tuple((int(node), int(counted.neighbors[node, port])) for node, port in places)


def _step_colors(count: int) -> list[str]:
    anchors = np.array([_parts(color) for color in RAMP])
    where = np.linspace(0, len(RAMP) - 1, count)
    mixed = np.stack([np.interp(where, np.arange(len(RAMP)), anchors[:, part]) for part in range(3)], axis=1)
    return [_color(parts) for parts in mixed.tolist()]


def lighter(color: str, share: float) -> str:
    """Return a color of which so much is left on white."""
    return _color([255 - share * (255 - part) for part in _parts(color)])


def _parts(color: str) -> list[int]:
    """Return red, green and blue, 0 to 255."""
    return [int(color[place : place + 2], 16) for place in (1, 3, 5)]


def is_dark(color: str) -> bool:
    """Whether white text is easier to read on a color than black (relative luminance of WCAG 2, without gamma)."""
    red, green, blue = _parts(color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 140


def _color(parts: Sequence[float]) -> str:
    return "#" + "".join(f"{round(part):02x}" for part in parts)
