"""Cycle diagrams as SVG: lanes of bits, of named values and of spans over the cycles of a clock."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby

WIDTH, MARGIN, NAMES = 688, 12, 124
"""Width of a diagram, as an article of the documentation has it; margin; room for the names of lanes; pixels."""
LANE, HEIGHT = 24, 14
"""From lane to lane, and height of what is drawn in one, pixels."""
LEAST_LETTER = 3
"""Pixels of a letter, below which a value is no text but a tooltip."""
COLORS = ("#cfe3ea", "#f0d5cc", "#dbe8cf", "#e6d9ee", "#f3e6bf", "#d9d9d9")
LINE, GRID, INK = "#1f6f8b", "#e3e7e9", "#333"


@dataclass(frozen=True)
class Bit:
    """A signal of one bit, one value a cycle."""

    name: str
    values: Sequence[bool]


@dataclass(frozen=True)
class Bus:
    """Named values, one a cycle; an empty one is drawn as a line. Equal neighbors are drawn as one.

    Attributes
    ----------
    name : str
    values : sequence of str
    colors : sequence of int
        Number of a color for each cycle; none for no colors.
    """

    name: str
    values: Sequence[str]
    colors: Sequence[int] = ()


@dataclass(frozen=True)
class Spans:
    """Arrows from the start of one cycle to the start of another, each with a text."""

    name: str
    spans: Sequence[tuple[int, int, str]]


Lane = Bit | Bus | Spans


def _text(x: float, y: float, text: str, *, anchor: str = "middle") -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="10" text-anchor="{anchor}" fill="{INK}">{escape(text)}</text>'


def _bit(lane: Bit, top: float, cell: float) -> list[str]:
    level = [top if value else top + HEIGHT for value in lane.values]
    points = [f"{NAMES + (cycle + end) * cell:g},{y:g}" for cycle, y in enumerate(level) for end in (0, 1)]
    return [f'<polyline points="{" ".join(points)}" fill="none" stroke="{LINE}" stroke-width="1.5"/>']


def _bus(lane: Bus, top: float, cell: float) -> list[str]:
    parts, start = [], 0
    colors = lane.colors or [-1] * len(lane.values)
    for (text, color), group in groupby(zip(lane.values, colors, strict=True)):
        end = start + len(list(group))
        left, width = NAMES + start * cell, (end - start) * cell
        if text:
            fill = "white" if color < 0 else COLORS[color % len(COLORS)]
            parts.append(
                f'<rect x="{left + 0.75:g}" y="{top:g}" width="{width - 1.5:g}" height="{HEIGHT}" rx="2" '
                f'fill="{fill}" stroke="{LINE}" stroke-width="0.8"/>'
            )
            if width < LEAST_LETTER * len(text):  # no room for it
                parts[-1] = f"<g><title>{escape(text)}</title>{parts[-1]}</g>"
            else:
                parts.append(_text(left + width / 2, top + HEIGHT - 4, text))
        else:
            y = top + HEIGHT / 2
            parts.append(f'<line x1="{left:g}" y1="{y:g}" x2="{left + width:g}" y2="{y:g}" stroke="{LINE}"/>')
        start = end
    return parts


def _spans(lane: Spans, top: float, cell: float) -> list[str]:
    parts, y = [], top + HEIGHT
    for start, end, text in lane.spans:
        left, right = NAMES + start * cell, NAMES + end * cell
        parts.append(f'<line x1="{left:g}" y1="{y:g}" x2="{right:g}" y2="{y:g}" stroke="{INK}" stroke-width="0.8"/>')
        parts += [f'<line x1="{x:g}" y1="{top:g}" x2="{x:g}" y2="{y + 3:g}" stroke="{INK}"/>' for x in (left, right)]
        parts.append(_text((left + right) / 2, y - 3, text))
    return parts


def _cut(lane: Lane, first: int) -> Lane:
    """Return a lane without the cycles before the first that is drawn."""
    if isinstance(lane, Spans):
        return replace(lane, spans=[(start - first, end - first, text) for start, end, text in lane.spans])
    if isinstance(lane, Bus):
        return replace(lane, values=lane.values[first:], colors=lane.colors[first:])
    return replace(lane, values=lane.values[first:])


def _drawing(lane: Lane, top: float, cell: float) -> list[str]:
    if isinstance(lane, Bit):
        return _bit(lane, top, cell)
    return _bus(lane, top, cell) if isinstance(lane, Bus) else _spans(lane, top, cell)


def _grid(cycles: int, slot: int, first: int, cell: float, bottom: float) -> list[str]:
    """Draw a line a cycle, a darker one where a slot begins, with the number of that cycle above."""
    parts = []
    for cycle in range(cycles + 1):
        x, begins = NAMES + cycle * cell, (first + cycle) % slot == 0
        color = "#9aa5ab" if begins else GRID
        parts.append(f'<line x1="{x:g}" y1="{MARGIN + 10:g}" x2="{x:g}" y2="{bottom:g}" stroke="{color}"/>')
        if begins and cycle < cycles:
            parts.append(_text(x + 2, MARGIN + 7, str(first + cycle), anchor="start"))
    return parts


def waveform_svg(lanes: Sequence[Lane], *, title: str, cycles: int, slot: int, first: int = 0) -> str:
    """Draw lanes one below the other, their first cycles left out.

    Parameters
    ----------
    lanes : sequence of Lane
        From cycle 0.
    title : str
        What the diagram shows.
    cycles : int
        Every bit and bus must have as many values.
    slot : int
        Cycles between the lines that stand out.
    first : int
        The first cycle that is drawn.

    Raises
    ------
    ValueError
        If a lane does not have `cycles` values.
    """
    for lane in lanes:
        if not isinstance(lane, Spans) and len(lane.values) != cycles:
            raise ValueError(f"lane {lane.name} must have {cycles} values, not {len(lane.values)}")
    bottom = MARGIN + 16 + LANE * len(lanes)
    cell = (WIDTH - NAMES - MARGIN) / (cycles - first)
    size = f'width="{WIDTH}" height="{bottom + MARGIN:g}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {WIDTH} {bottom + MARGIN:g}" '
        'font-family="sans-serif">',
        f"<title>{escape(title)}</title>",
        f'<rect {size} fill="white"/>',
        _text(NAMES - 8, MARGIN + 7, "cycle", anchor="end"),
        *_grid(cycles - first, slot, first, cell, bottom),
    ]
    for row, lane in enumerate(lanes):
        top = MARGIN + 20 + LANE * row
        parts.append(_text(NAMES - 8, top + HEIGHT - 3, lane.name, anchor="end"))
        parts += _drawing(_cut(lane, first), top, cell)
    return "\n".join([*parts, "</svg>\n"])
