"""Claims checked by worker processes, each in one of its own."""

import resource
import sys
from collections.abc import Sequence
from time import perf_counter
from typing import Any

from hdnhw.claims.catalogue import CLAIMS, NAMES
from hdnhw.support.processes import Ended, Processes
from hdnhw.support.progress import Progress

Row = dict[str, Any]


def check_claim(number: int) -> Row:
    """Check one claim of the catalogue.

    Returns
    -------
    dict
        ``id``, ``paper``, ``where``, ``claim``, ``published``, ``reading``, ``erratum``, the members of
        :class:`~hdnhw.claims.claim.Finding`, ``seconds``, and ``memory_mib``, the most that this process ever held.
    """
    claim = CLAIMS[number]
    start = perf_counter()
    finding = claim.check()
    seconds = perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "id": NAMES[number],
        "paper": claim.paper,
        "where": claim.where,
        "claim": claim.claim,
        "published": claim.published,
        "reading": claim.reading,
        "computed": finding.computed,
        "verdict": str(finding.verdict),
        "corrected": finding.corrected,
        "counterexample": finding.counterexample,
        "elsewhere": finding.elsewhere,
        "word": finding.word,
        "turned": finding.turned,
        "erratum": claim.erratum,
        "table": [dict(row) for row in finding.table],
        "search": finding.search and dict(finding.search),
        "seconds": round(seconds, 2),
        "memory_mib": peak // 1024 if sys.platform != "darwin" else peak >> 20,
    }


def check_claims(numbers: Sequence[int], *, workers: int, progress: Progress = lambda *_: None) -> list[Row]:
    """Check claims of the catalogue, each in a fresh process so that its memory is its own; rows in their order."""
    rows: dict[int, Row] = {}
    with Processes(workers, method="forkserver", preload=(__name__,), max_tasks_per_child=1) as executor:
        running = {executor.submit(check_claim, number): number for number in numbers}
        ended: Ended[Row] = Ended()
        for future in running:
            ended.add(future)
        while len(rows) < len(running):
            for future in ended.wait():
                rows[running[future]] = future.result()
                progress(f"{len(rows)} of {len(numbers)} claims", len(rows) / len(numbers))
    return [rows[number] for number in numbers]
