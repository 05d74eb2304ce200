"""README, CHANGELOG, docs and docstrings cite nothing that is not in the repository."""

import argparse
import re
import subprocess
from functools import cache
from pathlib import Path

from hdnhw.cli import command_parser
from tests.conftest import each

ROOT = Path(__file__).parents[1]

PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")])
SOURCES = sorted(
    [ROOT / "Makefile", *(file for name in ("hdnhw", "sim", "bench") for file in (ROOT / name).rglob("*.py"))]
)

LINK = re.compile(r"\]\(([^)\s]+)\)")
"""Where a link or a picture leads, in Markdown."""

FILE = re.compile(r"(?<![\w./-])(?:\.\./)*(?:bench|constraints|docs|examples|hdnhw|papers|shared|sim|tests)/[\w./-]*\w")
"""A file or folder, as text names it; `docs/decisions/0007` stands for the decision of that number."""


WORDS = {
    r"\ba node and (cycle|slot)\b": "per node per cycle",
    r"\b(flits?|packets?|words?|Gbit/s) a (node|cycle|second)\b(?! (has|sends|takes|gets|needs|of|to|with))": "per",
    r"\bso many\b": "that many, or the number",
    r"\bthat there (is|are)\b": "the noun itself",
    r"\blooked at\b": "checked, read, seen",
}
"""What pages and help do not say -> what they say in its place."""

BRITISH = re.compile(
    r"[a-z]*(?:(?:behavi|col|fav|hon|neighb|rum)our|(?:label|model|travel)l(?:ed|ing)\b|cent(?:re|ring)s?\b|licen(?:c)e)"
    r"|\b[a-z]+(?:is(?:e[drs]?|ing|ations?)|ys(?:e[drs]?|ing))\b",
    re.IGNORECASE,
)
"""What is not American spelling, and words that look like it, which are the next ones."""

ALIKE = re.compile(
    r"(a?r|exerc|no|p?ra|prec|prem|(com)?prom|sup?erv|surpr|w|\w+w|adv|dev|rev|compr|conc)is(e[drs]?|ing)",
    re.IGNORECASE,
)


@cache
def _files() -> frozenset[str]:
    """Return the files that git knows, and their folders."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return frozenset(listed) | {str(folder) for name in listed for folder in Path(name).parents}


@cache
def _headings(page: Path) -> frozenset[str]:
    """Return the anchors of a page: those that a forge makes of its headings, and those of terms."""
    text = page.read_text()
    titles = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    terms = re.findall(r'<a id="([\w-]+)"></a>', text)
    return frozenset([*terms, *(re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles)])


@cache
def _commands() -> frozenset[str]:
    (action,) = (one for one in command_parser()._actions if isinstance(one, argparse._SubParsersAction))
    return frozenset(action.choices)


@cache
def _targets() -> frozenset[str]:
    """Return what `make` can make."""
    rules = subprocess.run(["make", "-pqRr", ".venv"], cwd=ROOT, capture_output=True, text=True).stdout
    return frozenset(re.findall(r"^([\w.-]+):", rules, flags=re.MULTILINE))


def _name(file: Path) -> str:
    return str(file.relative_to(ROOT))


@each("page", PAGES)
def test_links_lead_to_files_and_headings_that_are_there(page):
    for target in LINK.findall(page.read_text()):
        if re.match("https?://", target):
            continue
        name, _, anchor = target.partition("#")
        other = (page.parent / name).resolve() if name else page
        assert _name(other) in _files(), f"{target}: no such file"
        assert not anchor or anchor in _headings(other), f"{target}: no such heading"


def test_named_files_are_there():
    for file in [*PAGES, *SOURCES]:
        for name in FILE.findall(LINK.sub("", file.read_text())):
            begun = re.compile(rf"{re.escape(name)}(-|\.\w+$|$)")
            assert any(map(begun.match, _files())), f"{file}: {name}"


@each("page", PAGES)
def test_named_commands_are_there(page):
    text = page.read_text()
    for name in re.findall(r"(?:^\$ (?:\.venv/bin/)?|`)hdnhw ([a-z][a-z0-9-]*)", text, flags=re.MULTILINE):
        assert name in _commands(), f"hdnhw {name}"
    for name in re.findall(r"`make ([\w.-]+\w)", text):
        assert name in _targets() or any(one.startswith(f"{name}-") for one in _targets()), f"make {name}"


def test_make_help_has_a_line_for_all_that_make_does():
    said = subprocess.check_output(["make", "--no-print-directory", "help"], cwd=ROOT, text=True)
    lines = dict(re.findall(r"^(\S+) +(\S.*)$", said, re.MULTILINE))
    assert lines.keys() == {name for name in _targets() if re.fullmatch(r"[a-z][\w-]*", name)}
    for name, line in lines.items():
        if name.startswith(("bench-", "check")):
            assert re.search(r"; .*(second|minute|hour)s?\b", line), f"{name}: {line}"


@each("page", PAGES)
def test_consoles_are_as_wide_as_the_site(page):
    for block in re.findall(r"^```.*?^```", page.read_text(), re.DOTALL | re.MULTILINE):
        assert [line for line in block.splitlines() if len(line) > 120] == []


@each("page", [page for page in PAGES if page.parent.name != "papers"])
def test_a_cell_of_a_table_has_at_most_30_words(page):
    rows = re.findall(
        r"^\| .*", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL), re.MULTILINE
    )
    assert [cell for row in rows for cell in LINK.sub("]", row).split(" | ") if len(cell.split()) > 30] == []


def _british(text):
    return {word for word in BRITISH.findall(text) if not ALIKE.fullmatch(word)}


def test_all_that_is_written_is_in_american_spelling():
    for name in subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines():
        if not name.endswith(".png"):
            assert _british((ROOT / name).read_text(encoding="utf-8")) == set(), name


def test_british_spelling_is_found():
    words = (
        "behavi{0}, Col{0}ed, neighb{0}s, cent{1}, unmodel{2}, summari{3}e, personali{3}ed, anal{4}ing, utili{3}ation"
    )
    for parts, found in ((("our", "re", "led", "s", "ys"), 9), (("or", "er", "ed", "z", "yz"), 0)):
        assert len(_british(words.format(*parts))) == found
    assert _british("otherwise noise raised, exercises; a precise promise") == set()


def _said(text):
    """Return what a page says in its own words: no consoles, recipes or code."""
    text = re.sub(r"^```.*?^```|<!--.*?-->", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`]*`", "", text)


@each("page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))])
def test_pages_use_the_words_of_the_field(page):
    found = [
        (match[0], better)
        for words, better in WORDS.items()
        for match in re.finditer(words, _said(page.read_text()), re.IGNORECASE)
    ]
    assert found == []


def test_help_uses_the_words_of_the_field():
    (action,) = (one for one in command_parser()._actions if isinstance(one, argparse._SubParsersAction))
    for name, parser in action.choices.items():
        text = " ".join(parser.format_help().split())
        assert [match[0] for words in WORDS for match in re.finditer(words, text, re.IGNORECASE)] == [], name
