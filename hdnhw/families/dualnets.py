"""Hierarchical and recursive dual-nets, and the dual-cube."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from hdnhw.rules.dual_rule import dual_step
from hdnhw.rules.step import is_shortest
from hdnhw.spec import DualCube, DualNet, Family, RecursiveDualNet, dualcube, hdn, rdn
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.network import build
from hdnhw.topology.recursive import RecursiveDualNetwork

if TYPE_CHECKING:
    from hdnhw.report.layout import Block

ROW = 16
"""Clusters beside each other, at most."""

CLASS_GAP, LEVEL_GAP = 1.2, 0.5
"""Sides of a cluster between the classes of a level, where its cross-edges are, at least (or a third of their width);
and between dual-nets that are clusters of a higher level."""


def is_shortest_if_nested(network: DualNetwork, modes: str) -> bool:
    """Return whether all routes are shortest: super-nodes are nested, and no level waits for a part to be finished."""
    return network.is_nested and "O" not in modes


def is_shortest_over_base(network: RecursiveDualNetwork, modes: str) -> bool:
    """Return whether all routes are shortest: those of the base are, and no level waits for a part to be finished."""
    return is_shortest(network.base) and "O" not in modes


def recursive_network(spec: RecursiveDualNet) -> RecursiveDualNetwork:
    """Return the dual-net over the network of its base."""
    return RecursiveDualNetwork(spec, build(spec.base))


def layout(network: DualNetwork | RecursiveDualNetwork) -> Block:
    """Return the clusters of each level in a row for each class, class 0 above."""
    import numpy as np

    from hdnhw.report.layout import CLUSTER, Block, of_factors
    from hdnhw.report.layout import layout as layout_of

    block = of_factors(network.factors) if isinstance(network, DualNetwork) else layout_of(network.base)
    for place, level in enumerate(network.levels):
        clusters = prod(network.radices[position] for position in level.cluster)
        block = _classes(block, clusters, gap=LEVEL_GAP * CLUSTER if place else 0)
    index = np.zeros(network.num_nodes, int)
    for digit, radix in zip(network.decode(np.arange(network.num_nodes)), network.radices, strict=True):
        index = index * radix + digit
    return Block(block.places[index], block.width, block.height)


def _classes(block: Block, clusters: int, gap: float) -> Block:
    """Return two rows of clusters, one of each class, or more where they are many."""
    import numpy as np

    from hdnhw.report.layout import CLUSTER, Block

    rows = -(-clusters // ROW)
    columns = -(-clusters // rows)
    width, height = block.width + gap, block.height + gap
    lower = rows * height + max(CLASS_GAP * CLUSTER, columns * width / 3)
    corners = [
        (place % columns * width, place // columns * height + half * lower)
        for half in range(2)
        for place in range(clusters)
    ]
    places = (np.array(corners)[:, None] + block.places[None]).reshape(-1, 2)
    return Block(places, columns * width - gap, lower + rows * height - gap)


FAMILIES = tuple(
    Family(makers=makers, spec=spec, network=network, step=dual_step, is_shortest=shortest, layout=layout)
    for makers, spec, network, shortest in (
        ((hdn, rdn), DualNet, DualNetwork, is_shortest_if_nested),
        ((dualcube,), DualCube, DualNetwork, is_shortest_if_nested),
        ((), RecursiveDualNet, recursive_network, is_shortest_over_base),
    )
)
"""Of three classes of specs; `hdn` and `rdn` make the last one, too, over a base that is no product."""
