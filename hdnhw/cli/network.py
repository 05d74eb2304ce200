"""Commands about a network and its routing."""

import argparse
import re
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from hdnhw.cli.options import (
    DONE,
    FAILED,
    Result,
    add_command,
    add_degree_weight_option,
    add_machine_options,
    degree_weight,
    network_of,
    rule_options,
    say,
)
from hdnhw.cli.progress import ProgressBar
from hdnhw.spec import SpecError, parse

if TYPE_CHECKING:
    from hdnhw.topology.network import Network

__all__ = [
    "PATH_ALGORITHMS",
    "ROUTE_ALGORITHMS",
    "SEARCH_LIMIT",
    "SEARCH_PORTS",
    "STRUCTURE_LIMIT",
    "STRUCTURE_PORTS",
    "add_network_commands",
    "add_routing_commands",
    "paths_of",
    "route_of",
    "waypoints_of",
]

ROUTE_ALGORITHMS, PATH_ALGORITHMS = ("paper", "hop"), ("address", "short", "flow", "paper")
"""Of routes, and of disjoint paths."""

SEARCH_LIMIT, SEARCH_PORTS = 20_000_000, 1 << 29
"""Most nodes that ``info`` searches, and most ports of all of them."""

PATHS_LIMIT = 1024
"""Most ports of a node between which ``paths`` are made: one for each."""

FLOW_LIMIT, FLOW_WORK = 1 << 22, 1 << 29
"""Most nodes in which ``paths`` looks for a flow, and ports that its searches look at: one search a port of a node."""

STRUCTURE_LIMIT, STRUCTURE_PORTS = 4096, 1 << 20
"""Most nodes of which ``info`` finds automorphisms, a bisection and the connectivity, and most ports of all of them."""

PROFILE_LIMIT, PROFILE_WORK = 1 << 20, 1 << 29
"""Most nodes of which ``info`` compares edges, and most ports that are looked at for those of one node."""


def info(options: argparse.Namespace) -> tuple[Result, int]:
    """Print the properties of a network."""
    from hdnhw.routing.plan import plan
    from hdnhw.topology import metrics
    from hdnhw.topology.levels import LeveledNetwork

    network, weight = network_of(options.spec), degree_weight(options)
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
        "distance_histogram_of": None,
        "node_symmetric": network.node_symmetric,
        "nested": network.is_nested if isinstance(network, LeveledNetwork) else None,
        "edge_symmetric": None,
        "connectivity": None,
        "bisection": None,
        "cr": None,
        "cr_w": None,
    }
    if network.num_nodes <= SEARCH_LIMIT and network.num_ports <= SEARCH_PORTS:
        with ProgressBar() as bar:
            found = metrics.summarise_distances(network, progress=partial(bar.show, "searching"))
        average = found.average_distance
        result["diameter"] = found.diameter
        result["average_distance"] = None if average is None else float(average)
        result["average_distance_exact"] = None if average is None else str(average)
        result["distance_histogram"] = list(found.histogram)
        result |= _structure(network, found.diameter, weight)
        result["distance_histogram_of"] = "every node" if result["node_symmetric"] else "node 0"
    else:
        say(f"{network.spec} has more than {SEARCH_LIMIT} nodes or {SEARCH_PORTS} ports in all: not searched")
    try:
        routing = plan(network.spec)
    except SpecError as error:
        say(str(error))
        return result | {"num_vcs": None, "deadlock_free": None}, DONE
    return result | {"num_vcs": routing.max_vcs, "deadlock_free": routing.proof.acyclic}, DONE


