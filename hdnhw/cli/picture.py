"""The command that draws networks, and what goes on in them."""

import argparse
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdnhw.cli.collective import add_split_option
from hdnhw.cli.faults import MOST_BY_DEFAULT, add_dead_options, add_waypoints_option, check_waypoints, dead_of
from hdnhw.cli.network import PATH_ALGORITHMS, ROUTE_ALGORITHMS, paths_of, route_of, waypoints_of
from hdnhw.cli.options import (
    DONE,
    FAILED,
    Parser,
    Result,
    add_command,
    add_machine_options,
    network_of,
    rule_options,
    say,
)
from hdnhw.collective.choices import ROOTED
from hdnhw.spec import EXCHANGE_ORDERS, MOVING, SpecError

if TYPE_CHECKING:
    from hdnhw.report.marks import Marks
    from hdnhw.topology.network import Network

__all__ = ["add_picture_command", "picture_of"]

PICTURE_LIMIT, PICTURE_PORTS = 1024, 1 << 15
"""Most nodes of a picture, and most ports of all of them."""

DRAWN = (*MOVING, "gather", "reduce", "reducescatter")
"""Collective operations whose steps are drawn."""

NEEDS = {
    "algorithm": ("route", "paths"),
    "modes": ("route", "paths"),
    "lanes": ("route", "paths"),
    "waypoints": ("route",),
    "root": ("collective",),
    "step": ("collective",),
    "ports": ("collective",),
}
"""Options that say more of what is drawn: what they are for."""


def picture(options: argparse.Namespace) -> tuple[Result, int]:
    """Draw a network as SVG."""
    from hdnhw.files import check_output, replacing

    check_output("picture", Path(options.output), [".svg"])
    text, result, status = _drawn(options)
    with replacing(Path(options.output)) as new:
        new.write_text(text, encoding="utf-8")
    return {"spec": result.pop("spec"), "file": options.output, "bytes": len(text), **result}, status


def picture_of(words: Sequence[str]) -> str:
    """Return the SVG that the command makes of these words, spec and options."""
    parser = Parser(prog="hdnhw picture", allow_abbrev=False)
    parser.add_argument("spec")
    _add_options(parser)
    return _drawn(parser.parse_args(words))[0]


def _drawn(options: argparse.Namespace) -> tuple[str, Result, int]:
    """Return an SVG, what it shows, and the exit status."""
    from hdnhw.report.marks import dead_marks
    from hdnhw.report.picture import network_svg

    _check(options)
    network = network_of(options.spec)
    if network.num_nodes > PICTURE_LIMIT:
        raise SpecError(f"picture must be of at most {PICTURE_LIMIT} nodes; {network.spec} has {network.num_nodes}")
    if network.num_ports > PICTURE_PORTS:
        raise SpecError(f"picture must have at most {PICTURE_PORTS} ports; {network.spec} has {network.num_ports}")
    head: Result = {"spec": str(network.spec)}
    if options.collective is not None:
        marks, result, status = _collective(options, network)
    elif options.route is not None:
        marks, result, status = _route(options, network)
    elif options.paths is not None:
        marks, result, status = _paths(options, network)
    elif options.fan is not None:
        marks, result, status = _fan(options, network)
    elif options.cluster is not None:
        marks, result, status = _cluster(options, network)
    else:
        dead = dead_of(network, options)
        marks, result, status = dead_marks(network, dead), {}, DONE
    return network_svg(network, labels=options.labels, marks=marks), head | result, status


def _check(options: argparse.Namespace) -> None:
    """Refuse options that say more of what is not drawn."""
    for name, targets in NEEDS.items():
        if getattr(options, name) is not None and all(getattr(options, target) is None for target in targets):
            raise SpecError(f"--{name} is for {' and '.join(f'--{target}' for target in targets)}")
    for name in ("collective", "cluster"):
        if getattr(options, name) is not None and (options.dead_nodes or options.dead_channels):
            raise SpecError(f"--{name} knows of nothing dead: leave out --dead-nodes and --dead-channels")
    for name in ("schedule", "split"):
        if getattr(options, name) is not None and options.collective != "exchange":
            raise SpecError(f"--{name} is for --collective exchange")
    known = ROUTE_ALGORITHMS if options.route is not None else PATH_ALGORITHMS
    if options.algorithm not in (None, *known):
        kind = "route" if options.route is not None else "paths"
        raise SpecError(
            f"algorithm of --{kind} must be {', '.join(known[:-1])} or {known[-1]}, not {options.algorithm}"
        )


def _ends(network: "Network", names: Sequence[str]) -> tuple[int, int]:
    src, dst = (network.parse_node(name) for name in names)
    if src == dst:
        raise SpecError(f"source and destination must be two nodes, not both {src}")
    return src, dst


