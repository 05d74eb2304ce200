"""Hierarchical swapped networks over nuclei with switches, a bus for example."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from hdnhw.spec import NetworkSpec
from hdnhw.support.errors import SpecError
from hdnhw.topology.family import Family

if TYPE_CHECKING:
    from hdnhw.topology.edges import EdgeNetwork
    from hdnhw.topology.places import Block


@dataclass(frozen=True, repr=False)
class SwitchedSwappedNet(NetworkSpec, maker="hsn"):
    """HSN(l, G) over a nucleus G some of whose nodes have no terminal."""

    levels: int
    nucleus: NetworkSpec


@lru_cache(maxsize=8)
def network(spec: SwitchedSwappedNet) -> EdgeNetwork:
    """Return the network: nodes are X_l .. X_1 over those of G with a terminal; the switches of the nuclei follow.

    Ports are those of G, then ``swap2`` to ``swapl``, which switches do not have (HSN paper, sections 2.1 and 5.3).

    Raises
    ------
    SpecError
        If the network is too large.
    """
    import numpy as np

    from hdnhw.networks.build import build
    from hdnhw.topology.edges import EdgeNetwork
    from hdnhw.topology.metrics import MAX_ENTRIES, neighbor_table
    from hdnhw.topology.swapped import swap_ports

    nucleus = build(spec.nucleus)
    size, ports, copies = nucleus.num_terminals, len(nucleus.ports), nucleus.num_terminals ** (spec.levels - 1)
    if copies * nucleus.num_nodes * (ports + spec.levels - 1) > MAX_ENTRIES:
        raise SpecError(f"{spec} is too large: tables of it would have more than {MAX_ENTRIES} entries")
    below, nodes = neighbor_table(nucleus), np.arange(copies * size)
    number = np.arange(copies * nucleus.num_nodes, dtype=np.int32)
    number = np.hstack([number[: len(nodes)].reshape(copies, -1), number[len(nodes) :].reshape(copies, -1)])
    table = np.full((number.size, ports + spec.levels - 1), -1, np.int32)
    table[number, :ports] = np.where(below < 0, -1, number[:, below])
    for level in range(2, spec.levels + 1):
        apart = nodes % size - nodes // size ** (level - 1) % size
        table[: len(nodes), ports + level - 2] = np.where(apart, nodes + apart * (size ** (level - 1) - 1), -1)
    return EdgeNetwork(spec, table, swap_ports(nucleus, spec.levels), num_terminals=len(nodes))


def layout(network: EdgeNetwork) -> Block:
    """Return nuclei, each as its own picture has it, in a ring."""
    import numpy as np

    from hdnhw.networks.build import build
    from hdnhw.topology.places import Block, nested, ring
    from hdnhw.topology.places import layout as layout_of

    assert isinstance(network.spec, SwitchedSwappedNet)
    nucleus = build(network.spec.nucleus)
    block = nested(ring(range(network.num_nodes // nucleus.num_nodes)), layout_of(nucleus))
    places = block.places.reshape(-1, nucleus.num_nodes, 2)
    first, last = places[:, : nucleus.num_terminals], places[:, nucleus.num_terminals :]
    return Block(np.concatenate([first.reshape(-1, 2), last.reshape(-1, 2)]), block.width, block.height)


FAMILY = Family(makers=(), spec=SwitchedSwappedNet, network=network, layout=layout)
