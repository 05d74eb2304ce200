"""Products of cycles, paths and complete graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hdnhw.circuits.dual import dual_step
from hdnhw.spec import Product, complete, cube, ghc, mesh, product, torus
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.family import Family

if TYPE_CHECKING:
    from hdnhw.topology.places import Block


def layout(network: DualNetwork) -> Block:
    """Return a ring for one factor and for small cubes, else a grid."""
    from hdnhw.topology.places import of_factors

    return of_factors(network.factors)


FAMILY = Family(
    makers=(torus, mesh, cube, complete, ghc, product),
    spec=Product,
    network=DualNetwork,
    step=dual_step,
    is_shortest=True,
    layout=layout,
)
