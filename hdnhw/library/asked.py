"""Functions whose parameters are the options of a class: signature and docstring are derived from it."""

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, formatannotation, signature
from typing import TYPE_CHECKING, Any, TypeVar

from hdnhw.library.options import PathLike, given
from hdnhw.spec.options import (
    REQUIRED,
    Choice,
    Given,
    Options,
    Origin,
    Pattern,
    Patterns,
    Rate,
    Size,
    Text,
    members_of,
    option,
    options_of,
)
from hdnhw.support.naming import flag_of
from hdnhw.support.workers import MOST_WORKERS

if TYPE_CHECKING:
    from hdnhw.figures.outputs import Outputs

ASKED = "asked"
"""Parameter, and entry of the docstring, in whose place the options are put."""

SAID = "said"
"""Parameter, if a function has it, for the names of the options that its caller gives, but flags that are off."""

WIDTH = 112
"""Columns of a paragraph of a docstring."""


Found = TypeVar("Found")


def asks(run: Callable[..., Found]) -> Callable[..., Found]:
    """Make the options of the class that annotates parameter ``asked`` the keywords of a function.

    The function is called with what makes up the class, None for a default, and gets the object, checked. Its signature
    has the options in place of ``asked``, and so has the section Parameters of its docstring.
    """
    written = signature(run)
    options = written.parameters[ASKED].annotation
    members = members_of(options)
    taken = [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if member.default is REQUIRED else member.default,
            annotation=member.type,
        )
        for name, member in members.items()
    ]
    others = [parameter for name, parameter in written.parameters.items() if name not in (ASKED, SAID)]
    last = [parameter for parameter in others if parameter.kind is Parameter.VAR_KEYWORD]
    shape = written.replace(parameters=[*(one for one in others if one not in last), *taken, *last])

    @wraps(run)
    def call(*arguments: Any, **keywords: Any) -> Found:
        shape.bind(*arguments, **keywords)
        own = given({name: keywords.pop(name) for name in members if name in keywords})
        for name, kind in options_of(options).items():
            if name in own and isinstance(kind, Pattern):
                own[name] = _read_patterns(kind, own[name])
        if SAID in written.parameters:
            keywords[SAID] = tuple(name for name, value in own.items() if value is not False)
        return run(*arguments, **{ASKED: options(**own)}, **keywords)

    call.options = options  # type: ignore[attr-defined]
    call.__signature__ = shape  # type: ignore[attr-defined]
    if run.__doc__ is not None:
        entries = "".join(_entry(name, members) for name in members)
        call.__doc__ = run.__doc__.replace(f"    {ASKED}\n", textwrap.indent(entries, "    "))
    return call


def _read_patterns(kind: Pattern, value: Any) -> Any:
    """Return the pattern of an option, or its patterns, of which those that are data are read."""
    from hdnhw.traffic.demand import read_pattern

    several = isinstance(kind, Patterns) and isinstance(value, Sequence) and not isinstance(value, str)
    return [read_pattern(one) for one in value] if several else read_pattern(value)


def _entry(name: str, members: Mapping[str, Any]) -> str:
    """Return the entry of an option in a docstring; others are named as in Python."""
    member, flags = members[name], {flag_of(other): f"`{other}`" for other in members}
    kind = member.metadata["option"]
    shown = formatannotation(member.type).strip("'")
    shown = re.sub(r"collections\.abc\.|typing\.", "", shown).replace(formatannotation(PathLike), "path")
    if isinstance(kind, Choice):
        shown = f"{{{', '.join(map(repr, kind.choices))}}}"
    if member.default is None:
        shown = f"{shown.removesuffix(' | None')}, optional"
    text = re.sub(r"--\w[\w-]*", lambda flag: flags.get(flag[0], flag[0]), kind.help)
    text = f"{text[0].upper()}{text[1:]}."
    return f"{name} : {shown}\n{textwrap.fill(text, WIDTH, initial_indent='    ', subsequent_indent='    ')}\n"


def plot_of(what: str) -> Any:
    """Return the option of a file in which something is drawn."""
    return option(
        None, Given, f"draw {what}: .svg, .png or .pdf; needs the extra sweep", metavar="FILE", group="figure"
    )


def made_by(function: str) -> Any:
    """Return the option that says what makes figures and pages."""
    return option(function, Origin, "what figures and pages say that they were made by")


@dataclass(frozen=True, kw_only=True)
class ProcessOptions(Options):
    """Options of a command that works in several processes."""

    workers: int | None = option(
        None, Size, "processes (default: one per processor)", metavar="N", least=1, most=MOST_WORKERS
    )


@dataclass(frozen=True, kw_only=True)
class WorkerOptions(ProcessOptions):
    """Options of a command that works in several processes, here or on a cluster."""

    cluster: str | None = option(None, Text, "Dask scheduler whose workers to use instead", metavar="ADDRESS")


@dataclass(frozen=True, kw_only=True)
class WeightOptions(Options):
    """How CR_w weighs degree and diameter."""

    degree_weight: float = option(
        0.5,
        Rate,
        "w1 of the HDN paper's weighted cost ratio CR_w, of the degree; w2 = 1 - w1",
        metavar="W",
        least=0,
        most=1,
    )


@dataclass(frozen=True, kw_only=True)
class DrawnOptions(Options):
    """Options of a command that draws; how its figures look is asked for beside, by :class:`FigureOptions`."""

    plot: PathLike | None = plot_of("a figure")
    html: PathLike | None = option(
        None, Given, "write a page with this figure, tables and the options", metavar="FILE", group="figure"
    )
    command: str = made_by("hdnhw")

    def outputs_of(self, figure: Mapping[str, Any], *, panels: int = 1) -> "Outputs":
        """Return the files to draw, and how, checked; one figure has so many panels."""
        from hdnhw.figures.look import look_of
        from hdnhw.figures.outputs import Outputs

        look = look_of(given(figure), self.plot, self.html, panels=panels)
        return Outputs(self.plot, self.html, self.command, look)
