"""The tables of README and docs show what the commands above them print."""

import pytest

from bench.consoles import is_unmeasured, pages
from bench.tables import fill, tables

ROWS = [
    pytest.param(table, row, id=f"{page.name}: {row[0]}: {table.groups[0].commands[0]}")
    for page in pages()
    for table in tables(page)
    for row in table.rows
]


@pytest.mark.parametrize(("table", "row"), ROWS)
def test_a_row_is_what_its_commands_print(table, row):
    if is_unmeasured(command for group in table.groups for command in group.commands):
        pytest.skip("what make docs-machines measures takes half an hour the first time")
    assert fill(table, row) == row


COMMENT = """<!-- table
$ hdnhw info '<0>' --json
1 {nodes:,}
2 {bisection[exact]:|<= }{bisection[edges]}
3 {distance_histogram: }
4 {node_symmetric:yes|no}, {diameter:.1%}
$ hdnhw compare 'cube(2)' '<0>' --json
$ hdnhw compare '<0>' 'cube(4)' --json
5 {of[0][networks][cube(2)][nodes]} + {networks[<0>][nodes]}
6 {networks[1][spec]}
-->
"""
TEXT = (
    "| a | b | c |\n|---|---|\n| `cube(3)`, of 9 | 9 | 9 | 9 | 9 | 9 | none | 9 |\n| `petersen()` | | | 9 | - | | | |\n"
)


@pytest.fixture
def page(tmp_path):
    return tmp_path / "page.md"


def test_cells_are_filled(page):
    page.write_text(f"| no |\n|---|\n| 1 |\n\n{COMMENT}{TEXT}\n| no |\n|---|\n| 1 |\n")
    (table,) = tables(page)
    assert table.text == TEXT
    cube, petersen = (fill(table, row) for row in table.rows)
    assert cube == ("`cube(3)`, of 9", "8", "4", "1 3 3 1", "yes, 300.0 %", "4 + 8", "none", "9")
    assert petersen == ("`petersen()`", "", "", "1 3 6", "-", "", "", "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (COMMENT, r"^page\.md: there must be a table below its comment$"),
        (
            f"<!-- table\n$ hdnhw info\none\n-->\n{TEXT}",
            "^a line must begin with . or the number of a column, not 'one'$",
        ),
    ],
)
def test_comments_that_are_wrong(page, text, said):
    page.write_text(text)
    with pytest.raises(ValueError, match=said):
        list(tables(page))


@pytest.mark.parametrize(
    ("command", "said"),
    [("rm -r /", "^a table must run hdnhw, not rm$"), ("hdnhw info 1 --json", "ended with 2: hdnhw: spec")],
)
def test_commands_that_fail(page, command, said):
    page.write_text(f"<!-- table\n$ {command}\n1 {{nodes}}\n-->\n{TEXT}")
    (table,) = tables(page)
    with pytest.raises(ValueError, match=said):
        fill(table, table.rows[0])
