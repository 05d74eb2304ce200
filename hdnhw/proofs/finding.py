"""What a proof has found."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

SECONDS = 600.0
"""CPU seconds after which a search is given up unless told otherwise."""

ANSWERS = ("proved", "bounded", "refuted", "undecided")
"""``bounded``: nothing breaks it within the schedule of as many cycles as `method` says, which is no proof."""

BARE = ("registers", "route", "arrival", "wiring", "phases", "delivery", "waiting")
"""Properties that are looked at of every fabric."""

BOUNDED = ("frames", "bursts")
"""Properties that are checked within a schedule: no others may be ``bounded``."""


def verdict(answers: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return what answers, each with its property, say together.

    Returns
    -------
    dict
        ``proved``, whether all are, but for those of :data:`BOUNDED`, which must be ``bounded``; if there are such,
        ``bounded``, their properties.
    """
    found = {(name, answer) for name, answer in answers}
    bounded = [name for name in BOUNDED if (name, "bounded") in found]
    holds = all(answer == ("bounded" if name in BOUNDED else "proved") for name, answer in found)
    return {"proved": holds, **({"bounded": bounded} if bounded else {})}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A property of a part of the emitted text, and whether it holds.

    Attributes
    ----------
    property : str
        ``route``, ``arrival``, ``wiring`` and so on: docs/proofs.md says what each of them is.
    module, part : str
        Where: a module, and what within it.
    answer : str
        One of :data:`ANSWERS`.
    method : str
        How it was found.
    cases : int or None
        Of an enumeration, how many.
    why : str
        Of a refutation, what is wrong; if there is no answer, why.
    trace : str
        Of a refutation, a file that shows it, a waveform in VCD; empty if there is none.
    invariant : mapping
        Of a proof, if it was looked for, what :class:`hdnhw.proofs.search.Settled` has.
    """

    property: str
    module: str
    part: str
    answer: str
    method: str
    cases: int | None = None
    why: str = ""
    trace: str = ""
    invariant: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def compared(cls, name: str, module: str, part: str, *, method: str, cases: int, why: str) -> "Finding":
        """Return what is found of property `name` by comparing all cases: refuted if there is anything to say `why`."""
        answer = "refuted" if why else "proved"
        return cls(property=name, module=module, part=part, answer=answer, method=method, cases=cases, why=why)

    def row(self) -> dict[str, Any]:
        """Return it as a row of a result."""
        return {key: value for key, value in asdict(self).items() if key != "invariant" and (key != "trace" or value)}
