"""The claims of the papers as pages in Markdown, one a paper, their long tables beside them."""

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from itertools import groupby
from types import MappingProxyType
from typing import Any

from hdnhw.claims.catalogue import PAPERS
from hdnhw.claims.claim import Verdict
from hdnhw.claims.errata import ERRATA
from hdnhw.claims.words import FACTOR, WORDS

LONG = 40
"""Rows of a table that stands on a page, at most."""

OPEN = 10
"""Rows of a table that a page shows without being asked, at most."""


def papers_pages(
    rows: Sequence[Mapping[str, Any]],
    *,
    command: str,
    pictures: Mapping[str, tuple[str, str, str]] = MappingProxyType({}),
) -> dict[str, str]:
    """Return the pages of checked claims and their long tables by the names of their files.

    There is an index, a page for each paper, and if all papers were checked the errata.

    Parameters
    ----------
    rows : sequence of mapping
        As :func:`hdnhw.claims.check.check_claims` returns them, in the order of papers; seconds and memory are left
        out, so that the pages are the same on every machine.
    command : str
        The command line that makes the pages.
    pictures : mapping of str to (str, str, str)
        Name of the file of a picture -> paper, what it shows, the command line that draws it.
    """
    papers = {paper: list(own) for paper, own in groupby(rows, key=lambda row: str(row["paper"]))}
    whole = papers.keys() == PAPERS.keys()
    texts = {"index.md": _index(rows, papers, command, whole=whole)}
    for paper, own in papers.items():
        shown = [(name, text, line) for name, (of, text, line) in pictures.items() if of == paper]
        texts[_page(paper)] = _paper(paper, own, shown, whole=whole)
    if whole:
        texts["errata.md"] = errata_page(rows)
    return texts | {_file(row): _csv(row["table"]) for row in rows if len(row["table"]) > LONG}


