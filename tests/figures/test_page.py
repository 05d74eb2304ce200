"""The page of a sweep, read back by a parser of its own."""

import re
from functools import cache
from html.parser import HTMLParser

import pytest

from hdnhw.figures.curves_page import sweep_sheet
from hdnhw.figures.page import check_page, page_of
from hdnhw.measurement.load import LoadSpec
from hdnhw.networks.parse import parse
from hdnhw.rules.plan import plan
from hdnhw.rules.statistics import routing_statistics
from hdnhw.support.errors import SpecError

VOID = {"meta"}
HOSTILE = "<script>\"&'"


class Page(HTMLParser):
    """Checks that tags close in order; gathers attributes, ids and the cells of tables by their id."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.attributes, self.ids = [], [], [], []
        self.tables, self.rows, self.text = {}, None, {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self._look(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.rows = self.tables[dict(attrs)["id"]] = []
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attrs):
        self._look(tag, attrs)

    def _look(self, tag, attrs):
        self.seen.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.text[self.open[-1]] = self.text.get(self.open[-1], "") + data
            if {"td", "th"} & set(self.open):
                self.rows[-1][-1] += data


def row(spec, rate, latency, *, steady=True):
    return {
        "spec": spec,
        "modes": "f" if "dual" in spec else "",
        "lanes": 1,
        "packet_length": 8,
        "buffers": 2,
        "queueing": "voq",
        "switching": "store-and-forward",
        "channel_latency": "1",
        "channel_width": None,
        "crc": False,
        "gapless_packets": False,
        "rate": rate,
        "steady": steady,
        "offered_rate": rate + 0.000123,
        "accepted_rate": rate - 0.000321,
        "packet_latency": latency and {"mean": latency, "p50": 41, "p95": 57, "p99": 61, "max": 1078},
        "confidence_95": latency and latency / 100,
        "accepted_confidence_95": latency and 0.0123,
        "mean_hops": latency and 2.1202,
    }


NOTE = "with 1 packet buffer & no more, slow"


def curve_of(spec, nodes, figures, points, note=None):
    names = ("zero_load_latency", "rate_at_3x_latency", "saturation_throughput", "overload_throughput")
    figures = dict(zip((*names, "saturation_bound"), figures, strict=True))
    figures |= {
        f"{name}_confidence_95": 0.012 if "dual" in spec else None for name in ("rate_at_3x", "saturation", "overload")
    }
    return {"spec": spec, "nodes": nodes, "pattern": "uniform", **figures, "note": note, "points": points}


@cache
def bound():
    return routing_statistics(plan("dualcube(3)")).saturation_bound


def curves_of():
    rows = [row("cube(3)", 0.1, 43.2817), row("cube(3)", 0.4, 50.0)]
    dual = [row("dualcube(3)", 0.2, 46.8206), row("dualcube(3)", 0.5, 1234.56789, steady=False)]
    return [
        curve_of("cube(3)", 8, (42.5, None, None, None, 1.75), rows),
        curve_of("dualcube(3)", 32, (45.1, 0.188, 0.2, 0.123, bound()), dual, NOTE),
        curve_of("cube(2)", 4, (None, None, 0.875, None, 2.0), [row("cube(2)", 0.9, None, steady=False)]),
    ]


def text_of(curves=None, load=None, command="hdnhw sweep 'cube(3)' --html p.html", networks=None):
    curves = curves or curves_of()
    networks = networks or {curve["spec"]: parse(curve["spec"]) for curve in curves}
    return page_of(sweep_sheet(curves, load or LoadSpec(), networks), command)


def number(text):
    return None if text == "—" else float(text.removesuffix(" %"))


def test_it_is_well_formed_and_its_headings_are_in_order():
    text = text_of()
    page = Page(text)
    assert text.startswith("<!DOCTYPE html>\n")
    assert ("html", "lang", "en") in page.attributes
    assert [tag for tag in page.seen if re.fullmatch("h[1-6]", tag)] == ["h1"] + ["h2"] * 5
    assert page.text["h1"] == "Load curves: cube(3), dualcube(3), cube(2)"
    assert page.seen.count("svg") == 1
    assert [value for tag, name, value in page.attributes if (tag, name) == ("div", "aria-label")]


def test_nothing_is_fetched_and_every_reference_is_to_an_id_of_the_page():
    text = text_of()
    page = Page(text)
    assert not {"script", "link", "img", "iframe", "object", "embed", "image"} & set(page.seen)
    references = [value for _, name, value in page.attributes if name.split(":")[-1] in ("href", "src")]
    references += [f"#{name}" for name in re.findall(r"url\(#(\w+)\)", text)]
    assert len(references) > 10
    assert {reference[0] for reference in references} == {"#"}
    assert {reference[1:] for reference in references} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert text.count("url(") == text.count("url(#")
    assert not re.search(r"@import|@font-face", text)
    assert {name for _, name, value in page.attributes if "//" in (value or "")} <= {"xmlns", "xmlns:xlink"}


def test_the_same_curves_give_the_same_page():
    assert text_of() == text_of(curves_of())


def test_points_are_the_rows():
    heading, *rows = Page(text_of()).tables["points"]
    expected = []
    for curve in curves_of():
        expected.append([curve["spec"]])
        expected += curve["points"]
    assert len(rows) == len(expected)
    for cells, point in zip(rows, expected, strict=True):
        if isinstance(point, list):
            assert cells == point
            continue
        shown = dict(zip(heading, cells, strict=True))
        flags = {"steady": "yes" if point["steady"] else "no"}
        assert {name: shown.pop(name) for name in flags} == flags
        latency = point["packet_latency"] or {}
        figures = {"rate": "rate", "offered": "offered_rate", "accepted": "accepted_rate"}
        figures |= {"±": "confidence_95", "± accepted": "accepted_confidence_95", "hops": "mean_hops"}
        values = {name: latency.get(name) for name in ("mean", "p50", "p95", "p99", "max")}
        values |= {name: point[key] for name, key in figures.items()}
        assert {name: number(text) for name, text in shown.items()} == pytest.approx(values, abs=6e-3)
        rates = [number(shown[name]) for name in ("rate", "offered", "accepted")]
        assert rates == pytest.approx([values[name] for name in ("rate", "offered", "accepted")], abs=5.1e-5)


def test_networks():
    heading, *rows = Page(text_of()).tables["networks"]
    assert [cells[0] for cells in rows] == ["cube(3)", "dualcube(3)", "cube(2)"]
    cube, dual, square = (dict(zip(heading, cells, strict=True)) for cells in rows)
    assert (cube["nodes"], cube["ports"], cube["virtual channels"], cube["modes"]) == ("8", "3", "1", "—")
    assert (cube["bound"], cube["zero-load latency"]) == ("1.000", "42.50")
    assert (cube["rate at 3x latency"], cube["saturation throughput"], cube["share of bound"]) == ("—", "—", "—")
    assert bound() < 1
    assert (dual["ports"], dual["virtual channels"], dual["modes"]) == ("3", "2", "f")
    assert (dual["zero-load latency"], dual["rate at 3x latency"]) == ("45.10", "0.188 ± 0.012")
    assert (dual["saturation throughput"], dual["overload throughput"]) == ("0.2 ± 0.012", "0.123 ± 0.012")
    assert number(dual["bound"]) == pytest.approx(bound(), abs=5.1e-4)
    assert number(dual["share of bound"]) == pytest.approx(100 * 0.2 / bound(), abs=0.51)
    assert (square["saturation throughput"], square["share of bound"]) == ("0.875", "88 %")
    assert (square["zero-load latency"], square["rate at 3x latency"]) == ("—", "—")


def test_what_a_machine_lacks_is_said_of_its_network_alone():
    text = text_of()
    assert text.count("&amp; no more") == 1  # below the table
    assert "<strong>dualcube(3)</strong>: with 1 packet buffer &amp; no more, slow.</p>" in text
    assert 'class="note"' not in text_of([curves_of()[0]])


def test_the_bound_is_one_of_uniform_traffic():
    heading, *rows = Page(text_of([curve | {"saturation_bound": None} for curve in curves_of()])).tables["networks"]
    for cells in rows:
        shown = dict(zip(heading, cells, strict=True))
        assert (shown["bound"], shown["share of bound"]) == ("—", "—")


def test_options_and_what_is_special_in_html():
    load = LoadSpec(injection="on_off(8, 0.5)", lengths="mix(1, 1, 9, 1)", cycles=777, warmup=55, seed=9)
    curves = [curve | {"pattern": HOSTILE} for curve in curves_of()]
    page = Page(text_of(curves, load=load, command=f"hdnhw sweep {HOSTILE}"))
    assert dict(page.tables["options"]) == {
        "packet length": "8 flits",
        "buffers": "2 packet buffers per port",
        "queueing": "voq",
        "switching": "store-and-forward",
        "channel latency": "1",
        "channel width": "—",
        "crc": "no",
        "gapless packets": "no",
        "lanes": "1",
        "pattern": HOSTILE,
        "messages": "mix(1, 1, 9, 1) flits",
        "injection": "on_off(8, 0.5)",
        "cycles measured": "777",
        "warm-up": "55 cycles",
        "95 % confidence": "from the correlation of each run",
        "seed": "9",
    }
    assert page.text["code"] == f"hdnhw sweep {HOSTILE}"
    assert dict(Page(text_of()).tables["options"])["warm-up"].startswith("until it is steady (MSER, White 1997")


def test_curves_of_several_patterns_are_called_by_network_and_pattern():
    curves = [curve | {"pattern": pattern} for pattern in ("uniform", "tornado") for curve in curves_of()]
    page = Page(text_of(curves))
    names = [f"{curve['spec']}, {curve['pattern']}" for curve in curves]
    assert [cells[0] for cells in page.tables["networks"][1:]] == names
    assert [cells[0] for cells in page.tables["points"] if len(cells) == 1] == names
    assert page.text["h1"] == "Load curves: cube(3), dualcube(3), cube(2)"
    assert dict(page.tables["options"])["pattern"] == "uniform, tornado"


def test_names_of_networks_are_escaped_as_well():
    page = Page(text_of([curves_of()[0] | {"spec": HOSTILE}], networks={HOSTILE: parse("cube(3)")}))
    assert page.text["h1"] == f"Load curves: {HOSTILE}"
    assert page.tables["networks"][1][0] == page.tables["points"][1][0] == HOSTILE


def test_names_that_no_page_has(tmp_path):
    with pytest.raises(SpecError, match=r"^html must be a file, one of \.html, \.htm, not '.*curves\.svg'$"):
        check_page(tmp_path / "curves.svg")
