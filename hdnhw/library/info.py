"""What there is to know of a network, and of a node."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from hdnhw.library.asked import WeightOptions, asks
from hdnhw.library.options import NetworkLike, NodeLike, network_of, node_of
from hdnhw.library.result import Result
from hdnhw.support.errors import SpecError
from hdnhw.support.progress import ProgressBar, say

if TYPE_CHECKING:
    from hdnhw.topology.graph import Network

SEARCH_LIMIT, SEARCH_PORTS = 20_000_000, 1 << 29
"""Most nodes that ``info`` searches, and most ports of all of them."""

STRUCTURE_LIMIT, STRUCTURE_PORTS = 4096, 1 << 20
"""Most nodes of which ``info`` finds automorphisms, a bisection and the connectivity, and most ports of all of them."""

PROFILE_LIMIT, PROFILE_WORK = 1 << 20, 1 << 29
"""Most nodes of which ``info`` compares edges, and most ports that are looked at for those of one node."""


@asks
def info(spec: NetworkLike, *, asked: WeightOptions) -> Result:
    """Return the properties of a network.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    asked

    Returns
    -------
    Result
        As docs/networks.md describes it; distances in hops, None where the network is too large to be searched.

    Examples
    --------
    >>> import hdnhw
    >>> found = hdnhw.info("rdn(cube(3), 1)")
    >>> found.nodes, found.degree_max, found.diameter, found.average_distance
    (128, 4, 8, 4.409448818897638)
    """
    from hdnhw.rules.plan import plan
    from hdnhw.topology import metrics
    from hdnhw.topology.levels import LeveledNetwork

    network, weight = network_of(spec), float(asked.degree_weight)
    least, most = metrics.degree_bounds(network)
    result: dict[str, Any] = {
        "spec": str(network.spec),
        "nodes": network.num_nodes,
        "terminals": network.num_terminals,
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
        "switch_connectivity": None,
        "bisection": None,
        "cr": None,
        "cr_w": None,
    }
    if network.num_nodes <= SEARCH_LIMIT and network.num_ports <= SEARCH_PORTS:
        with ProgressBar() as bar:
            found = metrics.summarize_distances(network, progress=partial(bar.show, "searching"))
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
        return Result(result | {"num_vcs": None, "deadlock_free": None})
    return Result(result | {"num_vcs": routing.max_vcs, "deadlock_free": routing.proof.acyclic})


def _structure(network: "Network", diameter: int | None, weight: float) -> dict[str, Any]:
    """Return what needs the whole graph, as far as its size allows."""
    from hdnhw.topology import metrics
    from hdnhw.topology.connectivity import node_connectivity
    from hdnhw.topology.symmetry import differ, symmetry
    from hdnhw.topology.terminal_cuts import network_bisection

    result: dict[str, Any] = {}
    if diameter is not None:
        sizes = network.num_nodes, metrics.degree_bounds(network)[1], diameter
        result |= {"cr": metrics.cost_ratio(*sizes), "cr_w": metrics.weighted_cost_ratio(*sizes, weight)}
    if network.num_nodes > PROFILE_LIMIT or network.num_ports * len(network.ports) > PROFILE_WORK:
        return result
    table = metrics.neighbor_table(network)
    if network.num_nodes > STRUCTURE_LIMIT or network.num_ports > STRUCTURE_PORTS:
        known = differ(table, [(0, int(other)) for other in table[0] if other >= 0])
        return result | {"edge_symmetric": False if known else None}
    found, cut = symmetry(table), network_bisection(network, table)
    between = metrics.switch_table(network, table)
    return result | {
        "node_symmetric": metrics.node_symmetric(network) if found is None else found.node_symmetric,
        "edge_symmetric": None if found is None else found.edge_symmetric,
        "connectivity": node_connectivity(table, found),
        "switch_connectivity": None if between is None else node_connectivity(between, symmetry(between)),
        "bisection": {"edges": cut.edges, "at_least": cut.at_least, "exact": cut.exact},
    }


def neighbors(spec: NetworkLike, node: NodeLike) -> Result:
    """Return the neighbors of a node.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    node : int or str
        Number, address such as ``1.1/1.0.1``, or C,U,SN,N of an HDN.

    Returns
    -------
    Result
        ``node``, ``address``, ``paper_address``, ``four_parts``, ``neighbors`` in ascending order, and ``ports``: the
        neighbor behind each port.

    Examples
    --------
    >>> import hdnhw
    >>> hdnhw.neighbors("torus(4, 4)", 5).ports
    {'dim0_plus': 9, 'dim0_minus': 1, 'dim1_plus': 6, 'dim1_minus': 4}
    """
    network = network_of(spec)
    number = node_of(network, node)
    ports, labels = network.neighbors(number), paper_addresses(network, [number])
    return Result(
        {
            "node": number,
            "address": network.format_node(number),
            "paper_address": labels and labels[0],
            "four_parts": _four_parts(network, number),
            "neighbors": sorted(ports.values()),
            "ports": ports,
        }
    )


def paper_addresses(network: "Network", nodes: Sequence[int]) -> list[str] | None:
    """Return nodes in the digits of their paper; null if these are those of `address`."""
    labels = [network.paper_address(node) for node in nodes]
    return None if labels == [network.format_node(node) for node in nodes] else labels


def _four_parts(network: "Network", node: int) -> dict[str, list[int]] | None:
    """Return the HDN paper's (C, U, SN, N) of a node at each level; null where there are no levels."""
    from hdnhw.claims.literal.four_parts import four_parts
    from hdnhw.topology.dualnet import DualNetwork

    if not isinstance(network, DualNetwork) or not network.levels:
        return None
    rows = four_parts(network, node)
    return {str(len(rows) - place): list(row) for place, row in enumerate(rows)}
