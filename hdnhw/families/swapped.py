"""Hierarchical swapped networks and the networks that are special cases of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hdnhw.families.folded_cube import folded_cube
from hdnhw.rules.swapped_rule import swapped_step
from hdnhw.spec import Family, SwappedNet, folded_hsn, hcn, hcn3, hsn
from hdnhw.spec.checks import dimension
from hdnhw.spec.swapped import checked_swapped
from hdnhw.topology.network import build
from hdnhw.topology.swapped import SwappedNetwork

if TYPE_CHECKING:
    from hdnhw.report.layout import Block


def hfn(n: int) -> SwappedNet:
    """Make the hierarchical folded-hypercube network HFN(n, n): HSN(2, FQ_n)."""
    size = dimension("hfn", n, 2)
    return checked_swapped(SwappedNet(2, folded_cube(size), 2**size, False, False, f"hfn({size})"))


def _network(spec: SwappedNet) -> SwappedNetwork:
    """Return the swapped network over the network of its nucleus."""
    return SwappedNetwork(spec, build(spec.nucleus))


def layout(network: SwappedNetwork) -> Block:
    """Return nuclei that stand as the nodes of a nucleus do, level by level."""
    from hdnhw.report.layout import layout as layout_of
    from hdnhw.report.layout import nested, ring, straight

    nucleus, top = straight(layout_of(network.nucleus)), network.spec.top
    block = nucleus
    for _ in range(network.spec.levels - 2):
        block = nested(nucleus, block)
    return nested(nucleus if top == network.nucleus.num_nodes else ring(range(top)), block)


FAMILY = Family(
    makers=(hsn, hcn, hfn, hcn3, folded_hsn), spec=SwappedNet, network=_network, step=swapped_step, layout=layout
)
