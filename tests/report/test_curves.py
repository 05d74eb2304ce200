"""Load curves as pictures."""

import re

import pytest
from matplotlib.axes import Axes

from hdnhw.report.curves import check_plot, plot_curves
from hdnhw.spec import SpecError


def row(rate, latency, *, steady=True):
    return {"offered_rate": rate, "steady": steady, "packet_latency": latency and {"mean": latency}}


def curve_of(spec, throughput, points, note=None):
    return {"spec": spec, "nodes": 8, "saturation_throughput": throughput, "note": note, "points": points}


CURVES = [
    curve_of("cube(3)", 0.4, [row(0.1, 20.0), row(0.4, 50.0), row(0.5, 999.0, steady=False)]),
    curve_of("rdn(cube(2), 1)", None, [row(0.1, None, steady=False)], "half"),
    curve_of("torus(5)", 0.25, [row(0.1, 30.0)], "a third"),
    curve_of("torus(6)", 0.25, [row(0.1, 30.0)], "half"),
]


def test_every_network_is_named_and_the_same_curves_give_the_same_picture(tmp_path):
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"
    plot_curves(CURVES, first)
    plot_curves(CURVES, second)
    text = first.read_text()
    assert text == second.read_text()
    assert "offered rate, flits a node and cycle" in text
    for label in ("cube(3), 8 nodes: 0.400", "rdn(cube(2), 1), 8 nodes*", "torus(5), 8 nodes: 0.250**"):
        assert f">{label}<" in text
    assert all(text.count(f">{line}<") == 1 for line in ("* half", "** a third"))


def test_without_notes_there_is_no_star(tmp_path):
    plot_curves(CURVES[:1], tmp_path / "a.svg")
    assert not re.search(r">[^<]*\*[^<]*<", (tmp_path / "a.svg").read_text().split("</style>")[-1])


def test_points_that_are_not_steady_are_not_drawn(tmp_path):
    plot_curves(CURVES, tmp_path / "with.svg")
    without = [CURVES[0] | {"points": CURVES[0]["points"][:2]}, *CURVES[1:]]
    plot_curves(without, tmp_path / "without.svg")
    assert (tmp_path / "with.svg").read_text() == (tmp_path / "without.svg").read_text()


def test_no_two_curves_look_the_same(tmp_path, monkeypatch):
    lines, plot = [], Axes.plot
    monkeypatch.setattr(Axes, "plot", lambda *given, **named: lines.extend(plot(*given, **named)))
    plot_curves([curve_of(f"cube({n})", None, [row(0.1, 20.0)]) for n in range(1, 281)], tmp_path / "a.svg")
    assert len({(line.get_color(), line.get_marker(), line.get_linestyle()) for line in lines}) == len(lines) == 280
    assert len({(line.get_color(), line.get_marker()) for line in lines[:70]}) == 70
    assert {line.get_linestyle() for line in lines[:10]} == {"-"}


@pytest.mark.parametrize("suffix", [".png", ".pdf"])
def test_other_formats(tmp_path, suffix):
    plot_curves(CURVES, tmp_path / f"curves{suffix}")
    assert (tmp_path / f"curves{suffix}").read_bytes()[:4] in (b"\x89PNG", b"%PDF")


def test_names_that_no_picture_has(tmp_path):
    with pytest.raises(SpecError, match=r"^plot must be a file \.svg, \.png or \.pdf, not 'curves.doc'$"):
        check_plot(type(tmp_path)("curves.doc"))
