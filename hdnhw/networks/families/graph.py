"""Any graph: from a file, as a list of edges, or a bus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING

from hdnhw.spec import NetworkSpec
from hdnhw.spec.checks import MAX_PORTS, check_edges, integer
from hdnhw.support.errors import SpecError
from hdnhw.topology.family import Family

if TYPE_CHECKING:
    from hdnhw.topology.edges import EdgeNetwork
    from hdnhw.topology.graphfile import NamedGraph
    from hdnhw.topology.places import Block

SHOWN_EDGES = 64
"""Most edges of a list that is written out in a spec string."""


@dataclass(frozen=True, repr=False)
class Graph(NetworkSpec):
    """A graph, by its edges: a file that changes later does not change it.

    Attributes
    ----------
    text : str
        The canonical spec string.
    num_nodes, num_terminals : int
        Nodes, and how many of them have a terminal: the first ones.
    edges : tuple of (int, int)
        Each once, the smaller number first, sorted.
    names : tuple of str
        Of the nodes; empty if these are their numbers.
    types : tuple of str
        Of the channels of each edge; empty if all are alike.
    """

    text: str
    num_nodes: int
    num_terminals: int
    edges: tuple[tuple[int, int], ...]
    names: tuple[str, ...]
    types: tuple[str, ...] = ()


def graph(file: str | Sequence[Sequence[int]]) -> Graph:
    """Make the network of a graph: a file, such as a list of edges, GraphML or DOT, or [[0, 1], ...]."""
    from hdnhw.topology.graphfile import named_graph, read_graph

    if isinstance(file, str):
        if not file.isascii() or not file.isprintable():
            raise SpecError(f"graph file must have a name of ASCII characters, not {file!r}")
        return graph_of(read_graph(file), f"graph({file!r})")
    pairs = file if isinstance(file, Sequence) else ()
    if not pairs or not all(isinstance(edge, (list, tuple)) and len(edge) == 2 for edge in pairs):
        raise SpecError("graph must be the name of a file, or a list of edges such as [[0, 1], [1, 2]]")
    edges = [
        (str(integer(one, "graph node", 0)), str(integer(other, "graph node", 0))) for one, other in map(tuple, pairs)
    ]
    named = named_graph("graph", (end for edge in edges for end in edge), edges, ())
    return graph_of(named, _listed(named))


def bus(n: int) -> Graph:
    """Make a bus of `n` nodes, each with one link to a switch that has no terminal and stands for the bus."""
    nodes = integer(n, "bus nodes", 2)
    if nodes > MAX_PORTS:
        raise SpecError(f"bus nodes must be at most {MAX_PORTS}, not {nodes}")
    return Graph(f"bus({nodes})", nodes + 1, nodes, tuple((node, nodes) for node in range(nodes)), ())


def graph_of(named: NamedGraph, text: str | None = None) -> Graph:
    """Return the spec of a graph; without a text its edges are the text, or where they are many, a digest of them."""
    numbers = tuple(map(str, range(len(named.names))))
    names = () if named.names == numbers else named.names
    is_plain = not names and not named.types and named.num_terminals == len(numbers)
    if text is None and is_plain and len(named.edges) <= SHOWN_EDGES:
        text = _listed(named)
    if text is None:
        digest = sha256(repr(named).encode()).hexdigest()[:16]
        text = f"graph('in memory: {len(numbers)} nodes, sha256 {digest}')"
    check_edges(text, len(named.edges))
    return Graph(text, len(named.names), named.num_terminals, named.edges, names, named.types)


def _listed(named: NamedGraph) -> str:
    return f"graph({[[int(named.names[end]) for end in edge] for edge in named.edges]})"


@lru_cache(maxsize=8)
def network(spec: Graph) -> EdgeNetwork:
    """Return the network of a graph."""
    from hdnhw.topology.edges import network_of_edges

    known = {"num_terminals": spec.num_terminals, "names": spec.names}
    return network_of_edges(spec, spec.num_nodes, spec.edges, spec.types, **known)


def circle(network: EdgeNetwork) -> Block:
    """Return all nodes on one ring, in the order of their numbers."""
    from hdnhw.topology.places import ring

    return ring(range(network.num_nodes))


FAMILY = Family(makers=(graph, bus), spec=Graph, network=network, layout=circle)
