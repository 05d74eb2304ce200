"""Load curves as pictures."""

import re

import pytest

from hdnhw.report.curves import draw_curves
from hdnhw.report.figure import check_plot, save_figure
from hdnhw.spec import SpecError


def row(rate, latency, *, steady=True):
    return {"offered_rate": rate, "steady": steady, "packet_latency": latency and {"mean": latency}}


def curve_of(spec, throughput, points, note=None):
    about = {"spec": spec, "nodes": 8, "pattern": "uniform"}
    return about | {"saturation_throughput": throughput, "note": note, "points": points}


CURVES = [
    curve_of("cube(3)", 0.4, [row(0.1, 20.0), row(0.4, 50.0), row(0.5, 999.0, steady=False)]),
    curve_of("rdn(cube(2), 1)", None, [row(0.1, None, steady=False)], "half"),
    curve_of("torus(5)", 0.25, [row(0.1, 30.0)], "a third"),
    curve_of("torus(6)", 0.25, [row(0.1, 30.0)], "half"),
]


def test_every_network_is_named_and_the_same_curves_give_the_same_picture(tmp_path):
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"
    save_figure(draw_curves(CURVES), first)
    save_figure(draw_curves(CURVES), second)
    text = first.read_text()
    assert text == second.read_text()
    assert "offered rate, flits a node and cycle" in text
    for label in ("cube(3), 8 nodes: 0.400", "rdn(cube(2), 1), 8 nodes*", "torus(5), 8 nodes: 0.250**"):
        assert f">{label}<" in text
    assert all(text.count(f">{line}<") == 1 for line in ("* half", "** a third"))


def test_curves_of_several_patterns_are_named_by_them(tmp_path):
    save_figure(draw_curves([CURVES[0], CURVES[0] | {"pattern": "tornado"}]), tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    assert all(f">cube(3), {pattern}, 8 nodes: 0.400<" in text for pattern in ("uniform", "tornado"))


def test_without_notes_there_is_no_star(tmp_path):
    save_figure(draw_curves(CURVES[:1]), tmp_path / "a.svg")
    assert not re.search(r">[^<]*\*[^<]*<", (tmp_path / "a.svg").read_text().split("</style>")[-1])


def test_points_that_are_not_steady_are_not_drawn(tmp_path):
    save_figure(draw_curves(CURVES), tmp_path / "with.svg")
    without = [CURVES[0] | {"points": CURVES[0]["points"][:2]}, *CURVES[1:]]
    save_figure(draw_curves(without), tmp_path / "without.svg")
    assert (tmp_path / "with.svg").read_text() == (tmp_path / "without.svg").read_text()


def test_no_two_curves_look_the_same():
    figure = draw_curves([curve_of(f"cube({n})", None, [row(0.1, 20.0)]) for n in range(1, 281)])
    lines = figure.axes[0].get_lines()
    assert len({(line.get_color(), line.get_marker(), line.get_linestyle()) for line in lines}) == len(lines) == 280
    assert len({(line.get_color(), line.get_marker()) for line in lines[:70]}) == 70
    assert {line.get_linestyle() for line in lines[:10]} == {"-"}


@pytest.mark.parametrize("suffix", [".png", ".pdf"])
def test_other_formats(tmp_path, suffix):
    save_figure(draw_curves(CURVES), tmp_path / f"curves{suffix}")
    assert (tmp_path / f"curves{suffix}").read_bytes()[:4] in (b"\x89PNG", b"%PDF")


def test_names_that_no_picture_has(tmp_path):
    with pytest.raises(SpecError, match=r"^plot must be a file \.svg, \.png or \.pdf, not 'curves.doc'$"):
        check_plot(type(tmp_path)("curves.doc"))


def test_points_of_several_seeds_have_intervals_and_loads_in_bits_are_said():
    curve = curve_of("cube(3)", 0.4, [row(0.1, 20.0) | {"seeds": 3, "confidence_95": 2.5, "offered_rate_bits": 3.2}])
    plain = curve | {"points": [point | {"seeds": None} for point in curve["points"]]}
    (bars,) = draw_curves([curve]).axes[0].containers
    assert [segment.tolist() for segment in bars[2][0].get_segments()] == [[[0.1, 17.5], [0.1, 22.5]]]
    (bars,) = draw_curves([plain]).axes[0].containers
    assert not bars.has_yerr
    wide = curve | {"flit_width": 18, "packet_length": 15, "saturation_throughput_bits": 12.8}
    figure = draw_curves([wide])
    assert figure.axes[0].get_xlabel() == "offered rate, bits of packets a node and cycle"
    assert figure.axes[0].get_lines()[0].get_xdata().tolist() == [3.2]
    assert figure.legends[0].get_texts()[0].get_text() == "cube(3), 8 nodes, 15 flits of 18 bits: 12.80"