def _route(options: argparse.Namespace, network: "Network") -> tuple["Marks", Result, int]:
    """Return a route, and where something on it is dead a way around by waypoints."""
    from hdnhw.report.marks import dead_marks, is_broken, path_marks

    src, dst = _ends(network, options.route)
    faults = dead_of(network, options)
    dead = dead_marks(network, faults)
    hops = route_of(network, src, dst, options.algorithm or "hop", rule_options(options))
    nodes = [*(node for node, _, _ in hops), dst]
    drawn, reach = {"route": nodes}, "plain"
    waypoints: list[int] = []
    if is_broken(nodes, dead):
        way = _way_around(options, network, faults, (src, dst))
        reach, waypoints = way.reach, way.waypoints or []
        if way.waypoints:
            stops, rules = [src, *way.waypoints, dst], rule_options(options)
            legs = [route_of(network, one, other, "hop", rules) for one, other in pairwise(stops)]
            drawn["way around"] = [*(node for leg in legs for node, _, _ in leg), dst]
        else:
            say(f"{network.spec}: no way around from {src} to {dst}: {reach}")
    elif options.waypoints is not None:
        raise SpecError("--waypoints is for a way around what is dead; nothing on the route is")
    return path_marks(drawn, [waypoints], dead), {"reach": reach, "waypoints": waypoints, "paths": drawn}, DONE


def _way_around(options: argparse.Namespace, network: "Network", faults: Any, ends: tuple[int, int]) -> Any:
    """Return the way by waypoints, as ``hdnhw waypoints`` finds it."""
    from hdnhw.routing.plan import plan
    from hdnhw.routing.waypoints import Detours, RouteTable

    most = MOST_BY_DEFAULT if options.waypoints is None else options.waypoints
    check_waypoints(most)
    src, dst = ends
    if faults.nodes[src]:
        raise SpecError(f"source must be a healthy node; {src} is dead")
    return Detours(RouteTable(plan(network.spec, **rule_options(options))), faults).ways(src, most, two_way=True)[dst]


def _paths(options: argparse.Namespace, network: "Network") -> tuple["Marks", Result, int]:
    """Return the disjoint paths between two nodes; those on which something is dead are broken."""
    from hdnhw.report.marks import dead_marks, is_broken, path_marks
    from hdnhw.topology.disjoint import fault_of_paths

    src, dst = _ends(network, options.paths)
    dead = dead_marks(network, dead_of(network, options))
    algorithm, found = paths_of(network, src, dst, options.algorithm)
    fault = fault_of_paths(lambda node: network.neighbors(node).values(), src, dst, found)
    waypoints = waypoints_of(network, found, rule_options(options))["waypoints"] or []
    drawn = {f"path {number}": path for number, path in enumerate(found, start=1)}
    marks = path_marks(drawn, [some or [] for some in waypoints], dead)
    result: Result = {"algorithm": algorithm, "disjoint": fault is None, "fault": fault, "paths": drawn}
    result["broken"] = [name for name, path in drawn.items() if is_broken(path, dead)]
    return marks, result, DONE if fault is None else FAILED


def _fan(options: argparse.Namespace, network: "Network") -> tuple["Marks", Result, int]:
    """Return the paths of Algorithm 3 from a node, whose ends should be in different clusters, or of Algorithm 5."""
    from hdnhw.report.marks import dead_marks, path_marks
    from hdnhw.routing.disjoint_literal import fan
    from hdnhw.routing.path_faults import clusters_of
    from hdnhw.topology.dualnet import DualNetwork

    if not isinstance(network, DualNetwork) or not network.levels:
        raise SpecError(f"--fan is for dual-nets over products, of a level or more; {network.spec} is none")
    if len(options.fan) > 2:
        raise SpecError(f"--fan takes a node, or two, not {len(options.fan)}")
    node, *ends = map(network.parse_node, options.fan)
    if ends and clusters_of(network, ends) != clusters_of(network, [node]):
        raise SpecError(f"--fan takes two nodes of one cluster; {node} and {ends[0]} are in two")
    paths = fan(network, node, end=ends[0] if ends else None)
    drawn = {f"path {number}": path for number, path in enumerate(paths, start=1)}
    marks = path_marks(drawn, (), dead_marks(network, dead_of(network, options)))
    return marks, {"paths": drawn}, DONE


def _cluster(options: argparse.Namespace, network: "Network") -> tuple["Marks", Result, int]:
    """Return the cross-edges of a cluster."""
    from hdnhw.report.marks import cluster_marks
    from hdnhw.topology.levels import LeveledNetwork

    if not isinstance(network, LeveledNetwork) or not network.levels:
        raise SpecError(f"--cluster is for dual-nets of a level or more; {network.spec} is none")
    marks = cluster_marks(network, network.parse_node(options.cluster))
    return marks, {"edges": len(marks.traces[0].hops)}, DONE


