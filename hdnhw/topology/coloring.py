"""Networks whose nodes have two colors, such that the ends of some channels differ and those of others agree."""

import numpy as np
import numpy.typing as npt


def two_colors(table: npt.NDArray[np.int32], differ: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_] | None:
    """Return for each node whether it is of the other color than node 0, None if no such coloring exists.

    There is one if every cycle has an even number of edges whose ends differ; where all do, if there is no cycle of odd
    length (D. König, 1916).

    Parameters
    ----------
    table : ndarray of int32, shape (num_nodes, ports)
        As :func:`hdnhw.topology.metrics.neighbor_table` makes it, of a connected network.
    differ : ndarray of bool, shape (ports,)
        Whether the two ends of the edges behind each port are to differ.

    Returns
    -------
    ndarray of bool, shape (num_nodes,), or None
    """
    color, known = np.zeros((2, len(table)), np.bool_)
    known[0] = True
    reached = np.zeros(1, np.int64)
    while reached.size:
        behind = table[reached]
        new, at = np.unique(behind, return_index=True)
        fresh = (new >= 0) & ~known[new]
        row, port = np.divmod(at[fresh], table.shape[1])
        color[new[fresh]] = color[reached[row]] ^ differ[port]
        known[new[fresh]] = True
        reached = new[fresh].astype(np.int64)
    wrong = (color[table] ^ color[:, np.newaxis] ^ differ) & (table >= 0)
    return None if wrong.any() else color
