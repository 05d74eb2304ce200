"""What commands have in common: the parser, messages, and the options that describe a machine."""

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NoReturn

from hdnhw.library.asked import DrawnOptions
from hdnhw.library.hardware import EmitOptions
from hdnhw.library.options import FigureOptions, endpoints_of, given
from hdnhw.library.result import Result as Found
from hdnhw.progress import say
from hdnhw.spec import ENDPOINTS, EndpointSpec, FabricSpec, NetworkSpec, parse
from hdnhw.spec.checks import meant
from hdnhw.spec.options import (
    REQUIRED,
    Choice,
    Flag,
    Options,
    Origin,
    Rate,
    Repeated,
    Several,
    Size,
    choices_text,
    flag_of,
    members_of,
    options_of,
)

DONE, FAILED, BAD_INPUT = 0, 1, 2

DRAWN = ("plot", "html", "command", *FigureOptions.__annotations__)
"""What is passed on of a command that draws: the options of :func:`add_drawing_options`, and the command line."""


ASKED = "asked_"
"""Before the names of a command's own options among those that are parsed."""

AT_MOST = "<= "
"""Before a number in a table that is only known as a bound."""

Result = dict[str, Any]
Command = Callable[[argparse.Namespace], tuple[Result, int]]


def ended(result: Found) -> tuple[Result, int]:
    """Return what a function of the library has found, and the exit status."""
    return result, DONE if result.passed else FAILED


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, and name the command.

    Attributes
    ----------
    helps : list of (Action, callable)
        Options whose help needs an import: what makes it is called when help is shown.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.helps: list[tuple[argparse.Action, Callable[[], str]]] = []

    def format_help(self) -> str:
        """Return what ``--help`` shows."""
        for action, text in self.helps:
            action.help = text()
        return super().format_help()

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


def add_command(
    commands: Any,
    name: str,
    run: Command,
    *,
    summary: str,
    example: str,
    spec: bool = True,
    asks: type[Options] | None = None,
) -> Parser:
    """Add a command to the command line.

    Parameters
    ----------
    commands : argparse sub-parsers
    name : str
    run : callable
        Takes the options, returns the JSON object and the exit status.
    summary, example : str
        For ``--help``.
    spec : bool
        Whether its first argument is a spec string.
    asks : class of Options or None
        Its options; :func:`asked_of` returns what is said of them.
    """
    parser: Parser = commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=f"example: {example}",
        allow_abbrev=False,
    )
    if spec:
        parser.add_argument("spec", metavar="SPEC", help="network, for example 'rdn(cube(3), 1)'")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run, asks=asks)
    if asks is not None:
        _add_options(parser, asks, prefix=ASKED)
        if issubclass(asks, DrawnOptions):
            _add_look_options(_group_of(parser, "figure"))
    return parser


def asked_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return what is said of the options of a command, and of the machine, by the names of a function's keywords."""
    kinds = options_of(options.asks)
    asked = {name: options.command for name, kind in kinds.items() if isinstance(kind, Origin)}
    asked |= given({name: getattr(options, ASKED + name, None) for name in kinds})
    figure = FigureOptions.__annotations__ if issubclass(options.asks, DrawnOptions) else ()
    return asked | {name: getattr(options, name) for name in figure} | machine_options(options)


def calls(function: Callable[..., Found], *places: str) -> Command:
    """Return a command that calls a function: with its arguments of some names, and what is said of its options."""
    return lambda options: ended(function(*(getattr(options, place) for place in places), **asked_of(options)))


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
        about: dict[str, Any] = {"dest": prefix + name, "help": kind.help + f" (default {default})" * bool(default)}
        about |= {"required": True} if member.default is REQUIRED else {}
        about |= {"nargs": kind.number or "+"} if isinstance(kind, Several) else {}
        about |= {"action": "append"} if isinstance(kind, Repeated) else {}
        if isinstance(kind, Flag):
            about |= {"action": "store_const", "const": True}
        elif choices := getattr(kind, "choices", ()) if isinstance(kind, (Choice, Several)) else ():
            about["choices"] = choices
            about |= {"nargs": "?", "const": kind.alone} if getattr(kind, "alone", None) else {}
        else:
            about |= {"metavar": kind.metavar or name.upper(), "type": _TYPES.get(type(kind))}
        _group_of(parser, kind.group or group).add_argument(flag_of(name), **about)


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
    """Add the options that say which machine it is, for :func:`fabric_spec`.

    Parameters
    ----------
    parser : ArgumentParser
    also : sequence of str
        Options that are added in any case.
    defaults : mapping of str to str
        What the help says in place of an option's default.
    kinds : bool
        As of :func:`hdnhw.spec.options.options_of`.
    """
    chosen = {*also, *options_of(FabricSpec, **kinds)}
    _add_options(parser, FabricSpec, chosen, group="routing" if kinds.get("routes") else "machine", defaults=defaults)


