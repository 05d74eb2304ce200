"""The command that checks the papers."""

import argparse
from collections import Counter
from pathlib import Path
from time import perf_counter
from typing import Any

from hdnhw.cli.options import DONE, Result, add_command
from hdnhw.cli.progress import ProgressBar
from hdnhw.cli.workers import worker_count
from hdnhw.spec import SpecError

__all__ = ["add_papers_command"]

PICTURES = {
    "papers-hdn-1.svg": ("hdn(cube(2), [[0]])", "HDN of the 2-cube, S = {2} (HDN paper, figure 2)"),
    "papers-hdn-2.svg": ("hdn(cube(2), [[0], [0, 1]])", "HDN of the 2-cube, S = {2, 4} (HDN paper, figure 3)"),
    "papers-rdn.svg": ("rdn(cube(3), 1)", "RDN of the 3-cube, one level (RDN paper, figure 2)"),
    "papers-torus.svg": ("torus(2, 3, 5)", "Torus 2 x 3 x 5 (DISJ paper, figure 4)"),
    "papers-disj-1.svg": ("hdn(cube(3), [[0]])", "HDN of the 3-cube, S = {2} (DISJ paper, figures 5 and 7 to 9)"),
    "papers-disj-2.svg": ("hdn(cube(3), [[2]])", "The same with super-nodes along another dimension"),
    "papers-hsn.svg": ("hsn(3, cube(2))", "HSN(3, Q2) (HSN paper, figure 2)"),
    "papers-petersen.svg": ("petersen()", "Petersen graph, a nucleus (HSN paper, section 5.3)"),
    "papers-dualcube.svg": ("dualcube(3)", "Dual-cube F3 (DC paper, figure 2)"),
    "papers-crossed.svg": ("crossed_cube(3)", "Crossed cube CQ(3) (DC paper, figure 1a)"),
    "papers-hcn.svg": ("hcn(2)", "HCN(2, 2) (DC paper, figure 1b)"),
    "papers-reduced.svg": ("reduced_cube(2, 1)", "Reduced hypercube RH(2, 1) (DC paper, figure 1c)"),
    "papers-ccc.svg": ("ccc(3)", "Cube-connected cycles CCC(3) (DC paper, section 1)"),
}
"""The papers' example networks: file -> spec, caption."""


def papers(options: argparse.Namespace) -> tuple[Result, int]:
    """Check the claims of the papers."""
    from hdnhw.papers.catalogue import CLAIMS, PAPERS
    from hdnhw.papers.check import check_claims

    chosen = options.paper or list(PAPERS)
    unknown = [name for name in chosen if name not in PAPERS]
    if unknown:
        raise SpecError(f"paper must be one of {', '.join(PAPERS)}, not {unknown[0]!r}")
    if options.output is not None and not Path(options.output).is_dir():
        raise SpecError(f"output must be a folder that exists, not {options.output!r}")
    numbers = [number for number, claim in enumerate(CLAIMS) if claim.paper in chosen]
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
    if options.output is not None:
        result["files"] = _write(Path(options.output), rows, options.command)
    return result, DONE


def _line(row: Result) -> Result:
    """Return what the table on a terminal has room for."""
    names = ("paper", "where", "claim", "published", "computed", "verdict", "seconds", "memory_mib")
    return {name: row[name] for name in names}


def _write(folder: Path, rows: list[Result], command: str) -> list[str]:
    from hdnhw.report.papers import papers_page
    from hdnhw.report.picture import network_svg
    from hdnhw.spec import parse
    from hdnhw.topology.network import build

    texts = {name: network_svg(build(parse(spec))) for name, (spec, _) in PICTURES.items()}
    captions = {name: caption for name, (_, caption) in PICTURES.items()}
    texts["papers.md"] = papers_page(rows, command=command, pictures=captions)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
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
    parser.add_argument("--workers", type=int, metavar="N", help="processes (default: one a processor)")
    parser.add_argument("-o", "--output", metavar="DIR", help="folder for papers.md and its pictures")
