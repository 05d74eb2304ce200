"""Spec strings and the frozen dataclasses they stand for.

A network spec names a graph; a :class:`FabricSpec` names one machine built on that graph. The text of a spec is the
constructor expression of this package, so ``hdn(torus(2, 3, 5), [[0], [1, 2]])`` means the same in a shell, a TOML file
and Python; it is also what ``str`` and ``repr`` give. :func:`parse` reads it with :mod:`ast` against a list of allowed
names and literals; nothing is evaluated.
"""

from hdnhw.spec.checks import SpecError
from hdnhw.spec.dualnets import DualCube, DualNet, dualcube, hdn, rdn
from hdnhw.spec.fabric import (
    CROSSBARS,
    EXCHANGE_ORDERS,
    OPERATIONS,
    QUEUEINGS,
    AxiStreamSpec,
    CollectiveSpec,
    FabricSpec,
    RelaySpec,
)
from hdnhw.spec.graphs import (
    CrossedCube,
    CubeCycles,
    FoldedCube,
    Petersen,
    ReducedCube,
    Star,
    ccc,
    crossed_cube,
    folded_cube,
    petersen,
    reduced_cube,
    star,
)
from hdnhw.spec.parse import NetworkSpec, parse
from hdnhw.spec.products import Factor, Product, complete, cube, ghc, mesh, product, torus
from hdnhw.spec.swapped import SwappedNet, folded_hsn, hcn, hcn3, hfn, hsn

__all__ = [
    "CROSSBARS",
    "EXCHANGE_ORDERS",
    "OPERATIONS",
    "QUEUEINGS",
    "AxiStreamSpec",
    "CollectiveSpec",
    "CrossedCube",
    "CubeCycles",
    "DualCube",
    "DualNet",
    "FabricSpec",
    "Factor",
    "FoldedCube",
    "NetworkSpec",
    "Petersen",
    "Product",
    "ReducedCube",
    "RelaySpec",
    "SpecError",
    "Star",
    "SwappedNet",
    "ccc",
    "complete",
    "crossed_cube",
    "cube",
    "dualcube",
    "folded_cube",
    "folded_hsn",
    "ghc",
    "hcn",
    "hcn3",
    "hdn",
    "hfn",
    "hsn",
    "mesh",
    "parse",
    "petersen",
    "product",
    "rdn",
    "reduced_cube",
    "star",
    "torus",
]
