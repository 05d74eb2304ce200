"""The command line: one function a command. Commands of other packages join by the entry points ``hdnhw.commands``."""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from importlib.metadata import entry_points
from itertools import pairwise
from math import isinf
from pathlib import Path
from typing import Any, NoReturn

from hdnhw.routing.cdg import RuleError
from hdnhw.routing.plan import plan
from hdnhw.spec import CROSSBARS, AxiStreamSpec, FabricSpec, SpecError, parse
from hdnhw.topology.network import build

__all__ = ["Parser", "add_command", "add_endpoint_options", "add_fabric_options", "fabric_spec", "main", "say"]

DONE, FAILED, BAD_INPUT = 0, 1, 2
PICTURE_LIMIT = 1024
SEARCH_LIMIT = 20_000_000
"""Most nodes that ``info`` searches."""

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


def _add_rule_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the routing rule."""
    parser.add_argument("--modes", help="one letter a level, level k first: f or O; default O..Of")
    parser.add_argument(
        "--lanes", type=int, default=1, metavar="N", help="virtual channels a class: 1 or 2 (default 1)"
    )


def _add_timed_options(parser: argparse.ArgumentParser, *, length: str = "8") -> None:
    """Add the options on which it depends in which cycle a packet comes out; the others have none."""
    _add_rule_options(parser)
    parser.add_argument("--packet-length", type=int, metavar="L", help=f"flits a packet (default {length})")
    parser.add_argument(
        "--buffers", type=int, metavar="B", help="packet slots a port, shared by its virtual channels, a power of two"
    )
    parser.set_defaults(flit_width=None, crossbar=None, endpoints=None, max_frame=None, tuser_width=None)


def add_fabric_options(parser: argparse.ArgumentParser, *, length: str = "8", width: str = "32") -> None:
    """Add the options that say which machine to build, for :func:`fabric_spec`; `length` and `width` are defaults."""
    _add_timed_options(parser, length=length)
    parser.add_argument("--flit-width", type=int, metavar="W", help=f"bits a flit (default {width})")
    parser.add_argument(
        "--crossbar",
        choices=CROSSBARS,
        help="where its registers stand: at the crosspoints, for the least logic on ECP5 (default), or at the outputs, "
        "for the fewest flip-flops and the fastest place-and-route",
    )


def add_endpoint_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how large AXI4-Stream endpoints are."""
    parser.add_argument("--max-frame", type=int, metavar="BYTES", help="longest frame of the endpoints (default 1024)")
    parser.add_argument("--tuser-width", type=int, metavar="BITS", help="user bits a frame (default 1)")


def _endpoints(options: argparse.Namespace) -> AxiStreamSpec | None:
    sizes = {name: getattr(options, name) for name in ("max_frame", "tuser_width")}
    given = {name: value for name, value in sizes.items() if value is not None}
    if options.endpoints is None:
        for name in given:
            option = "--" + name.replace("_", "-")
            raise SpecError(f"{option} is for AXI4-Stream endpoints; this fabric has none")
        return None
    return AxiStreamSpec(**given)


def fabric_spec(options: argparse.Namespace, base: FabricSpec | None = None) -> FabricSpec:
    """Return the machine that the options describe, as `base` where they say nothing.

    ``options.endpoints`` says what stands at its terminals.
    """
    names = ("modes", "lanes", "packet_length", "flit_width", "buffers", "crossbar")
    asked = {name: getattr(options, name) for name in names}
    asked["endpoints"] = _endpoints(options)
    asked["network"] = None if options.spec is None else parse(options.spec)
    given = {name: value for name, value in asked.items() if value is not None}
    return FabricSpec(**given) if base is None else replace(base, **given)


def info(options: argparse.Namespace) -> tuple[Result, int]:
    """Print the properties of a network."""
    from hdnhw.topology import metrics

    network = build(parse(options.spec))
    least, most = metrics.degree_bounds(network)
    result: Result = {
        "spec": str(network.spec),
        "nodes": network.num_nodes,
        "edges": metrics.num_edges(network),
        "degree_min": least,
        "degree_max": most,
        "degree_paper": metrics.degree_paper(network),
        "diameter": None,
        "diameter_formula": metrics.diameter_formula(network),
        "diameter_corrected": metrics.diameter_corrected(network),
        "average_distance": None,
        "average_distance_exact": None,
        "distance_histogram": None,
        "node_symmetric": network.node_symmetric,
        "nested": network.is_nested,
    }
    if network.num_nodes <= SEARCH_LIMIT:
        found = metrics.summarise_distances(network)
        average = found.average_distance
        result["diameter"] = found.diameter
        result["average_distance"] = None if average is None else float(average)
        result["average_distance_exact"] = None if average is None else str(average)
        result["distance_histogram"] = list(found.histogram)
    else:
        say(f"{network.spec} has more than {SEARCH_LIMIT} nodes: not searched")
    routing = plan(network.spec)
    return result | {"num_vcs": routing.max_vcs, "deadlock_free": routing.proof.acyclic}, DONE


