"""Routes and disjoint paths, and the routing over all pairs."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hdnhw.library.asked import asks
from hdnhw.library.info import SEARCH_LIMIT, paper_addresses
from hdnhw.library.options import NetworkLike, NodeLike, PathLike, RuleOptions, given, network_of, node_of
from hdnhw.library.result import Result
from hdnhw.spec.options import Choice, Given, Options, Pattern, option
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import choices_text, named
from hdnhw.support.progress import ProgressBar, say

if TYPE_CHECKING:
    from hdnhw.rules.plan import RoutingPlan
    from hdnhw.topology.graph import Network
    from hdnhw.traffic.patterns import Pattern as TrafficPattern

ROUTE_ALGORITHMS, PATH_ALGORITHMS = ("paper", "hop"), ("address", "short", "flow", "paper")
"""Of routes, and of disjoint paths."""

SET_ALGORITHMS = ("short", "flow")
"""Of disjoint paths between sets."""

SETS_LIMIT = 1 << 15
"""Most paths between two nodes from which those between sets are chosen."""

PATHS_LIMIT = 1024
"""Most ports of a node between which ``paths`` are made: one for each."""

FLOW_LIMIT, FLOW_WORK = 1 << 22, 1 << 29
"""Most nodes in which ``paths`` looks for a flow, and ports that its searches look at: one search a port of a node."""


@dataclass(frozen=True, kw_only=True)
class RouteOptions(Options):
    """Options of the command ``route``."""

    algorithm: str = option(
        "hop",
        Choice,
        "what the hardware does (hop), or what the papers do: Algorithm 1 of the HDN paper, and on HSNs section 2.3 of "
        "the HSN paper, which the hardware follows, too",
        choices=ROUTE_ALGORITHMS,
    )


@dataclass(frozen=True, kw_only=True)
class PathOptions(Options):
    """Options of the command ``paths``."""

    algorithm: str | None = option(
        None,
        Choice,
        "by address arithmetic; the same made shorter by a flow over a small part of the network (short, default); by "
        "a flow over all of it (default for networks of other kinds); the paper's Algorithm 6 as printed; between "
        "sets, short or flow",
        choices=PATH_ALGORITHMS,
    )


@asks
def route(
    spec: NetworkLike, src: NodeLike, dst: NodeLike, *, asked: RouteOptions, **rules: Annotated[Any, RuleOptions]
) -> Result:
    """Return one route.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    src, dst : int or str
        Numbers or addresses of nodes.
    asked
    modes, lanes
        Of the hop algorithm, see :class:`RuleOptions`.

    Returns
    -------
    Result
        ``algorithm``, ``hops``, ``nodes`` and their ``addresses`` and ``paper_addresses``, ``ports`` and virtual
        channels ``vcs`` of the hops (None of the papers' algorithms).

    Examples
    --------
    >>> import hdnhw
    >>> found = hdnhw.route("rdn(cube(2), 1)", 2, "1.3/0.1")
    >>> found.nodes, found.ports
    ([2, 3, 28, 29], ['dim1', 'cross1', 'dim1'])
    """
    network = network_of(spec)
    first, last = node_of(network, src), node_of(network, dst)
    hops = route_of(network, first, last, asked.algorithm, given(rules))
    nodes = [*(node for node, _, _ in hops), last]
    is_paper = asked.algorithm == "paper"
    return Result(
        {
            "algorithm": _paper_algorithm(network) if is_paper else asked.algorithm,
            "hops": len(hops),
            "nodes": nodes,
            "addresses": [network.format_node(node) for node in nodes],
            "paper_addresses": paper_addresses(network, nodes),
            "ports": [port for _, port, _ in hops],
            "vcs": None if is_paper else [vc for _, _, vc in hops],
        }
    )


def route_of(
    network: "Network", src: int, dst: int, algorithm: str, rules: Mapping[str, Any]
) -> list[tuple[int, str, int | None]]:
    """Return the hops of a route: node, port, and virtual channel where the algorithm has any.

    Parameters
    ----------
    network : Network
    src, dst : int
    algorithm : str
        One of :data:`ROUTE_ALGORITHMS`.
    rules : dict
        Those of :class:`RuleOptions` that are given, for the hop algorithm.
    """
    from hdnhw.rules.of_network import rule_of

    if algorithm != "paper":
        return [(node, network.ports[port].name, vc) for node, port, vc in rule_of(network, **rules).route(src, dst)]
    if rules:
        raise SpecError("modes and lanes belong to the hop algorithm, not to the paper's")
    return [
        (here, next(name for name, other in network.neighbors(here).items() if other == there), None)
        for here, there in pairwise(_paper_route(network, src, dst))
    ]


def _paper_route(network: "Network", src: int, dst: int) -> list[int]:
    """Return the nodes of the papers' route."""
    from hdnhw.claims.literal.algorithm1 import algorithm1_route
    from hdnhw.claims.literal.swapped_route import swapped_route
    from hdnhw.topology.swapped import SwappedNetwork

    return (swapped_route if isinstance(network, SwappedNetwork) else algorithm1_route)(network, src, dst)


def _paper_algorithm(network: "Network") -> str:
    from hdnhw.topology.swapped import SwappedNetwork

    return "HSN paper, section 2.3" if isinstance(network, SwappedNetwork) else "HDN paper, Algorithm 1"


@asks
def paths(
    spec: NetworkLike,
    src: NodeLike | Sequence[NodeLike],
    dst: NodeLike | Sequence[NodeLike],
    *,
    asked: PathOptions,
    **rules: Annotated[Any, RuleOptions],
) -> Result:
    """Return paths between two nodes, or two sets of nodes, that share no other node.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    src, dst : int, str or sequence of int or str
        Numbers or addresses of nodes; several, in a sequence or with blanks between them, for paths from one node to
        each of a set, or from each node of a set to one of another.
    asked
    modes, lanes
        See :class:`RuleOptions`.

    Returns
    -------
    Result
        ``paths``, a list of nodes each, their figures and the waypoints by which the routing follows them, as
        docs/paths.md describes them; `passed` is whether they are disjoint, and between sets, whether all nodes have
        one.

    Examples
    --------
    >>> import hdnhw
    >>> hdnhw.paths("cube(2)", 0, 3).paths
    [[0, 1, 3], [0, 2, 3]]
    >>> hdnhw.paths("cube(2)", "0 1", [2, 3]).paths
    [[0, 2], [1, 3]]
    """
    from hdnhw.multipath.disjoint import length_bound
    from hdnhw.multipath.flows import fault_of_linkage, fault_of_paths

    network = network_of(spec)
    sources, targets = _nodes_of(network, src), _nodes_of(network, dst)
    first, last = sources[0], targets[0]
    is_pair = len(sources) == len(targets) == 1
    neighbors = partial(_around, network)
    if is_pair:
        algorithm, found = paths_of(network, first, last, asked.algorithm)
        fault = fault_of_paths(neighbors, first, last, found)
        bounds = _case_and_bounds(network, first, last)
    else:
        algorithm, found = _linkage_of(network, sources, targets, asked.algorithm)
        fault = fault_of_linkage(neighbors, sources, targets, found)
        bound = length_bound(network)
        wanted = max(len(sources), len(targets))
        bounds = {"wanted": wanted, "total_bound": None if bound is None else wanted * bound}
    hops = [len(path) - 1 for path in found]
    return Result(
        {
            "spec": str(network.spec),
            "algorithm": algorithm,
            "src": first if is_pair else sources,
            "dst": last if is_pair else targets,
            "count": len(found),
            "max_hops": max(hops, default=0),
            "total_hops": sum(hops),
            **bounds,
            "disjoint": fault is None,
            "fault": fault,
            "paths": found,
            **waypoints_of(network, found, given(rules)),
        },
        passed=fault is None and bounds.get("wanted") in (None, len(found)),
    )


def _nodes_of(network: "Network", nodes: NodeLike | Sequence[NodeLike]) -> list[int]:
    """Return the numbers of one node or of several."""
    if isinstance(nodes, str):
        nodes = nodes.split() or [nodes]
    found = [node_of(network, node) for node in (nodes if isinstance(nodes, Iterable) else [nodes])]
    if not found or len(set(found)) < len(found):
        raise SpecError(f"paths need nodes, no two the same, not {found}")
    return found


def _around(network: "Network", node: int) -> Collection[int]:
    return network.neighbors(node).values()


def _linkage_of(
    network: "Network", sources: list[int], targets: list[int], algorithm: str | None
) -> tuple[str, list[list[int]]]:
    """Return paths between two sets of nodes, and the algorithm."""
    from hdnhw.multipath import disjoint
    from hdnhw.multipath.flows import shortest_linkage
    from hdnhw.topology.metrics import neighbor_table

    ports, counts = len(network.ports), {len(sources), len(targets)}
    if len(counts) > 1 and 1 not in counts:
        raise SpecError(
            f"paths are between one node and some, or some and as many, not {len(sources)} and {len(targets)}"
        )
    if max(counts) > ports:
        raise SpecError(
            f"paths are from at most {ports} nodes, the ports of a node of {network.spec}, not {max(counts)}"
        )
    if both := len(counts) > 1 and set(sources).intersection(targets):
        raise SpecError(f"paths must be from a node to others, not from {min(both)} to itself")
    algorithm = algorithm or ("short" if disjoint.is_addressable(network) else "flow")
    if algorithm not in SET_ALGORITHMS:
        raise SpecError(f"{named('algorithm')} between sets of nodes {choices_text(SET_ALGORITHMS, algorithm)}")
    if algorithm == "flow":
        _check_flow(network)
        return algorithm, shortest_linkage(neighbor_table(network), sources, targets)
    if (made := len(sources) * len(targets) * ports) > SETS_LIMIT:
        raise SpecError(
            f"sources x targets x ports must be at most {SETS_LIMIT} for paths between sets of nodes, not {made}"
        )
    return algorithm, disjoint.linked_routes(network, sources, targets)


def _case_and_bounds(network: "Network", src: int, dst: int) -> dict[str, Any]:
    """Return the disjoint-path paper's case of two nodes and how long its paths, and ours, can be; null elsewhere."""
    from hdnhw.claims.literal.disjoint import length_bounds
    from hdnhw.multipath.disjoint import is_addressable, length_bound
    from hdnhw.multipath.path_faults import case_of

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
    from hdnhw.claims.literal.disjoint import literal_routes
    from hdnhw.multipath import disjoint

    if len(network.ports) > PATHS_LIMIT:
        raise SpecError(f"paths need at most {PATHS_LIMIT} ports per node; {network.spec} has {len(network.ports)}")
    if algorithm is None:
        algorithm = "short" if disjoint.is_addressable(network) else "flow"
    makers = {
        "address": disjoint.disjoint_routes,
        "short": disjoint.short_routes,
        "paper": literal_routes,
        "flow": _flow_paths,
    }
    return algorithm, makers[algorithm](network, src, dst)


def waypoints_of(network: "Network", found: list[list[int]], rules: Mapping[str, Any]) -> dict[str, Any]:
    """Return how the table-free routing follows the paths, null where the network has none."""
    from hdnhw.rules.path_waypoints import waypoints_along
    from hdnhw.rules.plan import plan

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
    from hdnhw.multipath.flows import shortest_disjoint_paths
    from hdnhw.topology.metrics import neighbor_table

    _check_flow(network)
    return shortest_disjoint_paths(neighbor_table(network), src, dst)


def _check_flow(network: "Network") -> None:
    """Raise SpecError if a network is too large for a flow."""
    if network.num_nodes > FLOW_LIMIT:
        raise SpecError(f"paths by a flow need at most {FLOW_LIMIT} nodes; {network.spec} has {network.num_nodes}")
    work = network.num_ports * len(network.ports)
    if work > FLOW_WORK:
        raise SpecError(
            f"paths by a flow need at most {FLOW_WORK} ports in all, for each of a node's; {network.spec} has {work}"
        )


@dataclass(frozen=True, kw_only=True)
class RoutingOptions(Options):
    """Options of the command ``routing``."""

    pattern: str | None = option(None, Pattern, "load of the channels if packets go so, before any is simulated")
    channels: PathLike | None = option(
        None, Given, "with --pattern: a file, .parquet or .csv, with the load of each channel", metavar="FILE"
    )


@asks
def routing(spec: NetworkLike, *, asked: RoutingOptions, **rules: Annotated[Any, RuleOptions]) -> Result:
    """Return statistics of the routes of all pairs, and the deadlock proof.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    asked
    modes, lanes
        See :class:`RuleOptions`.

    Returns
    -------
    Result
        As docs/metrics.md describes it.

    Examples
    --------
    >>> import hdnhw
    >>> found = hdnhw.routing("rdn(cube(2), 1)")
    >>> found.cdg_acyclic, found.num_vcs, found.saturation_bound
    (True, 2, 0.775)
    """
    from hdnhw.rules.plan import plan
    from hdnhw.rules.statistics import routing_statistics
    from hdnhw.support.columns import check_columns
    from hdnhw.traffic.patterns import parse_pattern

    network = network_of(spec)
    if network.num_nodes > SEARCH_LIMIT:
        raise SpecError(f"routing needs at most {SEARCH_LIMIT} nodes; {network.spec} has {network.num_nodes}")
    if asked.channels is not None:
        if asked.pattern is None:
            raise SpecError(f"{named('channels')} is for a load: give {named('pattern')} as well")
        check_columns("channels", Path(asked.channels))
    pattern = None if asked.pattern is None else parse_pattern(asked.pattern, network)
    made = plan(network.spec, **given(rules))
    with ProgressBar() as bar:
        statistics = routing_statistics(made, progress=partial(bar.show, "routing"))
    if not statistics.exhaustive:
        say(f"{network.spec}: {statistics.pairs} of all pairs routed, destinations evenly spread")
    names = [port.name for port in made.network.ports]
    return Result(
        {
            "spec": str(network.spec),
            "modes": made.modes,
            "lanes": made.lanes,
            **asdict(statistics),
            "cdg_channels": made.proof.channels,
            "cdg_edges": made.proof.edges,
            "cdg_acyclic": made.proof.acyclic,
            "proof": str(made.proof),
            "num_vcs": made.max_vcs,
            "num_vcs_of_port": dict(zip(names, made.num_vcs, strict=True)),
            **({} if pattern is None else _pattern_load(made, pattern, asked.channels)),
        }
    )


def _pattern_load(plan: "RoutingPlan", pattern: "TrafficPattern", file: PathLike | None) -> dict[str, Any]:
    """Return what a pattern loads most, and write the load of each channel."""
    from hdnhw.model.counts import channel_names, load_columns
    from hdnhw.support.columns import write_columns
    from hdnhw.traffic.channel_load import ChannelLoad

    with ProgressBar() as bar:
        found = ChannelLoad(plan, pattern, progress=partial(bar.show, "load of channels"))
    node, channel = found.busiest
    neighbors = {**plan.network.neighbors(node)}
    port = channel_names(plan)[channel]
    if file is not None:
        write_columns(load_columns(plan, found.load), Path(file))
    return {
        "pattern": pattern.text,
        "pattern_bound": round(found.bound, 6),
        "busiest_channel": {"node": node, "port": port, "neighbor": neighbors.get(port)},
        "busiest_flows": found.flows(node, channel),
    }
