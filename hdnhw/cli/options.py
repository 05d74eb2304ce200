"""What commands have in common: the parser, messages, and how they are made of functions of the library."""

import argparse
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from inspect import Parameter, signature
from types import MappingProxyType
from typing import Any, NoReturn

from hdnhw.endpoints import declared
from hdnhw.figures.look import Look
from hdnhw.library.asked import DrawnOptions
from hdnhw.library.options import given
from hdnhw.library.result import Result as Found
from hdnhw.spec import FabricSpec
from hdnhw.spec.checks import meant
from hdnhw.spec.options import (
    REQUIRED,
    Choice,
    Flag,
    Options,
    Origin,
    Pattern,
    Rate,
    Repeated,
    Several,
    Size,
    group_of,
    members_of,
    options_of,
)
from hdnhw.support.naming import choices_text, flag_of
from hdnhw.support.progress import say

DONE, FAILED, BAD_INPUT = 0, 1, 2

ASKED = "asked_"
"""Before the names of a command's own options among those that are parsed."""

OF_ENDPOINTS = "endpoint_"
"""Before the names of options of endpoints."""

AT_MOST = "<= "
"""Before a number in a table that is only known as a bound."""

NODE = "node number, address such as 1.1/1.0.1, or C,U,SN,N of an HDN"

ARGUMENTS = {
    "spec": "network, for example 'rdn(cube(3), 1)'",
    "specs": "networks, for example 'rdn(cube(3), 1)'",
    "node": NODE,
    "src": NODE,
    "dst": NODE,
}
"""What the help says of arguments, by their names."""

OUTPUT = "output"
"""The argument that is an option on the command line."""

PURPOSES = ("networks", "routes", "traffic", "collective operations", "hardware", "papers")
"""What commands are for, in the order in which help lists them."""

MORE = "more"
"""The purpose of commands that name none."""

