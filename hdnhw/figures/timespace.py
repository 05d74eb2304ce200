"""Time-space pictures of schedules: which port each node sends over in each step."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hdnhw.collectives.combining import Phases
from hdnhw.collectives.executor import Execution
from hdnhw.collectives.registers import RegisterSchedule
from hdnhw.collectives.schedule import Schedule
from hdnhw.figures.page import Sheet, figures_table, table_of
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_DRAWN = 2048
"""Nodes of a picture."""


def check_drawn(nodes: int) -> None:
    """Raise SpecError unless so many nodes can be drawn."""
    if nodes > MOST_DRAWN:
        raise SpecError(f"{named('plot')} must be of at most {MOST_DRAWN} nodes, not {nodes}")


def timespace_sheet(
    schedule: Schedule | RegisterSchedule | Phases,
    execution: Execution,
    about: Mapping[str, Any],
    figures: Mapping[str, Any],
    steps: Sequence[Mapping[str, Any]],
) -> Sheet:
    """Return the figure of :func:`draw_timespace` with what was counted and a table of the steps.

    `about` is what was asked for.
    """
    return Sheet(
        title=f"{schedule.name} on {schedule.network.spec}",
        draw=partial(draw_timespace, schedule, execution),
        shows="Which port each node sends over in each step: a row for each node, a column for each step, as wide as "
        "the words that it takes.",
        tables=[figures_table(figures), table_of("Steps", steps)],
        options={name.replace("_", " "): value for name, value in about.items()},
    )


def draw_timespace(schedule: Schedule | RegisterSchedule | Phases, execution: Execution) -> "Figure":
    """Draw a row for each node and a column for each step, as wide as the words that the step takes.

    A cell has the color of the port over which the node sends, is striped in those of several, and white where it
    sends nothing. Steps in which nothing is sent have no width. Between phases there is a line, with their names above.

    Parameters
    ----------
    schedule : Schedule, RegisterSchedule or Phases
    execution : Execution
        Of this schedule.
    """
    from matplotlib import colormaps
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    steps, nodes, ports = execution.sent.shape
    check_drawn(nodes)
    colors = colormaps["tab20"](np.arange(ports) % 20)
    ends = np.cumsum([0, *execution.words_per_step])
    figure = Figure(figsize=(7.1, 5), layout="constrained")
    axes = figure.add_subplot()
    for step in range(steps):
        used = execution.sent[step] > 0
        several = np.maximum(used.sum(axis=1), 1)
        width = (ends[step + 1] - ends[step]) / several
        for port in np.flatnonzero(used.any(axis=0)):
            node = np.flatnonzero(used[:, port])
            left = ends[step] + used[node, :port].sum(axis=1) * width[node]
            axes.bar(left, 1, width[node], node - 0.5, align="edge", color=colors[port], linewidth=0)
    axes.set_xticks(ends, labels=[str(end) for end in ends], fontsize=7, rotation=90)
    axes.set(xlim=(0, max(1, ends[-1])), ylim=(nodes - 0.5, -0.5), xlabel="words", ylabel="node")
    if isinstance(schedule, Phases):
        _name_phases(axes, schedule, ends)
    axes.set_title(f"{schedule.name} on {schedule.network.spec}: {steps} start-ups, {ends[-1]} words", fontsize=10)
    names = [port.name for port in schedule.network.ports]
    patches = [Patch(color=color, label=name) for color, name in zip(colors, names, strict=True)]
    figure.legend(handles=patches, loc="outside right upper", fontsize=8, title="port", title_fontsize=8)
    return figure


def _name_phases(axes: Any, phases: Phases, ends: npt.NDArray[np.int64]) -> None:
    bounds = ends[np.cumsum([0, *(len(schedule.steps) for schedule in phases.schedules)])]
    for bound in bounds[1:-1]:
        axes.axvline(bound, color="black", linewidth=1.5)
    above = axes.secondary_xaxis("top")
    above.set_xticks(
        (bounds[:-1] + bounds[1:]) / 2, labels=[schedule.name for schedule in phases.schedules], fontsize=8
    )
    above.tick_params(length=0)
