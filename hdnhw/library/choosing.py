"""Choosing a network: side by side, or by a search."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from hdnhw.library.asked import DrawnOptions, WeightOptions, asks, made_by, plot_of
from hdnhw.library.info import SEARCH_LIMIT, SEARCH_PORTS, STRUCTURE_LIMIT, STRUCTURE_PORTS
from hdnhw.library.options import FigureOptions, NetworkLike, PathLike, check_choice, network_of
from hdnhw.library.result import Result
from hdnhw.spec.options import REQUIRED, Flag, Rate, Size, Text, option
from hdnhw.support.errors import SpecError
from hdnhw.support.progress import ProgressBar, say

if TYPE_CHECKING:
    from hdnhw.topology.graph import Network

Say = Callable[[str], None]

LEAST_RING = 8
"""Nodes of a ring that is a factor."""


@dataclass(frozen=True, kw_only=True)
class CompareOptions(WeightOptions, DrawnOptions):
    """Options of the command ``compare``."""

    plot: PathLike | None = plot_of("bars of the figures")
    command: str = made_by("hdnhw.compare")


@asks
def compare(*specs: NetworkLike, asked: CompareOptions, **figure: Annotated[Any, FigureOptions]) -> Result:
    """Return networks side by side.

    Parameters
    ----------
    specs : str, NetworkSpec or Network
    asked
    figure
        See :class:`hdnhw.FigureOptions`; limits and scales of axes are for figures of one panel.

    Returns
    -------
    Result
        ``networks``: a row for each, as docs/choosing.md describes it.

    Examples
    --------
    >>> import hdnhw
    >>> rows = hdnhw.compare("rdn(cube(2), 1)", "cube(5)", "torus(4, 8)").networks
    >>> [(row["spec"], row["degree"], row["diameter"]) for row in rows]
    [('rdn(cube(2), 1)', 3, 6), ('cube(5)', 5, 5), ('torus(4, 8)', 4, 6)]
    """
    from hdnhw.figures.choice import PANELS, comparison_sheet

    if not specs:
        raise SpecError("compare must have at least one network")
    networks, weight = [network_of(spec) for spec in specs], float(asked.degree_weight)
    outputs = asked.outputs_of(figure, panels=len(PANELS))
    rows: list[dict[str, Any]] = []
    missing: dict[str, list[str]] = {}
    with ProgressBar() as bar:
        for network in networks:
            bar.show(f"{len(rows)} of {len(networks)} networks: {network.spec}", len(rows) / len(networks))
            rows.append(_row(network, weight, partial(_tell, missing, str(network.spec))))
    for reason, names in missing.items():
        say(reason if names[0] in reason else f"{reason}: not of {'; '.join(names)}")
    outputs.write(comparison_sheet(rows, weight))
    return Result({"networks": rows})


def _tell(missing: dict[str, list[str]], spec: str, reason: str) -> None:
    """Note why something is not known of a network."""
    missing.setdefault(reason, []).append(spec)


def _row(network: "Network", weight: float, tell: Say) -> dict[str, Any]:
    """Return the figures of a network; null where there is none, and then say why."""
    from hdnhw.topology import metrics

    nodes, degree = network.num_nodes, metrics.degree_bounds(network)[1]
    diameter = average = None
    if nodes > SEARCH_LIMIT or network.num_ports > SEARCH_PORTS:
        most = f"{SEARCH_LIMIT} nodes and {SEARCH_PORTS} ports in all"
        tell(f"diameter and average distance are searched up to {most}")
    else:
        found = metrics.summarize_distances(network)
        diameter, average = found.diameter, found.average_distance
        if average is None:
            tell("diameter and average distance are not searched where too many nodes differ")
    return {
        "spec": str(network.spec),
        "nodes": nodes,
        "degree": degree,
        "diameter": diameter,
        "average_distance": None if average is None else float(average),
        "cr_w": None if diameter is None else metrics.weighted_cost_ratio(nodes, degree, diameter, weight),
        **_bisection(network, tell),
        **_routing(network, tell),
    }


def _bisection(network: "Network", tell: Say) -> dict[str, Any]:
    from hdnhw.topology.metrics import neighbor_table
    from hdnhw.topology.terminal_cuts import network_bisection

    if network.num_nodes > STRUCTURE_LIMIT or network.num_ports > STRUCTURE_PORTS:
        most = f"{STRUCTURE_LIMIT} nodes and {STRUCTURE_PORTS} ports in all"
        tell(f"a bisection is looked for up to {most}")
        return {"bisection": None, "bisection_exact": None}
    cut = network_bisection(network, neighbor_table(network))
    return {"bisection": cut.edges, "bisection_exact": cut.exact}


def _routing(network: "Network", tell: Say) -> dict[str, Any]:
    from hdnhw.rules.plan import plan
    from hdnhw.rules.statistics import PAIR_BUDGET, routing_statistics

    try:
        routing = plan(network.spec)
    except SpecError as error:
        tell(str(error))
        return {"num_vcs": None, "saturation_bound": None}
    bound = None
    if network.num_nodes**2 > PAIR_BUDGET:
        tell(f"all pairs are routed, for the saturation bound, up to {PAIR_BUDGET} pairs")
    else:
        bound = routing_statistics(routing).saturation_bound
    return {"num_vcs": routing.max_vcs, "saturation_bound": bound}


@dataclass(frozen=True, kw_only=True)
class DesignOptions(WeightOptions, DrawnOptions):
    """Options of the command ``design``."""

    nodes: int = option(REQUIRED, Size, "nodes wished for", metavar="N", least=2, most=1 << 32)
    degree: int = option(REQUIRED, Size, "maximum number of ports to other routers", metavar="D", least=1, most=64)
    within: float = option(
        2.0, Rate, "from --nodes / F to --nodes * F nodes are as good", metavar="F", least=1, most=1000
    )
    all: bool = option(
        False,
        Flag,
        "dual-nets with super-nodes that are not nested too: neither node-symmetric nor always routed shortest",
    )
    longest_ring: int | None = option(
        None,
        Size,
        "maximum nodes of a ring that is a factor (default 64, or fewer where there are too many candidates)",
        metavar="R",
        least=LEAST_RING,
        most=1 << 16,
    )
    sort: str = option(
        "cr_w",
        Text,
        "what the list goes by, the best first: cr_w, average_distance, capacity (degree / average distance), degree, "
        "diameter, links or nodes",
        metavar="KEY",
    )
    limit: int | None = option(20, Size, "networks listed; in Python None for all", metavar="M", least=1)
    plot: PathLike | None = plot_of("the Pareto front")
    command: str = made_by("hdnhw.design")


@asks
def design(*, asked: DesignOptions, **figure: Annotated[Any, FigureOptions]) -> Result:
    """Search all dual-nets and products near a size for the best networks.

    Parameters
    ----------
    asked
    figure
        See :class:`hdnhw.FigureOptions`.

    Returns
    -------
    Result
        ``networks`` and ``front``: a row for each, as docs/choosing.md describes it, and what was asked for.

    Examples
    --------
    >>> import hdnhw
    >>> found = hdnhw.design(nodes=128, degree=3, within=1.25)
    >>> found.networks[0]["spec"], found.networks[0]["nodes"]
    ('rdn(torus(8), 1)', 128)
    """
    from hdnhw.figures.choice import front_sheet
    from hdnhw.networks.design import ORDERS, USUAL_RING, fitting_ring, front, search

    check_choice("sort", asked.sort, tuple(ORDERS))
    outputs, weight = asked.outputs_of(figure), float(asked.degree_weight)
    nodes, degree = asked.nodes, asked.degree
    bounds: dict[str, Any] = {"within": asked.within, "nested": not asked.all}
    ring = asked.longest_ring
    if ring is None:
        ring = fitting_ring(nodes, degree, **bounds) or USUAL_RING
        if ring < USUAL_RING:
            say(f"rings have at most {ring} nodes, as there are too many candidates with longer ones")
    bounds["longest_ring"] = ring
    with ProgressBar() as bar:
        found = search(nodes, degree, progress=bar.show, degree_weight=weight, **bounds)
    best = front(found, nodes)
    specs = {one.spec for one in best}
    unknown = sum(one.average_distance is None for one in found)
    if unknown:
        say(f"{unknown} of {len(found)} candidates are too large to search: no average distance, not on the front")
    found.sort(key=lambda one: (ORDERS[asked.sort](one), one.degree, -one.nodes, str(one.spec)))
    about = {"nodes": nodes, "degree": degree, **bounds, "degree_weight": weight}
    about |= {"candidates": len(found), "sort": asked.sort}
    rows = {
        "front": [_design_row(one) for one in best],
        "networks": [_design_row(one) | {"pareto": one.spec in specs} for one in found[: asked.limit]],
    }
    outputs.write(front_sheet(found, best, about, rows))
    return Result(about | rows)


def _design_row(found: Any) -> dict[str, Any]:
    return {
        "spec": str(found.spec),
        "nodes": found.nodes,
        "degree": found.degree,
        "links": found.links,
        "diameter": found.diameter,
        "average_distance": None if found.average_distance is None else float(found.average_distance),
        "cr_w": found.cr_w,
        "capacity": found.capacity,
        "nested": found.nested,
    }
