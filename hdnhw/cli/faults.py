"""Commands about dead nodes and channels."""

import argparse
from typing import Any

from hdnhw.cli.options import DONE, Result, add_command, add_machine_options, rule_options
from hdnhw.cli.progress import ProgressBar
from hdnhw.cli.workers import add_worker_options, workers
from hdnhw.spec import SpecError, parse

__all__ = ["add_faults_commands"]

MOST_WAYPOINTS = 8


def faults(options: argparse.Namespace) -> tuple[Result, int]:
    """Count which pairs routing still joins, plainly and by waypoints, when nodes and channels are dead."""
    from hdnhw.routing.survey import FaultSurvey

    for name, rate in (("rate", options.rate), ("channel rate", options.channel_rate)):
        if not 0 <= rate < 1:
            raise SpecError(f"{name} must be at least 0 and below 1, not {rate}")
    if options.trials < 1:
        raise SpecError(f"trials must be at least 1, not {options.trials}")
    _check_waypoints(options.waypoints)
    survey = FaultSurvey(
        network=parse(options.spec),
        **rule_options(options),
        rate=options.rate,
        channel_rate=options.channel_rate,
        waypoints=options.waypoints,
        seed=options.seed,
    )
    with ProgressBar() as progress:
        return survey.run(options.trials, workers(options, progress.say), progress.show), DONE


def waypoints(options: argparse.Namespace) -> tuple[Result, int]:
    """Find the waypoints from a node to others around what is dead."""
    import numpy as np

    from hdnhw.routing.plan import plan
    from hdnhw.routing.waypoints import Detours, RouteTable
    from hdnhw.topology.faults import Faults

    _check_waypoints(options.waypoints)
    routing = plan(parse(options.spec), **rule_options(options))
    network, table = routing.network, RouteTable(routing)
    faults = Faults(np.zeros(network.num_nodes, np.bool_), np.zeros(table.neighbors.shape, np.bool_))
    faults.nodes[[network.parse_node(name) for name in options.dead_nodes]] = True
    for name in options.dead_channels:
        faults.channels[_parse_channel(network, name)] = True
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


def _check_waypoints(most: int) -> None:
    if not 0 <= most <= MOST_WAYPOINTS:
        raise SpecError(f"waypoints must be 0 to {MOST_WAYPOINTS}, not {most}")


def add_faults_commands(commands: Any) -> None:
    """Add the commands ``faults`` and ``waypoints``."""
    parser = add_command(
        commands,
        "faults",
        faults,
        summary="count the pairs that routing still joins when nodes and channels are dead, by number of waypoints",
        example="hdnhw faults 'hdn(cube(3), [[0], [0, 1, 2]])' --rate 0.1 --trials 100",
    )
    parser.add_argument("--rate", type=float, default=0.1, metavar="F", help="share of the nodes (default 0.1)")
    parser.add_argument(
        "--channel-rate", type=float, default=0.0, metavar="F", help="share of the other channels (default 0)"
    )
    parser.add_argument("--trials", type=int, default=100, metavar="N", help="sets of faults (default 100)")
    parser.add_argument("--waypoints", type=int, default=3, metavar="W", help="most a packet names (default 3)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of the random numbers (default 1)")
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
    parser.add_argument("--dead-nodes", metavar="NODE", nargs="+", default=[], help="dead routers")
    parser.add_argument(
        "--dead-channels", metavar="NODE:PORT", nargs="+", default=[], help="dead channels, by the node that they leave"
    )
    parser.add_argument("--waypoints", type=int, default=3, metavar="W", help="most a packet names (default 3)")
    parser.add_argument(
        "--one-way",
        action="store_true",
        help="do not ask that the legs to waypoints be healthy in both directions, as relays need them",
    )
    add_machine_options(parser, routes=True)