Result = dict[str, Any]


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, and name the command.

    Attributes
    ----------
    helps : list of (Action, callable)
        Options whose help needs an import: what makes it is called when help is shown.
    parts : dict of str to list of str
        Of a parser of commands, their names by purpose; its help lists them so.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.helps: list[tuple[argparse.Action, Callable[[], str]]] = []
        self.parts: dict[str, list[str]] = {}

    def format_help(self) -> str:
        """Return what ``--help`` shows."""
        for action, text in self.helps:
            action.help = text()
        if not self.parts:
            return super().format_help()
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        commands = {one.dest: one for action in self._actions for one in getattr(action, "_choices_actions", ())}
        options = [action for action in self._actions if action.option_strings]
        named = {purpose: [commands[name] for name in names] for purpose, names in self.parts.items()}
        for title, actions in {**named, "options": options}.items():
            formatter.start_section(title)
            formatter.add_arguments(actions)
            formatter.end_section()
        return formatter.format_help()

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print help or version; ``argparse`` would not tell of a stream that does not take it."""
        file.write(message)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Refuse what the command does not know; ``argparse`` would leave it to the one above, which cannot help."""
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            given = f"{' '.join(unknown)}{meant(unknown[0].partition('=')[0], self._option_string_actions)}"
            self.error(f"unrecognized arguments: {given}; `{self.prog} --help` lists what is allowed")
        return options, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is no choice, and say which may be meant."""
        choices = tuple(action.choices or (value,))
        if value not in choices:
            raise argparse.ArgumentError(action, f"{choices_text(choices, value)}{meant(str(value), choices)}")

    def error(self, message: str) -> NoReturn:
        """Print one line and exit with status 2."""
        say(f"{self.prog}: {message}")
        raise SystemExit(BAD_INPUT)


@dataclass(frozen=True)
class Command:
    """A command: a function of the library on the command line, with what it takes.

    Modules of :mod:`hdnhw.cli` have theirs in ``COMMANDS``; of other packages entry points of the group
    ``hdnhw.commands`` name one each.

    Attributes
    ----------
    function : callable
        Takes the arguments, and as keywords the options; returns a :class:`hdnhw.library.result.Result`. Its name is
        that of the command, and the first sentence of its docstring the summary.
    example : str
        For ``--help``.
    purpose : str
        What it is for: one of :data:`PURPOSES`, or another one, listed behind these by ``hdnhw --help``.
    arguments : mapping of str to str
        What the help says of arguments that :data:`ARGUMENTS` does not have; of ``output`` with the metavar before it.
    machine : mapping of str to bool or None
        Which options of a machine it has, as of :func:`hdnhw.spec.options.options_of`; None for none.
    also : sequence of str
        Others of a machine that it has.
    defaults : mapping of str to str
        What the help says in place of defaults of options of a machine.
    endpoints : iterable of str
        Kinds of endpoints whose options it has.
    reads : mapping of str to callable
        By options, what makes of each of their values what the function takes.
    shown : callable or None
        Takes what the function has found, and returns what is printed of it without ``--json``.
    """

    function: Callable[..., Found]
    _: KW_ONLY
    example: str
    purpose: str = MORE
    arguments: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, bool] | None = None
    also: Sequence[str] = ()
    defaults: Mapping[str, str] = field(default_factory=dict)
    endpoints: Iterable[str] = ()
    reads: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    shown: Callable[[Found], Result] | None = None

    @property
    def name(self) -> str:
        """What it is called."""
        return self.function.__name__

    @property
    def options(self) -> type[Options] | None:
        """The class of its own options."""
        return getattr(self.function, "options", None)

    def __call__(self, commands: Any) -> Parser:
        """Add the command to the parsers of commands."""
        summary = summary_of(self.function)
        parser: Parser = commands.add_parser(
            self.name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=f"example: {self.example}",
            allow_abbrev=False,
        )
        for parameter in signature(self.function).parameters.values():
            self._add_argument(parser, parameter)
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.set_defaults(run=self._run)
        if self.options is not None:
            _add_options(parser, self.options, prefix=ASKED)
            if issubclass(self.options, DrawnOptions):
                _add_options(parser, Look)
            if "threads" in options_of(self.options):
                parser.set_defaults(ranks=True)  # what threads can share, processes of mpirun can
        if self.machine is not None:
            defaults = {**_defaults_with(self.endpoints), **self.defaults}
            add_machine_options(parser, also=self.also, defaults=defaults, **self.machine)
        for kind in self.endpoints:
            _add_options(parser, declared("spec")[kind], group=declared("spec")[kind].title, prefix=OF_ENDPOINTS)
        return parser

    def _add_argument(self, parser: Parser, parameter: Parameter) -> None:
        """Add an argument that is no option of a class."""
        name, has_place = parameter.name, parameter.kind is Parameter.POSITIONAL_OR_KEYWORD
        text = self.arguments.get(name, ARGUMENTS.get(name, ""))
        if name == OUTPUT:
            metavar, _, text = text.partition(" ")
            parser.add_argument("-o", "--output", required=has_place, metavar=metavar, help=text)
        elif parameter.kind is Parameter.VAR_POSITIONAL:
            parser.add_argument(name, nargs="+", metavar=name.removesuffix("s").upper(), help=text)
        elif has_place:
            nargs = None if parameter.default is Parameter.empty else "?"
            parser.add_argument(name, nargs=nargs, metavar=name.upper(), help=text)

    def _run(self, options: argparse.Namespace) -> tuple[Result, int]:
        """Do what is asked for."""
        asked, many = self.asked(options), []
        for name, parameter in signature(self.function).parameters.items():
            if parameter.kind is Parameter.VAR_POSITIONAL:
                many = getattr(options, name)
            elif parameter.kind is Parameter.POSITIONAL_OR_KEYWORD or name == OUTPUT:
                asked |= given({name: getattr(options, name)})
        for name, read in self.reads.items():
            if name in asked:
                asked[name] = [read(one) for one in asked[name]]
        found = self.function(*many, **asked)
        result: Result = found if options.json or self.shown is None else self.shown(found)
        return result, DONE if found.passed else FAILED

    def asked(self, options: argparse.Namespace) -> dict[str, Any]:
        """Return what is said of its options, those of figures, of the machine and of endpoints, as keywords."""
        asked: dict[str, Any] = {}
        if self.options is not None:
            kinds = options_of(self.options)
            asked = {name: getattr(options, ASKED + name, None) for name in kinds}
            for name, kind in kinds.items():
                if isinstance(kind, Origin):
                    asked[name] = options.command.replace(" --json", "" if kind.plain else " --json")
            if issubclass(self.options, DrawnOptions):
                asked |= {name: getattr(options, name) for name in options_of(Look)}
        return given(asked) | machine_options(options) | endpoint_options(options)


def summary_of(function: Callable[..., Any]) -> str:
    """Return what a function does, for a list of commands: the first sentence of its docstring.

    Examples
    --------
    >>> summary_of(Parser.format_help)
    'print what --help shows'
    """
    text = " ".join((function.__doc__ or "").partition("\n\n")[0].split()).replace("`", "").rstrip(".")
    text = re.sub("^Return", "Print", text).partition("; needs")[0]
    return text[0].lower() + text[1:]


def _add_options(
    parser: argparse.ArgumentParser,
    spec: type,
    names: Iterable[str] | None = None,
    *,
    group: str = "",
    prefix: str = "",
    defaults: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Add options of a class, all or those of some names; `defaults` are what the help says in place of a default."""
    for name, member in members_of(spec).items():
        kind = member.metadata["option"]
        if isinstance(kind, Origin) or (names is not None and name not in names):
            continue
        default = defaults.get(name, _default_text(member.default))
        text = kind.help.replace("%", "%%") + f" (default {default})" * bool(default)
        about: dict[str, Any] = {"dest": prefix + name, "help": text}
        about |= {"required": True} if member.default is REQUIRED else {}
        about |= {"nargs": kind.number or "+"} if isinstance(kind, Several) else {}
        about |= {"action": "append"} if isinstance(kind, Repeated) else {}
        if isinstance(kind, Flag):
            about |= {"action": "store_const", "const": True}
        elif choices := getattr(kind, "choices", ()) if isinstance(kind, (Choice, Several)) else ():
            about["choices"] = choices
        else:
            about |= {"metavar": kind.metavar or name.upper(), "type": _TYPES.get(type(kind))}
        if (alone := getattr(kind, "alone", None)) is not None:
            about |= {"nargs": "?", "const": alone}
        action = _group_of(parser, kind.group or group or group_of(spec, name)).add_argument(flag_of(name), **about)
        if isinstance(kind, Pattern) and isinstance(parser, Parser):
            parser.helps.append((action, partial(_pattern_help, kind, text)))


