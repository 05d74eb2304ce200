"""Commands that help to choose a network: side by side, or by a search."""

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdnhw.cli.network import SEARCH_LIMIT, SEARCH_PORTS, STRUCTURE_LIMIT, STRUCTURE_PORTS
from hdnhw.cli.options import (
    AT_MOST,
    DONE,
    Result,
    add_command,
    add_degree_weight_option,
    degree_weight,
    network_of,
    say,
)
from hdnhw.cli.progress import ProgressBar
from hdnhw.spec import SpecError

if TYPE_CHECKING:
    from hdnhw.topology.network import Network

__all__ = ["add_choosing_commands"]

Say = Callable[[str], None]

DIGITS = 4
"""Of numbers in a table on a terminal, behind the point."""


def compare(options: argparse.Namespace) -> tuple[Result, int]:
    """Print networks side by side."""
    from hdnhw.report.choice import plot_comparison
    from hdnhw.report.curves import check_plot

    networks, weight = [network_of(spec) for spec in options.specs], degree_weight(options)
    if options.plot is not None:
        check_plot(Path(options.plot))
    rows: list[Result] = []
    missing: dict[str, list[str]] = {}
    with ProgressBar() as bar:
        for network in networks:
            bar.show(f"{len(rows)} of {len(networks)} networks: {network.spec}", len(rows) / len(networks))
            rows.append(_row(network, weight, partial(_tell, missing, str(network.spec))))
    for reason, specs in missing.items():
        say(reason if specs[0] in reason else f"{reason}: not of {'; '.join(specs)}")
    if options.plot is not None:
        plot_comparison(rows, Path(options.plot))
    return {"networks": rows if options.json else _shown([_with_bound(row) for row in rows], options)}, DONE


def _tell(missing: dict[str, list[str]], spec: str, reason: str) -> None:
    """Note why something is not known of a network."""
    missing.setdefault(reason, []).append(spec)


def _with_bound(row: Result) -> Result:
    """Return a row as a table shows it: a bisection that is not proved as a bound, in one column."""
    shown = {name: value for name, value in row.items() if name != "bisection_exact"}
    return shown | ({"bisection": f"{AT_MOST}{row['bisection']}"} if row["bisection_exact"] is False else {})


def _shown(rows: list[Result], options: argparse.Namespace) -> list[Result]:
    """Return rows as they are printed: in a table numbers are rounded."""
    if options.json:
        return rows
    return [{k: round(v, DIGITS) if isinstance(v, float) else v for k, v in row.items()} for row in rows]


def _row(network: "Network", weight: float, tell: Say) -> Result:
    """Return the figures of a network; null where there is none, and then say why."""
    from hdnhw.topology import metrics

    nodes, degree = network.num_nodes, metrics.degree_bounds(network)[1]
    diameter = average = None
    if nodes > SEARCH_LIMIT or network.num_ports > SEARCH_PORTS:
        most = f"{SEARCH_LIMIT} nodes and {SEARCH_PORTS} ports in all"
        tell(f"diameter and average distance are searched up to {most}")
    else:
        found = metrics.summarise_distances(network)
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


def _bisection(network: "Network", tell: Say) -> Result:
    from hdnhw.topology.cut_bound import known_bound
    from hdnhw.topology.cuts import bisection, known_halves
    from hdnhw.topology.metrics import neighbor_table

    if network.num_nodes > STRUCTURE_LIMIT or network.num_ports > STRUCTURE_PORTS:
        most = f"{STRUCTURE_LIMIT} nodes and {STRUCTURE_PORTS} ports in all"
        tell(f"a bisection is looked for up to {most}")
        return {"bisection": None, "bisection_exact": None}
    bound = known_bound(network)
    cut = bisection(neighbor_table(network), known_halves(network), at_least=bound, quick=True)
    return {"bisection": cut.edges, "bisection_exact": cut.exact}


def _routing(network: "Network", tell: Say) -> Result:
    from hdnhw.routing.plan import plan
    from hdnhw.routing.statistics import PAIR_BUDGET, routing_statistics

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


