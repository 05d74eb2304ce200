"""The claims of the papers, checked."""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from hdnhw.library.asked import ProcessOptions, asks
from hdnhw.library.options import PathLike
from hdnhw.library.picture import picture
from hdnhw.library.result import Result
from hdnhw.spec.options import Origin, Repeated, option
from hdnhw.support.errors import SpecError
from hdnhw.support.files import check_folder, write_together
from hdnhw.support.naming import choices_text, named
from hdnhw.support.progress import ProgressBar
from hdnhw.support.workers import worker_count


class Figure(NamedTuple):
    """A figure of the papers.

    Attributes
    ----------
    paper : str
    spec : str
        The network.
    options : mapping of str to Any
        Of :func:`hdnhw.picture`: what is drawn in it.
    caption : str
    """

    paper: str
    spec: str
    options: Mapping[str, Any]
    caption: str

    @property
    def words(self) -> str:
        """Network and options, as they stand on the command line of ``hdnhw picture``."""
        words = [self.spec]
        for name, value in self.options.items():
            words += [f"--{name}", *map(str, value if isinstance(value, tuple) else (value,))]
        return shlex.join(words)


HDN_1, HDN_2, HDN_3 = "hdn(cube(2), [[0]])", "hdn(cube(2), [[0], [0, 1]])", "hdn(cube(3), [[0]])"
EXCHANGE = {"collective": "exchange", "schedule": "paper", "root": 0}

PICTURES = {
    "hdn-1.svg": Figure("HDN", HDN_1, {}, "HDN of the 2-cube, S = {2} (figure 2)"),
    "hdn-1-exchange.svg": Figure(
        "HDN",
        HDN_1,
        EXCHANGE,
        "What node 0 sends in a total exchange on it, in four stages: step 0, steps 1 and 2, step 3, "
        "steps 4 and 5 (figure 2; nothing is sent in step 4)",
    ),
    "hdn-2.svg": Figure("HDN", HDN_2, {}, "HDN of the 2-cube, S = {2, 4} (figure 3)"),
    "hdn-2-exchange.svg": Figure(
        "HDN",
        HDN_2,
        EXCHANGE,
        "What node 0 sends in a total exchange on it, in four stages: step 0, steps 1 to 6, step 7, "
        "steps 8 to 13 (figure 3; nothing is sent in steps 5, 9 and 12)",
    ),
    "rdn.svg": Figure(
        "RDN",
        "rdn(cube(3), 1)",
        {"collective": "broadcast"},
        "One-to-all broadcast on the RDN of the 3-cube: step 0, steps 1 to 3, step 4, steps 5 to 7 (figure 2)",
    ),
    "torus.svg": Figure("DISJ", "torus(2, 3, 5)", {"labels": "address"}, "Torus 2 x 3 x 5 (figure 4)"),
    "disj.svg": Figure(
        "DISJ",
        HDN_3,
        {"fan": 0},
        "Paths of Algorithm 3 from a node of the HDN of the 3-cube, S = {2}, to four clusters (figure 5)",
    ),
    "disj-fan-1.svg": Figure(
        "DISJ",
        HDN_3,
        {"fan": (0, 5)},
        "Paths of Algorithm 5, one to node 5 by a neighbor in its super-node (figure 6a)",
    ),
    "disj-fan-2.svg": Figure(
        "DISJ",
        HDN_3,
        {"fan": (0, 7)},
        "Paths of Algorithm 5, one to node 7, in whose super-node is no neighbor (figure 6b)",
    ),
    "disj-a.svg": Figure(
        "DISJ", HDN_3, {"paths": (0, 7), "algorithm": "paper"}, "Disjoint paths of Algorithm 6, Case A (figure 7)"
    ),
    "disj-b1.svg": Figure(
        "DISJ",
        HDN_3,
        {"paths": (0, 63), "algorithm": "paper"},
        "Case B, a path of node 0 reaches the cluster of the other (figure 8a)",
    ),
    "disj-b2.svg": Figure(
        "DISJ",
        HDN_3,
        {"paths": (0, 60), "algorithm": "paper"},
        "Case B, the cross-edge of node 60 leads to the cluster of node 0 (figure 8b)",
    ),
    "disj-c.svg": Figure("DISJ", HDN_3, {"paths": (0, 31), "algorithm": "paper"}, "Case C (figure 9)"),
    "disj-k2.svg": Figure(
        "DISJ", HDN_2, {"paths": (0, 63)}, "Case C with two levels, paths of the default algorithm (figures 10 and 11)"
    ),
    "hsn.svg": Figure("HSN", "hsn(3, cube(2))", {"labels": "address"}, "HSN(3, Q2) in radix 4 (figure 2)"),
    "petersen.svg": Figure("HSN", "petersen()", {}, "Petersen graph, a nucleus (section 5.3)"),
    "dualcube.svg": Figure("DC", "dualcube(3)", {"labels": "address"}, "Dual-cube F3 (figure 2)"),
    "dualcube-4.svg": Figure(
        "DC",
        "dualcube(4)",
        {"cluster": "1000000"},
        "Dual-cube F4, edges to cluster 0 of class 1 (figure 3)",
    ),
    "dualcube-broadcast.svg": Figure(
        "DC",
        "dualcube(3)",
        {"collective": "broadcast", "labels": "address"},
        "Broadcast in F3 (figure 5; steps are counted from 0)",
    ),
    "crossed.svg": Figure("DC", "crossed_cube(3)", {"labels": "address"}, "Crossed cube CQ(3) (figure 1a)"),
    "hcn.svg": Figure("DC", "hcn(2)", {"labels": "address"}, "HCN(2, 2) (figure 1b)"),
    "reduced.svg": Figure("DC", "reduced_cube(2, 1)", {"labels": "address"}, "Reduced hypercube RH(2, 1) (figure 1c)"),
    "ccc.svg": Figure("DC", "ccc(3)", {"labels": "address"}, "Cube-connected cycles CCC(3) (section 1)"),
}
"""The papers' figures: file -> what is drawn."""


