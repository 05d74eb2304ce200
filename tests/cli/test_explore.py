"""``hdnhw explore``: the file, what is printed, and what is refused."""

import json
from html import unescape
from pathlib import Path

from tests.conftest import each

LINE = "explore 'rdn(cube(1), 1)' --root 3 --cycles 40 --rate 0.5 --buffers 4 -o page.html"


def test_a_page_is_written_and_told_of(run):
    Path("page.html").write_text("what was there")
    status, out, _ = run(f"{LINE} --json")
    page, printed = Path("page.html").read_text(), json.loads(out)
    assert status == 0
    assert printed["file"] == "page.html"
    assert printed["bytes"] == len(page.encode())
    assert (printed["nodes"], printed["edges"], printed["missing"]) == (8, 8, {})
    assert printed["operations"] == ["broadcast", "scatter", "allgather", "exchange"]
    assert printed["packets"] > 10
    assert f"hdnhw {LINE}" in unescape(page)
    assert sorted(path.name for path in Path().iterdir()) == ["page.html"]


@each(
    ("line", "message"),
    [
        ("explore 'cube(2' -o page.html", "cube(2"),
        ("explore 'cube(11)' -o page.html", "page must be of at most 1024 nodes; cube(11) has 2048"),
        ("explore 'cube(2)' -o page.svg", "--output must be a file, one of .html, .htm, not 'page.svg'"),
        ("explore 'cube(2)' -o none/page.html", "--output must be in a folder that can be written"),
        ("explore 'cube(2)' -o page.html --root x", "x"),
        ("explore 'cube(2)' -o page.html --cycles 0", "cycles must be 1 to 16384, not 0"),
        (
            "explore 'cube(2)' -o page.html --switching cut-through",
            "--switching cut-through puts routers half a slot apart",
        ),
        ("explore 'cube(2)'", "-o"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(refused, line, message):
    assert message in refused(line)
