"""Products of cycles, paths and complete graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hdnhw.rules.dual_rule import dual_step
from hdnhw.spec import Family, Product, complete, cube, ghc, mesh, product, torus
from hdnhw.topology.dualnet import DualNetwork

if TYPE_CHECKING:
    from hdnhw.report.layout import Block


def layout(network: DualNetwork) -> Block:
    """Return a ring for one factor and for small cubes, else a grid."""
    from hdnhw.report.layout import of_factors

    return of_factors(network.factors)


FAMILY = Family(
    makers=(torus, mesh, cube, complete, ghc, product),
    spec=Product,
    network=DualNetwork,
    step=dual_step,
    is_shortest=True,
    layout=layout,
)
