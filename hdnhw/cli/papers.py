"""The command that checks the papers."""

import argparse
import os
from collections import Counter
from pathlib import Path
from time import perf_counter
from typing import Any

from hdnhw.cli.options import DONE, Result, add_command, network_of
from hdnhw.cli.progress import ProgressBar
from hdnhw.cli.workers import worker_count
from hdnhw.files import write_together
from hdnhw.spec import SpecError

__all__ = ["add_papers_command"]

PICTURES = {
    "papers-hdn-1.svg": ("HDN", "hdn(cube(2), [[0]])", "HDN of the 2-cube, S = {2} (figure 2)"),
    "papers-hdn-2.svg": ("HDN", "hdn(cube(2), [[0], [0, 1]])", "HDN of the 2-cube, S = {2, 4} (figure 3)"),
    "papers-rdn.svg": ("RDN", "rdn(cube(3), 1)", "RDN of the 3-cube, one level (figure 2)"),
    "papers-torus.svg": ("DISJ", "torus(2, 3, 5)", "Torus 2 x 3 x 5 (figure 4)"),
    "papers-disj.svg": ("DISJ", "hdn(cube(3), [[0]])", "HDN of the 3-cube, S = {2} (figures 5 and 7 to 9)"),
    "papers-hsn.svg": ("HSN", "hsn(3, cube(2))", "HSN(3, Q2) (figure 2)"),
    "papers-petersen.svg": ("HSN", "petersen()", "Petersen graph, a nucleus (section 5.3)"),
    "papers-dualcube.svg": ("DC", "dualcube(3)", "Dual-cube F3 (figure 2)"),
    "papers-crossed.svg": ("DC", "crossed_cube(3)", "Crossed cube CQ(3) (figure 1a)"),
    "papers-hcn.svg": ("DC", "hcn(2)", "HCN(2, 2) (figure 1b)"),
    "papers-reduced.svg": ("DC", "reduced_cube(2, 1)", "Reduced hypercube RH(2, 1) (figure 1c)"),
    "papers-ccc.svg": ("DC", "ccc(3)", "Cube-connected cycles CCC(3) (section 1)"),
}
"""The papers' example networks: file -> paper, spec, caption."""


def papers(options: argparse.Namespace) -> tuple[Result, int]:
    """Check the claims of the papers."""
    from hdnhw.papers.check import check_claims

    numbers, folder = _chosen(options), options.output
    if folder is not None and options.claim:
        raise SpecError("output must be a page of whole papers: leave out --claim")
    if folder is not None and not (Path(folder).is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        raise SpecError(f"output must be a folder that can be written, not {folder!r}")
    start = perf_counter()
    with ProgressBar() as bar:
        rows = check_claims(numbers, workers=worker_count(options), progress=bar.show)
    searches = [row for row in rows if row["search"]]
    largest = max(searches, key=lambda row: row["search"]["nodes"], default=None)
    result: Result = {
        "claims": rows if options.json else [_line(row) for row in rows],
        "verdicts": dict(Counter(row["verdict"] for row in rows)),
        "seconds": round(perf_counter() - start, 1),
        "largest_search": largest and {**largest["search"], "memory_mib": largest["memory_mib"]},
    }
    if folder is not None:
        result["files"] = _write(Path(folder), rows, options.command.replace(" --json", ""))
    return result, DONE


def _chosen(options: argparse.Namespace) -> list[int]:
    """Return the numbers of the claims that are named, by papers or one by one; all if none is."""
    from hdnhw.papers.catalogue import CLAIMS, NAMES, PAPERS

    for name in options.paper or []:
        if name.upper() not in PAPERS:
            raise SpecError(f"paper must be one of {', '.join(PAPERS)}, not {name!r}")
    for name in options.claim or []:
        if name.upper() not in NAMES:
            last = {paper: [one for one in NAMES if one.startswith(f"{paper}-")][-1] for paper in PAPERS}
            known = ", ".join(f"{paper}-1 to {name}" for paper, name in last.items())
            raise SpecError(f"claim must be one of {known}, not {name!r}")
    named = {name.upper() for name in [*(options.paper or []), *(options.claim or [])]}
    return [
        number for number, claim in enumerate(CLAIMS) if not named or claim.paper in named or NAMES[number] in named
    ]


def _line(row: Result) -> Result:
    """Return what the table on a terminal has room for."""
    names = ("id", "where", "claim", "published", "computed", "verdict", "seconds", "memory_mib")
    return {name: row[name] for name in names}


def _write(folder: Path, rows: list[Result], command: str) -> list[str]:
    from hdnhw.papers.catalogue import CLAIMS
    from hdnhw.report.papers import errata_page, papers_page
    from hdnhw.report.picture import network_svg

    papers = {row["paper"] for row in rows}
    chosen = {name: picture for name, picture in PICTURES.items() if picture[0] in papers}
    texts = {name: network_svg(network_of(spec)) for name, (_, spec, _) in chosen.items()}
    pictures = {name: (paper, caption) for name, (paper, _, caption) in chosen.items()}
    texts["papers.md"] = papers_page(rows, command=command, pictures=pictures)
    if len(rows) == len(CLAIMS):
        texts["errata.md"] = errata_page(rows, command=command)
    write_together(folder, texts)
    return sorted(texts)


def add_papers_command(commands: Any) -> None:
    """Add the command ``papers``."""
    parser = add_command(
        commands,
        "papers",
        papers,
        summary="check every table, theorem and numeric claim of the papers",
        example="hdnhw papers --paper HDN -o docs",
        spec=False,
    )
    parser.add_argument("--paper", action="append", metavar="NAME", help="HDN, RDN, DISJ, HSN or DC (default all)")
    parser.add_argument("--claim", action="append", metavar="ID", help="one claim, as HDN-7 (first column)")
    parser.add_argument("--workers", type=int, metavar="N", help="processes (default: one a processor)")
    parser.add_argument("-o", "--output", metavar="DIR", help="folder for papers.md, its pictures, errata.md")
