"""The command ``collective --trees``: long vectors in chunks along spanning trees, over all ports at once."""

import argparse
from fractions import Fraction
from typing import TYPE_CHECKING

from hdnhw.cli.options import DONE, FAILED, Parser, Result, network_of, say
from hdnhw.cli.schedules import number_of_words, refuse
from hdnhw.kernels import Stopwatch
from hdnhw.spec import FabricSpec, SpecError
from hdnhw.spec.options import options_of

if TYPE_CHECKING:
    from hdnhw.topology.network import Network
    from hdnhw.topology.packing import Packing

__all__ = ["add_trees_option", "run_trees"]

CHUNKS = 32
"""Words of a block for each tree, if none are given."""

DIGIT_TREES, ALL_DIGIT_TREES = 32, 1 << 13
"""Most trees by digits of a node, and of all: the more, the nearer to their weights, and the longer it takes to give
them rounds."""

OTHERS = (
    "root",
    "targets",
    "operator",
    "numbers",
    "algorithm",
    "on",
    "steps",
    "plot",
    "startup_time",
    "word_time",
    "as_printed",
    "sizes",
    "bandwidth",
)
"""Options of other schedules."""


def run_trees(options: argparse.Namespace) -> tuple[Result, int]:
    """Send long vectors along trees, and count rounds beside the least that there can be."""
    from hdnhw.collective.cost import block_words
    from hdnhw.collective.executor import ScheduleError
    from hdnhw.collective.pipeline import check_long, make_pipeline, run_pipeline
    from hdnhw.topology.packing import allgather_time, allreduce_bound

    _check(options)
    watch, network, is_reduced = Stopwatch(), network_of(options.spec), options.op == "allreduce"
    block = options.words
    if block and is_reduced:
        block = block_words(block, network.num_nodes)
    check_long(network, options.op, block or CHUNKS)
    packing = _trees(network, options.trees)
    block = block or CHUNKS * packing.trees
    pipeline = make_pipeline(packing, block)
    result: Result = {"spec": str(network.spec), "nodes": network.num_nodes, "op": options.op, "ports": "all"}
    result |= {"trees": packing.trees, "hops": int(packing.depths.max()), "message_words": block}
    least = block * allgather_time(packing.table)
    if is_reduced:
        least, vector = 2 * least, options.words or block * network.num_nodes
        result |= {
            "vector_words": vector,
            "lower_bound_rounds": number_of_words(vector * allreduce_bound(packing.table)),
        }
    try:
        rounds, _ = run_pipeline(pipeline, options.op)
    except ScheduleError as error:
        say(f"hdnhw: {error}")
        return result | {"delivered": False, "error": str(error)}, FAILED
    result |= {"delivered": True, "rounds": rounds, "least_rounds": number_of_words(least)}
    return result | {"share": round(float(Fraction(least) / rounds), 4), "seconds": round(watch.seconds, 3)}, DONE


def _check(options: argparse.Namespace) -> None:
    """Refuse what does not go with trees."""
    if options.ports != "all":
        raise SpecError("--trees is for --ports all")
    if options.words is not None and options.words < 1:
        raise SpecError(f"words must be 1 or more, not {options.words}")
    refuse(options, (*OTHERS, *options_of(FabricSpec, timed=True)), "{} does not go with --trees")


def _trees(network: "Network", kind: str) -> "Packing":
    from hdnhw.collective.trees import digit_packing
    from hdnhw.topology.branchings import best_packing
    from hdnhw.topology.metrics import neighbor_table

    if kind == "digits":
        return digit_packing(network, min(DIGIT_TREES, ALL_DIGIT_TREES // network.num_nodes))
    return best_packing(neighbor_table(network))


def add_trees_option(parser: Parser) -> None:
    """Add the option ``--trees``."""
    parser.add_argument(
        "--trees",
        choices=("best", "digits"),
        nargs="?",
        const="best",
        help="allgather, reducescatter, allreduce with --ports all: long vectors in chunks of a word along spanning "
        "trees, packed for this network (default) or by the digits of addresses, beside the fewest rounds there can be",
    )