def _structure(network: "Network", diameter: int | None, weight: float) -> Result:
    """Return what needs the whole graph, as far as its size allows."""
    from hdnhw.topology import metrics
    from hdnhw.topology.connectivity import node_connectivity
    from hdnhw.topology.cut_bound import known_bound
    from hdnhw.topology.cuts import bisection, known_halves
    from hdnhw.topology.symmetry import differ, symmetry

    result: Result = {}
    if diameter is not None:
        sizes = network.num_nodes, metrics.degree_bounds(network)[1], diameter
        result |= {"cr": metrics.cost_ratio(*sizes), "cr_w": metrics.weighted_cost_ratio(*sizes, weight)}
    if network.num_nodes > PROFILE_LIMIT or network.num_ports * len(network.ports) > PROFILE_WORK:
        return result
    table = metrics.neighbor_table(network)
    if network.num_nodes > STRUCTURE_LIMIT or network.num_ports > STRUCTURE_PORTS:
        known = differ(table, [(0, int(other)) for other in table[0] if other >= 0])
        return result | {"edge_symmetric": False if known else None}
    found = symmetry(table)
    cut = bisection(table, known_halves(network), at_least=known_bound(network), quick=True)
    return result | {
        "node_symmetric": metrics.node_symmetric(network) if found is None else found.node_symmetric,
        "edge_symmetric": None if found is None else found.edge_symmetric,
        "connectivity": node_connectivity(table, found),
        "bisection": {"edges": cut.edges, "at_least": cut.at_least, "exact": cut.exact},
    }


def neighbors(options: argparse.Namespace) -> tuple[Result, int]:
    """Print the neighbours of a node."""
    network = network_of(options.spec)
    node = _node(network, options.node)
    ports, labels = network.neighbors(node), _paper_addresses(network, [node])
    return {
        "node": node,
        "address": network.format_node(node),
        "paper_address": labels and labels[0],
        "four_parts": _four_parts(network, node),
        "neighbors": sorted(ports.values()),
        "ports": ports,
    }, DONE


FOUR_PARTS = re.compile(r"[0-9]{1,19}(,[0-9]{1,19}){3}")


def _node(network: "Network", text: str) -> int:
    """Return the node of a number, an address, or, of a dual-net, the HDN paper's four parts C,U,SN,N of level k."""
    from hdnhw.routing.four_parts import node_at_parts
    from hdnhw.topology.dualnet import DualNetwork

    if isinstance(network, DualNetwork) and network.levels and FOUR_PARTS.fullmatch(text):
        class_id, cluster, super_node, node = map(int, text.split(","))
        return node_at_parts(network, (class_id, cluster, super_node, node))
    return network.parse_node(text)


def _paper_addresses(network: "Network", nodes: Sequence[int]) -> list[str] | None:
    """Return nodes in the digits of their paper; null if these are those of `address`."""
    labels = [network.paper_address(node) for node in nodes]
    return None if labels == [network.format_node(node) for node in nodes] else labels


def _four_parts(network: "Network", node: int) -> Result | None:
    """Return the HDN paper's (C, U, SN, N) of a node at each level; null where there are no levels."""
    from hdnhw.routing.four_parts import four_parts
    from hdnhw.topology.dualnet import DualNetwork

    if not isinstance(network, DualNetwork) or not network.levels:
        return None
    rows = four_parts(network, node)
    return {str(len(rows) - place): list(row) for place, row in enumerate(rows)}


def route(options: argparse.Namespace) -> tuple[Result, int]:
    """Print one route."""
    network = network_of(options.spec)
    src, dst = _node(network, options.src), _node(network, options.dst)
    hops = route_of(network, src, dst, options.algorithm, rule_options(options))
    nodes = [*(node for node, _, _ in hops), dst]
    is_paper = options.algorithm == "paper"
    return {
        "algorithm": _paper_algorithm(network) if is_paper else options.algorithm,
        "hops": len(hops),
        "nodes": nodes,
        "addresses": [network.format_node(node) for node in nodes],
        "paper_addresses": _paper_addresses(network, nodes),
        "ports": [port for _, port, _ in hops],
        "vcs": None if is_paper else [vc for _, _, vc in hops],
    }, DONE


