"""The search for a smaller cut of a network into halves, by a mixed-integer program."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order

SEARCH_TREE = 500
"""Nodes of the search tree after which it is given up."""

OPTIMAL, INFEASIBLE = 0, 2
"""Status of a program that has been solved, of :func:`scipy.optimize.milp`."""

Table = npt.NDArray[np.int32]
Half = npt.NDArray[np.bool_]


def search_cut(table: Table, most: int, terminals: int | None = None) -> tuple[Half | None, bool]:
    """Search for a cut of at most so many edges into halves of the first nodes, or of all; say whether it has ended.

    Between a node and the half that it is not in, each path is cut; summed up over the paths of a tree that is a row
    that makes the program's bound almost that of the flow.
    """
    nodes, halved = len(table), terminals or len(table)
    src, port = np.nonzero(table > np.arange(nodes)[:, None])
    dst, edges = table[src, port], len(src)
    here, place = np.tile(np.arange(edges), 3), np.concatenate([src, dst, nodes + np.arange(edges)])
    one = np.ones(edges)

    def rows(first: int, second: int, cut: int) -> coo_array:
        return coo_array(
            (np.concatenate([first * one, second * one, cut * one]), (here, place)), (edges, nodes + edges)
        )

    count = np.repeat([1.0, 0.0], [nodes, edges])[None]
    counted = np.where(np.arange(nodes + edges) < halved, 1.0, 0.0)[None]
    trees = _tree_rows(table, src, dst, halved)
    limits = [
        LinearConstraint(rows(1, -1, -1), -np.inf, 0),
        LinearConstraint(rows(-1, 1, -1), -np.inf, 0),
        LinearConstraint(rows(1, 1, -1), 0, np.inf),
        LinearConstraint(rows(1, 1, 1), -np.inf, 2),
        LinearConstraint(counted, halved // 2, (halved + 1) // 2),
        LinearConstraint(1 - count, -np.inf, most),
        LinearConstraint(trees, halved // 2, np.inf),
    ]
    solved = milp(
        1 - count[0],
        integrality=count[0],
        bounds=Bounds(0, np.arange(nodes + edges) > 0),
        constraints=limits,
        options={"node_limit": SEARCH_TREE},
    )
    found = None if solved.x is None else solved.x[:nodes] > 0.5
    return found, solved.status in (OPTIMAL, INFEASIBLE)


def _tree_rows(table: Table, src: npt.NDArray[Any], dst: npt.NDArray[Any], halved: int) -> coo_array:
    """Return, for a breadth-first tree of each node, how many of the first nodes are behind each edge, at most half."""
    nodes, edges = len(table), len(src)
    graph = coo_array((np.ones(edges), (src, dst)), shape=(nodes, nodes)).tocsr()
    edge_of = {pair: nodes + edge for edge, pair in enumerate(zip(src.tolist(), dst.tolist(), strict=True))}
    result = np.zeros((nodes, nodes + edges))
    for root in range(nodes):
        order, parent = breadth_first_order(graph, root, directed=False)
        behind = (np.arange(nodes) < halved).astype(np.int64)
        for node in order[:0:-1].tolist():
            up = int(parent[node])
            behind[up] += behind[node]
            result[root, edge_of[min(up, node), max(up, node)]] = min(behind[node], halved // 2)
    return coo_array(result)
