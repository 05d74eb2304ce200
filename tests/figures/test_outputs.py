"""What commands draw: the metadata of every plot, and every page, say what it is of and which command made it."""

import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from hdnhw.figures.histogram import draw_histogram
from hdnhw.figures.outputs import Outputs
from hdnhw.figures.page import shown, table_of
from hdnhw.support.errors import SpecError

DRAWING = {
    "simulate 'cube(3)' --cycles 500 --rate 0.2": (
        "spec: cube(3)",
        "buffers: 4",
        "rate: 0.2",
        "packet latency, cycles",
    ),
    "simulate 'cube(2)' --pattern exchange": ("pattern: exchange", "spec: cube(2)"),
    "compare 'cube(3)' 'torus(4)'": ("w1 of CR_w: 0.5",),
    "design --nodes 16 --degree 3": ("nodes: 16", "average distance, hops"),
    "faults 'rdn(cube(1), 1)' --by-case --trials 2 --pairs 9 --fault-rates 0.1,0.2 --workers 1": (
        "trials: 2",
        "failed nodes, %",
    ),
    "faults 'cube(3)' --fault-rates 0,0.2 --trials 2 --workers 1": ("spec: cube(3)", "dead nodes, %", "share of pairs"),
    "exchange 'cube(2)'": ("schedule: cluster-first", "words"),
    "collective 'cube(2)' --op scatter --words 4": ("message words: 4", "node"),
    "sweep 'cube(2)' --rates 0.1 --cycles 200 --workers 1": ("packet length: 8 flits", "cycles measured: 200"),
}
"""Command line -> what stands in its plot and in its metadata."""


class Texts(HTMLParser):
    """The cells of a page's tables, and all text of each kind of tag; tags must close in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.cells, self.text = [], [], {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, _):
        if tag != "meta":
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.text[self.open[-1]] = self.text.get(self.open[-1], "") + data
            if {"td", "th"} & set(self.open):
                self.cells[-1] += data


def drawn_texts(name):
    """Return the texts of a plot in the order in which they stand in its file."""
    return " ".join(unescape(text).strip() for text in re.findall(r">([^<>]+)</t(?:ext|span)>", Path(name).read_text()))


def metadata_of(name):
    """Return the description and the source in the metadata of a plot."""
    text = Path(name).read_text()
    return [unescape(text.split(f"<dc:{tag}>")[1].split("<")[0]) for tag in ("description", "source")]


@pytest.mark.parametrize("line", DRAWING)
def test_plots_and_pages_say_what_made_them(run, line):
    command = f"hdnhw {line} --plot a.svg --html a.html"
    status, out, err = run(f"{line} --plot a.svg --html a.html --json")
    assert (status, "Traceback" in err) == (0, False)
    texts, (settings, source) = drawn_texts("a.svg"), metadata_of("a.svg")
    assert source == f"{command} --json"
    assert all(expected in f"{texts}; {settings}" for expected in DRAWING[line])
    assert not any(setting in texts for setting in (line, *settings.split("; ")[-2:]))
    page = Path("a.html").read_text()
    read = Texts(page)
    assert read.text["code"] == f"{command} --json"
    assert page.count("<svg") == 1
    assert "://" not in re.sub(r'xmlns(:xlink)?="[^"]*"', "", page)
    result = json.loads(out)
    rows = next(value for value in result.values() if isinstance(value, list)) if "networks" in result else []
    assert all(shown(value) in read.cells for row in rows[:3] for value in row.values() if not isinstance(value, dict))


def test_the_sizes_of_an_allreduce_as_a_page(run):
    status, out, _ = run("collective 'cube(3)' --op allreduce --sizes 1,64 --bandwidth b.png --html b.html --json")
    cells = Texts(Path("b.html").read_text()).cells
    assert status == 0
    assert all(shown(value) in cells for row in json.loads(out)["sizes"] for value in row.values())


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("compare 'cube(2)' --plot a.svg --html a.svg", "--plot and --html must be different files, not both 'a.svg'"),
        ("simulate 'cube(2)' --plot a.gif", "plot must be a file, one of .svg, .png, .pdf, not 'a.gif'"),
        ("design --nodes 8 --degree 3 --html a.txt", "--html must be a file, one of .html, .htm, not 'a.txt'"),
        ("collective 'cube(2)' --op barrier --html a.html", "--html is for operations that move messages"),
        ("collective 'cube(2)' --op allreduce --algorithm ring --html a.html", "--html is for schedules over ports"),
        ("faults 'cube(2)' --html a.html", "--html is for --fault-rates and --by-case"),
    ],
)
def test_names_are_looked_at_before_the_work(run, tmp_path, line, told):
    status, out, err = run(line)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert told in err
    assert list(tmp_path.iterdir()) == []


def test_a_bar_of_a_histogram_covers_its_latencies():
    bins = [{"from": 10, "to": 10, "messages": 3}, {"from": 11, "to": 15, "messages": 7}]
    row = {"spec": "cube(3)", "nodes": 8, "histogram": bins, "packet_latency": None}
    bars = draw_histogram(row).axes[0].patches
    sides = [(bar.get_x(), bar.get_x() + bar.get_width(), bar.get_height()) for bar in bars]
    assert sides == [(9.5, 10.5, 3), (10.5, 15.5, 7)]


def test_a_function_that_draws_names_itself(tmp_path):
    with pytest.raises(SpecError, match="plot must be"):
        Outputs(tmp_path / "a.doc", None, "hdnhw.compare")
    assert not Outputs(None, None, "hdnhw.compare").are_asked


def test_a_table_has_a_column_for_each_key_of_any_row():
    table = table_of("Some rows", [{"a_b": 1, "c": None}, {"d": {"mean": 0.25}}])
    assert (table.ident, table.columns) == ("some-rows", ["a b", "c", "d"])
    assert [line.cells for line in table.groups[0].lines] == [["1", "—", "—"], ["—", "—", "mean 0.25"]]
