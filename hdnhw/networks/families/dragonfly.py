"""The dragonfly: groups that are complete graphs, and one link between any two groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from hdnhw.spec import NetworkSpec
from hdnhw.spec.checks import check_edges, check_ports, integer
from hdnhw.topology.family import Family

if TYPE_CHECKING:
    from hdnhw.topology.edges import EdgeNetwork
    from hdnhw.topology.places import Block


@dataclass(frozen=True, repr=False)
class Dragonfly(NetworkSpec, maker="dragonfly"):
    """The largest dragonfly of its routers.

    Attributes
    ----------
    routers : int
        Of a group, a in the paper.
    links : int
        Of a router to other groups, h in the paper: there are ``a h + 1`` groups.
    """

    routers: int
    links: int


def dragonfly(a: int, h: int) -> Dragonfly:
    """Make the dragonfly of ``a h + 1`` groups of `a` routers, each with `h` links to other groups.

    Kim, Dally, Scott and Abts, Technology-driven, highly-scalable dragonfly topology, ISCA 2008. Its p terminals a
    router are ``concentrated(dragonfly(a, h), p)``; p = h and a = 2 h balance the load.
    """
    routers, links = integer(a, "dragonfly group", 1), integer(h, "dragonfly links", 1)
    made, degree = Dragonfly(routers, links), routers - 1 + links
    check_ports(str(made), degree)
    check_edges(str(made), routers * (routers * links + 1) * degree // 2)
    return made


def _edges(spec: Dragonfly) -> Iterator[tuple[int, int]]:
    """Yield the edges: global link l of a group leads to the group l + 1 further on (palm tree arrangement)."""
    routers, count = spec.routers, spec.routers * spec.links
    for group in range(count + 1):
        first = group * routers
        yield from ((first + i, first + j) for i in range(routers) for j in range(i + 1, routers))
        for link in range(count):
            other = (group + link + 1) % (count + 1)
            if group < other:
                yield first + link // spec.links, other * routers + (count - 1 - link) // spec.links


@lru_cache(maxsize=8)
def network(spec: Dragonfly) -> EdgeNetwork:
    """Return the network; router r of group g is node ``a g + r``."""
    from hdnhw.topology.edges import network_of_edges

    nodes = spec.routers * (spec.routers * spec.links + 1)
    return network_of_edges(spec, nodes, _edges(spec), diameter=3 if spec.routers > 1 else 1)


def layout(network: EdgeNetwork) -> Block:
    """Return a ring of groups, each a ring of its routers."""
    from hdnhw.topology.places import nested, ring

    assert isinstance(network.spec, Dragonfly)
    routers = network.spec.routers
    return nested(ring(range(network.num_nodes // routers)), ring(range(routers)))


FAMILY = Family(makers=(dragonfly,), spec=Dragonfly, network=network, layout=layout)
