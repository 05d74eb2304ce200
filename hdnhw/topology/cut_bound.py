"""The edges around a set of nodes of a product or dual-net: a bound from below, in closed form.

Its proof is in docs/results/04-bisection.md.
"""

from fractions import Fraction
from math import ceil

from hdnhw.spec import Factor
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.graph import Network


def cut_share(network: DualNetwork) -> Fraction:
    """Return c such that at least ``2 c a (1 - a) N`` edges leave any set of a N of the N nodes.

    For a product it is the least p / (2 load) of its factors, of p nodes each. A level makes at most 1 of it, and
    halves it unless there is one cluster a class, which makes a product with an edge.

    Examples
    --------
    >>> from hdnhw.networks.parse import parse
    >>> specs = ("cube(5)", "torus(6, 4)", "complete(5)", "rdn(cube(3), 2)", "rdn(torus(6), 1)", "rdn(complete(5), 1)")
    >>> [str(cut_share(DualNetwork(parse(spec)))) for spec in specs]
    ['1', '2/3', '5/2', '1/4', '1/3', '1/2']
    """
    share = min(Fraction(factor.size, 2) / _load(factor) for factor in network.factors)
    for level in network.levels:
        share = min(share, Fraction(1)) / (2 if level.cluster else 1)
    return share


def _load(factor: Factor) -> Fraction:
    """Return the messages that cross the fullest channel when each node of a factor sends one to each other node.

    On a cycle both ways round are taken by halves where they are as long.
    """
    squares = factor.size**2 // 4
    if factor.kind == "complete" or factor.is_edge:
        return Fraction(1)
    return Fraction(squares, 2) if factor.kind == "cycle" else Fraction(squares)


def bound_around(network: DualNetwork, inside: int) -> int:
    """Return how many edges at least leave any set of so many nodes.

    Examples
    --------
    >>> from hdnhw.networks.parse import parse
    >>> [bound_around(DualNetwork(parse("rdn(cube(1), 1)")), inside) for inside in range(9)]
    [0, 1, 2, 2, 2, 2, 2, 1, 0]
    """
    nodes = network.num_nodes
    return ceil(2 * cut_share(network) * inside * (nodes - inside) / nodes)


def known_bound(network: Network) -> int:
    """Return how many edges any cut of a product or dual-net into halves has at least; 0 for another network.

    Examples
    --------
    >>> from hdnhw.networks.parse import parse
    >>> [known_bound(DualNetwork(parse(spec))) for spec in ("rdn(cube(3), 1)", "rdn(cube(3), 2)", "dualcube(4)")]
    [32, 4096, 32]
    """
    return bound_around(network, network.num_nodes // 2) if isinstance(network, DualNetwork) else 0
