"""The least load of the fullest channel when every node sends to every other, over all ways to route and split them.

It is a maximum concurrent flow, as a linear program with a variable a source and channel. The average of a flow and its
images under the automorphisms of the network is as good as the flow, and the same for all that is alike. Where all
channels are, that leaves nothing to choose: each carries its share of all hops of shortest routes. Else one source
an orbit of nodes is enough, one load an orbit of channels and, for each source, one variable an orbit of channels under
the automorphisms that leave the source where it is.

References
----------
.. [1] F. Shahrokhi and D. W. Matula, The maximum concurrent flow problem, J. ACM 37 (1990).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.topology.metrics import table_distances
from hdnhw.topology.symmetry import Symmetry, symmetry

MOST_NODES = 1 << 15
"""Of a network whose symmetry is searched for."""

MOST_FLOWS = 1 << 16
"""Variables of a linear program."""

UNIT = 720_720
"""Length of the longest channel; one of a length that is a fraction of it with a denominator up to 16 is an integer."""

Table = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Flow:
    """The load of the fullest channel in a total exchange, messages, from below and from above.

    Attributes
    ----------
    at_least : Fraction
        What it is with any routes. Weights of the channels prove it: it is the sum of all distances, in weights, over
        the sum of weights. They are the program's prices, as integers; so it is the optimum where these are simple
        fractions of one another, and next to it elsewhere.
    reached : float
        What it is in the program's own flow, to the solver's tolerance.
    """

    at_least: Fraction
    reached: float


def flow_bound(table: Table) -> Fraction | None:
    """Return the least possible largest channel load of a total exchange with all ports: :attr:`Flow.at_least`.

    Examples
    --------
    >>> from hdnhw.topology.metrics import neighbor_table
    >>> from hdnhw.networks.build import build
    >>> specs = ("cube(4)", "torus(8)", "torus(4, 8)", "complete(5)", "rdn(cube(3), 1)")
    >>> [int(flow_bound(neighbor_table(build(spec)))) for spec in specs]
    [8, 8, 32, 1, 176]
    """
    flow = least_load(table)
    return None if flow is None else flow.at_least


def least_load(
    table: Table, *, weight: npt.NDArray[np.int64] | None = None, most_flows: int | None = None
) -> Flow | None:
    """Route a total exchange so that the fullest channel carries as little as can be.

    Parameters
    ----------
    table : ndarray of int32, shape (num_nodes, ports)
        As :func:`hdnhw.topology.metrics.neighbor_table` makes it, of a connected simple graph.
    weight : ndarray of int64, shape (num_nodes,), optional
        Of the nodes: one sends the product of their weights to another. One each, if omitted.
    most_flows : int, optional
        In place of :data:`MOST_FLOWS`.

    Returns
    -------
    Flow or None
        None if the network has more than :data:`MOST_NODES` nodes, the program more than :data:`MOST_FLOWS` variables,
        or the search for symmetry or the solver gave up, or nodes that are alike have not the same weight.
    """
    weight = np.ones(len(table), np.int64) if weight is None else weight
    nodes, channels, most = len(table), int((table >= 0).sum()), most_flows or MOST_FLOWS
    whole = symmetry(table) if nodes <= MOST_NODES else None
    if whole is None or nodes * channels > most * whole.order:
        return None
    firsts = np.unique(whole.node_orbit, return_index=True)[1]
    if not np.array_equal(weight[firsts][whole.node_orbit], weight):
        return None
    if not (whole.channel_orbit > 0).any():
        share = Fraction(nodes * int(weight[0]) ** 2 * int(table_distances(table, 0).sum()), channels)
        return Flow(share, float(share))
    sources, sizes = firsts[weight[firsts] > 0], np.bincount(whole.node_orbit)[weight[firsts] > 0]
    around = [symmetry(table, fixed=int(source)) for source in sources]
    known = [found for found in around if found is not None]
    if len(known) < len(around) or sum(int(found.channel_orbit.max()) + 1 for found in known) > most:
        return None
    solved = _solve(table, weight, whole, sources, sizes, known)
    if solved is None:
        return None
    prices, reached = solved
    lengths = np.rint(prices * UNIT)
    return Flow(_distance_share(table, weight, lengths[whole.channel_orbit], sources, sizes), reached)


def _solve(
    table: Table,
    weight: npt.NDArray[np.int64],
    whole: Symmetry,
    sources: npt.NDArray[Any],
    sizes: npt.NDArray[Any],
    around: list[Symmetry],
) -> tuple[npt.NDArray[np.float64], float] | None:
    """Solve the program; return the price of load on the channels of each orbit, 1 for the highest, and the load."""
    from scipy.optimize import linprog
    from scipy.sparse import block_diag, coo_array, hstack

    src, port = np.nonzero(table >= 0)
    balances, supplies, loads = [], [], []
    channels = np.bincount(whole.channel_orbit[src, port])
    for source, size, found in zip(sources, sizes, around, strict=True):
        first = np.unique(found.channel_orbit[src, port], return_index=True)[1]
        flows = np.arange(len(first))
        tail, head = found.node_orbit[src[first]], found.node_orbit[table[src[first], port[first]]]
        supply = np.bincount(found.node_orbit, weight) * float(weight[source])
        supply[found.node_orbit[source]] -= float(weight[source] * weight.sum())
        shape = (len(supply), len(flows))
        arrives, leaves = (coo_array((np.ones(len(flows)), (nodes, flows)), shape=shape) for nodes in (head, tail))
        balances.append(arrives - leaves)
        supplies.append(supply)
        orbit = whole.channel_orbit[src[first], port[first]]
        loads.append(coo_array((np.full(len(flows), float(size)), (orbit, flows)), shape=(len(channels), len(flows))))
    balance = block_diag(balances, format="csr")
    most = coo_array(-channels[:, None].astype(float))
    solved = linprog(
        np.append(np.zeros(balance.shape[1]), 1.0),
        A_ub=hstack([*loads, most]),
        b_ub=np.zeros(len(channels)),
        A_eq=hstack([balance, coo_array((balance.shape[0], 1))]),
        b_eq=np.concatenate(supplies),
        method="highs-ipm",
    )
    if not solved.success:
        return None
    prices = -solved.ineqlin.marginals
    return prices / prices.max(), float(solved.fun)


def _distance_share(
    table: Table,
    weight: npt.NDArray[np.int64],
    length: npt.NDArray[np.float64],
    sources: npt.NDArray[Any],
    sizes: npt.NDArray[Any],
) -> Fraction:
    """Return the sum of all distances, as often as there are messages, over that of all lengths, which are integers."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    src, port = np.nonzero(table >= 0)
    own = length[src, port]
    graph = csr_array((own, (src, table[src, port])), shape=(len(table), len(table)))
    distances = sum(
        int(size) * int(weight[source]) * int(weight @ dijkstra(graph, indices=source))
        for source, size in zip(sources, sizes, strict=True)
    )
    return Fraction(distances, int(own.sum()))
