"""What is made of the figures of a simulation: truncation of a warm-up, intervals of confidence, summaries."""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

STANDARD_ERRORS, EXCESS = 4, 3
"""Above 0 are the slope of what grows, and what piles up."""

LEAST_TIMES = 20
"""Independent parts of a run from which an interval of confidence can be told."""

FREEDOM = 3
"""Independent parts for a degree of freedom of Student's t: their number is estimated, too."""

DIGITS = 2
"""Of half the width of an interval."""

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


def batch_sums(values: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return how far the sum of each batch is from that of its share of the mean, over the mean weight of a batch.

    Parameters
    ----------
    values, weights : ndarray of float64, shape (batches,)
        Sums of what is averaged, and how many are in each; a batch may be empty.
    """
    mean = values.sum() / weights.sum()
    own: npt.NDArray[np.float64] = (values - mean * weights) / weights.mean()
    return own


def correlation_time(values: npt.NDArray[np.float64]) -> float:
    """Return the integrated autocorrelation time of a series whose mean is 0, in its steps, at least 1.

    The variance of the mean of n steps is that of n / time independent ones. Autocorrelations are summed in pairs as
    long as these fall and are above 0: the initial monotone sequence of Geyer, Statistical Science 7 (1992).

    Examples
    --------
    >>> correlation_time(np.array([1.0, -1.0, 1.0, -1.0]))
    1.0
    >>> correlation_time(np.repeat(np.random.default_rng(1).normal(size=100), 8)).__round__()
    8
    """
    steps = len(values)
    spectrum = np.fft.rfft(values, 2 * steps)
    covariance = np.fft.irfft(spectrum * spectrum.conj())[: steps // 2 * 2]
    if covariance[0] <= 0:
        return 1.0
    pairs = np.minimum.accumulate(covariance.reshape(-1, 2).sum(axis=1) / covariance[0])
    return max(1.0, 2 * float(pairs[: int(np.argmax(np.append(pairs, 0) <= 0))].sum()) - 1)


def interval(
    values: npt.NDArray[np.float64], weights: npt.NDArray[np.float64], relaxation: float = 0.0, spread: float = 0.0
) -> tuple[float, float]:
    """Return half the width of the 95 % confidence interval of a mean over batches, and how many are independent.

    The half width is infinite where fewer than :data:`LEAST_TIMES` are, or fewer values: from so few no interval can be
    told.

    Parameters
    ----------
    values, weights : ndarray of float64, shape (batches,)
        Of equal parts of time: sums of what is averaged, and how many are in each.
    relaxation : float
        Correlation time that is known of what is averaged, in batches, whatever that of the batches seems to be.
    spread : float
        Standard deviation that is known of a mean over that time.
    """
    total, batches = weights.sum(), len(values)
    if not total:
        return math.inf, 0.0
    own = batch_sums(values, weights)
    times = batches / max(correlation_time(own), 1.0 + float(relaxation))  # the batches' own is no longer than that
    if min(times, total) < LEAST_TIMES:
        return math.inf, times
    error = max(own.std() / math.sqrt(times - 1), spread * math.sqrt(relaxation / batches))
    return float(student(int(times / FREEDOM)) * error), times


def grows(values: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> bool:
    """Tell whether a mean over batches grows: whether the slope of its line is over 4 standard errors above 0.

    Parameters
    ----------
    values, weights : ndarray of float64, shape (batches,)
        See :func:`interval`.

    Examples
    --------
    >>> noise, ones = np.random.default_rng(1).normal(size=100), np.ones(100)
    >>> grows(noise, ones), grows(noise + np.linspace(0, 3, 100), ones)
    (False, True)
    """
    if len(values) < LEAST_TIMES or not weights.sum():
        return False
    own = batch_sums(values, weights)
    place = np.arange(len(own)) - (len(own) - 1) / 2
    squares = place @ place
    slope = place @ own / squares
    left = own - slope * place
    error = math.sqrt(left @ left / (len(own) - 2) / squares * correlation_time(left))
    return bool(slope > STANDARD_ERRORS * error)


def piles_up(created: Integers, taken: Integers) -> bool:
    """Tell whether less is taken than created, by over 3 standard errors of their difference.

    Of what does not pile up, a surplus of one batch is taken in another: the sum of all is nearer to 0 than by chance.

    Parameters
    ----------
    created, taken : ndarray of int64, shape (batches,)
        In equal parts of time.

    Examples
    --------
    >>> created = np.array([5, 5, 4, 6])
    >>> piles_up(created, np.array([6, 4, 5, 5])), piles_up(created, np.array([3, 4, 3, 4]))
    (False, True)
    """
    more = created - taken
    return bool(more.sum() > EXCESS * more.std(ddof=1) * math.sqrt(len(more)))


def rounded(value: float, half_width: float | None) -> float:
    """Return a figure with the digits that it has: two of half the width of its interval, or two without one.

    Examples
    --------
    >>> rounded(0.76543, 0.0123), rounded(0.76543, 0.5), rounded(0.076543, None)
    (0.765, 0.77, 0.077)
    """
    if not half_width:
        return float(f"{value:.{DIGITS}g}")
    return round(value, DIGITS - 1 - math.floor(math.log10(half_width)))


def mean_of(histogram: Integers) -> float:
    """Return the mean of a histogram that is not empty."""
    return float(histogram @ np.arange(len(histogram)) / histogram.sum())


def summarize(histogram: Integers) -> dict[str, float] | None:
    """Return mean, median (the lower one of two), 95th and 99th percentile and maximum of a histogram; None if empty.

    Examples
    --------
    >>> summarize(np.array([0, 2, 1, 1]))
    {'mean': 1.75, 'p50': 1, 'p95': 3, 'p99': 3, 'max': 3}
    """
    total = int(histogram.sum())
    if not total:
        return None
    below = np.cumsum(histogram)
    rank = {f"p{percent}": int(np.searchsorted(below, -(-total * percent // 100))) for percent in (50, 95, 99)}
    mean = round(mean_of(histogram), 4)
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
