"""Commands about other networks on HSNs and dual-nets: their steps and algorithms, and embeddings."""

import argparse
from typing import Any

from hdnhw.cli.options import Result, add_command, ended
from hdnhw.collectives.choices import ALGORITHMS, EMBEDDINGS, SWAPS
from hdnhw.library import emulation
from hdnhw.library.emulation import WAYS


def emulate(options: argparse.Namespace) -> tuple[Result, int]:
    """Move the data of a step, or of an algorithm, of the product of an HSN's nuclei."""
    names = ("step", "all_port", "ways", "swaps", "seed", "steps")
    asked = {name: getattr(options, name) for name in names}
    return ended(emulation.emulate(options.spec, run=options.run_name, **asked))


def embed(options: argparse.Namespace) -> tuple[Result, int]:
    """Place a guest network on another one."""
    return ended(emulation.embed(options.spec, options.guest, way=options.way))


def add_emulation_commands(commands: Any) -> None:
    """Add the commands ``embed`` and ``emulate``."""
    parser = add_command(
        commands,
        "embed",
        embed,
        summary="place the nodes of a ring, mesh, hypercube, tree or other graph on a network, and route its edges",
        example="hdnhw embed 'rdn(cube(3), 1)' 'torus(8, 16)'",
    )
    parser.add_argument("guest", metavar="GUEST", help="what is placed: the spec of a network")
    parser.add_argument(
        "--way",
        choices=EMBEDDINGS,
        help="by numbers of a hypercube, or along a Hamiltonian cycle (default: what has less dilation)",
    )
    parser = add_command(
        commands,
        "emulate",
        emulate,
        summary="run a step, or an algorithm, of the product of an HSN's nuclei on the HSN, or an algorithm of a "
        "hypercube on a dual-net over one, with data that are moved",
        example="hdnhw emulate 'hsn(3, cube(2))' --all-port --steps",
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--step", metavar="LEVEL.PORT", help="one dimension: a port of the nucleus in X_i, as in 3.dim0")
    what.add_argument("--all-port", action="store_true", help="all dimensions at once")
    what.add_argument(
        "--run",
        dest="run_name",
        choices=ALGORITHMS,
        help="an algorithm of a hypercube: a transform, lowest or highest dimension first, one there and back, "
        "bitonic sort, a cyclic convolution, or a product of matrices",
    )
    parser.add_argument(
        "--ways",
        choices=WAYS,
        help="all-port: swap, dimension, swap; or over one swap, on hsn(l, complete(M)) with l < M (default there)",
    )
    parser.add_argument(
        "--swaps", choices=SWAPS, help="run: back after each level (default), or when another digit is needed"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="run: of the values (default 0)")
    parser.add_argument("--steps", action="store_true", help="show what each port carries in each step")
