"""What a user says, as frozen dataclasses: networks, machines, requests.

A network spec names a graph; a :class:`FabricSpec` names one machine built on that graph. The text of a spec is the
constructor expression of the package `hdnhw`, so ``hdn(torus(2, 3, 5), [[0], [1, 2]])`` means the same in a shell, a
TOML file and Python; it is also what ``str`` and ``repr`` give. :func:`hdnhw.networks.parse.parse` reads it with
:mod:`ast` against a list of allowed names and literals; nothing is evaluated. What endpoints may be asked for stands
with each kind of them, in :mod:`hdnhw.endpoints`.
"""

from hdnhw.spec.dualnets import DualCube, DualNet, RecursiveDualNet
from hdnhw.spec.endpoints import EndpointSpec
from hdnhw.spec.machine import CROSSBARS, QUEUEINGS, RAMS, FabricSpec
from hdnhw.spec.network import NetworkSpec
from hdnhw.spec.operations import (
    BARRIER,
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
)
from hdnhw.spec.products import Factor, Product, complete, cube, ghc, mesh, product, torus
from hdnhw.spec.swapped import SwappedNet

__all__ = [
    "BARRIER",
    "CROSSBARS",
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
    "DualCube",
    "DualNet",
    "EndpointSpec",
    "FabricSpec",
    "Factor",
    "NetworkSpec",
    "Product",
    "RecursiveDualNet",
    "SwappedNet",
    "complete",
    "cube",
    "ghc",
    "mesh",
    "product",
    "torus",
]
