"""Long vectors in chunks along spanning trees, over all ports at once."""

from fractions import Fraction
from typing import TYPE_CHECKING

from hdnhw.library.collectives.schedules import BACKGROUND, Row, ScheduleOptions, number_of_words, refuse
from hdnhw.library.options import network_of
from hdnhw.library.result import Result
from hdnhw.spec import FabricSpec
from hdnhw.spec.options import options_of
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.support.progress import Stopwatch, say

if TYPE_CHECKING:
    from hdnhw.topology.graph import Network
    from hdnhw.topology.packing import Packing

TREES = ("best", "digits")
"""How they are packed: for the network, or by the digits of addresses."""

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
    "slices",
    "steps",
    "plot",
    "html",
    "startup_time",
    "word_time",
    "as_printed",
    "message_packets",
    "sizes",
    "bandwidth",
    *BACKGROUND,
)
"""Options of other schedules."""


def run_trees(asked: ScheduleOptions) -> Result:
    """Send long vectors along trees, and count rounds beside the least that there can be."""
    from hdnhw.collectives.cost import block_words
    from hdnhw.collectives.executor import ScheduleError
    from hdnhw.collectives.pipeline import check_long, make_pipeline, run_pipeline
    from hdnhw.topology.packing import allgather_time, allreduce_bound

    _check(asked)
    watch, network, is_reduced = Stopwatch(), network_of(asked.spec), asked.op == "allreduce"
    block = asked.words
    if block and is_reduced:
        block = block_words(block, network.num_nodes)
    check_long(network, asked.op, block or CHUNKS)
    packing = _trees(network, asked.trees or TREES[0])
    block = block or CHUNKS * packing.trees
    pipeline = make_pipeline(packing, block)
    result: Row = {"spec": str(network.spec), "nodes": network.num_nodes, "op": asked.op, "ports": "all"}
    result |= {"trees": packing.trees, "hops": int(packing.depths.max()), "message_words": block}
    least = block * allgather_time(packing.table)
    if is_reduced:
        least, vector = 2 * least, asked.words or block * network.num_nodes
        result |= {
            "vector_words": vector,
            "lower_bound_rounds": number_of_words(vector * allreduce_bound(packing.table)),
        }
    try:
        rounds, _ = run_pipeline(pipeline, asked.op)
    except ScheduleError as error:
        say(f"hdnhw: {error}")
        return Result(result | {"delivered": False, "error": str(error)}, passed=False)
    result |= {"delivered": True, "rounds": rounds, "least_rounds": number_of_words(least)}
    result |= {"share": round(float(Fraction(least) / rounds), 4), "seconds": round(watch.seconds, 3)}
    return Result(result)


def _check(asked: ScheduleOptions) -> None:
    """Refuse what does not go with trees."""
    if asked.ports != "all":
        raise SpecError(f"{named('trees')} is for {named('ports', 'all')}")
    refuse(asked, (*OTHERS, *options_of(FabricSpec)), f"{{}} does not go with {named('trees')}")


def _trees(network: "Network", kind: str) -> "Packing":
    from hdnhw.collectives.trees import digit_packing
    from hdnhw.topology.branchings import best_packing
    from hdnhw.topology.metrics import neighbor_table

    if kind == "digits":
        return digit_packing(network, min(DIGIT_TREES, ALL_DIGIT_TREES // network.num_nodes))
    return best_packing(neighbor_table(network))
