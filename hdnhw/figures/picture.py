"""A picture of a network as SVG: one line an edge, bent where a straight one would run through a node."""

import re
from collections.abc import Iterator
from html import escape

import numpy as np

from hdnhw.figures.edges import Edge, Points, control, curve, edges_of
from hdnhw.figures.frames import Frame, apart, frames_of
from hdnhw.figures.labels import FAMILY, FONT, LINE, Lines, in_lines, label_of, most_lines, radii
from hdnhw.figures.legend import DARK, PAGE, Entry, crossed, legend_svg
from hdnhw.figures.marks import DASHES, Marks, Trace, is_dark, lighter
from hdnhw.topology.graph import Network
from hdnhw.topology.levels import LeveledNetwork
from hdnhw.topology.places import RADIUS, layout
from hdnhw.topology.swapped import SwappedNetwork

MARGIN = 12

CLASS_COLORS = ("#0b3c5d", "#d55e00", "#56a5d8", "#f0c040")
"""Of nodes, by their classes."""

INNER, COMPLEMENT = "#333333", "#009e73"
OUTER = ("#9aa5ab", "#c98a00", "#4a7fb5")
"""Edges in a cluster; those to the complement; colors of those between clusters, level by level and in turn."""

FAINT = 0.45
"""How much is left of the color of edges below what is marked."""

LEAST, WIDEST, ROOM = 440, 640, 1.3
"""Least pixels across a picture with a legend; those to which a wider one is squeezed, if the middles of two nodes
can stay so many diameters apart."""

SHOWN = 9.1
"""Least size of the letters in nodes where a picture is shown as wide as a page, pixels."""

PAD, FRAME, EDGE_OF_FRAME = 4, "#eef2f5", "#c3ccd3"
"""Pixels between a node and the frame around its cluster, or two frames; colors of a frame."""

ARROW, WING, SPREAD = 9.0, 3.6, 0.09
"""Length of an arrowhead and half its width, pixels; bend between two arrows on one edge, as a share of its length."""


def network_svg(network: Network, *, labels: str = "number", marks: Marks | None = None) -> str:
    """Draw a network.

    Dual-nets have class 0 of each level above and class 1 below, clusters in rows; nuclei of swapped networks stand as
    the nodes of a nucleus do; products of several factors are grids. What the colors mean stands below, if there are
    several.

    Parameters
    ----------
    network : Network
    labels : str
        What a node bears, one of :data:`hdnhw.figures.labels.LABELS`.
    marks : Marks, optional
        What is drawn on the network.
    """
    return "\n".join(_Picture(network, labels, marks or Marks()).lines())


