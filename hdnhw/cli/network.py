"""Commands about a network and its routing."""

import argparse
from typing import Any

import hdnhw.library.info as library
from hdnhw.cli.options import Result, add_command, add_machine_options, calls, ended, machine_options
from hdnhw.library import graphs, routes
from hdnhw.library.asked import WeightOptions


def neighbors(options: argparse.Namespace) -> tuple[Result, int]:
    """Print the neighbours of a node."""
    return ended(library.neighbors(options.spec, options.node))


def export(options: argparse.Namespace) -> tuple[Result, int]:
    """Write a network into a file."""
    return ended(graphs.export(options.spec, options.output))


def routing(options: argparse.Namespace) -> tuple[Result, int]:
    """Print the figures of the routing over all pairs, and its proof."""
    return ended(routes.routing(options.spec, **machine_options(options)))


def add_network_commands(commands: Any) -> None:
    """Add the commands ``info``, ``neighbors`` and ``export``."""
    add_command(
        commands,
        "info",
        calls(library.info, "spec"),
        summary="print the properties of a network",
        example="hdnhw info 'rdn(cube(3), 1)'",
        asks=WeightOptions,
    )
    parser = add_command(
        commands,
        "neighbors",
        neighbors,
        summary="print the neighbours of a node",
        example="hdnhw neighbors 'torus(4, 4)' 5",
    )
    parser.add_argument("node", metavar="NODE", help="node number, address such as 1.1/1.0.1, or C,U,SN,N of an HDN")
    parser = add_command(
        commands,
        "export",
        export,
        summary="write a network into a file that other tools, and graph(FILE), read",
        example="hdnhw export 'rdn(cube(2), 1)' -o rdn.graphml",
    )
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help="edges (.edges, .txt), GraphML (.graphml), DOT (.dot, .gv), or list of routers of BookSim (.anynet)",
    )


def add_routing_commands(commands: Any) -> None:
    """Add the commands ``route``, ``paths`` and ``routing``."""
    parser = add_command(
        commands,
        "route",
        calls(routes.route, "spec", "src", "dst"),
        summary="print one route",
        example="hdnhw route 'rdn(cube(3), 1)' 0 1.1/1.0.1",
        asks=routes.RouteOptions,
    )
    node = "node number, address, or C,U,SN,N of an HDN"
    parser.add_argument("src", metavar="SRC", help=node)
    parser.add_argument("dst", metavar="DST", help=node)
    add_machine_options(parser, routes=True)
    parser = add_command(
        commands,
        "paths",
        calls(routes.paths, "spec", "src", "dst"),
        summary="print paths between two nodes, or two sets of nodes, that share no other node",
        example="hdnhw paths 'rdn(cube(3), 1)' 0 1.1/1.0.1",
        asks=routes.PathOptions,
    )
    parser.add_argument("src", metavar="SRC", help=f"{node}, or several with blanks between them: '0 1 2'")
    parser.add_argument("dst", metavar="DST", help="the same; paths from one node to several, or between as many")
    add_machine_options(parser, routes=True)
    parser = add_command(
        commands,
        "routing",
        routing,
        summary="print the figures of the routing over all pairs, and its proof",
        example="hdnhw routing 'hdn(cube(2), [[0], [0, 1]])' --modes ff",
    )
    add_machine_options(parser, routes=True)
