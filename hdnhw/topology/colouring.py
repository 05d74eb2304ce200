"""Networks whose nodes have two colours, no two neighbours the same."""

import numpy as np
import numpy.typing as npt

from hdnhw.topology.metrics import table_distances


def two_colours(table: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_] | None:
    """Return for each node whether its distance from node 0 is odd, if neighbours never agree; None if some do.

    None says that the network has a cycle of odd length, so that no colouring with two colours exists (D. König, 1916).

    Parameters
    ----------
    table : ndarray of int32, shape (num_nodes, ports)
        As :func:`hdnhw.topology.metrics.neighbor_table` makes it, of a connected network.

    Returns
    -------
    ndarray of bool, shape (num_nodes,), or None
    """
    odd = table_distances(table, 0) % 2 == 1
    agree = (odd[table] == odd[:, np.newaxis]) & (table >= 0)
    return None if agree.any() else odd