def _collective(options: argparse.Namespace, network: "Network") -> tuple["Marks", Result, int]:
    """Return the steps of a schedule."""
    from hdnhw.collective.exchange import exchange_schedule
    from hdnhw.collective.executor import check_size, execute
    from hdnhw.collective.operations import operation_schedule
    from hdnhw.report.marks import step_marks

    check_size(network)
    all_port, has_root = options.ports == "all", options.collective in ROOTED
    whose = None if options.root is None else network.parse_node(options.root)
    if whose is None and has_root:
        whose = 0
    if whose is None and options.step is None:
        what = "a reducescatter need --root, whose result is drawn"
        if options.collective in MOVING:
            what = f"an {options.collective} need --root, whose messages are drawn"
        raise SpecError(f"all steps of {what}; or give --step")
    if options.collective == "exchange":
        order, split = options.schedule or "cluster-first", options.split or "destination"
        schedule = exchange_schedule(network, order, split=split, all_port=all_port)
    else:
        schedule = operation_schedule(network, options.collective, root=whose or 0, all_port=all_port)
    steps = _steps(options.step, len(schedule.steps))
    sources = None if whose is None or options.collective == "gather" else [whose]
    counted = execute(schedule, all_port=all_port, sources=sources)
    marks = step_marks(schedule, counted, steps, whose)
    sends = {trace.text: len(trace.hops) for trace in marks.traces}
    result: Result = {"op": options.collective, "root": whose, "first": steps.start, "last": steps.stop - 1}
    return marks, result | {"channels_used": sends}, DONE


def _steps(asked: str | None, count: int) -> range:
    """Return the steps that are drawn: one, or from one to another, or all."""
    if asked is None:
        return range(count)
    match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", asked, re.ASCII)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, -1)
    if not 0 <= first <= last < count:
        raise SpecError(f"step must be 0 to {count - 1}, or a range such as 0-{count - 1}, not {asked!r}")
    return range(first, last + 1)


def _add_options(parser: Parser) -> None:
    parser.add_argument(
        "--labels",
        choices=("number", "address"),
        default="number",
        help="what a node bears: its number (default), or its address as the papers write it",
    )
    drawn = parser.add_mutually_exclusive_group()
    drawn.add_argument("--route", nargs=2, metavar=("SRC", "DST"), help="draw the route from SRC to DST")
    drawn.add_argument(
        "--paths", nargs=2, metavar=("SRC", "DST"), help="draw paths from SRC to DST that share no other node"
    )
    drawn.add_argument(
        "--fan",
        nargs="+",
        metavar=("NODE", "END"),
        help="draw paths from NODE to different clusters of a dual-net: Algorithm 3 of the disjoint-path paper; with "
        "END, a node of the same cluster, Algorithm 5: one path ends there",
    )
    drawn.add_argument("--cluster", metavar="NODE", help="draw the cross-edges that leave NODE's cluster in a dual-net")
    drawn.add_argument(
        "--collective",
        choices=DRAWN,
        help="draw what a schedule sends: arrows in the colour of their step; with all steps a node also bears the "
        "first one that brings it a message, or the last in which it gives some away (gather, reduce, reducescatter)",
    )
    parser.add_argument(
        "--algorithm",
        choices=tuple(dict.fromkeys((*ROUTE_ALGORITHMS, *PATH_ALGORITHMS))),
        help="of --route: paper or hop; of --paths: short, address, flow or paper; as of the commands route and paths",
    )
    add_machine_options(parser, routes=True)
    add_dead_options(parser)
    add_waypoints_option(parser, default=None)
    _add_step_options(parser)


def _add_step_options(parser: Parser) -> None:
    """Add the options that say which schedule, and what of it."""
    parser.add_argument(
        "--root",
        metavar="NODE",
        help="source of a broadcast or scatter, destination of a gather or reduce (default 0); of an allgather or "
        "exchange, the node whose messages alone are drawn, of a reducescatter, the one whose result is",
    )
    parser.add_argument("--step", metavar="N", help="draw this step alone, or some as 0-3; numbers as of --steps")
    parser.add_argument("--ports", choices=("one", "all"), help="ports that a node uses in a step (default one)")
    parser.add_argument(
        "--schedule", choices=EXCHANGE_ORDERS, help="exchange: the papers' order, or the one of fewest words (default)"
    )
    add_split_option(parser)


def add_picture_command(commands: Any) -> None:
    """Add the command ``picture``."""
    parser = add_command(
        commands,
        "picture",
        picture,
        summary=f"draw a network of up to {PICTURE_LIMIT} nodes, or what goes on in it, as SVG",
        example="hdnhw picture 'rdn(cube(2), 1)' --paths 0 31 -o paths.svg",
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="SVG file to write")
    _add_options(parser)
