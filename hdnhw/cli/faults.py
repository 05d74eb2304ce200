"""Commands about dead nodes and channels."""

import argparse
from typing import Any

from hdnhw.cli.options import DONE, Result, add_command, add_machine_options, rates_of, rule_options
from hdnhw.cli.progress import ProgressBar
from hdnhw.cli.workers import add_worker_options, workers
from hdnhw.spec import SpecError, parse

__all__ = [
    "MOST_BY_DEFAULT",
    "add_dead_options",
    "add_faults_commands",
    "add_waypoints_option",
    "check_waypoints",
    "dead_of",
]

MOST_WAYPOINTS, MOST_BY_DEFAULT = 8, 3
"""Of a packet: most that there can be, and most that are looked for."""

DIGITS = 4
"""Of numbers in a table."""

MOST_PAIRS = 1_000_000
"""Drawn of each case."""

MOST_RATE = 0.95
"""Share of dead nodes for which pairs are told apart by case."""

BY_CASE: dict[str, Any] = {"rates": "0,0.05,0.1,0.15,0.2,0.25,0.3", "paths": ["short"], "pairs": 1000, "plot": None}
"""Options that --by-case alone reads, and what they are if not given."""


def faults(options: argparse.Namespace) -> tuple[Result, int]:
    """Count which pairs routing still joins, plainly and by waypoints, when nodes and channels are dead."""
    from hdnhw.routing.survey import FaultSurvey

    if options.trials < 1:
        raise SpecError(f"trials must be at least 1, not {options.trials}")
    check_waypoints(options.waypoints)
    if options.by_case:
        return _by_case(options), DONE
    for name in BY_CASE:
        if getattr(options, name) is not None:
            raise SpecError(f"--{name} is for --by-case")
    rate = 0.1 if options.rate is None else options.rate
    channel_rate = options.channel_rate or 0.0
    for name, share in (("rate", rate), ("channel rate", channel_rate)):
        if not 0 <= share < 1:
            raise SpecError(f"{name} must be at least 0 and below 1, not {share}")
    survey = FaultSurvey(
        network=parse(options.spec),
        **rule_options(options),
        rate=rate,
        channel_rate=channel_rate,
        waypoints=options.waypoints,
        seed=options.seed,
    )
    with ProgressBar() as progress:
        return survey.run(options.trials, workers(options, progress.say), progress.show), DONE


def _by_case(options: argparse.Namespace) -> Result:
    """Count by the disjoint-path paper's cases what is left of disjoint paths, and what waypoints join."""
    from pathlib import Path

    from hdnhw.report.curves import check_plot
    from hdnhw.report.path_faults import plot_path_faults
    from hdnhw.routing.case_survey import dual_net_of, paths_left, waypoints_left
    from hdnhw.routing.waypoints import MAX_NODES

    asked = {
        name: default if getattr(options, name) is None else getattr(options, name) for name, default in BY_CASE.items()
    }
    if options.rate is not None or options.channel_rate is not None:
        raise SpecError("with --by-case nodes alone are dead: give --rates, not --rate or --channel-rate")
    rates = rates_of(asked["rates"], 0, MOST_RATE, "0,0.05,0.1")
    if not 2 <= asked["pairs"] <= MOST_PAIRS:
        raise SpecError(f"pairs must be 2 to {MOST_PAIRS}, not {asked['pairs']}")
    if asked["plot"] is not None:
        check_plot(Path(asked["plot"]))
    network = dual_net_of(parse(options.spec))
    with ProgressBar() as bar:
        joined, left = [], []
        if network.num_nodes <= MAX_NODES:
            joined = waypoints_left(
                network,
                rates,
                options={**rule_options(options), "waypoints": options.waypoints, "seed": options.seed},
                trials=options.trials,
                start=workers(options, bar.say),
                progress=bar.show,
            )
        else:
            bar.say(f"{network.spec}: waypoints are looked for up to {MAX_NODES} nodes")
        for kind in dict.fromkeys(asked["paths"]):
            bar.show(f"paths: {kind}", 0.0)
            left += paths_left(network, kind, rates, pairs=asked["pairs"], seed=options.seed)
    if asked["plot"] is not None:
        plot_path_faults(left, joined, Path(asked["plot"]))
    head = {"spec": str(network.spec), "nodes": network.num_nodes, "pairs": asked["pairs"], "trials": options.trials}
    if not options.json:
        left, joined = (_shown(rows) for rows in (left, joined))
    return {**head, "seed": options.seed, "paths_left": left, "waypoints_left": joined}


def _shown(rows: list[Result]) -> list[Result]:
    """Return rows as a table shows them: numbers rounded, and for a list a column for each number of waypoints."""

    def shown(value: Any) -> Any:
        if isinstance(value, list):
            return {str(most): shown(part) for most, part in enumerate(value)}
        return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value

    return [{name: shown(value) for name, value in row.items()} for row in rows]


