"""Collectives on dual-nets, hypercubes and tori: words, start-ups, links used, cycles; 10 minutes."""

from collections.abc import Iterable

from hdnhw.collectives.cost import corrected_formula, lower_bound, paper_formula
from hdnhw.collectives.exchange import exchange_schedule
from hdnhw.collectives.executor import Execution, execute
from hdnhw.collectives.operations import operation_schedule
from hdnhw.measurement.collective import measure_network_exchange, measure_steps
from hdnhw.networks.build import build
from hdnhw.rules.plan import plan
from hdnhw.rules.statistics import routing_statistics
from hdnhw.spec import MOVING, FabricSpec
from hdnhw.topology.flow import flow_bound
from hdnhw.topology.metrics import degree_bounds, neighbor_table

NETWORKS = (
    ("hdn(cube(2), [[0]])", "cube(4)", "torus(4, 4)"),
    ("rdn(cube(2), 1)", "cube(5)", "torus(4, 8)"),
    ("hdn(cube(3), [[2]])", "cube(6)", "torus(8, 8)"),
    ("rdn(cube(3), 1)", "cube(7)", "torus(8, 16)"),
    ("hdn(cube(2), [[0], [0]])", "cube(8)", "torus(16, 16)"),
    ("hdn(cube(3), [[2], [0, 1, 2]])", "cube(10)", "torus(32, 32)"),
)
"""Each dual-net, and the hypercube and the torus of as many nodes."""

BUFFERS = 8


def cell(counted: Execution) -> str:
    """Return start-ups, words and links used."""
    return f"{counted.startups} / {counted.words} / {counted.links_used}"


def row(text: str) -> list[str]:
    """Return the cells of a network."""
    network = build(text)
    fabric = FabricSpec(network=network.spec, buffers=BUFFERS)
    counted = [execute(operation_schedule(network, operation)) for operation in MOVING]
    routed = measure_network_exchange(fabric, words=8)
    return [
        f"`{text}`",
        str(network.num_nodes),
        str(degree_bounds(network)[1]),
        *map(cell, counted),
        f"{float(lower_bound(network, 'exchange').words):g}",
        str(measure_steps(fabric, counted[-1], words=8)["cycles"]),
        f"{routed['cycles']} / {routed['lower_bound_cycles']}",
    ]


def formulas(text: str) -> list[str]:
    """Return the cells of the total exchange in the papers' order."""
    network = build(text)
    printed, corrected = paper_formula(network, "exchange"), corrected_formula(network)
    counted = [execute(exchange_schedule(network, "paper", split=split)) for split in ("destination", "sum")]
    first = execute(exchange_schedule(network))
    words = [f"{printed}", f"{corrected}", *(f"{one.startups} t_s + {one.words} t_w" for one in (*counted, first))]
    return [f"`{text}`", *words, f"{float(lower_bound(network, 'exchange').words):g}"]


def loads(text: str) -> list[str]:
    """Return the cells of the total exchange simply routed, in messages over the fullest channel."""
    network = build(text)
    bound = flow_bound(neighbor_table(network))
    assert bound is not None
    routed = routing_statistics(plan(network.spec)).max_channel_load
    return [f"`{text}`", str(routed), f"{float(bound):g}"]


def table(head: str, rows: Iterable[list[str]]) -> None:
    """Print rows as Markdown."""
    print(f"| {head} |\n|{'---|' * (head.count('|') + 1)}")
    for cells in rows:
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    table(
        "network | nodes | degree | broadcast | scatter | all-gather | exchange | bound, words | steps, cycles | "
        "routed, cycles / bound",
        (row(text) for group in NETWORKS for text in group),
    )
    print()
    table(
        "network | Theorem 3 as printed | corrected | paper, split destination | paper, split sum | cluster-first | "
        "bound, words",
        (formulas(group[0]) for group in NETWORKS),
    )
    print()
    table(
        "network | routes, largest channel load | flow bound",
        (loads(text) for group in NETWORKS for text in group),
    )
