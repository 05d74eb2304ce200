"""Spec strings and the frozen dataclasses they stand for.

A network spec names a graph; a :class:`FabricSpec` names one machine built on that graph. The text of a spec is the
constructor expression of the package `hdnhw`, so ``hdn(torus(2, 3, 5), [[0], [1, 2]])`` means the same in a shell, a
TOML file and Python; it is also what ``str`` and ``repr`` give. :func:`parse` reads it with :mod:`ast` against a list
of allowed names and literals; nothing is evaluated.
"""

from hdnhw.spec.checks import SpecError
from hdnhw.spec.dualnets import DualCube, DualNet, RecursiveDualNet, dualcube, hdn, rdn
from hdnhw.spec.endpoints import (
    BARRIER,
    ENDPOINTS,
    ENGINE_OPERATIONS,
    EXCHANGE_ORDERS,
    INTEGERS,
    JOIN,
    MOST_MESSAGE_PACKETS,
    MOVING,
    MULTICAST,
    OPERATIONS,
    OPERATORS,
    REGISTER_OPERATIONS,
    AxiMemorySpec,
    AxiStreamSpec,
    CollectiveSpec,
    EndpointSpec,
    ExchangeSpec,
    RelaySpec,
)
from hdnhw.spec.fabric import CROSSBARS, QUEUEINGS, RAMS, FabricSpec
from hdnhw.spec.families import Family, family_of
from hdnhw.spec.network import NetworkSpec
from hdnhw.spec.parse import parse
from hdnhw.spec.products import Factor, Product, complete, cube, ghc, mesh, product, torus
from hdnhw.spec.swapped import SwappedNet, folded_hsn, hcn, hcn3, hsn

__all__ = [
    "BARRIER",
    "CROSSBARS",
    "ENDPOINTS",
    "ENGINE_OPERATIONS",
    "EXCHANGE_ORDERS",
    "INTEGERS",
    "JOIN",
    "MOST_MESSAGE_PACKETS",
    "MOVING",
    "MULTICAST",
    "OPERATIONS",
    "OPERATORS",
    "QUEUEINGS",
    "RAMS",
    "REGISTER_OPERATIONS",
    "AxiMemorySpec",
    "AxiStreamSpec",
    "CollectiveSpec",
    "DualCube",
    "DualNet",
    "EndpointSpec",
    "ExchangeSpec",
    "FabricSpec",
    "Factor",
    "Family",
    "NetworkSpec",
    "Product",
    "RecursiveDualNet",
    "RelaySpec",
    "SpecError",
    "SwappedNet",
    "complete",
    "cube",
    "dualcube",
    "family_of",
    "folded_hsn",
    "ghc",
    "hcn",
    "hcn3",
    "hdn",
    "hsn",
    "mesh",
    "parse",
    "product",
    "rdn",
    "torus",
]
