"""``hdnhw explore``: the file, what is printed, and what is refused."""

import json
from html import unescape
from pathlib import Path

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
