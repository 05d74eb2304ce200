"""What commands have in common: the parser, messages, and the options that describe a machine."""

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn

from hdnhw.spec import (
    CROSSBARS,
    EXCHANGE_ORDERS,
    OPERATIONS,
    QUEUEINGS,
    AxiStreamSpec,
    CollectiveSpec,
    FabricSpec,
    NetworkSpec,
    RelaySpec,
    SpecError,
    parse,
)

__all__ = [
    "BAD_INPUT",
    "DONE",
    "FAILED",
    "Command",
    "Parser",
    "Result",
    "add_command",
    "add_endpoint_options",
    "add_fabric_options",
    "add_faults_option",
    "add_load_options",
    "add_relay_options",
    "add_rule_options",
    "add_timed_options",
    "drawn_faults",
    "fabric_spec",
    "load_spec",
    "say",
]

DONE, FAILED, BAD_INPUT = 0, 1, 2

AXI_OPTIONS = {"max_frame": "--max-frame", "tuser_width": "--tuser-width"}
ENGINE_OPTIONS = {"operations": "--operations", "engine_root": "--root", "order": "--order"}
RELAY_OPTIONS = {"waypoints": "--waypoints", "slots": "--slots", "timeout": "--timeout"}
"""Options of endpoints by the names under which they are kept."""

Result = dict[str, Any]
Command = Callable[[argparse.Namespace], tuple[Result, int]]


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Print one line and exit with status 2."""
        print(f"{self.prog}: {message}", file=sys.stderr)
        raise SystemExit(BAD_INPUT)


def say(message: str) -> None:
    """Tell the user something that is not the result."""
    print(message, file=sys.stderr, flush=True)


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


def add_rule_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the routing rule."""
    parser.add_argument("--modes", help="one letter a level, level k first: f or O; default O..Of")
    parser.add_argument(
        "--lanes", type=int, default=1, metavar="N", help="virtual channels a class: 1 or 2 (default 1)"
    )


def add_timed_options(parser: argparse.ArgumentParser, *, length: str = "8") -> None:
    """Add the options on which it depends in which cycle a packet comes out; the others have none."""
    add_rule_options(parser)
    parser.add_argument("--packet-length", type=int, metavar="L", help=f"flits a packet (default {length})")
    parser.add_argument(
        "--buffers", type=int, metavar="B", help="packet slots a port, shared by its virtual channels, a power of two"
    )
    parser.add_argument(
        "--queueing",
        choices=QUEUEINGS,
        help="how packets leave a virtual channel: first in, first out, for the least logic (default), or as virtual "
        "output queues, for the most throughput; worth it from four packet slots a virtual channel",
    )
    parser.set_defaults(flit_width=None, crossbar=None, dead_pins=None, crc=None, endpoints=None)
    parser.set_defaults(**dict.fromkeys([*AXI_OPTIONS, *ENGINE_OPTIONS, *RELAY_OPTIONS]))


def add_fabric_options(parser: argparse.ArgumentParser, *, length: str = "8", width: str = "32") -> None:
    """Add the options that say which machine to build, for :func:`fabric_spec`; `length` and `width` are defaults."""
    add_timed_options(parser, length=length)
    parser.add_argument("--flit-width", type=int, metavar="W", help=f"bits a flit (default {width})")
    parser.add_argument(
        "--crossbar",
        choices=CROSSBARS,
        help="where its registers stand: at the crosspoints, for the least logic on ECP5 (default), or at the outputs, "
        "for the fewest flip-flops and the fastest place-and-route",
    )
    parser.add_argument(
        "--dead-pins", action="store_const", const=True, help="with pins that mark routers and channels dead"
    )
    parser.add_argument(
        "--crc",
        action="store_const",
        const=True,
        help="with check bits: errors are counted at every channel, and no packet that has one comes out",
    )


def add_endpoint_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how large AXI4-Stream endpoints and relays are, and what collective engines can do."""
    parser.add_argument(
        "--operations",
        metavar="OP,...",
        help=f"what collective engines can do (default {','.join(OPERATIONS)})",
    )
    parser.add_argument(
        "--root", dest="engine_root", metavar="NODE", help="root of their broadcast and scatter (default 0)"
    )
    parser.add_argument(
        "--order", choices=EXCHANGE_ORDERS, help=f"of their total exchange (default {EXCHANGE_ORDERS[1]})"
    )
    parser.add_argument("--max-frame", type=int, metavar="BYTES", help="longest frame of the endpoints (default 1024)")
    parser.add_argument("--tuser-width", type=int, metavar="BITS", help="user bits a frame (default 1)")
    add_relay_options(parser)


def add_relay_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how large relays are."""
    parser.add_argument("--waypoints", type=int, metavar="W", help="most that a packet names to relays (default 1)")
    parser.add_argument(
        "--slots", type=int, metavar="S", help="packets a class that relays hold, own and others' (default 4 each)"
    )
    parser.add_argument(
        "--timeout", type=int, metavar="T", help="cycles that relays wait for each other (default 65536)"
    )