@dataclass(frozen=True, kw_only=True)
class PapersOptions(ProcessOptions):
    """Options of the command ``papers``."""

    paper: str | Sequence[str] | None = option(
        None, Repeated, "a paper: HDN, RDN, DISJ, HSN or DC (default: all)", metavar="NAME"
    )
    claim: str | Sequence[str] | None = option(None, Repeated, "one claim, as HDN-7 (first column)", metavar="ID")
    command: str = option("hdnhw.papers", Origin, "what the pages say that they were made by", plain=True)


@asks
def papers(*, output: PathLike | None = None, asked: PapersOptions) -> Result:
    """Check the tables, theorems and figures of the papers; all of them take minutes.

    Parameters
    ----------
    output : path, optional
        Folder, made if need be, for ``index.md``, ``errata.md`` and a page for each paper, with pictures and tables.
    asked

    Returns
    -------
    Result
        ``claims``, a row for each: what is published, what was computed, and the verdict; ``verdicts``, how many there
        are of each; ``seconds``, ``largest_search``, and the ``files`` that were written.

    Raises
    ------
    SpecError
        If there is no such paper or claim, or the folder cannot be written.

    Examples
    --------
    >>> import hdnhw
    >>> found = hdnhw.papers(claim="HDN-2", workers=1)
    >>> [(row["id"], row["verdict"]) for row in found.claims]
    [('HDN-2', 'holds')]
    """
    from hdnhw.claims.check import check_claims

    numbers = _chosen(_names(asked.paper), _names(asked.claim))
    if output is not None and asked.claim:
        raise SpecError(f"{named('output')} must be a page of whole papers: leave out {named('claim')}")
    if output is not None:
        check_folder(named("output"), Path(output))
    start = perf_counter()
    with ProgressBar() as bar:
        rows = check_claims(numbers, workers=worker_count(asked.workers), progress=bar.show)
    searches = [row for row in rows if row["search"]]
    largest = max(searches, key=lambda row: row["search"]["nodes"], default=None)
    result = {
        "claims": rows,
        "verdicts": dict(Counter(row["verdict"] for row in rows)),
        "seconds": round(perf_counter() - start, 1),
        "largest_search": largest and {**largest["search"], "memory_mib": largest["memory_mib"]},
    }
    if output is not None:
        result["files"] = _write(Path(output), rows, asked.command)
    return Result(result)


def _names(names: str | Sequence[str] | None) -> Sequence[str]:
    return [names] if isinstance(names, str) else names or ()


def _chosen(papers: Sequence[str], claims: Sequence[str]) -> list[int]:
    """Return the numbers of the claims that are named, by papers or one by one; all if none is."""
    from hdnhw.claims.catalogue import CLAIMS, NAMES, PAPERS

    for name in papers:
        if name.upper() not in PAPERS:
            raise SpecError(f"{named('paper')} {choices_text(PAPERS, name)}")
    for name in claims:
        if name.upper() not in NAMES:
            last = {paper: [one for one in NAMES if one.startswith(f"{paper}-")][-1] for paper in PAPERS}
            known = [f"{paper}-1 to {most}" for paper, most in last.items()]
            raise SpecError(f"{named('claim')} {choices_text(known, name)}")
    chosen = {name.upper() for name in [*papers, *claims]}
    return [
        number for number, claim in enumerate(CLAIMS) if not chosen or claim.paper in chosen or NAMES[number] in chosen
    ]


def _write(folder: Path, rows: list[dict[str, Any]], command: str) -> list[str]:
    """Write the pages and their pictures; return the names of the files."""
    from hdnhw.claims.page import papers_pages

    papers = {row["paper"] for row in rows}
    chosen = {name: figure for name, figure in PICTURES.items() if figure.paper in papers}
    texts = {name: picture(figure.spec, **figure.options).svg for name, figure in chosen.items()}
    pictures = {
        name: (figure.paper, figure.caption, f"hdnhw picture {figure.words} -o {shlex.quote(str(folder / name))}")
        for name, figure in chosen.items()
    }
    texts |= papers_pages(rows, command=command, pictures=pictures)
    write_together(folder, texts)
    return sorted(texts)
