"""The command that checks the papers."""

import argparse
import os
import shlex
from collections import Counter
from pathlib import Path
from time import perf_counter
from typing import Any

from hdnhw.cli.options import DONE, Result, add_command
from hdnhw.cli.picture import picture_of
from hdnhw.cli.progress import ProgressBar
from hdnhw.cli.workers import worker_count
from hdnhw.files import write_together
from hdnhw.spec import SpecError

__all__ = ["add_papers_command"]

HDN_1, HDN_2, HDN_3, CASE = (
    "'hdn(cube(2), [[0]])'",
    "'hdn(cube(2), [[0], [0, 1]])'",
    "'hdn(cube(3), [[0]])'",
    "--algorithm paper",
)
EXCHANGE = "--collective exchange --schedule paper --root 0"

PICTURES = {
    "papers-hdn-1.svg": ("HDN", HDN_1, "HDN of the 2-cube, S = {2} (figure 2)"),
    "papers-hdn-1-exchange.svg": (
        "HDN",
        f"{HDN_1} {EXCHANGE}",
        "What node 0 sends in a total exchange on it, in four stages: step 0, steps 1 and 2, step 3, steps 4 and 5 "
        "(figure 2; nothing is sent in step 4)",
    ),
    "papers-hdn-2.svg": ("HDN", HDN_2, "HDN of the 2-cube, S = {2, 4} (figure 3)"),
    "papers-hdn-2-exchange.svg": (
        "HDN",
        f"{HDN_2} {EXCHANGE}",
        "What node 0 sends in a total exchange on it, in four stages: step 0, steps 1 to 6, step 7, steps 8 to 13 "
        "(figure 3; nothing is sent in steps 5, 9 and 12)",
    ),
    "papers-rdn.svg": (
        "RDN",
        "'rdn(cube(3), 1)' --collective broadcast",
        "One-to-all broadcast on the RDN of the 3-cube: step 0, steps 1 to 3, step 4, steps 5 to 7 (figure 2)",
    ),
    "papers-torus.svg": ("DISJ", "'torus(2, 3, 5)' --labels address", "Torus 2 x 3 x 5 (figure 4)"),
    "papers-disj.svg": (
        "DISJ",
        f"{HDN_3} --fan 0",
        "Paths of Algorithm 3 from a node of the HDN of the 3-cube, S = {2}, to four clusters (figure 5)",
    ),
    "papers-disj-fan-1.svg": (
        "DISJ",
        f"{HDN_3} --fan 0 5",
        "Paths of Algorithm 5, one to node 5 by a neighbour in its super-node (figure 6a)",
    ),
    "papers-disj-fan-2.svg": (
        "DISJ",
        f"{HDN_3} --fan 0 7",
        "Paths of Algorithm 5, one to node 7, in whose super-node is no neighbour (figure 6b)",
    ),
    "papers-disj-a.svg": ("DISJ", f"{HDN_3} --paths 0 7 {CASE}", "Disjoint paths of Algorithm 6, Case A (figure 7)"),
    "papers-disj-b1.svg": (
        "DISJ",
        f"{HDN_3} --paths 0 63 {CASE}",
        "Case B, a path of node 0 reaches the cluster of the other (figure 8a)",
    ),
    "papers-disj-b2.svg": (
        "DISJ",
        f"{HDN_3} --paths 0 60 {CASE}",
        "Case B, the cross-edge of node 60 leads to the cluster of node 0 (figure 8b)",
    ),
    "papers-disj-c.svg": ("DISJ", f"{HDN_3} --paths 0 31 {CASE}", "Case C (figure 9)"),
    "papers-disj-k2.svg": (
        "DISJ",
        f"{HDN_2} --paths 0 63",
        "Case C with two levels, paths of the default algorithm (figures 10 and 11)",
    ),
    "papers-hsn.svg": ("HSN", "'hsn(3, cube(2))' --labels address", "HSN(3, Q2) in radix 4 (figure 2)"),
    "papers-petersen.svg": ("HSN", "'petersen()'", "Petersen graph, a nucleus (section 5.3)"),
    "papers-dualcube.svg": ("DC", "'dualcube(3)' --labels address", "Dual-cube F3 (figure 2)"),
    "papers-dualcube-4.svg": (
        "DC",
        "'dualcube(4)' --cluster 1000000 --labels address",
        "Dual-cube F4, edges to cluster 0 of class 1 (figure 3)",
    ),
    "papers-dualcube-broadcast.svg": (
        "DC",
        "'dualcube(3)' --collective broadcast --labels address",
        "Broadcast in F3 (figure 5; steps are counted from 0)",
    ),
    "papers-crossed.svg": ("DC", "'crossed_cube(3)' --labels address", "Crossed cube CQ(3) (figure 1a)"),
    "papers-hcn.svg": ("DC", "'hcn(2)' --labels address", "HCN(2, 2) (figure 1b)"),
    "papers-reduced.svg": ("DC", "'reduced_cube(2, 1)' --labels address", "Reduced hypercube RH(2, 1) (figure 1c)"),
    "papers-ccc.svg": ("DC", "'ccc(3)' --labels address", "Cube-connected cycles CCC(3) (section 1)"),
}
"""The papers' figures: file -> paper, what ``hdnhw picture`` draws, caption."""


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

    papers = {row["paper"] for row in rows}
    chosen = {name: picture for name, picture in PICTURES.items() if picture[0] in papers}
    texts = {name: picture_of(shlex.split(words)) for name, (_, words, _) in chosen.items()}
    pictures = {
        name: (paper, caption, f"hdnhw picture {words} -o {shlex.quote(str(folder / name))}")
        for name, (paper, words, caption) in chosen.items()
    }
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