def errata_page(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the page of errata: what is wrong, and the verdicts on the claims that it is about.

    Parameters
    ----------
    rows : sequence of mapping
        Of all papers, see :func:`papers_pages`.
    """
    parts = [
        "# Errata of the papers\n",
        "Each claim links to its counterexample and its correction. The [index](index.md) has the meaning of the",
        "verdicts and the command that makes these pages.",
    ]
    for name, text in ERRATA.items():
        own = [f"{_link(row, _page(row['paper']))} ({row['verdict']})" for row in rows if row["erratum"] == name]
        parts += [f"\n## {name}\n", f"{_cell(text)}\n", f"Claims: {', '.join(own)}."]
    return "\n".join([*parts, ""])


def _page(paper: str) -> str:
    return f"{paper.lower()}.md"


def _file(row: Mapping[str, Any]) -> str:
    return f"{row['id'].lower()}.csv"


def _csv(table: Sequence[Mapping[str, Any]]) -> str:
    text = StringIO()
    writer = csv.DictWriter(text, table[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()


def _link(row: Mapping[str, Any], page: str = "") -> str:
    """Return the name of a claim as a link to what is said of it below the table of its page, if anything is."""
    return f"[{row['id']}]({page}#{row['id'].lower()})" if _has_details(row) else str(row["id"])


def _index(rows: Sequence[Mapping[str, Any]], papers: Iterable[str], command: str, *, whole: bool) -> str:
    errata = ["The mistakes in short, E1 to E17: [errata](errata.md).\n"] if whole else []
    return "\n".join(
        [
            "# The papers' claims, checked\n",
            f"`{command}` makes these pages. It computes every row; only what is published was typed in.\n",
            _counts(rows, papers),
            "| verdict | meaning |",
            "|---|---|",
            "| holds | true in every case that was checked |",
            "| partly | true under a condition that the paper does not state |",
            "| misprint | the paper itself says otherwise at the place that is named, and that held in every case |",
            "| false | not true, with the smallest counterexample |",
            "",
            "A correction is given only if it held in every case that was checked. *Read as* says how the words of a",
            "claim are taken where they leave a choice.\n",
            *errata,
            _words(rows),
        ]
    )


def _paper(
    paper: str, rows: Sequence[Mapping[str, Any]], pictures: Sequence[tuple[str, str, str]], *, whole: bool
) -> str:
    """Return the page of a paper: its claims, what the table has no room for, and its figures."""
    parts = [
        f"# {paper}: {PAPERS[paper].subject}\n",
        f"{_cell(PAPERS[paper].citation)}.\n",
        "The [index](index.md) has the meaning of the verdicts. A claim with a link has details below the table.\n",
        "## Claims\n",
        _overview(rows),
        "## Details\n",
        *(text for row in rows if (text := _claim(row, whole=whole))),
    ]
    if pictures:
        parts += ["## Figures\n", *(f"![{text}]({name})\n\n{text}: `{line}`\n" for name, text, line in pictures)]
    return "\n".join(parts)


def _counts(rows: Sequence[Mapping[str, Any]], papers: Iterable[str]) -> str:
    """Return a table of how many claims of each paper have which verdict."""
    found = Counter((row["paper"], row["verdict"]) for row in rows)
    lines = ["| paper | subject | " + " | ".join(Verdict) + " |", "|---" * (2 + len(Verdict)) + "|"]
    for paper in papers:
        cells = [f"[{paper}]({_page(paper)})", PAPERS[paper].subject]
        lines.append("| " + " | ".join([*cells, *(str(found[paper, str(one)]) for one in Verdict)]) + " |")
    return "\n".join([*lines, ""])


def _words(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a table of the words of degree: what they mean, and which claims are judged by them."""
    lines = [
        "Words of degree mean the same in all rows. A row that is judged by one says which other verdict it would have",
        f"with 1/{FACTOR} or {FACTOR} times the figure.\n",
        "| words | what they mean here | claims | verdict would turn |",
        "|---|---|---|---|",
    ]
    for name, word in WORDS.items():
        own = [row for row in rows if row["word"] == name]
        cells = word.forms, word.text, *(", ".join(row["id"] for row in some) for some in (own, _turned(own)))
        lines.append("| " + " | ".join(map(_cell, cells)) + " |")
    return "\n".join([*lines, ""])


def _turned(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [row for row in rows if row["turned"]]


def _overview(rows: Sequence[Mapping[str, Any]]) -> str:
    lines = ["| | where | claim | published | computed | verdict |", "|---|---|---|---|---|---|"]
    names = ("where", "claim", "published", "computed")
    lines += [
        f"| {_link(row)} | " + " | ".join(_cell(row[name]) for name in names) + f" | **{row['verdict']}** |"
        for row in rows
    ]
    return "\n".join([*lines, ""])


def _notes(row: Mapping[str, Any]) -> list[str]:
    """Return what the overview has no room for; nothing for a claim of one reading that holds."""
    word = row["word"] and WORDS[row["word"]]
    notes = {
        "Read as": row["reading"],
        "Words of degree": word
        and f"{word.limit:g}, see the table of the index; {row['turned'] or 'the same verdict with half and twice'}",
        "Corrected": row["corrected"],
        "As the paper says in": row["elsewhere"],
        "Smallest counterexample": row["counterexample"],
    }
    return [f"- {name}: {_cell(text)}" for name, text in notes.items() if text]


def _has_details(row: Mapping[str, Any]) -> bool:
    return bool(_notes(row) or row["table"])


def _claim(row: Mapping[str, Any], *, whole: bool) -> str:
    if not _has_details(row):
        return ""
    notes, table = _notes(row), row["table"]
    erratum = f" ([{row['erratum']}](errata.md#{row['erratum'].lower()}))" if row["erratum"] and whole else ""
    lines = [f"### {row['id']}\n", f"{row['where']}: {_cell(row['claim'])}{erratum}. **{row['verdict']}**\n", *notes]
    if len(table) > LONG:
        lines.append(f"- Table: [{len(table)} rows]({_file(row)})")
    elif len(table) > OPEN:
        lines += [f"\n<details markdown><summary>Table, {len(table)} rows</summary>\n", *_table(table), "</details>"]
    elif table:
        lines += ["", *_table(table)[:-1]]
    return "\n".join([*lines, ""])


def _table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    if not rows:
        return []
    names = list(rows[0])
    body = ["| " + " | ".join(_cell(row[name]) for name in names) + " |" for row in rows]
    return ["| " + " | ".join(names) + " |", "|---" * len(names) + "|", *body, ""]


def _cell(value: object) -> str:
    """Return text that Markdown shows as it is."""
    text = str(value)
    for mark in "\\|*_":
        text = text.replace(mark, f"\\{mark}")
    return text.replace("<", "&lt;")