def add_load_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which messages are created, but for how many."""
    parser.add_argument("--pattern", help="where packets go, for example 'hotspot(0.2, 5)' (default uniform)")
    parser.add_argument("--injection", help="bernoulli (default), or on_off(BURST, PEAK) in cycles and flits a cycle")
    parser.add_argument(
        "--lengths",
        help="of messages in flits: a number, uniform(LEAST, MOST) or mix(LENGTH, SHARE, ...), for example "
        "'mix(1, 0.8, 9, 0.2)'; default: one packet",
    )


def add_faults_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that says what is dead, for :func:`drawn_faults`."""
    parser.add_argument(
        "--faults",
        metavar="N[,C]",
        help="draw N dead nodes, and C dead channels between the others, by --seed",
    )


def drawn_faults(options: argparse.Namespace, network: Any, seed: int) -> Any:
    """Return the faults of a network that the options describe."""
    import numpy as np

    from hdnhw.topology.faults import draw_faults
    from hdnhw.topology.metrics import neighbor_table

    if options.faults is None:
        nodes, channels = network.num_nodes // 10, network.num_nodes // 6
    else:
        counts = options.faults.split(",")
        if len(counts) > 2 or not all(count.strip().isdecimal() for count in counts):
            raise SpecError(
                f"faults must be the number of dead nodes, or that and one of channels, not {options.faults!r}"
            )
        nodes, channels = (*map(int, counts), 0)[:2]
    return draw_faults(neighbor_table(network), np.random.default_rng(seed), nodes=nodes, channels=channels)


def load_spec(options: argparse.Namespace) -> Any:
    """Return the load that the options describe."""
    from hdnhw.model.measure import LoadSpec

    names = ("pattern", "injection", "lengths", "rate", "cycles", "warmup", "seed")
    given = {name: getattr(options, name) for name in names}
    return LoadSpec(**{name: value for name, value in given.items() if value is not None})


def _endpoints(
    options: argparse.Namespace, network: NetworkSpec | None
) -> AxiStreamSpec | CollectiveSpec | RelaySpec | None:
    kinds = {
        "axi-stream": ("AXI4-Stream endpoints", AXI_OPTIONS),
        "collective": ("collective engines", ENGINE_OPTIONS),
        "relay": ("relays", RELAY_OPTIONS),
    }
    for kind, (what, names) in kinds.items():
        for name, option in names.items():
            if kind != options.endpoints and getattr(options, name) is not None:
                raise SpecError(f"{option} is for {what}; this fabric has none")
    if options.endpoints in ("axi-stream", "relay"):
        given = {name: getattr(options, name) for name in kinds[options.endpoints][1]}
        given = {name: value for name, value in given.items() if value is not None}
        return RelaySpec(**given) if options.endpoints == "relay" else AxiStreamSpec(**given)
    if options.endpoints == "collective":
        from hdnhw.topology.network import build

        given = {"order": options.order} if options.order else {}
        if options.operations is not None:
            given["operations"] = tuple(options.operations.split(","))
        if options.engine_root is not None and network is not None:
            given["root"] = build(network).parse_node(options.engine_root)
        return CollectiveSpec(**given)
    return None


def fabric_spec(options: argparse.Namespace, base: FabricSpec | None = None) -> FabricSpec:
    """Return the machine that the options describe, as `base` where they say nothing.

    ``options.endpoints`` says what stands at its terminals.
    """
    names = ("modes", "lanes", "packet_length", "flit_width", "buffers", "queueing", "crossbar", "dead_pins", "crc")
    asked = {name: getattr(options, name) for name in names}
    asked["network"] = None if options.spec is None else parse(options.spec)
    asked["endpoints"] = _endpoints(options, asked["network"])
    given = {name: value for name, value in asked.items() if value is not None}
    return FabricSpec(**given) if base is None else replace(base, **given)
