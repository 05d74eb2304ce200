"""The commands that help to choose a network: what they print beside what the others say of each network."""

import json
import shlex
from pathlib import Path

import pytest

from hdnhw.figures.choice import NAMED, PANELS, draw_comparison, draw_front
from hdnhw.figures.figure import save_figure
from hdnhw.networks.design import measure
from hdnhw.networks.parse import parse


def result_of(run, line):
    status, out, err = run(f"{line} --json")
    assert (status, err) == (0, "")
    return json.loads(out)


def test_compare_says_what_info_and_routing_say(run):
    specs = ["mesh(3, 4)", "hsn(2, cube(2))"]
    rows = result_of(run, f"compare {shlex.join(specs)}")["networks"]
    assert [row["spec"] for row in rows] == specs
    for row in rows:
        info, routing = (result_of(run, shlex.join([name, row["spec"]])) for name in ("info", "routing"))
        for name in ("nodes", "diameter", "average_distance", "cr_w", "num_vcs"):
            assert row[name] == info[name]
        assert row["degree"] == info["degree_max"]
        assert row["bisection"] == info["bisection"]["edges"]
        assert row["bisection_exact"] == info["bisection"]["exact"]
        assert row["saturation_bound"] == routing["saturation_bound"]
    status, out, err = run(f"compare {shlex.join(specs)}")
    assert (status, err) == (0, "")
    title, names, *lines = out.splitlines()
    assert (title, names.split()) == ("networks", [name for name in rows[0] if name != "bisection_exact"])
    assert [line.strip().startswith(spec) for line, spec in zip(lines, specs, strict=True)] == [True] * 2


def test_what_cannot_be_had_is_null_and_said(run, monkeypatch):
    monkeypatch.setattr("hdnhw.library.choosing.SEARCH_LIMIT", 11)
    monkeypatch.setattr("hdnhw.library.choosing.STRUCTURE_LIMIT", 11)
    monkeypatch.setattr("hdnhw.rules.statistics.PAIR_BUDGET", 100)
    status, out, err = run("compare 'cube(3)' 'hsn(3, cube(5), top=16)' --json")
    small, large = json.loads(out)["networks"]
    assert status == 0
    assert None not in small.values()
    assert {name for name, value in large.items() if value is not None} == {"spec", "nodes", "degree"}
    assert err.splitlines()[:2] == [
        "diameter and average distance are searched up to 11 nodes and 536870912 ports in all: "
        "not of hsn(3, cube(5), top=16)",
        "a bisection is looked for up to 11 nodes and 1048576 ports in all: not of hsn(3, cube(5), top=16)",
    ]
    assert err.count("\n") == 3
    status, out, err = run("compare 'cube(4)' --json")
    assert (status, json.loads(out)["networks"][0]["saturation_bound"]) == (0, None)
    assert "all pairs are routed, for the saturation bound, up to 100 pairs" in err


def test_a_reason_is_said_once(run, monkeypatch):
    monkeypatch.setattr("hdnhw.library.choosing.STRUCTURE_LIMIT", 11)
    status, _, err = run("compare 'hdn(cube(2), [[0]])' 'mesh(2, 2)' 'torus(3, 4)'")
    assert status == 0
    assert err == (
        "a bisection is looked for up to 11 nodes and 1048576 ports in all: not of hdn(cube(2), [[0]]); torus(3, 4)\n"
    )


def test_a_cut_that_is_not_proved_is_a_bound(run):
    specs = ["rdn(petersen(), 1)", "torus(4, 4)"]
    _, head, *lines = run(f"compare {shlex.join(specs)}")[1].splitlines()
    end = head.index("bisection") + len("bisection")
    shown = [line[:end].rsplit("  ", 1)[1].strip() for line in lines]
    cuts = [json.loads(run(f"info '{spec}' --json")[1])["bisection"] for spec in specs]
    assert shown == [f"<= {cuts[0]['edges']}", str(cuts[1]["edges"])]
    assert [cut["exact"] for cut in cuts] == [False, True]


def test_bars(run):
    line = "compare 'cube(3)' 'torus(3, 3)' --plot"
    for name in ("a.svg", "b.svg"):
        assert run(f"{line} {name}")[0] == 0
    text = Path("a.svg").read_text()
    assert text == Path("b.svg").read_text().replace("b.svg", "a.svg")
    assert all(f">{shown}<" in text for shown in ("cube(3)", "torus(3, 3)", "bisection, edges"))


