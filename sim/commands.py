"""The commands that need a simulator: ``hdnhw cosim`` and ``hdnhw demo``."""

import argparse
from typing import Any

from hdnhw.cli import (
    Result,
    add_command,
    add_endpoint_options,
    add_faults_option,
    add_initial_option,
    add_load_options,
    add_machine_options,
    add_node_clocks_option,
)
from hdnhw.cli.options import Parser, ended, endpoint_options, machine_options
from hdnhw.library.cosimulation import CosimOptions, cosim
from hdnhw.library.result import Result as Found
from hdnhw.sim.choices import ALL_TESTS, SIMULATORS
from hdnhw.spec import AxiMemorySpec, AxiStreamSpec, RelaySpec

OPTIONS = ("test", "simulator", "packets", "error_rate", "resets", "frames", "bursts", "seed")
LOAD = ("pattern", "injection", "lengths", "rate", "cycles", "source_gap", "sink_stall")
FABRIC = ("faults", "no_initial", "node_clocks")


def run_cosim(asked: CosimOptions) -> Found:
    """Do what :func:`hdnhw.cosim` is asked for, which finds this by the entry point of the command."""
    from hdnhw.sim.cosim import cosim

    return cosim(asked)


def _cosim(options: argparse.Namespace) -> tuple[Result, int]:
    asked = {name: getattr(options, name) for name in (*OPTIONS, *LOAD, *FABRIC)}
    return ended(cosim(options.spec, **asked, **machine_options(options), **endpoint_options(options)))


def _demo(_: argparse.Namespace) -> tuple[Result, int]:
    from hdnhw.sim.cosim import demo

    return ended(demo())


def add_cosim(commands: Any) -> None:
    """Add ``hdnhw cosim``."""
    parser = add_command(
        commands,
        "cosim",
        _cosim,
        summary="simulate the emitted Verilog under cocotb and compare it with the model",
        example="hdnhw cosim 'rdn(cube(3), 1)' --test random --packets 100000",
    )
    parser.add_argument(
        "--test",
        choices=ALL_TESTS,
        help="one test; the first three if omitted",
    )
    parser.add_argument("--simulator", choices=SIMULATORS, default="verilator")
    parser.add_argument(
        "--packets",
        type=int,
        default=10_000,
        metavar="N",
        help="packets of the random, faults and errors tests, and of each router of the rig test",
    )
    parser.add_argument(
        "--error-rate",
        type=float,
        metavar="R",
        help="how often a wire of a channel is turned over in a cycle of the errors test (default 0.0001)",
    )
    parser.add_argument(
        "--resets",
        metavar="N,N",
        help="cycles after each of which the fabric is reset and the random test begins again",
    )
    parser.add_argument("--frames", type=int, default=2000, metavar="N", help="frames of the axi test")
    parser.add_argument("--bursts", type=int, default=2000, metavar="N", help="bursts of the axi4 test")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="seed of all but the hops and exchange tests")
    _add_load(parser)
    add_faults_option(parser)
    add_initial_option(parser)
    add_node_clocks_option(parser)
    add_machine_options(parser)
    add_endpoint_options(parser, [AxiStreamSpec.kind, AxiMemorySpec.kind, RelaySpec.kind])


def _add_load(parser: Parser) -> None:
    """Add the options of the load test, which begins at reset and needs no warm-up."""
    add_load_options(parser)
    parser.add_argument("--rate", type=float, metavar="R", help="flits a node and cycle of the load test (default 0.1)")
    parser.add_argument("--cycles", type=int, metavar="N", help="cycles in which it creates packets (default 10000)")
    for option, who in (
        ("--source-gap", "a source before a flit, or before a gapless packet,"),
        ("--sink-stall", "a sink in a cycle"),
    ):
        parser.add_argument(option, type=int, metavar="P", help=f"how often {who} pauses in it, of 256 (default 0)")


def add_demo(commands: Any) -> None:
    """Add ``hdnhw demo``."""
    add_command(
        commands,
        "demo",
        _demo,
        summary="do the main job on a small network, in a few minutes",
        example="hdnhw demo",
        spec=False,
    )
