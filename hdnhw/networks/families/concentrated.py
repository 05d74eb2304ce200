"""Several terminals a router: any network as the switches of another one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from hdnhw.spec import NetworkSpec, ghc
from hdnhw.spec.checks import MAX_PORTS, integer
from hdnhw.support.errors import SpecError
from hdnhw.topology.family import Family

if TYPE_CHECKING:
    from hdnhw.topology.edges import EdgeNetwork
    from hdnhw.topology.places import Block


@dataclass(frozen=True, repr=False)
class Concentrated(NetworkSpec, maker="concentrated"):
    """A network of switches, each with as many nodes.

    Attributes
    ----------
    switches : NetworkSpec
    each : int
        Nodes at a switch.
    """

    switches: NetworkSpec
    each: int


def concentrated(network: NetworkSpec, n: int) -> Concentrated:
    """Make a network whose switches are the nodes of another one, with `n` nodes linked to each of them."""
    if not isinstance(network, NetworkSpec):
        raise SpecError(f"concentrated must be over a network, not {network!r}")
    each = integer(n, "concentrated nodes", 1)
    if each > MAX_PORTS:
        raise SpecError(f"concentrated nodes must be at most {MAX_PORTS}, not {each}")
    return Concentrated(network, each)


def flattened_butterfly(k: int, n: int) -> Concentrated:
    """Make the k-ary n-flat (Kim, Dally and Abts, ISCA 2007): k nodes at each switch of a generalized hypercube."""
    radix, dimensions = integer(k, "flattened_butterfly radix", 2), integer(n, "flattened_butterfly n", 2)
    return concentrated(ghc(*[radix] * (dimensions - 1)), radix)


@lru_cache(maxsize=8)
def network(spec: Concentrated) -> EdgeNetwork:
    """Return the network: node i of switch s has number ``n s + i``, and the switches follow the nodes.

    Raises
    ------
    SpecError
        If the network of switches has switches itself, or the network is too large.
    """
    import numpy as np

    from hdnhw.networks.build import build
    from hdnhw.topology.edges import EdgeNetwork
    from hdnhw.topology.graph import Port
    from hdnhw.topology.metrics import MAX_ENTRIES, neighbor_table

    inner, each = build(spec.switches), spec.each
    if inner.num_terminals < inner.num_nodes:
        raise SpecError(
            f"concentrated must be over a network whose nodes all have terminals; {inner.spec} has switches"
        )
    below, switches, ports = neighbor_table(inner), inner.num_nodes, len(inner.ports)
    nodes = each * switches
    if (nodes + switches) * (ports + each) > MAX_ENTRIES:
        raise SpecError(f"{spec} is too large: tables of it would have more than {MAX_ENTRIES} entries")
    table = np.full((nodes + switches, ports + each), -1, np.int32)
    table[nodes:, :ports] = np.where(below < 0, -1, below + nodes)
    for place in range(each):
        table[place:nodes:each, ports + place] = np.arange(nodes, nodes + switches)
        table[nodes:, ports + place] = np.arange(place, nodes, each)
    names = (*inner.ports, *(Port(f"node{place}", ports + place) for place in range(each)))
    return EdgeNetwork(spec, table, names, num_terminals=nodes)


def layout(network: EdgeNetwork) -> Block:
    """Return the layout of the switches, each with its nodes in a ring around it."""
    import numpy as np

    from hdnhw.networks.build import build
    from hdnhw.topology.places import Block, layout, nested, ring

    assert isinstance(network.spec, Concentrated)
    around, each = ring(range(network.spec.each)), network.spec.each
    center = np.array([[around.width, around.height]]) / 2
    star = Block(np.concatenate([around.places, center]), around.width, around.height)
    block = nested(layout(build(network.spec.switches)), star)
    places = block.places.reshape(-1, each + 1, 2)
    return Block(np.concatenate([places[:, :each].reshape(-1, 2), places[:, each]]), block.width, block.height)


FAMILY = Family(makers=(concentrated, flattened_butterfly), spec=Concentrated, network=network, layout=layout)