def neighbors(options: argparse.Namespace) -> tuple[Result, int]:
    """Print the neighbours of a node."""
    network = build(parse(options.spec))
    node = network.parse_node(options.node)
    ports = network.neighbors(node)
    return {
        "node": node,
        "address": network.format_node(node),
        "neighbors": sorted(ports.values()),
        "ports": ports,
    }, DONE


def route(options: argparse.Namespace) -> tuple[Result, int]:
    """Print one route."""
    from hdnhw.routing.algorithm1 import algorithm1_route
    from hdnhw.routing.hop import hop_rule

    network = build(parse(options.spec))
    src, dst = network.parse_node(options.src), network.parse_node(options.dst)
    if options.algorithm == "paper":
        if options.modes is not None or options.lanes != 1:
            raise SpecError("modes and lanes belong to the hop algorithm, not to the paper's")
        nodes = algorithm1_route(network, src, dst)
        ports = [
            next(name for name, other in network.neighbors(here).items() if other == there)
            for here, there in pairwise(nodes)
        ]
        return {"hops": len(ports), "nodes": nodes, "ports": ports, "vcs": None}, DONE
    hops = hop_rule(network, options.modes, options.lanes).route(src, dst)
    return {
        "hops": len(hops),
        "nodes": [node for node, _, _ in hops] + [dst],
        "addresses": [network.format_node(node) for node in [*(node for node, _, _ in hops), dst]],
        "ports": [network.ports[port].name for _, port, _ in hops],
        "vcs": [vc for _, _, vc in hops],
    }, DONE


def routing(options: argparse.Namespace) -> tuple[Result, int]:
    """Print the figures of the routing over all pairs, and its proof."""
    from hdnhw.routing.statistics import routing_statistics

    spec = parse(options.spec)
    nodes = build(spec).num_nodes
    if nodes > SEARCH_LIMIT:
        raise SpecError(f"routing needs at most {SEARCH_LIMIT} nodes; {spec} has {nodes}")
    made = plan(spec, options.modes, options.lanes)
    statistics = routing_statistics(made)
    if not statistics.exhaustive:
        say(f"{spec}: {statistics.pairs} of all pairs routed, destinations evenly spread")
    names = [port.name for port in made.network.ports]
    return {
        "spec": str(spec),
        "modes": made.modes,
        "lanes": made.lanes,
        **asdict(statistics),
        "cdg_channels": made.proof.channels,
        "cdg_edges": made.proof.edges,
        "cdg_acyclic": made.proof.acyclic,
        "proof": str(made.proof),
        "num_vcs": made.max_vcs,
        "num_vcs_of_port": dict(zip(names, made.num_vcs, strict=True)),
    }, DONE


def emit(options: argparse.Namespace) -> tuple[Result, int]:
    """Write the Verilog of a fabric and its manifest."""
    from hdnhw.emit.fabric import emit_fabric, write_fabric

    started = time.monotonic()
    directory = Path(options.output)
    if directory.exists() and not directory.is_dir():
        raise SpecError(f"output must be a directory, not the file {directory}")
    fabric = emit_fabric(fabric_spec(options), top=options.name)
    written = write_fabric(fabric, directory)
    manifest = fabric.manifest
    return {
        "files": [str(path) for path in written],
        "bytes": sum(path.stat().st_size for path in written if path.suffix == ".sv"),
        "seconds": round(time.monotonic() - started, 2),
        **{
            key: manifest[key]
            for key in ("spec", "modes", "lanes", "routers", "router_modules", "num_vcs", "flit_width")
        },
        **{key: manifest[key] for key in ("packet_length", "buffers", "crossbar", "digest")},
        "proof": manifest["proof"]["summary"],
        "zero_load_latency": manifest["latency"]["zero_load"],
    }, DONE


