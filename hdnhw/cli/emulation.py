"""The command that runs algorithms of a product network on an HSN, and those of a hypercube on a dual-net."""

import argparse
from typing import Any

from hdnhw.cli.options import Result, add_command, ended
from hdnhw.collectives.choices import ALGORITHMS, SWAPS
from hdnhw.library import emulation
from hdnhw.library.emulation import WAYS

__all__ = ["add_emulation_command"]


def emulate(options: argparse.Namespace) -> tuple[Result, int]:
    """Move the data of a step, or of an algorithm, of the product of an HSN's nuclei."""
    names = ("step", "all_port", "ways", "swaps", "seed", "steps")
    asked = {name: getattr(options, name) for name in names}
    return ended(emulation.emulate(options.spec, run=options.run_name, **asked))


def add_emulation_command(commands: Any) -> None:
    """Add the command ``emulate``."""
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
