"""Total exchanges on emitted engines of up to 256 nodes, beside the cost model, and links used; half an hour."""

from bench.collectives import BUFFERS, NETWORKS, table
from hdnhw.collectives.exchange import exchange_schedule
from hdnhw.collectives.executor import execute
from hdnhw.endpoints.collective.bench import CollectiveBench
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.networks.build import build
from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec
from hdnhw.verilog.fabric import emit_fabric

MOST_NODES = 256
"""Of a network that is built: larger ones take more than half an hour each."""

MORE = ("hdn(cube(3), [[1, 2]])", "hdn(cube(2), [[0], [0, 1]])")
"""Dual-nets beside those of :data:`NETWORKS`; the last is that of figure 3 of the HDN paper, not nested."""

FIGURES = ("hdn(cube(2), [[0]])", "hdn(cube(2), [[0], [0, 1]])")
"""The networks of figures 2 and 3 of the HDN paper, which are run in its own order, too."""


def row(text: str, order: str = "cluster-first") -> list[str]:
    """Return the cells of a network."""
    engines = CollectiveSpec(operations=("exchange",), order=order)
    fabric = FabricSpec(network=parse(text), buffers=BUFFERS, endpoints=engines)
    counted, ran = (
        execute(exchange_schedule(build(fabric.network), order)),
        CollectiveBench(emit_fabric(fabric)).measure("exchange"),
    )
    assert ran["delivered"], ran
    return [
        f"`{text}`" + ", papers' order" * (order == "paper"),
        *map(str, (counted.startups, counted.words * fabric.packet_length, counted.links_used, ran["message_buffers"])),
        str(ran["cycles"]),
        str(ran["cost_cycles"]),
        f"{ran['cycles'] / ran['cost_cycles']:.3f}",
    ]


if __name__ == "__main__":
    names = [text for group in NETWORKS for text in group]
    table(
        "network | start-ups | words | links used | message buffers per node | cycles, Verilog | cost model | ratio",
        (
            *(row(text) for text in (*names, *MORE) if build(text).num_nodes <= MOST_NODES),
            *(row(text, "paper") for text in FIGURES),
        ),
    )
