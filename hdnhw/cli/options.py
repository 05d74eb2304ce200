"""What commands have in common: the parser, messages, and the options that describe a machine."""

import argparse
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from hdnhw.cli.progress import say
from hdnhw.spec import ENDPOINTS, EndpointSpec, FabricSpec, NetworkSpec, SpecError, parse
from hdnhw.spec.options import Choice, Flag, Names, Node, Option, Size, options_of

if TYPE_CHECKING:
    from hdnhw.topology.network import Network

__all__ = [
    "AT_MOST",
    "BAD_INPUT",
    "DONE",
    "FAILED",
    "Command",
    "Parser",
    "Result",
    "add_command",
    "add_degree_weight_option",
    "add_endpoint_options",
    "add_faults_option",
    "add_initial_option",
    "add_load_options",
    "add_machine_options",
    "add_node_clocks_option",
    "degree_weight",
    "drawn_faults",
    "fabric_spec",
    "load_spec",
    "machine_words",
    "network_of",
    "rates_of",
    "rule_options",
    "say",
]

DONE, FAILED, BAD_INPUT = 0, 1, 2

AT_MOST = "<= "
"""Before a number in a table that is only known as a bound."""

Result = dict[str, Any]
Command = Callable[[argparse.Namespace], tuple[Result, int]]


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
            self.error(f"unrecognized arguments: {' '.join(unknown)}; `{self.prog} --help` lists what is allowed")
        return options, unknown

    def error(self, message: str) -> NoReturn:
        """Print one line and exit with status 2."""
        say(f"{self.prog}: {message}")
        raise SystemExit(BAD_INPUT)


def network_of(text: str) -> "Network":
    """Return the network that a spec string names."""
    from hdnhw.topology.network import build

    return build(parse(text))


def add_command(commands: Any, name: str, run: Command, *, summary: str, example: str, spec: bool = True) -> Parser:
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
    parser.set_defaults(run=run)
    return parser


def _add_option(parser: argparse.ArgumentParser, name: str, option: Option, *, default: str, dest: str) -> None:
    """Add an option of a spec; `default` is what the help says of it."""
    about: dict[str, Any] = {"dest": dest, "help": option.help + (f" (default {default})" if default else "")}
    if isinstance(option, Flag):
        about |= {"action": "store_const", "const": True}
    elif isinstance(option, Choice):
        about["choices"] = option.choices
    else:
        about["metavar"] = option.metavar
        about |= {"type": int} if isinstance(option, Size) else {}
    parser.add_argument(f"--{name.replace('_', '-')}", **about)


def _defaults(spec: type) -> dict[str, str]:
    """Return what the help says of the defaults of a spec's options; nothing of those that are off or follow later."""
    return {
        member.name: ",".join(member.default) if isinstance(member.default, tuple) else str(member.default)
        for member in fields(spec)
        if member.name in options_of(spec) and member.default is not None and member.default is not False
    }


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
    shown = _defaults(FabricSpec) | dict(defaults)
    chosen = {*also, *options_of(FabricSpec, **kinds)}
    for name, option in options_of(FabricSpec).items():
        if name in chosen:
            _add_option(parser, name, option, default=shown.get(name, ""), dest=name)


def machine_words(options: Mapping[str, Any]) -> str:
    """Return options of a machine, by their names, as they stand on a command line; nothing for defaults."""
    defaults = {member.name: member.default for member in fields(FabricSpec)}
    words: list[str] = []
    for name, value in options.items():
        if value != defaults[name]:
            words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return shlex.join(words)


def add_endpoint_options(parser: argparse.ArgumentParser, kinds: Iterable[str] = ENDPOINTS) -> None:
    """Add the options of some kinds of endpoints, all if omitted."""
    for kind in kinds:
        shown = _defaults(ENDPOINTS[kind])
        for name, option in options_of(ENDPOINTS[kind]).items():
            _add_option(parser, name, option, default=shown.get(name, ""), dest=f"endpoint_{name}")


def rule_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return what the options say of the routing rule, by the names of the parameters of ``plan``."""
    given = {name: getattr(options, name) for name in options_of(FabricSpec, routes=True)}
    return {name: value for name, value in given.items() if value is not None}


def add_load_options(parser: Parser, *, patterns: str = "") -> None:
    """Add the options that say which messages are created, but for how many; `patterns` that there are besides."""
    pattern = parser.add_argument("--pattern")
    parser.helps.append((pattern, lambda: f"where packets go: {_pattern_forms()}{patterns} (default uniform)"))
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
    parser.add_argument(
        "--no-initial",
        dest="initial",
        action="store_false",
        help="no initial values of registers and memories, for ASICs: they have none before the first reset",
    )


def add_node_clocks_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that gives each terminal a clock of its own."""
    parser.add_argument(
        "--node-clocks",
        action="store_true",
        help="each node's terminal has a clock and a reset of its own, behind asynchronous queues",
    )


