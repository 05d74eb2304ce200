"""A claim of a paper, and what comes out when it is checked."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """What a check found.

    Members
    -------
    HOLDS
        True in every case that was checked.
    PARTLY
        True under a condition that the paper does not state, and, of the cases checked, only there.
    MISPRINT
        Not what is printed, but what the paper itself says elsewhere, in every case checked.
    FALSE
        There is a counterexample.
    """

    HOLDS = "holds"
    PARTLY = "partly"
    MISPRINT = "misprint"
    FALSE = "false"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What was found.

    Attributes
    ----------
    computed : str
        What came out, in a phrase.
    verdict : Verdict
    corrected : str or None
        What is true instead, if the check found that it is.
    counterexample : str or None
        The smallest one.
    elsewhere : str or None
        Of a misprint, where the paper says what is corrected.
    table : sequence of mapping
        The cells behind the phrase, where the paper has a table; rows of the same keys.
    search : mapping or None
        ``spec``, ``nodes`` and ``seconds`` of a breadth-first search of a large network.
    word : str or None
        The word of degree that it was judged by, a name in :data:`hdnhw.claims.words.WORDS`.
    turned : str or None
        Other verdicts, by which limits, where half or twice the limit of the word gives another one.
    """

    computed: str
    verdict: Verdict
    corrected: str | None = None
    counterexample: str | None = None
    elsewhere: str | None = None
    table: Sequence[Mapping[str, Any]] = ()
    search: Mapping[str, Any] | None = None
    word: str | None = None
    turned: str | None = None


@dataclass(frozen=True)
class Claim:
    """A claim of a paper.

    Attributes
    ----------
    paper : str
        ``HDN``, ``RDN``, ``DISJ``, ``HSN`` or ``DC``.
    where : str
        Table, theorem, section or figure.
    claim : str
        What it is about.
    published : str
        What is printed.
    check : callable
        Computes; a function at the top of a module, as another process may call it.
    erratum : str or None
        Its number in the project's list of errata, E1 to E17.
    reading : str or None
        How it is read, where its words leave a choice, and the sizes, samples and tolerances that are not the paper's.
    """

    paper: str
    where: str
    claim: str
    published: str
    check: Callable[[], Finding]
    erratum: str | None = None
    reading: str | None = None


@dataclass(frozen=True)
class Case:
    """One instance of a claim.

    Attributes
    ----------
    network : str
        What it is about, usually a spec.
    nodes : int
        Its size; the smallest counterexample is the one with the fewest.
    published, computed : object
        What the claim says of it, and what was found.
    holds : bool
        Whether the claim holds in it.
    corrected : bool
        Whether the corrected claim does; of a misprint, what the paper says elsewhere, evaluated.
    condition : bool or None
        Whether the condition of :func:`judge` is met.
    """

    network: str
    nodes: int
    published: Any
    computed: Any
    _: KW_ONLY
    holds: bool
    corrected: bool = False
    condition: bool | None = None


def judge(
    cases: Sequence[Case],
    *,
    of: str = "networks",
    condition: str | None = None,
    corrected: str | None = None,
    elsewhere: str | None = None,
    table: Sequence[Mapping[str, Any]] = (),
) -> Finding:
    """Return what a number of cases says about a claim.

    Parameters
    ----------
    cases : sequence of Case
        At least one.
    of : str
        What they are, in the plural.
    condition : str, optional
        If the claim holds in exactly the cases that meet it, it is partly true.
    corrected : str, optional
        The corrected claim; it is given back only if it holds in every case.
    elsewhere : str, optional
        Where the paper itself says the corrected claim; if that holds in every case, it is a misprint.
    table : sequence of mapping
        For the finding.
    """
    wrong = [case for case in cases if not case.holds]
    if not wrong:
        return Finding(computed=f"holds on all {len(cases)} {of}", verdict=Verdict.HOLDS, table=table)
    right = all(case.corrected for case in cases)
    sharp = condition is not None and all(case.holds == case.condition for case in cases)
    least = min(wrong, key=lambda case: case.nodes)
    holds = f"holds on {len(cases) - len(wrong)} of {len(cases)} {of}"
    misprint = elsewhere is not None and right
    return Finding(
        computed=f"{holds}: where {condition}, and only there" if sharp else holds,
        verdict=Verdict.MISPRINT if misprint else Verdict.PARTLY if sharp else Verdict.FALSE,
        corrected=corrected if right else None,
        counterexample=f"{least.network}: {least.published} published, {least.computed} computed",
        elsewhere=elsewhere if misprint else None,
        table=table,
    )


def plain_rows(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, int | str]]:
    """Return the rows of a table with costs, fractions and lists as text."""
    return [{name: cell if isinstance(cell, int) else str(cell) for name, cell in row.items()} for row in rows]