def _pattern_help(kind: Pattern, text: str) -> str:
    """Return what the help says of where packets go: all that there is."""
    from hdnhw.traffic.demand import READERS
    from hdnhw.traffic.expression import form_of
    from hdnhw.traffic.patterns import PATTERNS

    forms = ", ".join(form_of(name, maker) for name, maker in PATTERNS.items())
    return text.replace(kind.help, f"{kind.help}: {forms}{kind.more}, or a FILE of rates, {', '.join(READERS)}")


def _defaults_with(kinds: Iterable[str]) -> dict[str, str]:
    """Return what the help says of defaults of a machine that differ with kinds of endpoints."""
    without = {name: _default_text(member.default) for name, member in members_of(FabricSpec).items()}
    return {
        name: ", ".join(filter(None, [without[name], said]))
        for kind in kinds
        for name, said in declared("spec")[kind].defaults.items()
    }


_TYPES = {Size: int, Rate: float}


def _default_text(default: Any) -> str:
    """Return what the help says of a default; nothing of options that are off or follow later."""
    if default is None or default is False or default is REQUIRED:
        return ""
    if isinstance(default, float):
        return f"{default:g}"
    return ",".join(default) if isinstance(default, tuple) else str(default)


def _group_of(parser: argparse.ArgumentParser, title: str) -> Any:
    """Return the group of arguments that has a title; the parser if it is empty."""
    groups = {group.title: group for group in parser._action_groups}
    return groups.get(title) or (parser.add_argument_group(title) if title else parser)


def add_machine_options(
    parser: argparse.ArgumentParser,
    *,
    also: Sequence[str] = (),
    defaults: Mapping[str, str] = MappingProxyType({}),
    **kinds: bool,
) -> None:
    """Add the options that say which machine it is: of some kinds, as of :func:`hdnhw.spec.options.options_of`.

    Parameters
    ----------
    parser : ArgumentParser
    also : sequence of str
        Options that are added in any case.
    defaults : mapping of str to str
        What the help says in place of an option's default.
    kinds : bool
    """
    chosen = {*also, *options_of(FabricSpec, **kinds)}
    _add_options(parser, FabricSpec, chosen, group="routing" if kinds.get("routes") else "machine", defaults=defaults)


def machine_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return what the options say of the machine, by the names of :class:`hdnhw.MachineOptions`."""
    return given({name: getattr(options, name, None) for name in options_of(FabricSpec)})


def endpoint_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options of endpoints that are given, of whatever kind."""
    names = dict.fromkeys(name for spec in declared("spec").values() for name in options_of(spec))
    return given({name: getattr(options, OF_ENDPOINTS + name, None) for name in names})
