"""The site: all pages are in its navigation, all commands in its reference, and bad links are found."""

import argparse
import ast
import json
import re
from pathlib import Path

import pytest
import yaml

from hdnhw.cli import command_parser
from tests.test_layers import ORDER
from website.commands import command_page
from website.links import faults

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MADE = {"reference/command-line.md", "reference/python.md"}
"""Pages that are made when the site is built."""

NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
KEPT = [file for file in NOTEBOOKS if json.loads(file.read_text())["metadata"].get("keep_outputs")]
"""Those whose outputs are in the repository, for who reads it on a code host."""


class Loader(yaml.SafeLoader):
    """Reads mkdocs.yml, whose tags name functions of Python."""


Loader.add_multi_constructor("!!python/", lambda *_: None)
Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)


def entries(nav):
    """Yield the pages and folders that a navigation names."""
    for entry in nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else ():
        yield from entries(entry) if isinstance(entry, (dict, list)) else (entry,)


def test_every_page_is_in_the_navigation():
    named = list(entries(yaml.load((ROOT / "website" / "mkdocs.yml").read_text(), Loader)["nav"]))
    pages = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}
    folders = tuple(name for name in named if name.endswith("/"))
    assert {name for name in named if not name.endswith("/")} - MADE <= pages
    assert [page for page in pages if page not in named and not page.startswith(folders)] == []
    assert all((DOCS / folder).is_dir() for folder in folders)
    assert len(set(named)) == len(named)


def test_pages_have_their_own_titles_in_the_navigation():
    nav = yaml.load((ROOT / "website" / "mkdocs.yml").read_text(), Loader)["nav"]
    titled = [entry for part in nav for entry in ([part] if isinstance(part, str) else next(iter(part.values())))]
    assert not [name for entry in titled if isinstance(entry, dict) for name in entry.values() if name.endswith(".md")]
    titles = [page.read_text().partition("\n")[0] for page in DOCS.glob("*.md")]
    assert len(set(titles)) == len(titles)


def test_reference_has_every_command_and_option():
    page = command_page()
    sections = {part.partition("\n")[0]: part for part in page.split("\n## ")[1:]}
    (commands,) = (action for action in command_parser()._actions if isinstance(action, argparse._SubParsersAction))
    assert list(sections) == list(commands.choices)
    for name, parser in commands.choices.items():
        usage, table = re.search(r"```\n(usage: .*?)```\n(.*)", sections[name], re.DOTALL).groups()
        for option in {option for action in parser._actions for option in action.option_strings} - {"-h", "--help"}:
            assert re.search(rf"^\| `.*{option}\b", table, re.MULTILINE)
            assert option in usage or (option.startswith("--") and f"-{option[2]}" in usage)


def test_options_are_one_row_each():
    assert re.search(r"^\| `--tuser \{first,last\}` \| .* \|$", command_page(), re.MULTILINE)
    assert all(row.count(" | ") == 1 for row in re.findall(r"^\| `.*$", command_page(), re.MULTILINE))


def test_layers_of_the_picture_are_those_of_the_imports():
    rows = {}
    for y, name in re.findall(r'y="(\d+)" text-anchor="middle">(\w+)<', (DOCS / "layers.svg").read_text()):
        rows.setdefault(-int(y), set()).add(name)
    assert [rows[y] for y in sorted(rows)] == [layers for layers in ORDER if "__init__" not in layers]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_notebooks_are_kept_without_outputs_and_lead_somewhere(notebook):
    cells = json.loads(notebook.read_text())["cells"]
    assert all(cell.get("outputs", []) == [] or notebook in KEPT for cell in cells)
    assert all(cell.get("execution_count") is None for cell in cells)
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        assert (notebook.parent / target).is_file(), target


@pytest.mark.parametrize("notebook", KEPT, ids=lambda notebook: notebook.stem)
def test_kept_outputs_are_what_the_cells_give(notebook, tmp_path, monkeypatch, capsys):
    """Without Jupyter: the picture that a cell ends with, or what it prints and its last value, spaces aside."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for cell in json.loads(notebook.read_text())["cells"]:
        if cell["cell_type"] == "code":
            *lines, last = ast.parse("".join(cell["source"])).body
            exec(compile(ast.Module(lines, []), notebook.name, "exec"), names)
            mode = "eval" if isinstance(last, ast.Expr) else "exec"
            made = ast.Expression(last.value) if mode == "eval" else ast.Module([last], [])
            value = eval(compile(made, notebook.name, mode), names)
            shown = value._repr_svg_() if hasattr(value, "_repr_svg_") else None if value is None else repr(value)
            kept = [
                one.get("text") or one["data"].get("image/svg+xml") or one["data"]["text/plain"]
                for one in cell["outputs"]
            ]
            now = capsys.readouterr().out + (shown or "")
            assert "".join("".join(map("".join, kept)).split()) == "".join(now.split())


PAGE = '<h2 id="here">x</h2><script src="{script}"></script><a href="{link}">y</a><a href="https://example.org">z</a>'


@pytest.mark.parametrize(
    ("link", "script", "fault"),
    [
        ("#here", "a.js", None),
        ("index.html#here", "data:,", None),
        ("#there", "a.js", "no such heading"),
        ("index.html#there", "a.js", "no such heading"),
        ("other.html", "a.js", "no such file"),
        ("#here", "b.js", "no such file"),
        ("#here", "https://example.org/a.js", "fetched from elsewhere"),
        ("#here", "//example.org/a.js", "fetched from elsewhere"),
    ],
)
def test_links_that_lead_nowhere_are_found(link, script, fault, tmp_path):
    (tmp_path / "a.js").touch()
    (tmp_path / "index.html").write_text(PAGE.format(link=link, script=script))
    found = list(faults(tmp_path.resolve()))
    assert len(found) == (fault is not None)
    assert all(line.endswith(f": {fault}") for line in found)
