"""What is made of the figures of a simulation: truncation of a warm-up, intervals of confidence, summaries."""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

__all__ = ["bins", "grows", "half_width", "student", "summarise", "truncation_point"]

STANDARD_ERRORS = 5
"""Above 0 is the slope of latencies that grow; fewer are found where bursts of messages are as long as batches."""

MOST_BINS = 40
"""Of a histogram that is shown."""

CONFIDENCE = 0.95
"""Of intervals."""

Integers = npt.NDArray[np.int64]


def half_width(values: npt.ArrayLike) -> float:
    """Return half the width of the 95 % confidence interval of a mean, by Student's t; infinite for a single value.

    Parameters
    ----------
    values : array_like of float, shape (values,)
        Independent: of batches or of seeds.

    Examples
    --------
    >>> round(half_width([1.0, 2.0, 3.0]), 4), half_width([1.0])
    (2.4841, inf)
    """
    sample = np.asarray(values, dtype=np.float64)
    if len(sample) < 2:
        return math.inf
    return float(student(len(sample) - 1) * np.std(sample, ddof=1) / math.sqrt(len(sample)))


@cache
def student(freedom: int) -> float:
    """Return within how many standard errors Student's t is with probability :data:`CONFIDENCE`.

    Parameters
    ----------
    freedom : int
        Degrees of it, at least 1.

    References
    ----------
    .. [1] M. Abramowitz and I. A. Stegun (1964), Handbook of Mathematical Functions, 26.7.3 and 26.7.4.

    Examples
    --------
    >>> round(student(1), 3), round(student(30), 3)
    (12.706, 2.042)
    """
    odd = freedom % 2
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        cosine = math.cos(angle)
        term = cosine**odd
        total = term if freedom > 1 else 0.0
        for number in range(2 + odd, freedom, 2):
            term *= (number - 1) / number * cosine**2
            total += term
        share = (angle + math.sin(angle) * total) * 2 / math.pi if odd else math.sin(angle) * total
        low, high = (angle, high) if share < CONFIDENCE else (low, angle)
    return math.sqrt(freedom) * math.tan(low)


def truncation_point(means: Sequence[float]) -> int:
    """Return how many values at the beginning to leave out, half of them at most, by the MSER of White (1997).

    Examples
    --------
    >>> truncation_point([9.0, 5.0, 1.1, 0.9, 1.0, 1.1, 0.9, 1.0])
    2
    """
    values = np.asarray(means, dtype=np.float64)
    errors = [values[start:].var() / (len(values) - start) for start in range(len(values) // 2 + 1)]
    return int(np.argmin(errors))


def grows(means: npt.NDArray[np.float64]) -> bool:
    """Tell whether values grow: whether the slope of the least-squares line is over 5 of its standard errors above 0.

    Parameters
    ----------
    means : ndarray of float64, shape (values,)
        At equal distances; NaN where there is none. Where more than half are NaN, nothing is seen to grow.

    Examples
    --------
    >>> grows(np.array([1.0, 2.1, 2.9, 4.2, 5.0])), grows(np.array([1.0, 1.2, 0.9, 1.1, 1.2]))
    (True, False)
    """
    (there,) = np.nonzero(~np.isnan(means))
    if len(there) <= max(2, len(means) // 2):
        return False
    place, value = there - there.mean(), means[there] - means[there].mean()
    squares = place @ place
    slope = place @ value / squares
    left = value - slope * place
    error = math.sqrt(left @ left / (len(there) - 2) / squares)
    return bool(slope > STANDARD_ERRORS * error)


def summarise(histogram: Integers) -> dict[str, float] | None:
    """Return mean, median (the lower one of two), 95th and 99th percentile and maximum of a histogram; None if empty.

    Examples
    --------
    >>> summarise(np.array([0, 2, 1, 1]))
    {'mean': 1.75, 'p50': 1, 'p95': 3, 'p99': 3, 'max': 3}
    """
    total = int(histogram.sum())
    if not total:
        return None
    below = np.cumsum(histogram)
    rank = {f"p{percent}": int(np.searchsorted(below, -(-total * percent // 100))) for percent in (50, 95, 99)}
    mean = round(float(histogram @ np.arange(len(histogram))) / total, 4)
    return {"mean": mean, **rank, "max": int(np.flatnonzero(histogram)[-1])}


def bins(histogram: Integers) -> list[dict[str, int]]:
    """Return a histogram in at most :data:`MOST_BINS` bins of one width, which is 1, 2 or 5 times a power of ten.

    Examples
    --------
    >>> bins(np.array([0, 2, 0, 1]))
    [{'from': 1, 'to': 1, 'messages': 2}, {'from': 2, 'to': 2, 'messages': 0}, {'from': 3, 'to': 3, 'messages': 1}]
    """
    there = np.flatnonzero(histogram)
    if not len(there):
        return []
    least, most = int(there[0]), int(there[-1])
    widths = (step * 10**power for power in range(20) for step in (1, 2, 5))
    width = next(width for width in widths if most // width - least // width < MOST_BINS)
    first = least // width * width
    counts = np.add.reduceat(histogram[: most + 1], np.arange(first, most + 1, width))
    return [
        {"from": low, "to": low + width - 1, "messages": int(count)}
        for low, count in zip(range(first, most + 1, width), counts, strict=True)
    ]
