"""What a reader asks of a figure: its size, its letters, its title and its axes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from warnings import catch_warnings, simplefilter

from hdnhw.spec.options import Flag, Given, Options, Rate, Text, option, options_of
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named

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
class Look(Options):
    """How a figure shall look: options of commands that draw; None is as it comes.

    Raises
    ------
    TypeError
        If a value is of another type.
    SpecError
        If it is out of range.
    """

    heading: ClassVar[str] = "figure"

    title: str | None = option(None, Text, "title above the figure; '' for none", metavar="TEXT")
    figure_size: str | tuple[float, float] | None = option(
        None, Given, "width and height: 88x60mm or 3.5x2.4in; in Python also two numbers of inches", metavar="WxH"
    )
    font_size: float | None = option(
        None,
        Rate,
        "size of all letters of the figure",
        metavar="POINTS",
        least=LETTERS[0],
        most=LETTERS[1],
        unit="points",
    )
    x_limits: str | tuple[float, float] | None = option(None, Given, "ends of the x axis", metavar="LOW,HIGH")
    y_limits: str | tuple[float, float] | None = option(None, Given, "ends of the y axis", metavar="LOW,HIGH")
    log_y: bool | None = option(None, Flag, "draw the y axis logarithmic")

    def __post_init__(self) -> None:
        super().__post_init__()
        _, y_limits = self._limits("x_limits"), self._limits("y_limits")
        if self.size is not None and not all(SIDES[0] <= side <= SIDES[1] for side in self.size):
            allowed = f"{SIDES[0]:g} to {SIDES[1]:g} inches each way"
            raise SpecError(f"{named('figure_size')} must be {allowed}, not {self.figure_size}")
        if self.log_y and y_limits is not None and y_limits[0] <= 0:
            what = named("y_limits")
            raise SpecError(f"{what} must be above 0 where the axis is logarithmic, not {self.y_limits}")

    @property
    def size(self) -> tuple[float, float] | None:
        """Width and height in inches."""
        if self.figure_size is None or not isinstance(self.figure_size, str):
            return None if self.figure_size is None else _pair("figure_size", self.figure_size, "3.5x2.4in")
        found = SIZE.fullmatch(self.figure_size)
        if found is None:
            raise SpecError(f"{named('figure_size')} must be such as 88x60mm or 3.5x2.4in, not {self.figure_size!r}")
        width, height = _pair("figure_size", found.group(1, 2), "88x60mm or 3.5x2.4in")
        return width / INCH[found[3]], height / INCH[found[3]]

    @property
    def given(self) -> list[str]:
        """Names of what is asked for."""
        return [name for name in options_of(self) if getattr(self, name) not in (None, False)]

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
        value = getattr(self, name)
        if value is None:
            return None
        low, high = _pair(name, value.split(",") if isinstance(value, str) else value, "0,0.5")
        if not low < high:
            raise SpecError(f"{named(name)} must be two numbers, the lower first, not {value!r}")
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
    known = options_of(Look)
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


def _pair(name: str, value: Sequence[Any], example: str) -> tuple[float, float]:
    """Return two finite numbers."""
    try:
        one, other = (float(part) for part in value)
    except (TypeError, ValueError):
        one = other = float("nan")
    if not abs(one) + abs(other) < float("inf"):
        raise SpecError(f"{named(name)} must be two numbers, such as {example}, not {value!r}")
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
