"""What a reader asks of a figure: its size, its letters, its title and its axes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

from hdnhw.spec import SpecError
from hdnhw.spec.options import named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = re.compile(r"([0-9.]+)x([0-9.]+)(in|mm)")
INCH = {"in": 1.0, "mm": 25.4}
"""Units of a size in an inch."""

SIDES = (1.0, 40.0)
"""Of a figure, inches: the least and the most."""

LETTERS = (4.0, 40.0)
"""Size of letters, points: the least and the most."""

NARROW = 0.4
"""Share of the width of a figure that its panels have at least beside a legend."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """How a figure shall look, by the names of the options of commands that draw; None is as it comes.

    Attributes
    ----------
    title : str or None
        Above the figure; an empty one takes away what stands there.
    figure_size : str, (float, float) or None
        Width and height as ``88x60mm`` or ``3.5x2.4in``, or two numbers of inches.
    font_size : float or None
        Of all letters, points.
    x_limits, y_limits : str, (float, float) or None
        Ends of the axes: ``0,0.5``, or two numbers.
    log_y : bool or None
        Whether the y axis is logarithmic.

    Raises
    ------
    SpecError
        If a value is out of range.
    """

    title: str | None = None
    figure_size: str | tuple[float, float] | None = None
    font_size: float | None = None
    x_limits: str | tuple[float, float] | None = None
    y_limits: str | tuple[float, float] | None = None
    log_y: bool | None = None

    def __post_init__(self) -> None:
        _, y_limits = self._limits("x_limits"), self._limits("y_limits")
        if self.size is not None and not all(SIDES[0] <= side <= SIDES[1] for side in self.size):
            raise SpecError(f"figure size must be {SIDES[0]:g} to {SIDES[1]:g} inches each way, not {self.figure_size}")
        if self.font_size is not None and not LETTERS[0] <= self.font_size <= LETTERS[1]:
            raise SpecError(f"font size must be {LETTERS[0]:g} to {LETTERS[1]:g} points, not {self.font_size}")
        if self.log_y and y_limits is not None and y_limits[0] <= 0:
            raise SpecError(f"y limits must be above 0 where the axis is logarithmic, not {self.y_limits}")

    @property
    def size(self) -> tuple[float, float] | None:
        """Width and height in inches."""
        if self.figure_size is None or not isinstance(self.figure_size, str):
            return None if self.figure_size is None else _pair("figure size", self.figure_size, "3.5x2.4in")
        found = SIZE.fullmatch(self.figure_size)
        if found is None:
            raise SpecError(f"figure size must be such as 88x60mm or 3.5x2.4in, not {self.figure_size!r}")
        width, height = _pair("figure size", found.group(1, 2), "88x60mm or 3.5x2.4in")
        return width / INCH[found[3]], height / INCH[found[3]]

    @property
    def given(self) -> list[str]:
        """Names of what is asked for."""
        return [one.name for one in fields(self) if getattr(self, one.name) not in (None, False)]

    def apply(self, figure: "Figure") -> "Figure":
        """Make a figure look so, and return it."""
        if self.size is not None:
            figure.set_size_inches(self.size)
        if self.title is not None and len(figure.axes) > 1:
            figure.suptitle(self.title)
        elif len(figure.axes) == 1:
            self.apply_axes(figure.axes[0])
        if self.font_size is not None:
            _set_letters(figure, self.font_size)
        if self.size is not None:
            _make_room(figure)
        return figure

    def apply_axes(self, axes: "Axes") -> None:
        """Give axes the title, the scale and the limits that are asked for."""
        if self.title is not None:
            axes.set_title(self.title)
        x_limits, y_limits = self._limits("x_limits"), self._limits("y_limits")
        if self.log_y:
            axes.set_yscale("log")
        if x_limits is not None:
            axes.set_xlim(x_limits)
        if y_limits is not None:
            axes.set_ylim(y_limits)

    def _limits(self, name: str) -> tuple[float, float] | None:
        value, what = getattr(self, name), name.replace("_", " ")
        if value is None:
            return None
        low, high = _pair(what, value.split(",") if isinstance(value, str) else value, "0,0.5")
        if not low < high:
            raise SpecError(f"{what} must be two numbers, the lower first, not {value!r}")
        return low, high


def look_of(figure: Mapping[str, Any], *files: object, panels: int = 1) -> Look:
    """Return how the figures in some files shall look.

    Parameters
    ----------
    figure : mapping of str to Any
        What is given of :class:`Look`.
    files : path or None
        None if a file is not asked for.
    panels : int
        Of the figure: with several, axes are not set.

    Raises
    ------
    TypeError
        If there is no such option.
    SpecError
        If a value is out of range, or there is no figure that could look so.
    """
    known = [one.name for one in fields(Look)]
    for name in figure:
        if name not in known:
            raise TypeError(f"there is no option {name!r} of a figure; there are {', '.join(known)}")
    look = Look(**figure)
    for name in look.given:
        if all(file is None for file in files):
            raise SpecError(f"{named(name)} is for a figure: give a file to draw it in as well")
        if panels > 1 and name in ("x_limits", "y_limits", "log_y"):
            raise SpecError(f"{named(name)} is for a figure of one panel, and this one has {panels}")
    return look


def _pair(what: str, value: Sequence[Any], example: str) -> tuple[float, float]:
    """Return two finite numbers."""
    try:
        one, other = (float(part) for part in value)
    except (TypeError, ValueError):
        one = other = float("nan")
    if not abs(one) + abs(other) < float("inf"):
        raise SpecError(f"{what} must be two numbers, such as {example}, not {value!r}")
    return one, other


def _set_letters(figure: "Figure", size: float) -> None:
    """Give all letters a size, those of ticks that are still to come too."""
    from matplotlib.text import Text

    for axes in figure.axes:
        axes.tick_params(which="both", labelsize=size)
    for text in figure.findobj(Text):
        text.set_fontsize(size)


def _make_room(figure: "Figure") -> None:
    """Put a legend that is too wide for the figure above it, in one column."""
    for legend in list(figure.legends):
        with catch_warnings(record=True) as said:
            simplefilter("always")
            figure.draw_without_rendering()
        sides = [side for axes in figure.axes for side in axes.get_position().intervalx]
        if legend.get_window_extent().width <= figure.bbox.width and max(sides) - min(sides) >= NARROW and not said:
            continue
        texts = legend.get_texts()
        labels, letters = [text.get_text() for text in texts], texts[0].get_fontsize()
        handles = [handle for handle in legend.legend_handles if handle is not None]
        legend.remove()
        figure.legend(handles, labels, loc="outside upper center", fontsize=letters)
