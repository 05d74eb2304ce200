"""The claims of the papers as a page in Markdown, its long tables beside it."""

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from io import StringIO
from itertools import groupby
from types import MappingProxyType
from typing import Any

from hdnhw.claims.catalogue import PAPERS
from hdnhw.claims.claim import Verdict
from hdnhw.claims.errata import ERRATA
from hdnhw.claims.words import FACTOR, WORDS

LONG = 60
"""Rows of a table that stands on the page, at most."""


def papers_page(
    rows: Sequence[Mapping[str, Any]],
    *,
    command: str,
    pictures: Mapping[str, tuple[str, str, str]] = MappingProxyType({}),
) -> str:
    """Return the page of checked claims.

    Parameters
    ----------
    rows : sequence of mapping
        As :func:`hdnhw.claims.check.check_claims` returns them, in the order of papers; seconds and memory are left
        out, so that the page is the same on every machine.
    command : str
        The command line that makes the page.
    pictures : mapping of str to (str, str, str)
        Name of the file of a picture -> paper, what it shows, the command line that draws it.
    """
    parts = [
        "# The papers' claims, checked\n",
        f"Made by `{command}`, which computes every row; only what is published was typed in.",
        "*partly*: true under a condition that the paper does not state; *misprint*: the paper itself says otherwise",
        "elsewhere, at the place that is named, and that held in every case. A correction stands here only if it held",
        "in every case that was checked. *Read as* says how the words of a claim are taken where they leave a choice.",
        "E1 to E17 are the [errata](errata.md).\n",
        _counts(rows),
        _words(rows),
    ]
    for paper, claims in groupby(rows, key=lambda row: row["paper"]):
        own = list(claims)
        parts.append(f"## {paper}: {PAPERS[paper].subject}\n\n{_cell(PAPERS[paper].citation)}.\n")
        parts += [
            f"![{text}]({name})\n\n{text}: `{line}`\n" for name, (of, text, line) in pictures.items() if of == paper
        ]
        parts += [_overview(own), *(_claim(row) for row in own)]
    return "\n".join(parts)


def long_tables(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the tables that are too long for the page as CSV, by the names of their files."""
    texts = {}
    for row in rows:
        if len(row["table"]) > LONG:
            text = StringIO()
            writer = csv.DictWriter(text, row["table"][0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(row["table"])
            texts[_file(row)] = text.getvalue()
    return texts


def _file(row: Mapping[str, Any]) -> str:
    return f"papers-{row['id'].lower()}.csv"


def errata_page(rows: Sequence[Mapping[str, Any]], *, command: str) -> str:
    """Return the page of errata: what is wrong, and what came out of the claims that it is about.

    Parameters
    ----------
    rows : sequence of mapping
        Of all papers, see :func:`papers_page`.
    command : str
        The command line that makes the page.
    """
    parts = [
        "# Errata of the papers\n",
        f"Made by `{command}`. What is wrong in the papers, in short, with the claims that it is about.",
        "Counterexamples and corrections stand in [papers.md](papers.md), by the name in the first column.",
    ]
    for name, text in ERRATA.items():
        parts += [f"\n## {name}\n\n{_cell(text)}\n", "| claim | where | about | verdict |", "|---|---|---|---|"]
        for row in rows:
            if row["erratum"] == name:
                cells = (row["id"], row["where"], row["claim"], row["verdict"])
                parts.append("| " + " | ".join(map(_cell, cells)) + " |")
    return "\n".join([*parts, ""])


def _counts(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a table of how many claims of each paper have which verdict."""
    found = Counter((row["paper"], row["verdict"]) for row in rows)
    papers = dict.fromkeys(row["paper"] for row in rows)
    lines = ["| paper | " + " | ".join(Verdict) + " |", "|---" * (1 + len(Verdict)) + "|"]
    lines += [f"| {paper} | " + " | ".join(str(found[paper, str(one)]) for one in Verdict) + " |" for paper in papers]
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
    names = ("id", "where", "claim", "published", "computed")
    lines += ["| " + " | ".join(_cell(row[name]) for name in names) + f" | **{row['verdict']}** |" for row in rows]
    return "\n".join([*lines, ""])


def _claim(row: Mapping[str, Any]) -> str:
    """Return what the overview has no room for; nothing for a claim of one reading that holds and has no table."""
    word = row["word"] and WORDS[row["word"]]
    notes = {
        "Read as": row["reading"],
        "Words of degree": word
        and f"{word.limit:g}, see the table at the top; {row['turned'] or 'the same verdict with half and twice'}",
        "Corrected": row["corrected"],
        "As the paper says in": row["elsewhere"],
        "Smallest counterexample": row["counterexample"],
    }
    said = [f"- {name}: {_cell(text)}" for name, text in notes.items() if text]
    if not said and not row["table"]:
        return ""
    erratum = f" ({row['erratum']})" if row["erratum"] else ""
    lines = [f"### {row['id']}, {row['where']}: {_cell(row['claim'])}{erratum}\n"]
    lines += [f"- Published: {_cell(row['published'])}", f"- Computed: {_cell(row['computed'])}; **{row['verdict']}**"]
    table = row["table"]
    if len(table) > LONG:
        lines, table = [*lines, f"- Table: [{len(table)} rows]({_file(row)})"], ()
    return "\n".join([*lines, *said, "", *_table(table)])


def _table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    if not rows:
        return []
    names = list(rows[0])
    body = ["| " + " | ".join(_cell(row[name]) for name in names) + " |" for row in rows]
    return ["| " + " | ".join(names) + " |", "|---" * len(names) + "|", *body, ""]


def _cell(value: object) -> str:
    """Return text that Markdown shows as it is."""
    text = str(value)
    for mark in "\\|*_<":
        text = text.replace(mark, f"\\{mark}")
    return text
