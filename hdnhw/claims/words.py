"""What words of degree mean in the papers, the same in all rows, and which verdicts half or twice of it would turn."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any

from hdnhw.claims.claim import Case, Finding, Verdict, judge


@dataclass(frozen=True)
class Word:
    """A word of degree.

    Attributes
    ----------
    forms : str
        How it stands in the papers.
    meaning : str
        What is asked for, with ``{limit}`` in it.
    limit : float
        How much is asked for.
    """

    forms: str
    meaning: str
    limit: float

    @property
    def text(self) -> str:
        """The meaning with the limit."""
        return self.meaning.format(limit=f"{self.limit:g}")


WORDS = {
    "about": Word("about, approximately, very close", "off by no more than {limit} of what it is compared with", 0.1),
    "much": Word("much better, much less", "better by a factor of {limit} at least", 2),
    "most": Word("most, in most cases", "more than {limit} times as many cases where it is so as where it is not", 1),
    "several": Word("several hundreds, several millions", "at least one, and less than {limit} of the unit", 10),
    "order": Word(
        "Theta, Omega, O, optimal, constant factor",
        "the quotient of both is from 1/{limit} to {limit} on all networks of the row, and nowhere over {limit} times "
        "its least value; of O, the quotient over that of the smallest network",
        4,
    ),
}
"""By name."""

FACTOR = 2
"""By how much more or less strictly a row is judged, to see whether its verdict turns."""


def by_word(name: str, judged: Callable[[float], Finding]) -> Finding:
    """Judge by the limit of a word, and see what is found with less and with more.

    Parameters
    ----------
    name : str
        Of :data:`WORDS`.
    judged : callable
        Takes a limit; returns what is found by it.
    """
    limit = WORDS[name].limit
    found = judged(limit)
    others = {other: judged(other).verdict for other in (limit / FACTOR, limit * FACTOR)}
    turned = ", ".join(f"{verdict} with {other:g}" for other, verdict in others.items() if verdict != found.verdict)
    return replace(found, word=name, turned=turned or None)


def by_share(cases: int, total: int, **about: Any) -> Finding:
    """Judge what is said of most cases, by those in which it is so; `about`: other members of the finding."""

    def judged(limit: float) -> Finding:
        return Finding(verdict=Verdict.HOLDS if cases > limit * (total - cases) else Verdict.FALSE, **about)

    return by_word("most", judged)


def judge_from_size(cases: Sequence[Case], **about: Any) -> Finding:
    """Judge, with the least size from which on the claim holds as the condition."""
    wrong = max((case.nodes for case in cases if not case.holds), default=0)
    enough = min((case.nodes for case in cases if case.nodes > wrong), default=None)
    condition = None if enough is None else f"there are {enough:,} nodes or more"
    return judge([replace(case, condition=case.nodes > wrong) for case in cases], condition=condition, **about)


def is_about(value: float, other: float, limit: float) -> bool:
    """Return whether a value is off another by no more than a share of it."""
    return abs(value - other) <= limit * other


def by_order(cases: Sequence[Case], quotients: Sequence[Mapping[str, float]], **about: Any) -> Finding:
    """Judge what is of the order of something.

    Parameters
    ----------
    cases : sequence of Case
        They hold if what is not about orders does.
    quotients : sequence of mapping of str to float
        For each case, what is said to be of an order, over that; by a name.
    **about
        For :func:`hdnhw.claims.claim.judge`.
    """
    least: dict[str, float] = {}
    for some in quotients:
        least |= {name: min(value, least.get(name, value)) for name, value in some.items()}

    def judged(limit: float) -> Finding:
        def is_right(some: Mapping[str, float]) -> bool:
            return all(1 / limit <= value <= min(1, least[name]) * limit for name, value in some.items())

        pairs = zip(cases, quotients, strict=True)
        return judge([replace(case, holds=case.holds and is_right(some)) for case, some in pairs], **about)

    return by_word("order", judged)


def grown(name: str, orders: Iterable[float]) -> str:
    """Say how much an order grows over the networks of a row, and which other growth rates would not have passed."""
    some = list(orders)
    growth = max(some) / min(some)
    more = log(WORDS["order"].limit) / log(growth)
    below = f" or below {1 - more:.2g}" if more < 1 else ""
    return f"{name} grows {growth:.3g}-fold, and a power of it above {1 + more:.2g}{below} would not pass"
