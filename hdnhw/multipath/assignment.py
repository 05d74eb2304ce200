"""The cheapest way to give each of a few things one of a few others."""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment


def cheapest_pairs(costs: Sequence[Sequence[int]]) -> list[int]:
    """Return the column of each row, no two the same, with the least sum; there are at least as many columns.

    Examples
    --------
    >>> cheapest_pairs([[1, 2, 9], [1, 4, 9]])
    [1, 0]
    """
    if not costs:
        return []
    return [int(column) for column in linear_sum_assignment(np.array(costs))[1]]