def simulate(options: argparse.Namespace) -> tuple[Result, int]:
    """Measure latency and accepted rate of a fabric under a load, on the cycle-accurate model."""
    from hdnhw.model.fabric import FabricModel
    from hdnhw.model.measure import LoadSpec, measure, summarise

    spec = fabric_spec(options)
    given = {name: getattr(options, name) for name in ("pattern", "injection", "rate", "cycles", "warmup", "seed")}
    load = LoadSpec(**{name: value for name, value in given.items() if value is not None})
    routing = plan(spec.network, spec.modes, spec.lanes)
    model = FabricModel(routing, packet_length=spec.packet_length, buffers=spec.buffers)
    measured = measure(model, load)
    if not measured.steady:
        say(f"no steady state in {measured.warmup} cycles: latencies grow with the cycles that are measured")
    nodes = routing.network.num_nodes
    return {
        "spec": str(routing.network.spec),
        "nodes": nodes,
        "modes": routing.modes,
        "lanes": routing.lanes,
        "packet_length": spec.packet_length,
        "buffers": model.buffers,
        **asdict(load),
        "warmup": measured.warmup,
        "steady": measured.steady,
        "offered_rate": round(measured.offered_rate, 6),
        "accepted_rate": round(measured.accepted_rate, 6),
        "saturated": measured.saturated,
        "injected": measured.created,
        "delivered": measured.delivered,
        "packet_latency": summarise(measured.packet_latency),
        "network_latency": summarise(measured.network_latency),
        "confidence_95": None if isinf(measured.half_width) else round(measured.half_width, 3),
        "mean_hops": round(measured.mean_hops, 4) if measured.delivered else None,
        "fairness": round(measured.fairness, 4) if measured.accepted_rate else None,
        "cycles": measured.cycles,
        "seconds": round(measured.seconds, 3),
        "router_cycles_per_second": round(nodes * measured.cycles / measured.seconds),
    }, DONE


def picture(options: argparse.Namespace) -> tuple[Result, int]:
    """Draw a dual-net of one level as SVG."""
    from hdnhw.report.picture import network_svg

    network = build(parse(options.spec))
    if network.num_nodes > PICTURE_LIMIT:
        raise SpecError(f"picture must be of at most {PICTURE_LIMIT} nodes; {network.spec} has {network.num_nodes}")
    text = network_svg(network)
    Path(options.output).write_text(text)
    return {"spec": str(network.spec), "file": options.output, "bytes": len(text)}, DONE


def synth(options: argparse.Namespace) -> tuple[Result, int]:
    """Measure size and speed of a router or a fabric on an FPGA."""
    from hdnhw.flow.synth import SynthSpec, synthesise
    from hdnhw.flow.tools import ToolError

    spec = SynthSpec(
        fabric=fabric_spec(options),
        family=options.family,
        unit=options.unit,
        seeds=options.seeds,
        address=options.address,
        frequency=options.frequency,
    )
    try:
        return synthesise(spec, say=say), DONE
    except ToolError as error:
        say(f"hdnhw: {error}")
        about = {"spec": str(spec.fabric.network), "unit": spec.unit, "family": spec.family}
        return {**about, "error": str(error)}, FAILED


def _add_synth(commands: Any) -> None:
    parser = add_command(
        commands,
        "synth",
        synth,
        summary="measure size and speed of a router or a fabric on an FPGA",
        example="hdnhw synth 'torus(4, 4)' --family ecp5",
    )
    parser.add_argument("--family", choices=("ecp5", "ice40"), default="ecp5", help="default ecp5")
    parser.add_argument("--unit", choices=("router", "fabric"), default="router", help="default router")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="runs of place-and-route (default 3)")
    parser.add_argument(
        "--address", metavar="NODE", help="node whose router it is, or pins; default a node in the middle"
    )
    parser.add_argument("--frequency", type=float, metavar="MHZ", help="target of place-and-route")
    add_fabric_options(parser)


def _add_network_commands(commands: Any) -> None:
    add_command(
        commands, "info", info, summary="print the properties of a network", example="hdnhw info 'rdn(cube(3), 1)'"
    )
    parser = add_command(
        commands,
        "neighbors",
        neighbors,
        summary="print the neighbours of a node",
        example="hdnhw neighbors 'torus(4, 4)' 5",
    )
    parser.add_argument("node", metavar="NODE", help="node number or address such as 1.1/1.0.1")
    parser = add_command(
        commands,
        "picture",
        picture,
        summary="draw a dual-net of one level as SVG",
        example="hdnhw picture 'rdn(cube(2), 1)' -o rdn.svg",
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="SVG file to write")


