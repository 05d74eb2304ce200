"""The tables of README and docs whose comments name commands, written anew, a part of `make docs`; minutes.

Such a comment names commands, and for columns of the table (the first is 0) what they show of the commands' results::

    <!-- table
    $ hdnhw routing '<0>' --json
    1 {nodes}
    3 {mean_hops:.3f}
    -->

``<0>`` is cell 0 of the row, or what stands in it between backquotes. ``{...}`` is as in :meth:`str.format`; a list of
results is asked for the one whose ``spec`` it is, and a flag is followed by what stands for true and for false:
``{exact:|<= }``. Of several commands in a row, ``{of[0]...}`` is the first one's result. A cell without a digit stays.
"""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.consoles import pages_asked, run


class _Value:
    """A value of a result as a cell shows it."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __getitem__(self, key: Any) -> "_Value":
        if isinstance(self._value, list) and isinstance(key, str):
            return _Value(next(each for each in self._value if each["spec"] == key))
        return _Value(self._value[key])

    def __format__(self, form: str) -> str:
        value = self._value
        if isinstance(value, bool) and "|" in form:
            return form.split("|")[not value]
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list):
            return form.join(map(str, value)) if form else str(len(value))
        return "" if value is None else re.sub(r"(\d)%$", r"\1 %", format(value, form))


@dataclass(frozen=True)
class _Group:
    """Commands, and the columns that are made of their results."""

    commands: tuple[str, ...]
    columns: dict[int, str]


@dataclass(frozen=True)
class Table:
    """A table whose cells commands print.

    Attributes
    ----------
    page : Path
    text : str
        As it stands there.
    groups : tuple
    rows : tuple of tuple of str
        Cells, without the head.
    """

    page: Path
    text: str
    groups: tuple[_Group, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(page: Path) -> Iterator[Table]:
    """Yield the tables of a page above which a comment says where they are from.

    Raises
    ------
    ValueError
        If there is no table below the comment, or the comment is not understood.
    """
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"^<!-- table\n(.*?)^-->\n((?:\|[^\n]*\n)*)", text, re.DOTALL | re.MULTILINE)
    for comment, table in found:
        rows = tuple(tuple(cell.strip() for cell in line.split("|")[1:-1]) for line in table.splitlines()[2:])
        if not rows:
            raise ValueError(f"{page.name}: there must be a table below its comment")
        yield Table(page, table, tuple(_groups(comment)), rows)


def _groups(comment: str) -> Iterator[_Group]:
    commands: list[str] = []
    columns: dict[int, str] = {}
    for line in comment.splitlines():
        first, _, rest = line.partition(" ")
        if first == "$":
            if columns:
                yield _Group(tuple(commands), columns)
                commands, columns = [], {}
            commands.append(rest)
        elif first.isdecimal():
            columns[int(first)] = rest
        else:
            raise ValueError(f"a line must begin with $ or the number of a column, not {line!r}")
    yield _Group(tuple(commands), columns)


def fill(table: Table, row: tuple[str, ...]) -> tuple[str, ...]:
    """Return a row with what its commands print now."""
    cells = list(row)
    for group in table.groups:
        wanted = {column: form for column, form in group.columns.items() if re.search(r"\d", row[column])}
        if not wanted:
            continue
        results = [_Value(_result(_with_cells(command, row))) for command in group.commands]
        names = {"of": results} | {name: results[-1][name] for name in results[-1]._value}
        for column, form in wanted.items():
            cells[column] = _with_cells(form, row).format_map(names)
    return tuple(cells)


def _with_cells(text: str, row: tuple[str, ...]) -> str:
    def cell(found: re.Match[str]) -> str:
        within = re.search(r"`(.*?)`", row[int(found[1])])
        return within[1] if within else row[int(found[1])]

    return re.sub(r"<(\d+)>", cell, text)


@cache
def _result(command: str) -> Any:
    """Run a command of hdnhw in a folder of its own; return its JSON."""
    program, *arguments = shlex.split(command)
    if program != "hdnhw":
        raise ValueError(f"a table must run hdnhw, not {program}")
    with TemporaryDirectory() as folder:
        done = run(arguments, Path(folder), stderr=subprocess.PIPE)
    if done.returncode:
        raise ValueError(f"{command} has ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def main() -> int:
    """Write anew the tables of all pages, or of those that are named."""
    for page in pages_asked("Write anew the tables of README and docs that commands print."):
        text = page.read_text(encoding="utf-8")
        for table in tables(page):
            head = table.text.splitlines()[:2]
            rows = ["".join(f"| {cell} " if cell else "| " for cell in fill(table, row)) + "|" for row in table.rows]
            now = "".join(f"{line}\n" for line in head + rows)
            text = text.replace(table.text, now)
            print(f"{page.name}: {head[0]}: {'as it was' if now == table.text else 'changed'}", flush=True)
        page.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
