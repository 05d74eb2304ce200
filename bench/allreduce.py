"""All-reduce on 16 to 256 nodes of the model beside a ring and doubling, to 32,768 by the cost model; 20 minutes."""

from collections.abc import Iterator

from bench.collectives import BUFFERS, table
from hdnhw.collectives.comparison import compared
from hdnhw.collectives.cost import any_partner_bound, lower_bound
from hdnhw.measurement.collective import measure_allreduce
from hdnhw.networks.build import build
from hdnhw.spec import FabricSpec

NETWORKS = (
    ("hdn(cube(2), [[0]])", "cube(4)", "torus(4, 4)"),
    ("rdn(cube(2), 1)", "cube(5)", "torus(4, 8)"),
    ("hsn(2, cube(3))", "cube(6)", "torus(8, 8)"),
    ("rdn(cube(3), 1)", "cube(7)", "torus(8, 16)"),
    ("hdn(cube(2), [[0], [0]])", "cube(8)", "torus(16, 16)"),
)
"""Each network of low degree, and the hypercube and the torus of as many nodes."""

LARGE = ("hdn(cube(3), [[2], [0, 1, 2]])", "hdn(cube(3), [[2], [2]])", "rdn(cube(3), 2)")
"""Of 1024, 4096 and 32,768 nodes: on the schedule alone."""

VECTOR_WORDS, SIZES = 4096, (1, 64, 4096, 65536)
"""Words of the vector whose cost is shown, and of those that are run on the model."""


def row(text: str, *, on_model: bool) -> Iterator[str]:
    """Yield the cells of a network: sizes, costs, and cycles on the model or what the cost model says."""
    network = build(text)
    nodes, fabric = network.num_nodes, FabricSpec(network=network.spec, buffers=BUFFERS)
    algorithms = compared(network)
    yield from (f"`{text}`", str(nodes))
    yield from (str(algorithm.cost(VECTOR_WORDS)) for algorithm in algorithms[:2])
    bound = lower_bound(network, "allreduce", words=VECTOR_WORDS)
    yield f"{bound.startups} t_s + {float(bound.words):g} t_w"
    for size in SIZES:
        if on_model:
            times = [measure_allreduce(fabric, each, vector_words=size)["cycles"] for each in algorithms]
        else:
            costs = [*(each.cost(size) for each in algorithms), any_partner_bound(nodes, size)]
            times = [round(cost.time(27, 1)) for cost in costs]
        yield " / ".join(map(str, times))


if __name__ == "__main__":
    COSTS = f"network | nodes | short, {VECTOR_WORDS} words | long, {VECTOR_WORDS} words | bound"
    table(
        " | ".join([COSTS, *(f"{size} words: short / long / ring / doubling" for size in SIZES)]),
        (list(row(text, on_model=True)) for group in NETWORKS for text in group),
    )
    print()
    table(
        " | ".join([COSTS, *(f"{size} words: short / long / ring / doubling / bound" for size in SIZES)]),
        (list(row(text, on_model=False)) for text in LARGE),
    )