def route_of(
    network: "Network", src: int, dst: int, algorithm: str, rules: Result
) -> list[tuple[int, str, int | None]]:
    """Return the hops of a route: node, port, and virtual channel where the algorithm has any.

    Parameters
    ----------
    network : Network
    src, dst : int
    algorithm : str
        One of :data:`ROUTE_ALGORITHMS`.
    rules : dict
        Of :func:`hdnhw.cli.options.rule_options`, for the hop algorithm.
    """
    from hdnhw.routing.hop import hop_rule

    if algorithm != "paper":
        return [(node, network.ports[port].name, vc) for node, port, vc in hop_rule(network, **rules).route(src, dst)]
    if rules:
        raise SpecError("modes and lanes belong to the hop algorithm, not to the paper's")
    return [
        (here, next(name for name, other in network.neighbors(here).items() if other == there), None)
        for here, there in pairwise(_paper_route(network, src, dst))
    ]


def _paper_route(network: "Network", src: int, dst: int) -> list[int]:
    """Return the nodes of the papers' route."""
    from hdnhw.routing.algorithm1 import algorithm1_route
    from hdnhw.routing.swapped_route import swapped_route
    from hdnhw.topology.swapped import SwappedNetwork

    return (swapped_route if isinstance(network, SwappedNetwork) else algorithm1_route)(network, src, dst)


def _paper_algorithm(network: "Network") -> str:
    from hdnhw.topology.swapped import SwappedNetwork

    return "HSN paper, section 2.3" if isinstance(network, SwappedNetwork) else "HDN paper, Algorithm 1"


def paths(options: argparse.Namespace) -> tuple[Result, int]:
    """Print node-disjoint paths."""
    from hdnhw.topology.disjoint import fault_of_paths

    network = network_of(options.spec)
    src, dst = _node(network, options.src), _node(network, options.dst)
    algorithm, found = paths_of(network, src, dst, options.algorithm)
    fault = fault_of_paths(lambda node: network.neighbors(node).values(), src, dst, found)
    hops = [len(path) - 1 for path in found]
    return {
        "spec": str(network.spec),
        "algorithm": algorithm,
        "src": src,
        "dst": dst,
        "count": len(found),
        "max_hops": max(hops, default=0),
        "total_hops": sum(hops),
        **_case_and_bounds(network, src, dst),
        "disjoint": fault is None,
        "fault": fault,
        "paths": found,
        **waypoints_of(network, found, rule_options(options)),
    }, DONE if fault is None else FAILED


def _case_and_bounds(network: "Network", src: int, dst: int) -> Result:
    """Return the disjoint-path paper's case of two nodes and how long its paths, and ours, can be; null elsewhere."""
    from hdnhw.routing.disjoint import is_addressable, length_bound
    from hdnhw.routing.disjoint_literal import length_bounds
    from hdnhw.routing.path_faults import case_of

    if not is_addressable(network) or not network.levels:
        return dict.fromkeys(("case", "paper_bound", "corrected_bound", "address_bound"))
    bounds = length_bounds(network)
    return {
        "case": case_of(network, src, dst),
        "paper_bound": bounds["printed"],
        "corrected_bound": bounds["with SN^1"],
        "address_bound": length_bound(network),
    }


def paths_of(network: "Network", src: int, dst: int, algorithm: str | None) -> tuple[str, list[list[int]]]:
    """Return paths between two nodes, and the algorithm, one of :data:`PATH_ALGORITHMS`; the default if None."""
    from hdnhw.routing import disjoint
    from hdnhw.routing.disjoint_literal import literal_routes

    if len(network.ports) > PATHS_LIMIT:
        raise SpecError(f"paths need at most {PATHS_LIMIT} ports a node; {network.spec} has {len(network.ports)}")
    if algorithm is None:
        algorithm = "short" if disjoint.is_addressable(network) else "flow"
    makers = {
        "address": disjoint.disjoint_routes,
        "short": disjoint.short_routes,
        "paper": literal_routes,
        "flow": _flow_paths,
    }
    return algorithm, makers[algorithm](network, src, dst)


def waypoints_of(network: "Network", found: list[list[int]], rules: Result) -> Result:
    """Return how the table-free routing follows the paths, null where the network has none."""
    from hdnhw.routing.path_waypoints import waypoints_along
    from hdnhw.routing.plan import plan

    try:
        made = plan(network.spec, **rules)
    except SpecError as error:
        if rules:
            raise
        say(str(error))
        return {"modes": None, "max_waypoints": None, "waypoints": None}
    chosen = [waypoints_along(made, path) for path in found]
    counts = [len(some) for some in chosen if some is not None]
    most = max(counts, default=0) if len(counts) == len(chosen) else None
    return {"modes": made.modes, "max_waypoints": most, "waypoints": chosen}