def waypoints(options: argparse.Namespace) -> tuple[Result, int]:
    """Find the waypoints from a node to others around what is dead."""
    import numpy as np

    from hdnhw.routing.plan import plan
    from hdnhw.routing.waypoints import Detours, RouteTable

    check_waypoints(options.waypoints)
    routing = plan(parse(options.spec), **rule_options(options))
    network, table = routing.network, RouteTable(routing)
    faults = dead_of(network, options)
    src = network.parse_node(options.src)
    if faults.nodes[src]:
        raise SpecError(f"source must be a healthy node; {src} is dead")
    found = Detours(table, faults).ways(src, options.waypoints, two_way=not options.one_way)
    wanted = range(network.num_nodes) if options.dst is None else [network.parse_node(options.dst)]
    return {
        "spec": str(network.spec),
        "modes": routing.modes,
        "src": src,
        "dead_nodes": np.flatnonzero(faults.nodes).tolist(),
        "dead_channels": [f"{node}:{network.ports[port].name}" for node, port in np.argwhere(faults.channels).tolist()],
        "most": options.waypoints,
        "ways": [{"dst": dst, **found[dst]._asdict()} for dst in wanted if dst != src],
    }, DONE


def dead_of(network: Any, options: argparse.Namespace) -> Any:
    """Return the faults that the options of :func:`add_dead_options` name."""
    import numpy as np

    from hdnhw.topology.faults import Faults

    nodes = np.zeros(network.num_nodes, np.bool_)
    channels = np.zeros((network.num_nodes, len(network.ports)), np.bool_)
    nodes[[network.parse_node(name) for name in options.dead_nodes]] = True
    for name in options.dead_channels:
        channels[_parse_channel(network, name)] = True
    return Faults(nodes, channels)


def _parse_channel(network: Any, text: str) -> tuple[int, int]:
    """Return node and port of the channel ``NODE:PORT``."""
    node, _, name = text.rpartition(":")
    if not node:
        raise SpecError(f"dead channel must be NODE:PORT, such as 0:{network.ports[0].name}, not {text!r}")
    number = network.parse_node(node)
    names = list(network.neighbors(number))
    if name not in names:
        raise SpecError(f"port of node {number} must be {' or '.join(names)}, not {name!r}")
    return number, [port.name for port in network.ports].index(name)


def check_waypoints(most: int) -> None:
    """Raise SpecError unless a packet can name so many waypoints."""
    if not 0 <= most <= MOST_WAYPOINTS:
        raise SpecError(f"waypoints must be 0 to {MOST_WAYPOINTS}, not {most}")


def add_dead_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that name what is dead, for :func:`dead_of`."""
    parser.add_argument("--dead-nodes", metavar="NODE", nargs="+", default=[], help="dead routers")
    parser.add_argument(
        "--dead-channels", metavar="NODE:PORT", nargs="+", default=[], help="dead channels, by the node that they leave"
    )


def add_waypoints_option(parser: argparse.ArgumentParser, default: int | None = MOST_BY_DEFAULT) -> None:
    """Add the option that says how many waypoints a packet names."""
    told = f"most waypoints that a packet names (default {MOST_BY_DEFAULT})"
    parser.add_argument("--waypoints", type=int, default=default, metavar="W", help=told)


def add_faults_commands(commands: Any) -> None:
    """Add the commands ``faults`` and ``waypoints``."""
    parser = add_command(
        commands,
        "faults",
        faults,
        summary="count the pairs that routing still joins when nodes and channels are dead, by number of waypoints",
        example="hdnhw faults 'hdn(cube(3), [[0], [0, 1, 2]])' --rate 0.1 --trials 100",
    )
    parser.add_argument("--rate", type=float, metavar="F", help="share of the nodes (default 0.1)")
    parser.add_argument("--channel-rate", type=float, metavar="F", help="share of the other channels (default 0)")
    parser.add_argument("--trials", type=int, default=100, metavar="N", help="sets of faults (default 100)")
    add_waypoints_option(parser)
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of the random numbers (default 1)")
    _add_case_options(parser)
    add_machine_options(parser, routes=True)
    add_worker_options(parser)
    parser = add_command(
        commands,
        "waypoints",
        waypoints,
        summary="find the waypoints that lead from a node around what is dead",
        example="hdnhw waypoints 'hdn(cube(3), [[2]])' 0 --dead-nodes 1 17 --dead-channels 0:cross1",
    )
    parser.add_argument("src", metavar="SRC", help="node number or address")
    parser.add_argument("dst", metavar="DST", nargs="?", help="node number or address; all nodes if omitted")
    add_dead_options(parser)
    add_waypoints_option(parser)
    parser.add_argument(
        "--one-way",
        action="store_true",
        help="do not ask that the legs to waypoints be healthy in both directions, as relays need them",
    )
    add_machine_options(parser, routes=True)


def _add_case_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``faults --by-case``."""
    parser.add_argument(
        "--by-case",
        action="store_true",
        help="on a dual-net, for pairs in one cluster (A), in clusters of two classes (B) and in two of a class (C): "
        "what is left of disjoint paths made without knowing the faults, beside what waypoints join",
    )
    parser.add_argument("--rates", metavar="F,F,...", help=f"shares of the nodes (default {BY_CASE['rates']})")
    parser.add_argument(
        "--paths",
        nargs="+",
        choices=("short", "address", "mended"),
        help="by the algorithms of `hdnhw paths` (default short), or mended: the paper's Algorithm 6 over third "
        "clusters and without loops",
    )
    parser.add_argument("--pairs", type=int, metavar="P", help="drawn of each case (default 1000)")
    parser.add_argument("--plot", metavar="FILE", help="draw what is left against the rate: .svg, .png or .pdf")