def add_faults_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that says what is dead, for :func:`drawn_faults`."""
    parser.add_argument(
        "--faults",
        metavar="N[,C]",
        help="draw N dead nodes, and C dead channels between the others, by --seed",
    )


def drawn_faults(asked: str | None, network: Any, seed: int) -> Any:
    """Return the faults of a network that ``--faults`` asks for, a few where nothing is asked."""
    import numpy as np

    from hdnhw.topology.faults import draw_faults
    from hdnhw.topology.metrics import neighbor_table

    if asked is None:
        nodes, channels = network.num_nodes // 10, network.num_nodes // 6
    else:
        counts = asked.split(",")
        if len(counts) > 2 or not all(count.strip().isdecimal() for count in counts):
            raise SpecError(f"faults must be the number of dead nodes, or that and one of channels, not {asked!r}")
        nodes, channels = (*map(int, counts), 0)[:2]
    return draw_faults(neighbor_table(network), np.random.default_rng(seed), nodes=nodes, channels=channels)


def add_degree_weight_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that says how CR_w weighs degree and diameter, for :func:`degree_weight`."""
    parser.add_argument(
        "--degree-weight",
        type=float,
        default=0.5,
        metavar="W",
        help="w1 of the HDN paper's weighted cost ratio CR_w, of the degree; w2 = 1 - w1 (default 0.5)",
    )


def degree_weight(options: argparse.Namespace) -> float:
    """Return w1 of CR_w; raise SpecError if it is no share."""
    if not 0 <= options.degree_weight <= 1:
        raise SpecError(f"degree weight must be 0 to 1, not {options.degree_weight}")
    return float(options.degree_weight)


def rates_of(text: str, least: float, most: float, example: str) -> list[float]:
    """Return the numbers of a list between commas, each once, the least first.

    Raises
    ------
    SpecError
        If there is none, or one is not within the bounds.
    """
    try:
        rates = sorted({float(part) for part in text.split(",")})
    except ValueError:
        rates = []
    if not rates or not all(least <= rate <= most for rate in rates):
        raise SpecError(f"rates must be numbers from {least} to {most}, such as {example}, not {text!r}")
    return rates


def load_spec(options: argparse.Namespace) -> Any:
    """Return the load that the options describe."""
    from hdnhw.model.measure import LoadSpec

    names = ("pattern", "injection", "lengths", "rate", "cycles", "warmup", "seed")
    given = {name: getattr(options, name) for name in names}
    return LoadSpec(**{name: value for name, value in given.items() if value is not None})


def _endpoints(options: argparse.Namespace, network: NetworkSpec | None) -> EndpointSpec | None:
    asked = getattr(options, "endpoints", None)
    given: dict[str, Any] = {}
    for kind, spec in ENDPOINTS.items():
        for name, option in options_of(spec).items():
            value = getattr(options, f"endpoint_{name}", None)
            if value is None:
                continue
            if kind != asked:
                raise SpecError(f"--{name.replace('_', '-')} is for {spec.title}; this fabric has none")
            given[name] = _value(option, value, network)
    return None if asked is None else ENDPOINTS[asked](**given)


def _value(option: Option, value: Any, network: NetworkSpec | None) -> Any:
    """Return the value of an option that the command line has as text."""
    if isinstance(option, Names):
        return tuple(value.split(","))
    if isinstance(option, Node) and network is not None:
        from hdnhw.topology.network import build

        return build(network).parse_node(value)
    return value


def fabric_spec(options: argparse.Namespace, base: FabricSpec | None = None) -> FabricSpec:
    """Return the machine that the options describe, as `base` where they say nothing.

    ``options.endpoints`` says what stands at its terminals.
    """
    asked = {name: getattr(options, name, None) for name in options_of(FabricSpec)}
    asked["network"] = None if options.spec is None else parse(options.spec)
    asked["endpoints"] = _endpoints(options, asked["network"])
    given = {name: value for name, value in asked.items() if value is not None}
    return FabricSpec(**given) if base is None else replace(base, **given)
