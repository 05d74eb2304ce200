"""Node connectivity: how many nodes must fail for a network to fall apart, by maximum flows.

References
----------
.. [1] S. Even, Graph Algorithms, Computer Science Press, 1979, section 6.2.
.. [2] M. E. Watkins, Connectivity of transitive graphs, J. Combinatorial Theory 8 (1970).
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.topology.metrics import table_distances
from hdnhw.topology.symmetry import Symmetry, symmetry

WORK = 1 << 24
"""Channels of a network times flows through it, at most."""

Table = npt.NDArray[np.int32]


def node_connectivity(table: Table, found: Symmetry | None, *, work: int = WORK) -> int | None:
    """Return the fewest nodes whose removal leaves a network that is not connected, or a single node.

    Of a connected network whose edges are all alike it is the smallest degree [2]_. Else paths to all others are
    counted, from one node more than the smallest degree: whichever fail, one of these is left; or from a single node,
    if it stands for an orbit of more, and then to one node an orbit of those that it is not next to.

    Parameters
    ----------
    table : ndarray of int32, shape (num_nodes, ports)
        As :func:`hdnhw.topology.metrics.neighbor_table` makes it, of a simple graph.
    found : Symmetry or None
        Of the network, if known.
    work : int
        See :data:`WORK`.

    Returns
    -------
    int or None
        None if it is too much work.

    Examples
    --------
    >>> from hdnhw.topology.metrics import neighbor_table
    >>> from hdnhw.networks.build import build
    >>> table = neighbor_table(build("rdn(cube(3), 1)"))
    >>> node_connectivity(table, symmetry(table))
    4
    """
    nodes, degrees = len(table), (table >= 0).sum(axis=1)
    most = int(degrees.min())
    if found is not None and found.edge_symmetric and table_distances(table, 0).min() == 0:
        return most
    sources = list(range(most + 1))
    targets = [np.arange(nodes)] * len(sources)
    sizes = np.bincount([0] if found is None else found.node_orbit)
    if found is not None and sizes.max() > most:
        source = int(np.flatnonzero(found.node_orbit == sizes.argmax())[0])
        around = symmetry(table, fixed=source)
        if around is not None:
            sources, targets = [source], [np.unique(around.node_orbit, return_index=True)[1]]
    apart = [
        (source, int(target))
        for source, some in zip(sources, targets, strict=True)
        for target in some
        if target != source and target not in table[source]
    ]
    if len(apart) * int(degrees.sum()) > work:
        return None
    split = _split(table)
    return min([most, *(_flow(split, source, target) for source, target in apart)])


def disjoint_paths(table: Table, source: int, target: int) -> int:
    """Return the most paths between two nodes that are not neighbors which share no other node."""
    return _flow(_split(table), source, target)


def _flow(split: Any, source: int, target: int) -> int:
    from scipy.sparse.csgraph import maximum_flow

    return int(maximum_flow(split, 2 * source + 1, 2 * target).flow_value)


def _split(table: Table) -> Any:
    """Return the network with a channel of capacity 1 in place of each node, and one of capacity 1 for each channel."""
    from scipy.sparse import coo_array

    nodes = len(table)
    src, port = np.nonzero(table >= 0)
    tails = np.concatenate([2 * np.arange(nodes), 2 * src + 1])
    heads = np.concatenate([2 * np.arange(nodes) + 1, 2 * table[src, port]])
    return coo_array((np.ones(len(tails), np.int32), (tails, heads)), shape=(2 * nodes, 2 * nodes)).tocsr()
