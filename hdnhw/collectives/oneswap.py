"""When data cross HSN(l, K_M), l < M, over one swap each, all dimensions of the product of complete graphs at once.

The datum of (a; b) for (c; b), a and c being values of X_i, b of X_1, goes to (a; c) in the nucleus, over the swap to
(c; a), and to (c; b) in the nucleus. Its first hop adds s = c - b, its last one u = b - a, modulo M; where that is 0
there is none. Port s of the nucleus carries it in step ``first(i, s)`` and port u in step ``last(i, u)``, the same in
all nodes; level 1 goes in step l. So nodes differ only in when their swap carries the datum of s, which depends on
c - a: M data, each in a step of its own between its first and its last hop.
"""

from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush
from itertools import product


@dataclass(frozen=True)
class OneSwapTimes:
    """Steps, counted from 1.

    Attributes
    ----------
    levels, size : int
        l and M.
    steps : int
        T.
    swaps : dict of (int, int) to tuple of int
        For each level i and c - a the steps in which the swap carries the data of s = 0 .. M - 1.
    """

    levels: int
    size: int
    steps: int
    swaps: dict[tuple[int, int], tuple[int, ...]]

    def first(self, level: int, shift: int) -> int:
        """Return the step of the first hop that adds `shift`, 1 to l - 1; 0 if there is none."""
        return _first(self.levels, level - 2, shift)

    def last(self, level: int, shift: int) -> int:
        """Return the step of the last hop that adds `shift`, T - l + 2 to T; T + 1 if there is none."""
        return self.steps + 1 - _first(self.levels, self.levels - level, shift)


def _first(levels: int, row: int, shift: int) -> int:
    return 1 + (shift + row) % (levels - 1) if shift else 0


@lru_cache(maxsize=16)
def one_swap_times(levels: int, size: int) -> OneSwapTimes:
    """Return times of as few steps as this order of the hops allows: ``max(M, 2 l - 1)``, or one more.

    A port carries 2 (l - 1) first and last hops and one of level 1, a swap M data. M steps are the fewest that any way
    of doing it takes, see :func:`hdnhw.collectives.emulated.lower_bound_steps`. Data wait for a swap in the order of
    their last hops (earliest deadline first), which finds times if there are any.

    Raises
    ------
    ValueError
        Unless 2 <= l < M.

    Examples
    --------
    >>> [one_swap_times(2, size).steps for size in (3, 4, 8)], [one_swap_times(3, size).steps for size in (4, 5, 8)]
    ([3, 4, 8], [5, 5, 8])
    >>> [one_swap_times(4, size).steps for size in (5, 6, 7, 8, 9)]
    [7, 8, 8, 9, 9]
    """
    if not 2 <= levels < size:
        raise ValueError(f"levels must be 2 to {size - 1}, not {levels}")
    steps = max(size, 2 * levels - 1)
    while (swaps := _all_orders(OneSwapTimes(levels, size, steps, {}))) is None:
        steps += 1
    return OneSwapTimes(levels, size, steps, swaps)


def _all_orders(times: OneSwapTimes) -> dict[tuple[int, int], tuple[int, ...]] | None:
    """Return the steps of all swaps, or None if the data of one do not fit."""
    orders = {}
    for key in product(range(2, times.levels + 1), range(1, times.size)):
        order = _order(times, *key)
        if order is None:
            return None
        orders[key] = order
    return orders


def _order(times: OneSwapTimes, level: int, ahead: int) -> tuple[int, ...] | None:
    """Return the steps in which a swap carries its data, or None if they do not fit."""
    data = range(times.size)
    arrive = sorted(data, key=lambda shift: times.first(level, shift), reverse=True)
    when, waiting = [0] * times.size, list[tuple[int, int]]()
    for step in range(1, times.steps + 1):
        while arrive and times.first(level, arrive[-1]) < step:
            shift = arrive.pop()
            heappush(waiting, (times.last(level, (ahead - shift) % times.size), shift))
        if waiting:
            leaves, shift = heappop(waiting)
            if leaves <= step:
                return None
            when[shift] = step
    return tuple(when) if all(when) else None
