"""Load curves as pictures."""

import pytest

from hdnhw.report.curves import check_plot, plot_curves
from hdnhw.spec import SpecError


def row(rate, latency, saturated=False):
    return {"offered_rate": rate, "saturated": saturated, "packet_latency": latency and {"mean": latency}}


CURVES = [
    {
        "spec": "cube(3)",
        "nodes": 8,
        "saturation_rate": 0.4,
        "points": [row(0.1, 20.0), row(0.4, 50.0), row(0.5, 999.0, True)],
    },
    {"spec": "rdn(cube(2), 1)", "nodes": 32, "saturation_rate": None, "points": [row(0.1, None, True)]},
]


def test_every_network_is_named_and_the_same_curves_give_the_same_picture(tmp_path):
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"
    plot_curves(CURVES, first)
    plot_curves(CURVES, second)
    text = first.read_text()
    assert text == second.read_text()
    assert "cube(3), 8 nodes: 0.400" in text
    assert "rdn(cube(2), 1), 32 nodes" in text
    assert "offered rate, flits a node and cycle" in text


def test_saturated_points_are_not_drawn(tmp_path):
    plot_curves(CURVES, tmp_path / "with.svg")
    without = [CURVES[0] | {"points": CURVES[0]["points"][:2]}, CURVES[1]]
    plot_curves(without, tmp_path / "without.svg")
    assert (tmp_path / "with.svg").read_text() == (tmp_path / "without.svg").read_text()


@pytest.mark.parametrize("suffix", [".png", ".pdf"])
def test_other_formats(tmp_path, suffix):
    plot_curves(CURVES, tmp_path / f"curves{suffix}")
    assert (tmp_path / f"curves{suffix}").read_bytes()[:4] in (b"\x89PNG", b"%PDF")


def test_names_that_no_picture_has(tmp_path):
    with pytest.raises(SpecError, match=r"^plot must be a file \.svg, \.png or \.pdf, not 'curves.doc'$"):
        check_plot(type(tmp_path)("curves.doc"))
