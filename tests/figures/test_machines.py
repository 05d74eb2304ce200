"""Machines as marks: where, how large, and filled on the front alone."""

import pytest

from hdnhw.figures.figure import save_figure
from hdnhw.figures.machines import COLORS, LARGEST, draw_machines

ROWS = [
    {
        "packet": packet,
        "options": options,
        "sites": sites,
        "block_rams": block_rams,
        "fmax_mhz": 200.0,
        "ns": ns,
        "gbits_per_node": gbits,
        "front": front,
        "default": not options,
    }
    for packet, options, sites, block_rams, ns, gbits, front in (
        ("8x32", "", 400, 5, 220.0, 6.5, True),
        ("8x32", "--buffers 2", 600, 0, 210.0, 6.0, False),
        ("2x128", "--packet-length 2 --flit-width 128", 2000, 0, 170.0, 13.0, True),
    )
]


@pytest.fixture
def axes():
    """Return the axes of a picture of all rows."""
    (axes,) = draw_machines(ROWS, network="torus(4, 4)", hops=3).axes
    return axes


def test_marks_are_where_the_figures_say(axes):
    assert [mark.get_offsets().tolist() for mark in axes.collections] == [
        [[row["ns"], row["gbits_per_node"]]] for row in ROWS
    ]
    assert [mark.get_sizes().tolist() for mark in axes.collections] == [[LARGEST / 2000 * row["sites"]] for row in ROWS]
    assert [text.get_text() for text in axes.texts] == ["0", "1", "2"]
    assert axes.get_xlabel() == "ns over 3 hops at zero load"
    order = [mark.get_zorder() for mark in axes.collections]
    assert order == sorted(order, reverse=True)  # the largest one lies below


def test_the_front_is_filled_and_the_color_tells_the_ram(axes):
    assert [len(mark.get_facecolor()) for mark in axes.collections] == [1, 0, 1]
    from matplotlib.colors import to_rgb

    edges = [tuple(mark.get_edgecolor()[0][:3]) for mark in axes.collections]
    assert edges == [to_rgb(COLORS[row["block_rams"] > 0]) for row in ROWS]


def test_all_marks_are_inside_the_frame(axes):
    axes.figure.draw_without_rendering()
    frame = axes.bbox
    for mark in axes.collections:
        ((x, y),) = axes.transData.transform(mark.get_offsets())
        radius = mark.get_sizes()[0] ** 0.5 / 2 * axes.figure.dpi / 72
        assert frame.x0 < x - radius < x + radius < frame.x1
        assert frame.y0 < y - radius < y + radius < frame.y1


def test_the_same_rows_give_the_same_picture_with_all_names(tmp_path):
    for name in ("a.svg", "b.svg"):
        save_figure(draw_machines(ROWS, network="torus(4, 4)", hops=4), tmp_path / name)
    text = (tmp_path / "a.svg").read_text()
    assert text == (tmp_path / "b.svg").read_text()
    for shown in (
        "0  8x32  (default)",
        "1  8x32 --buffers 2",
        "400 sites, 5 block RAMs, 200.0 MHz",
        "2000 sites, 200.0",
    ):
        assert shown in text