def test_bars_of_unknown_figures(tmp_path):
    row = dict.fromkeys(PANELS) | {"spec": "cube(40)", "bisection": 9, "bisection_exact": False}
    save_figure(draw_comparison([row]), tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    assert text.count("unknown<") == len(PANELS) - 1
    assert "at most 9<" in text


@pytest.mark.parametrize("bisection", [9, 128, 10**9])
def test_what_stands_behind_a_bar_is_inside_the_frame(bisection):
    rows = [
        dict.fromkeys(PANELS, value) | {"spec": spec, "bisection": bisection, "bisection_exact": False}
        for spec, value in (("cube(40)", 0.123456), ("hdn(cube(3), [[2], [0, 1, 2]])", 123456), ("none", None))
    ]
    figure = draw_comparison(rows)
    figure.draw_without_rendering()
    shown = [(axes.bbox, text) for axes in figure.axes for text in axes.texts]
    assert len(shown) == len(PANELS) * len(rows)
    for frame, text in shown:
        assert frame.x0 <= text.get_window_extent().x0 < text.get_window_extent().x1 < frame.x1, text.get_text()


def test_design(run):
    result = result_of(run, "design --nodes 128 --degree 4 --limit 5")
    assert [result[name] for name in ("nodes", "degree", "within", "nested", "sort")] == [128, 4, 2, True, "cr_w"]
    rows, front = result["networks"], result["front"]
    assert (len(rows), len(front), result["candidates"]) == (5, 7, 338)
    assert [row["cr_w"] for row in rows] == sorted(row["cr_w"] for row in rows)
    assert [row["pareto"] for row in rows] == [row["spec"] in {one["spec"] for one in front} for row in rows]
    for row in front[::3]:
        info = result_of(run, shlex.join(["info", row["spec"]]))
        for name in ("nodes", "diameter", "average_distance", "cr_w", "nested"):
            assert row[name] == pytest.approx(info[name])
        assert (row["degree"], row["links"]) == (info["degree_max"], info["edges"])
        assert row["capacity"] == pytest.approx(row["degree"] / row["average_distance"])


def test_rings_are_shorter_where_there_are_too_many_candidates(run, monkeypatch):
    monkeypatch.setattr("hdnhw.networks.design.MOST_CANDIDATES", 200)
    status, out, err = run("design --nodes 128 --degree 4 --json")
    result = json.loads(out)
    ring = result["longest_ring"]
    assert (status, ring < 64) == (0, True)
    assert err == f"rings have at most {ring} nodes, as there are too many candidates with longer ones\n"
    assert result == result_of(run, f"design --nodes 128 --degree 4 --longest-ring {ring}")
    status, out, err = run("design --nodes 128 --degree 4 --longest-ring 64")
    assert (status, out) == (2, "")
    assert f"more than 200 candidates: it works with --longest-ring {ring} or --degree" in err


def test_orders(run):
    line = "design --nodes 64 --degree 4 --limit 1000 --sort"
    for name in ("average_distance", "degree", "diameter", "links"):
        values = [row[name] for row in result_of(run, f"{line} {name}")["networks"]]
        assert values == sorted(values)
    for name in ("capacity", "nodes"):
        values = [row[name] for row in result_of(run, f"{line} {name}")["networks"]]
        assert values == sorted(values, reverse=True)


def test_design_of_all_super_nodes(run, monkeypatch):
    nested, every = (result_of(run, f"design --nodes 64 --degree 3 --limit 1000 {how}") for how in ("", "--all"))
    added = {row["spec"]: row for row in every["networks"]}.keys() - {row["spec"] for row in nested["networks"]}
    assert added == {"hdn(cube(1), [[], [0]])"}
    monkeypatch.setattr("hdnhw.networks.design.MOST_SEARCHED", 10)
    status, _, err = run("design --nodes 64 --degree 3 --all --json")
    count = every["candidates"]
    assert status == 0
    assert err == f"1 of {count} candidates are too large to search: no average distance, not on the front\n"


def test_a_picture_of_no_front(tmp_path, monkeypatch):
    monkeypatch.setattr("hdnhw.networks.design.MOST_SEARCHED", 10)
    found = measure(parse("hdn(cube(1), [[], [0]])"))
    save_figure(draw_front([found], [], nodes=64), tmp_path / "a.svg")
    assert "3 ports" in (tmp_path / "a.svg").read_text()


def test_a_picture_of_the_front(run):
    line = "design --nodes 100 --degree 4 --plot"
    for name in ("a.svg", "b.svg"):
        assert run(f"{line} {name}")[0] == 0
    text = Path("a.svg").read_text()
    assert text == Path("b.svg").read_text().replace("b.svg", "a.svg")
    front = result_of(run, "design --nodes 100 --degree 4")["front"]
    named = [row for row in front if f" {row['spec']}: {row['nodes']} nodes" in text]
    assert len(named) == min(len(front), NAMED) > 10
