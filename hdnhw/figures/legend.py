"""The legend of a picture: what each color and mark means, in rows below the network."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from hdnhw.figures.labels import text_width

SWATCH, GAP = 30, 14
"""Widths of what is drawn before a text, and of the space behind it, as shares of a scale of 1."""

SIZE, ROW = 11, 20
"""Size of the letters, and distance of the rows."""

PAGE = 688
"""Pixels of a page: what is wider will be shown smaller, and gets larger letters."""

DARK = "#2b2b2b"
"""Of nodes at which paths end."""


@dataclass(frozen=True)
class Entry:
    """What stands in a legend.

    Attributes
    ----------
    kind : str
        One of :data:`SWATCHES`.
    text : str
    color : str
    """

    kind: str
    text: str
    color: str = ""
    dash: str = ""

    @property
    def swatch(self) -> str:
        """What stands before the text."""
        dash = f' stroke-dasharray="{self.dash}"' if self.dash else ""
        return SWATCHES[self.kind].format(color=self.color, dark=DARK, dash=dash)


def crossed(x: float, y: float, across: float, down: float) -> str:
    """Return the cross over what is dead, as far from its middle as the half axes say."""
    left, right, top, bottom = x - across, x + across, y - down, y + down
    path = f"M{left:.1f} {top:.1f}L{right:.1f} {bottom:.1f}M{right:.1f} {top:.1f}L{left:.1f} {bottom:.1f}"
    return f'<path d="{path}" stroke="#d0021b" stroke-width="1.5" fill="none"/>'


SWATCHES = {
    "edge": '<path d="M2 0h22" stroke="{color}" stroke-width="1.4"{dash}/>',
    "arrow": '<path d="M2 0h18" stroke="{color}" stroke-width="2.4"{dash}/><path d="M26 0l-8-4v8z" fill="{color}"/>',
    "node": '<circle cx="14" cy="0" r="6" fill="{color}"/>',
    "outline": '<circle cx="14" cy="0" r="5.5" fill="white" stroke="{color}" stroke-width="1.5"/>',
    "end": '<circle cx="14" cy="0" r="4.5" fill="{dark}"/><circle cx="14" cy="0" r="6.5" fill="none" stroke="{dark}"/>',
    "waypoint": '<circle cx="14" cy="0" r="6" fill="none" stroke="{dark}" stroke-width="1.3" stroke-dasharray="3 2"/>',
    "dead node": f'<circle cx="14" cy="0" r="5.5" fill="#e4e4e4"/>{crossed(14, 0, 6, 6)}',
    "dead channel": f'<path d="M2 0h22" stroke="#999"/>{crossed(9, 0, 3.5, 3.5)}',
    "text": "",
}
"""What stands before a text, 24 wide and 6 above and below 0."""


def legend_svg(entries: Sequence[Entry], left: float, top: float, width: float) -> tuple[str, float]:
    """Return a legend in rows as wide as a picture, and how high it is."""
    scale = max(1.0, width / PAGE)
    parts, x, y = [], 0.0, ROW / 2
    for entry in entries:
        lead = SWATCH if entry.kind != "text" else 4
        own = lead + text_width(entry.text, SIZE) + GAP
        if x and (x + own) * scale > width:
            x, y = 0.0, y + ROW
        parts.append(
            f'<g transform="translate({x:.1f} {y:.1f})">{entry.swatch}'
            f'<text x="{lead}" y="4" fill="#222">{escape(entry.text)}</text></g>'
        )
        x += own
    place = f"translate({left:.1f} {top:.1f}) scale({scale:.2f})"
    group = f'<g class="legend" transform="{place}" font-size="{SIZE}" text-anchor="start">'
    return "\n".join([group, *parts, "</g>"]), (y + ROW / 2) * scale