def _flow_paths(network: "Network", src: int, dst: int) -> list[list[int]]:
    from hdnhw.topology.disjoint import shortest_disjoint_paths
    from hdnhw.topology.metrics import neighbor_table

    if network.num_nodes > FLOW_LIMIT:
        raise SpecError(f"paths by a flow need at most {FLOW_LIMIT} nodes; {network.spec} has {network.num_nodes}")
    work = network.num_ports * len(network.ports)
    if work > FLOW_WORK:
        raise SpecError(
            f"paths by a flow need at most {FLOW_WORK} ports in all, for each of a node's; {network.spec} has {work}"
        )
    return shortest_disjoint_paths(neighbor_table(network), src, dst)


def routing(options: argparse.Namespace) -> tuple[Result, int]:
    """Print the figures of the routing over all pairs, and its proof."""
    from hdnhw.routing.plan import plan
    from hdnhw.routing.statistics import routing_statistics

    spec = parse(options.spec)
    nodes = network_of(options.spec).num_nodes
    if nodes > SEARCH_LIMIT:
        raise SpecError(f"routing needs at most {SEARCH_LIMIT} nodes; {spec} has {nodes}")
    made = plan(spec, **rule_options(options))
    with ProgressBar() as bar:
        statistics = routing_statistics(made, progress=partial(bar.show, "routing"))
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


def add_network_commands(commands: Any) -> None:
    """Add the commands ``info`` and ``neighbors``."""
    parser = add_command(
        commands, "info", info, summary="print the properties of a network", example="hdnhw info 'rdn(cube(3), 1)'"
    )
    add_degree_weight_option(parser)
    parser = add_command(
        commands,
        "neighbors",
        neighbors,
        summary="print the neighbours of a node",
        example="hdnhw neighbors 'torus(4, 4)' 5",
    )
    parser.add_argument("node", metavar="NODE", help="node number, address such as 1.1/1.0.1, or C,U,SN,N of an HDN")


def add_routing_commands(commands: Any) -> None:
    """Add the commands ``route``, ``paths`` and ``routing``."""
    parser = add_command(
        commands, "route", route, summary="print one route", example="hdnhw route 'rdn(cube(3), 1)' 0 1.1/1.0.1"
    )
    parser.add_argument("src", metavar="SRC", help="node number, address, or C,U,SN,N of an HDN")
    parser.add_argument("dst", metavar="DST", help="node number, address, or C,U,SN,N of an HDN")
    parser.add_argument(
        "--algorithm",
        choices=ROUTE_ALGORITHMS,
        default="hop",
        help="what the hardware does (default), or what the papers do: Algorithm 1 of the HDN paper, and on HSNs "
        "section 2.3 of the HSN paper, which the hardware follows, too",
    )
    add_machine_options(parser, routes=True)
    parser = add_command(
        commands,
        "paths",
        paths,
        summary="print paths between two nodes that share no other node",
        example="hdnhw paths 'rdn(cube(3), 1)' 0 1.1/1.0.1",
    )
    parser.add_argument("src", metavar="SRC", help="node number, address, or C,U,SN,N of an HDN")
    parser.add_argument("dst", metavar="DST", help="node number, address, or C,U,SN,N of an HDN")
    parser.add_argument(
        "--algorithm",
        choices=PATH_ALGORITHMS,
        help="by address arithmetic; the same made shorter by a flow over a small part of the network (default); by a "
        "flow over all of it (default for networks of other kinds); the paper's Algorithm 6 as printed",
    )
    add_machine_options(parser, routes=True)
    parser = add_command(
        commands,
        "routing",
        routing,
        summary="print the figures of the routing over all pairs, and its proof",
        example="hdnhw routing 'hdn(cube(2), [[0], [0, 1]])' --modes ff",
    )
    add_machine_options(parser, routes=True)