def add_endpoint_options(parser: argparse.ArgumentParser, kinds: Iterable[str] = ENDPOINTS) -> None:
    """Add the options of some kinds of endpoints, all if omitted."""
    for kind in kinds:
        _add_options(parser, ENDPOINTS[kind], group=ENDPOINTS[kind].title, prefix="endpoint_")


def machine_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return what the options say of the machine, by the names of :class:`hdnhw.library.options.MachineOptions`."""
    return given({name: getattr(options, name, None) for name in options_of(FabricSpec)})


def add_threads_option(parser: Parser, *, worth: str) -> None:
    """Add the option that says how many threads simulate, and from how many routers on that is worth it."""
    parser.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help=f"that share the routers (default 1): worth it from {worth} of routers on; the result is the same",
    )
    parser.set_defaults(ranks=True)  # what threads can share, processes of mpirun can


def add_load_options(parser: Parser, *, patterns: str = "", several: bool = False) -> None:
    """Add the options that say which messages are created, but for how many.

    `patterns` there are besides; there may be `several` of them at once.
    """
    pattern = parser.add_argument("--pattern", action="append" if several else "store")
    again = "; may stand several times" if several else ""
    parser.helps.append((pattern, lambda: f"where packets go: {_pattern_forms()}{patterns} (default uniform){again}"))
    parser.add_argument("--injection", help="bernoulli (default), or on_off(BURST, PEAK) in cycles and flits a cycle")
    parser.add_argument(
        "--lengths",
        help="of messages in flits: a number, uniform(LEAST, MOST) or mix(LENGTH, SHARE, ...), for example "
        "'mix(1, 0.8, 9, 0.2)'; default: one packet",
    )


def _pattern_forms() -> str:
    from hdnhw.traffic.expression import form_of
    from hdnhw.traffic.patterns import PATTERNS

    return ", ".join(form_of(name, maker) for name, maker in PATTERNS.items())


def add_initial_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that leaves initial values out of the Verilog."""
    _add_options(parser, EmitOptions, ["no_initial"])
    parser.set_defaults(no_initial=False)


def add_node_clocks_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that gives each terminal a clock of its own."""
    _add_options(parser, EmitOptions, ["node_clocks"])
    parser.set_defaults(node_clocks=False)


def add_worker_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say who works."""
    parser.add_argument("--workers", type=int, metavar="N", help="processes (default: one a processor)")
    parser.add_argument("--cluster", metavar="ADDRESS", help="Dask scheduler whose workers to use instead")


def add_drawing_options(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the options that write a figure, and a page with it, and say how it looks; `what` is drawn."""
    figure = _group_of(parser, "figure")
    figure.add_argument("--plot", metavar="FILE", help=f"draw {what}: .svg, .png or .pdf")
    figure.add_argument("--html", metavar="FILE", help="write a page with this figure, tables and the options")
    _add_look_options(figure)


def _add_look_options(figure: Any) -> None:
    """Add the options that say how a figure looks."""
    figure.add_argument("--title", metavar="TEXT", help="above the figure; '' for none")
    figure.add_argument("--figure-size", metavar="WxH", help="width and height: 88x60mm or 3.5x2.4in")
    figure.add_argument("--font-size", type=float, metavar="POINTS", help="of all letters of the figure")
    figure.add_argument("--x-limits", metavar="LOW,HIGH", help="ends of the x axis")
    figure.add_argument("--y-limits", metavar="LOW,HIGH", help="ends of the y axis")
    figure.add_argument("--log-y", action="store_true", help="draw the y axis logarithmic")


def add_faults_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that says what is dead."""
    parser.add_argument(
        "--faults",
        metavar="N[,C]",
        help="draw N dead nodes, and C dead channels between the others, by --seed",
    )


def fabric_spec(options: argparse.Namespace, base: FabricSpec | None = None) -> FabricSpec:
    """Return the machine that the options describe, as `base` where they say nothing.

    ``options.endpoints`` says what stands at its terminals.
    """
    network = base.network if options.spec is None and base is not None else parse(options.spec)
    asked = machine_options(options)
    endpoints = endpoint_spec(options, network)
    if base is None:
        return FabricSpec(network=network, endpoints=endpoints, **asked)
    asked |= given({"endpoints": endpoints})
    return replace(base, network=network, **asked)


def machine_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return what the options say of the machine and of what stands at its terminals."""
    return {"endpoints": endpoint_spec(options, parse(options.spec)), **machine_options(options)}


def endpoint_spec(options: argparse.Namespace, network: NetworkSpec) -> EndpointSpec | None:
    """Return what the options put at the terminals of a network."""
    return endpoints_of(network, getattr(options, "endpoints", None), endpoint_options(options))


def endpoint_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options of endpoints that are given, of whatever kind."""
    names = dict.fromkeys(name for spec in ENDPOINTS.values() for name in options_of(spec))
    return given({name: getattr(options, f"endpoint_{name}", None) for name in names})