def _add_routing_commands(commands: Any) -> None:
    parser = add_command(
        commands, "route", route, summary="print one route", example="hdnhw route 'rdn(cube(3), 1)' 0 1.1/1.0.1"
    )
    parser.add_argument("src", metavar="SRC", help="node number or address")
    parser.add_argument("dst", metavar="DST", help="node number or address")
    parser.add_argument(
        "--algorithm",
        choices=("paper", "hop"),
        default="hop",
        help="the papers' Algorithm 1, or what the hardware does",
    )
    _add_rule_options(parser)
    parser = add_command(
        commands,
        "routing",
        routing,
        summary="print the figures of the routing over all pairs, and its proof",
        example="hdnhw routing 'hdn(cube(2), [[0], [0, 1]])' --modes ff",
    )
    _add_rule_options(parser)


def _add_simulate(commands: Any) -> None:
    parser = add_command(
        commands,
        "simulate",
        simulate,
        summary="measure latency and accepted rate under a load, on the cycle-accurate model",
        example="hdnhw simulate 'rdn(cube(3), 1)' --pattern uniform --rate 0.2",
    )
    parser.add_argument("--pattern", help="where packets go, for example 'hotspot(0.2, 5)' (default uniform)")
    parser.add_argument("--injection", help="bernoulli (default), or on_off(BURST, PEAK) in cycles and flits a cycle")
    parser.add_argument("--rate", type=float, metavar="R", help="flits a node and cycle that are offered (default 0.1)")
    parser.add_argument("--cycles", type=int, metavar="N", help="cycles of the interval measured (default 10000)")
    parser.add_argument("--warmup", type=int, metavar="W", help="cycles before it; default: until it is steady")
    parser.add_argument("--seed", type=int, metavar="S", help="of the random numbers (default 1)")
    _add_timed_options(parser)


def _add_emit(commands: Any) -> None:
    parser = add_command(
        commands,
        "emit",
        emit,
        summary="write the Verilog of a fabric and its manifest",
        example="hdnhw emit 'rdn(cube(3), 1)' -o build/rdn",
    )
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="directory for the files")
    parser.add_argument("--name", default="fabric", help="name of the top-level module (default fabric)")
    parser.add_argument("--endpoints", choices=("axi-stream",), help="what to put at the terminals")
    add_fabric_options(parser)
    add_endpoint_options(parser)


def _parser() -> Parser:
    parser = Parser(
        prog="hdnhw", description="Generator of hierarchical dual-net networks on chip.", allow_abbrev=False
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for add in (_add_network_commands, _add_routing_commands, _add_simulate, _add_emit, _add_synth):
        add(commands)
    for point in sorted(entry_points(group="hdnhw.commands"), key=lambda point: point.name):
        point.load()(commands)
    return parser


def _print(result: Result, as_json: bool) -> None:
    if as_json:
        print(json.dumps(result))
        return
    width = max(len(key) for key in result)
    for key, value in result.items():
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
            _print_table(key, value)
            continue
        shown = value if isinstance(value, str) else json.dumps(value)
        print(f"{key:{width}}  {shown}")


def _print_table(key: str, rows: list[Result]) -> None:
    """Print rows of the same keys below each other: numbers to the right, the rest to the left."""
    print(key)
    columns = {name: max(len(str(row[name])) for row in [*rows, {name: name}]) for name in rows[0]}
    for row in [{name: name for name in columns}, *rows]:
        cells = [
            f"{row[name]:{'<' if isinstance(rows[0][name], str) else '>'}{width}}" for name, width in columns.items()
        ]
        print(("  " + "  ".join(cells)).rstrip())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status: 0 done, 1 a check failed, 2 bad input."""
    options = _parser().parse_args(arguments)
    try:
        result, status = options.run(options)
        _print(result, options.json)
        sys.stdout.flush()
    except (ValueError, OSError) as error:
        if isinstance(error, BrokenPipeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return DONE
        if not isinstance(error, (SpecError, RuleError, OSError)) and type(error) is not ValueError:
            raise
        say(f"hdnhw: {error}")
        return BAD_INPUT
    except KeyboardInterrupt:
        say("hdnhw: interrupted")
        return 130
    return int(status)