def design(options: argparse.Namespace) -> tuple[Result, int]:
    """Search for networks near a size."""
    from hdnhw.report.choice import plot_front
    from hdnhw.report.curves import check_plot
    from hdnhw.topology.design import ORDERS, USUAL_RING, fitting_ring, front, search

    if options.sort not in ORDERS:
        raise SpecError(f"sort must be one of {', '.join(ORDERS)}, not {options.sort!r}")
    if options.limit < 1:
        raise SpecError(f"limit must be at least 1, not {options.limit}")
    if options.plot is not None:
        check_plot(Path(options.plot))
    weight = degree_weight(options)
    bounds = {"within": options.within, "nested": not options.all}
    ring = options.longest_ring
    if ring is None:
        ring = fitting_ring(options.nodes, options.degree, **bounds) or USUAL_RING
        if ring < USUAL_RING:
            say(f"rings have at most {ring} nodes, as there are too many candidates with longer ones")
    bounds["longest_ring"] = ring
    with ProgressBar() as bar:
        found = search(options.nodes, options.degree, progress=bar.show, degree_weight=weight, **bounds)
    best = front(found, options.nodes)
    specs = {one.spec for one in best}
    unknown = sum(one.average_distance is None for one in found)
    if unknown:
        say(f"{unknown} of {len(found)} candidates are too large to search: no average distance, not on the front")
    found.sort(key=lambda one: (ORDERS[options.sort](one), one.degree, -one.nodes, str(one.spec)))
    if options.plot is not None:
        plot_front(found, best, Path(options.plot), nodes=options.nodes)
    return {
        "nodes": options.nodes,
        "degree": options.degree,
        **bounds,
        "degree_weight": weight,
        "candidates": len(found),
        "sort": options.sort,
        "front": _shown([_design_row(one) for one in best], options),
        "networks": _shown(
            [_design_row(one) | {"pareto": one.spec in specs} for one in found[: options.limit]], options
        ),
    }, DONE


def _design_row(found: Any) -> Result:
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


def add_choosing_commands(commands: Any) -> None:
    """Add the commands ``compare`` and ``design``."""
    parser = add_command(
        commands,
        "compare",
        compare,
        summary="print networks side by side",
        example="hdnhw compare 'rdn(cube(3), 1)' 'torus(8, 16)' 'hcn(3)' --plot networks.svg",
        spec=False,
    )
    parser.add_argument("specs", nargs="+", metavar="SPEC", help="networks, for example 'rdn(cube(3), 1)'")
    parser.add_argument("--plot", metavar="FILE", help="draw bars of the figures: .svg, .png or .pdf")
    add_degree_weight_option(parser)
    _add_design(commands)


def _add_design(commands: Any) -> None:
    parser = add_command(
        commands,
        "design",
        design,
        summary="search all dual-nets and products near a size for the best networks",
        example="hdnhw design --nodes 1024 --degree 5 --sort average_distance --plot front.svg",
        spec=False,
    )
    parser.add_argument("--nodes", type=int, required=True, metavar="N", help="nodes wished for")
    parser.add_argument("--degree", type=int, required=True, metavar="D", help="most ports of a router to others")
    parser.add_argument(
        "--within", type=float, default=2.0, metavar="F", help="from N / F to N * F nodes are as good (default 2)"
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="dual-nets with super-nodes that are not nested too: neither node-symmetric nor always routed shortest",
    )
    parser.add_argument(
        "--longest-ring",
        type=int,
        metavar="R",
        help="most nodes of a ring that is a factor (default 64, or fewer where there are too many candidates)",
    )
    parser.add_argument(
        "--sort",
        default="cr_w",
        metavar="KEY",
        help="what the list goes by, the best first: cr_w (default), average_distance, capacity (degree / average "
        "distance), degree, diameter, links or nodes",
    )
    add_degree_weight_option(parser)
    parser.add_argument("--limit", type=int, default=20, metavar="M", help="networks listed (default 20)")
    parser.add_argument("--plot", metavar="FILE", help="draw the Pareto front: .svg, .png or .pdf")
