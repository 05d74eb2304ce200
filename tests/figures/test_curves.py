"""Load curves as pictures."""

import pytest
from PIL import Image

from hdnhw.figures.curves import draw_curves
from hdnhw.figures.figure import SERIES, check_plot, save_figure
from hdnhw.support.errors import SpecError


def row(rate, latency, *, steady=True, accepted=None):
    rates = {"offered_rate": rate, "accepted_rate": rate if accepted is None else accepted}
    return rates | {"steady": steady, "packet_latency": latency and {"mean": latency}}


def curve_of(spec, points, zero=None, bound=None):
    about = {"spec": spec, "nodes": 8, "pattern": "uniform", "zero_load_latency": zero, "saturation_bound": bound}
    return about | {"points": points}


OVER = row(0.5, 999.0, steady=False, accepted=0.42)
CURVES = [
    curve_of(
        "cube(3)", [row(0.1, 20.0), row(0.4, 50.0), OVER, row(0.6, 3000.0, steady=False, accepted=0.3)], 19.0, 0.7
    ),
    curve_of("rdn(cube(2), 1)", [row(0.1, None, steady=False)], 30.0, 1.6),
    curve_of("torus(5)", [row(0.1, 30.0)]),
]


def lines_of(figure, color):
    """Return of the lines of a color their marker, its filling, and their points."""
    drawn = [line for line in figure.axes[0].get_lines() if line.get_color() == color]
    return [(line.get_marker(), line.get_markerfacecolor(), line.get_xydata().tolist()) for line in drawn]


def test_every_network_is_named_and_the_same_curves_give_the_same_picture(tmp_path):
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"
    save_figure(draw_curves(CURVES), first)
    save_figure(draw_curves(CURVES), second)
    text = first.read_text()
    assert text == second.read_text()
    assert "offered rate, flits per node per cycle" in text
    assert all(f">{curve['spec']}, 8 nodes<" in text for curve in CURVES)


def test_curves_of_several_patterns_are_named_by_them(tmp_path):
    save_figure(draw_curves([CURVES[0], CURVES[0] | {"pattern": "tornado"}]), tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    assert all(f">cube(3), {pattern}, 8 nodes<" in text for pattern in ("uniform", "tornado"))


def test_a_curve_goes_through_points_of_too_few_cycles():
    rows = [row(0.1, 20.0), row(0.4, 50.0, steady=None), row(0.5, 70.0)]
    curve, short = lines_of(draw_curves([curve_of("cube(3)", rows)]), SERIES[0])
    assert curve == ("o", SERIES[0], [[0.1, 20], [0.4, 50], [0.5, 70]])
    assert short == ("o", "white", [[0.4, 50]])


def test_a_curve_goes_on_to_the_first_point_that_is_not_steady_and_up_from_there():
    figure = draw_curves(CURVES)
    axes = figure.axes[0]
    curve, beyond, up, bound = lines_of(figure, SERIES[0])
    assert curve == ("o", SERIES[0], [[0.1, 20], [0.4, 50]])
    assert beyond == ("o", "white", [[0.5, 999]])
    assert up[2][:2] == [[0.4, 50], [0.5, 999]]
    assert up[2][2][0] == 0.5
    assert up[2][2][1] > axes.get_ylim()[1] >= 3 * 19
    assert bound[2] == [[0.7, 0], [0.7, 1]]
    assert [lines.get_segments()[0].tolist() for lines in axes.collections] == [
        [[0, 19], [0.5, 19]],
        [[0, 30], [0, 30]],
    ]
    assert lines_of(figure, SERIES[1])[-1][2] == [[1, 0], [1, 1]]  # the terminals are full before the channels


def test_what_is_accepted_is_drawn_beside_what_is_offered():
    figure = draw_curves(CURVES, "accepted")
    curve, beyond, bound = lines_of(figure, SERIES[0])
    assert curve[2] == [[0.1, 0.1], [0.4, 0.4], [0.5, 0.42], [0.6, 0.3]]
    assert beyond == ("o", "white", [[0.5, 0.42], [0.6, 0.3]])
    assert bound[2] == [[0, 0.7], [1, 0.7]]
    assert [[0, 0], [0.6, 0.6]] in [points for *_, points in lines_of(figure, "gray")]
    assert figure.axes[0].get_ylabel() == "accepted rate, flits per node per cycle"


def test_the_legend_explains_what_is_drawn_and_nothing_else():
    names = [
        [text.get_text() for text in draw_curves(curves).legends[0].get_texts()] for curves in (CURVES, CURVES[2:])
    ]
    assert names[0][3:] == ["not known to be steady", "at zero load", "bound of uniform traffic"]
    assert names[1] == ["torus(5), 8 nodes"]


def test_no_two_curves_look_the_same():
    figure = draw_curves([curve_of(f"cube({n})", [row(0.1, 20.0)]) for n in range(1, 225)])
    lines = figure.axes[0].get_lines()
    assert len({(line.get_color(), line.get_marker(), line.get_linestyle()) for line in lines}) == len(lines) == 224
    assert len({(line.get_color(), line.get_marker()) for line in lines[:56]}) == 56
    assert {line.get_linestyle() for line in lines[:10]} == {"-"}


@pytest.mark.parametrize("suffix", [".png", ".pdf"])
def test_other_formats_have_metadata_too_and_are_the_same_every_time(tmp_path, suffix):
    said = {"title": "Curves", "settings": "lanes: 1; β", "command": "hdnhw sweep"}
    one, other = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    for path in (one, other):
        save_figure(draw_curves(CURVES), path, **said)
    assert one.read_bytes() == other.read_bytes()
    if suffix == ".png":
        with Image.open(one) as image:
            names = ("Title", "Description", "Source")
            assert [image.text[name] for name in names] == list(said.values())
            assert round(image.info["dpi"][0]) == 300
    else:
        text = one.read_bytes()
        settings = b"\xfe\xff" + said["settings"].encode("utf-16-be")
        assert all(part in text for part in (b"/Title (Curves)", b"/Keywords (hdnhw sweep)", settings, b"/FontFile2"))


def test_names_that_no_picture_has(tmp_path):
    with pytest.raises(SpecError, match=r"^plot must be a file, one of \.svg, \.png, \.pdf, not 'curves.doc'$"):
        check_plot(type(tmp_path)("curves.doc"))


def test_points_of_several_seeds_have_intervals_and_loads_in_bits_are_said():
    curve = curve_of("cube(3)", [row(0.1, 20.0) | {"seeds": 3, "confidence_95": 2.5, "offered_rate_bits": 3.2}])
    plain = curve | {"points": [row(0.1, 20.0) | {"seeds": None, "confidence_95": 2.5}]}
    (bars,) = draw_curves([curve]).axes[0].containers
    assert [segment.tolist() for segment in bars[2][0].get_segments()] == [[[3.2, 17.5], [3.2, 22.5]]]
    (bars,) = draw_curves([plain]).axes[0].containers
    assert not bars.has_yerr
    wide = curve | {"flit_width": 18, "packet_length": 15, "saturation_bound": 0.5, "saturation_bound_bits": 16.0}
    figure = draw_curves([wide])
    assert figure.axes[0].get_xlabel() == "offered rate, bits of packets per node per cycle"
    assert lines_of(figure, SERIES[0])[0][2] == [[3.2, 20]]
    assert lines_of(figure, SERIES[0])[-1][2][0][0] == 16
    assert figure.legends[0].get_texts()[0].get_text() == "cube(3), 8 nodes, 15 flits of 18 bits"
