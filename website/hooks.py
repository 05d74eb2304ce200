"""Pages of the site that are made when it is built: references, notebooks, and a network to look around in.

MkDocs calls the functions named ``on_...``. Links that leave docs, to examples say, lead to copies in the site.
"""

import inspect
import re
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.structure.files import File
from nbconvert import MarkdownExporter

import hdnhw
from hdnhw.endpoints import declared
from hdnhw.networks.registry import makers
from website.commands import command_page
from website.notebooks import EXECUTED, NOTEBOOKS, ROOT

DOCS = ROOT / "docs"

LIVE = {"explore/rdn-cube2-1.html": "rdn(cube(2), 1)", "explore/torus-4-4.html": "torus(4, 4)"}
"""Pages of `hdnhw explore` in the site, of which the first one stands in the page about it."""

FIRST = {"README.md", "glossary.md", "install.md"}
"""Pages that a search names first, beside those to start with and those of the navigation's part `How to`."""

LAST = ("decisions/", "papers/")
"""Folders whose pages a search names last."""

OUTSIDE = re.compile(r"\]\(((?:\.\./)+)(?!\.)([^)\s#]+)\)")
"""A link to a file above the page's folder."""


def on_config(config: Any) -> Any:
    """Put the pages of a folder where the navigation names the folder, and note which pages a search names first."""
    FIRST.update(next(part["How to"] for part in config.nav if "How to" in part))
    config.nav = [_opened(entry) for entry in config.nav]
    return config


def _opened(entry: Any) -> Any:
    if isinstance(entry, dict):
        return {title: _opened(inner) for title, inner in entry.items()}
    if isinstance(entry, list):
        return [_opened(inner) for inner in entry]
    return pages_of(entry) if entry.endswith("/") else entry


def pages_of(folder: str) -> list[str]:
    """Return the pages of a folder of docs, its index first; a notebook becomes a page."""
    names = {file.with_suffix(".md").name for kind in ("*.md", "*.ipynb") for file in (DOCS / folder).glob(kind)}
    return [f"{folder}{name}" for name in sorted(names, key=lambda name: (name not in ("README.md", "index.md"), name))]


def on_files(files: Any, config: Any) -> Any:
    """Add the pages and files that are made here."""
    made: dict[str, str | bytes] = {
        "reference/command-line.md": command_page(),
        "reference/python.md": python_page(),
        "site.css": (ROOT / "website" / "site.css").read_bytes(),
    }
    made |= {name: hdnhw.explore(spec).html for name, spec in LIVE.items()}
    for notebook in sorted(NOTEBOOKS.glob("*.ipynb")):
        made |= notebook_page(notebook.stem)
    for page in DOCS.rglob("*.md"):
        for up, name in OUTSIDE.findall(page.read_text(encoding="utf-8")):
            if (file := (page.parent / up / name).resolve()).is_relative_to(ROOT) and not file.is_relative_to(DOCS):
                made[f"files/{file.relative_to(ROOT)}.txt"] = _copied(file)
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    return files


def _copied(file: Path) -> str | bytes:
    """Return a file as it is, or of a folder the names of what is in it."""
    return file.read_bytes() if file.is_file() else "".join(f"{inner.name}\n" for inner in sorted(file.iterdir()))


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Turn links to notebooks and to files outside docs into links to what stands for them here; weigh the page."""
    source = page.file.src_uri
    boost = 2 if source in FIRST or source.startswith("start-") else 0.3 if source.startswith(LAST) else 1
    page.meta |= {"search": {"boost": boost}}
    if source == "explore.md":
        title, rest = markdown.split("\n", 1)
        pages = ", ".join(f"[{spec}]({file})" for file, spec in LIVE.items())
        frame = f'<iframe class="live" src="{next(iter(LIVE))}" title="hdnhw explore"></iframe>'
        markdown = f"{title}\n\n{frame}\n\nIn a window of its own: {pages}.\n{rest}"
    above = Path(page.file.src_uri).parent
    up = "../" * len(above.parts)

    def copied(link: re.Match[str]) -> str:
        file = (DOCS / above / link[1] / link[2]).resolve()
        return link[0] if file.is_relative_to(DOCS) else f"]({up}files/{file.relative_to(ROOT)}.txt)"

    return re.sub(r"(\]\([^):\s]+)\.ipynb\)", r"\1.md)", OUTSIDE.sub(copied, markdown))


def on_page_content(html: str, **_: Any) -> str:
    """Let no option of a command be broken behind a hyphen where it stands in a line of text."""
    options = partial(re.sub, r"(?<![\w-])--\w[\w-]*", r'<span class="option">\g<0></span>')
    return re.sub(r"(?<!</span>)<code>[^<]*</code>", lambda code: options(code[0]), html)


# Python.


def python_page() -> str:
    """Return the reference of the names of ``hdnhw``; mkdocstrings puts in what their docstrings say."""
    classes = [name for name in hdnhw.__all__ if isinstance(getattr(hdnhw, name), type)]
    kinds = {spec.__name__: spec.__module__ for spec in declared("spec").values()}
    others = [f"{module}.{name}" for name, module in kinds.items() if name not in classes]
    functions = [name for name in hdnhw.__all__ if name not in classes and callable(getattr(hdnhw, name))]
    makes = {name: f"{inspect.unwrap(maker).__module__}.{maker.__name__}" for name, maker in makers().items()}
    parts = [
        "# Functions and classes of Python",
        "Made from the docstrings of the names of `hdnhw`, which stay as they are. [Begin here](../python.md).",
    ]
    for title, names in (
        ("Functions", [f"hdnhw.{name}" for name in functions]),
        ("Classes", [*(f"hdnhw.{name}" for name in classes), *others]),
        ("Constructors of networks", [makes[name] for name in sorted(makes)]),
    ):
        parts += [f"## {title}", *(f"::: {name}" for name in names)]
    return "\n\n".join(parts) + "\n"


# Notebooks.


def notebook_page(name: str) -> dict[str, str | bytes]:
    """Return, by their names, a notebook as a page and its pictures."""
    notebook = nbformat.read(EXECUTED / f"{name}.ipynb", as_version=4)
    for output in (output for cell in notebook.cells for output in cell.get("outputs", [])):
        if "image/svg+xml" in output.get("data", {}):
            output.data.pop("text/html", None)  # a picture is what a notebook shows first
    body, resources = MarkdownExporter().from_notebook_node(notebook)
    pictures = {inner: f"{name}-{inner}" for inner in resources["outputs"]}
    for inner, outer in pictures.items():
        body = body.replace(f"]({inner})", f"]({outer})")
    body = re.sub(r"<th\b.*?</th>", lambda cell: cell[0].replace("_", "_<wbr>"), body)  # names of columns may break
    head, _, rest = body.lstrip().partition("\n")
    link = f'<a href="{name}.ipynb" download>This page as a notebook</a>'
    page = {f"notebooks/{name}.md": f"{head}\n\n{link}\n\n{rest}"}
    return page | {f"notebooks/{outer}": resources["outputs"][inner] for inner, outer in pictures.items()}