class _Picture:
    """A picture that is being drawn: all is laid out for nodes that are circles, then stretched with them."""

    def __init__(self, network: Network, labels: str, marks: Marks) -> None:
        self.network, self.marks = network, marks
        block = layout(network)
        most = _nearest(block.places) / (2 * RADIUS * ROOM)
        wanted = self._bear(labels, block.width, notes_alone=False)
        if wanted > most and marks.notes:
            wanted = self._bear(labels, block.width, notes_alone=True)
        squeeze = max(1.0, min(wanted, most))
        self.places = block.places / squeeze + MARGIN
        self.size = np.array([block.width, block.height]) / squeeze + 2 * MARGIN
        self.edges = sorted(edges_of(network, self.places), key=lambda edge: edge_color(edge[2]) == INNER)
        self.edge_of = {frozenset(edge[:2]): edge for edge in self.edges}

    def _bear(self, labels: str, width: float, *, notes_alone: bool) -> float:
        """Let nodes bear their texts; return how many times too wide the network is then, of so many pixels itself."""
        self.notes_alone = notes_alone
        self.texts = _texts(self.network, labels, self.marks, is_wide=width > WIDEST / 2, alone=notes_alone)
        self.radii = radii(self.texts)
        self.stretch = np.array(self.radii) / RADIUS
        return float(width * self.stretch[0] / WIDEST)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the SVG."""
        arrows = list(self._traces())
        curves = [self._curve(edge) for edge in self.edges] + [points for points, _ in arrows]
        (left, top), (right, bottom) = self._corners(np.concatenate(curves))
        legend, height = "", 0.0
        entries = list(self._entries())
        if entries:
            more = max(0.0, LEAST - (right - left)) / 2
            left, right = left - more, right + more
            legend, height = legend_svg(entries, left + MARGIN / 2, bottom, right - left - MARGIN)
        box = f"{left:.0f} {top:.0f} {right - left:.0f} {bottom + height - top:.0f}"
        x, y, width, total = box.split()
        font = max(FONT, SHOWN * float(width) / PAGE)
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" width="{width}" height="{total}" '
            f'font-family="{FAMILY}" font-size="{font:.4g}" text-anchor="middle">'
        )
        yield f"<title>{escape(str(self.network.spec))}</title>"
        yield f'<rect x="{x}" y="{y}" width="{width}" height="{total}" fill="white"/>'
        yield from self._frames()
        yield from (self._edge(edge) for edge in self.edges)
        yield from (text for _, text in arrows)
        yield from map(self._dead_channel, sorted(self.marks.dead_channels))
        for node in range(self.network.num_nodes):
            yield from self._node(node)
        yield from filter(None, [legend])
        yield "</svg>\n"

    def _frames(self) -> Iterator[str]:
        """Yield frames around clusters, the outer ones first, where there is room."""
        addresses = [self.network.format_node(node) for node in range(self.network.num_nodes)]
        drawn: list[Frame] = []
        pad = RADIUS + PAD
        for depth in range(len(addresses[0].split("/")) - 1, 0, -1):
            frames = frames_of(addresses, self.places, depth, pad)
            if len(frames) > 1 and apart(frames):
                drawn, pad = [*frames, *drawn], pad + PAD
        for frame in drawn:
            left, top, right, bottom = frame.box * np.tile(self.stretch, 2)
            box = f'x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}"'
            yield f'<rect class="cluster" {box} rx="6" fill="{FRAME}" fill-opacity="0.5" stroke="{EDGE_OF_FRAME}"/>'

    def _corners(self, drawn: Points) -> tuple[Points, Points]:
        """Return the corners of what is drawn, without the legend."""
        least = np.minimum(0, np.floor(drawn.min(axis=0)) - self.radii)
        return least, np.maximum(self.size * self.stretch, np.ceil(drawn.max(axis=0)) + self.radii)

    def _place(self, node: int) -> Points:
        return np.asarray(self.places[node] * self.stretch)

    def _curve(self, edge: Edge) -> Points:
        one, other, _, bend = edge
        return np.asarray(curve(self.places[one], self.places[other], bend) * self.stretch)

    def _shape(self, one: int, other: int, bend: float, style: str) -> str:
        """Return the line from one node to another."""
        (x1, y1), (x2, y2) = self._place(one), self._place(other)
        if not bend:
            return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"{style}/>'
        x, y = control(self.places[one], self.places[other], bend) * self.stretch
        return f'<path d="M{x1:.1f} {y1:.1f}Q{x:.1f} {y:.1f} {x2:.1f} {y2:.1f}" fill="none"{style}/>'

    def _edge(self, edge: Edge) -> str:
        one, other, port, bend = edge
        style = f' stroke="{self._color(port)}"' + ' stroke-width="0.8"' * (edge_color(port) != INNER)
        style += _dashed(edge_dash(port))
        return self._shape(one, other, bend, style)

    def _color(self, port: str) -> str:
        """Return the color of the edges of a port, lighter below what is marked."""
        color = edge_color(port)
        return color if self.marks.is_empty else lighter(color, FAINT)

    def _traces(self) -> Iterator[tuple[Points, str]]:
        """Yield the points and the SVG of each hop that is drawn, those of a trace in a group.

        Where several traces use an edge, each is bent a little further than the one before.
        """
        used: dict[frozenset[int], list[str]] = {}
        for trace in self.marks.traces:
            dash = _dashed(trace.dash)
            texts, points = [f'<g class="{trace.name}" stroke="{trace.color}" stroke-width="2.4"{dash}>'], []
            for one, other in trace.hops:
                names = used.setdefault(frozenset((one, other)), [])
                if trace.name not in names:
                    names.append(trace.name)
                low, _, _, bend = self.edge_of[frozenset((one, other))]
                bend = (bend + SPREAD * names.index(trace.name)) * (1 if one == low else -1)
                points.append(self._curve((one, other, "", bend)))
                texts += [self._shape(one, other, bend, ""), self._head(one, other, bend, trace)]
            yield np.concatenate(points), "\n".join([*texts, "</g>"])

    def _head(self, one: int, other: int, bend: float, trace: Trace) -> str:
        """Return the arrowhead where a hop reaches a node."""
        points = curve(self.places[one], self.places[other], bend, 200)
        away = np.hypot(*(points - self.places[other]).T) - RADIUS - 1.5
        last = int(np.flatnonzero(away > 0)[-1])
        share = away[last] / (away[last] - away[last + 1])
        along = (points[last + 1] - points[last]) * self.stretch
        tip = points[last] * self.stretch + share * along
        along = along / np.hypot(*along)
        across = np.array([-along[1], along[0]]) * WING
        corners = (tip, tip - ARROW * along + across, tip - ARROW * along - across)
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in corners)
        return f'<path d="M{path}z" fill="{trace.color}" stroke="none"/>'

    def _dead_channel(self, channel: tuple[int, int]) -> str:
        """Return the edge of a dead channel, and a cross on it near the node that it leaves."""
        low, _, _, bend = self.edge_of[frozenset(channel)]
        one, other = channel
        points = curve(self.places[one], self.places[other], bend if one == low else -bend, 200)
        x, y = points[np.hypot(*(points - self.places[one]).T) > 2 * RADIUS][0] * self.stretch
        edge = self._shape(low, one + other - low, bend, ' stroke="#888" stroke-width="1.4"')
        return f"{edge}\n{crossed(x, y, 4, 4)}"

    def _node(self, node: int) -> Iterator[str]:
        """Yield a node, what is around it, and what it bears."""
        (x, y), (across, down), marks = self._place(node), self.radii, self.marks
        color, line = _class_color(self.network, node), ""
        if node in marks.dead_nodes:
            color = "#e4e4e4"
        elif node in marks.fills:
            color = marks.fills[node]
        elif not marks.is_empty:
            color, line = "#ffffff", f' stroke="{color}" stroke-width="1.8"'
        text = "white" if is_dark(color) else "#111"
        yield _oval(x, y, across, down, f'fill="{color}"{line}')
        if node in marks.rings:
            dash = ' stroke-width="1.4" stroke-dasharray="4 2.5"' * (marks.rings[node] == "waypoint")
            yield _oval(x, y, across + 2.5, down + 2.5, f'fill="none" stroke="{DARK}"{dash}')
        if node in marks.dead_nodes:
            yield crossed(x, y, across * 0.95, down * 0.95)
        lines = self.texts[node]
        for place, content in enumerate(lines):
            height = y + (place - (len(lines) - 1) / 2) * LINE + 3
            is_bold = node in marks.dead_nodes or (node in marks.notes and place == len(lines) - 1)
            weight = ' font-weight="bold"' * is_bold
            if node in marks.dead_nodes:
                weight += ' paint-order="stroke" stroke="white" stroke-width="3"'
            yield f'<text x="{x:.1f}" y="{height:.1f}" fill="{text}"{weight}>{content}</text>'

    def _entries(self) -> Iterator[Entry]:
        """Yield what the legend says: of edges and classes only if there are several kinds."""
        marks, network = self.marks, self.network
        kinds = dict.fromkeys(edge[2] for edge in self.edges if edge_color(edge[2]) != INNER)
        if len({edge_color(edge[2]) for edge in self.edges}) > 1:
            yield Entry("edge", _inner_text(network), self._color(""))
            yield from (
                Entry("edge", edge_text(self.network, port), self._color(port), edge_dash(port))
                for port in sorted(kinds)
            )
        if isinstance(network, LeveledNetwork) and network.levels:
            plain = set(range(network.num_nodes)) - (marks.fills.keys() | marks.dead_nodes)
            texts = {_class_text(network, node): _class_color(network, node) for node in sorted(plain)}
            kind = "node" if marks.is_empty else "outline"
            yield from (Entry(kind, text, color) for text, color in texts.items())
        yield from (Entry("arrow", trace.text, trace.color, trace.dash) for trace in marks.traces)
        yield from (Entry("node", text, color) for color, text in marks.fill_texts.items())
        yield from (Entry(kind, text) for kind, text in marks.ring_texts.items())
        if marks.dead_nodes:
            yield Entry("dead node", "dead node")
        if marks.dead_channels:
            yield Entry("dead channel", "dead channel, at the node that it leaves")
        if marks.note_text:
            yield Entry("text", f"in a node{', below' * (not self.notes_alone)}: {marks.note_text}")


def _texts(network: Network, labels: str, marks: Marks, *, is_wide: bool, alone: bool) -> list[Lines]:
    """Return the lines that the nodes bear: as many as make nodes narrow in a wide network, else round.

    Where notes stand alone, a node with a note does not bear its label.
    """
    names = [label_of(network, node, labels) for node in range(network.num_nodes)]
    below = [(marks.notes[node],) if node in marks.notes else () for node in range(network.num_nodes)]
    if alone:
        return [note or (name,) for name, note in zip(names, below, strict=True)]
    choices = [
        [(*in_lines(name, count), *note) for name, note in zip(names, below, strict=True)]
        for count in range(1, 1 + max(map(most_lines, names)))
    ]
    return min(choices, key=lambda texts: radii(texts) if is_wide else max(radii(texts)))


def _nearest(places: Points) -> float:
    """Return the least distance of two nodes."""
    apart = [np.hypot(*(places[:place] - here).T).min() for place, here in enumerate(places) if place]
    return float(min(apart, default=np.inf))


def _oval(x: float, y: float, across: float, down: float, style: str) -> str:
    if across == down:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{down:g}" {style}/>'
    return f'<ellipse cx="{x:.1f}" cy="{y:.1f}" rx="{across:.1f}" ry="{down:.1f}" {style}/>'


def edge_color(port: str) -> str:
    """Return the color of the edges of a port."""
    if port == "complement":
        return COMPLEMENT
    level = _outer_level(port)
    return INNER if level is None else OUTER[level % len(OUTER)]


def edge_dash(port: str) -> str:
    """Return the dashes of the edges of a port."""
    return DASHES[(_outer_level(port) or 0) // len(OUTER) % len(DASHES)]


def _outer_level(port: str) -> int | None:
    """Return the level of the edges of a port between clusters, from 0; None of another."""
    match = re.fullmatch(r"(cross|swap)(\d*)", port)
    return int(match[2] or 1) - (match[1] == "swap") - 1 if match else None


def _dashed(dash: str) -> str:
    return f' stroke-dasharray="{dash}"' if dash else ""


def edge_text(network: Network, port: str) -> str:
    """Return what a legend says of the edges of a port."""
    return _inner_text(network) if edge_color(port) == INNER else _outer_text(port)


def _inner_text(network: Network) -> str:
    if isinstance(network, SwappedNetwork):
        return "edge of level 1, in a nucleus"
    return "edge in a cluster" if isinstance(network, LeveledNetwork) else "other edge"


def _outer_text(port: str) -> str:
    if port == "complement":
        return "edge to the complement"
    name = port.rstrip("0123456789")
    if name == port:
        return f"edge of port {port}"
    return f"{'cross-edge' if name == 'cross' else 'edge'} of level {port[len(name) :]}"


def node_classes(network: Network, node: int) -> list[int]:
    """Return the classes of a node at the lowest two levels, the lower first; none if there are no levels."""
    if not isinstance(network, LeveledNetwork):
        return []
    digits = network.decode(node)
    return [digits[level.class_digit] for level in network.levels[:2]]


def _class_color(network: Network, node: int) -> str:
    return CLASS_COLORS[sum(bit << place for place, bit in enumerate(node_classes(network, node)))]


def _class_text(network: Network, node: int) -> str:
    classes = node_classes(network, node)
    if len(classes) == 1:
        return f"class {classes[0]}"
    return f"class {classes[1]} of level 2, {classes[0]} of level 1"
