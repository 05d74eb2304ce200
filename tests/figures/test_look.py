"""What is asked of a figure: its size, letters, title and axes."""

import re

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from hdnhw.figures.curves import draw_curves
from hdnhw.figures.figure import save_figure
from hdnhw.figures.look import Look
from hdnhw.support.errors import SpecError
from tests.figures.test_curves import CURVES


@pytest.mark.parametrize("size", ["88x60mm", "3.464567x2.362205in", (3.464567, 2.362205)])
def test_a_figure_has_the_size_that_is_asked_for(tmp_path, size):
    save_figure(Look(figure_size=size).apply(draw_curves(CURVES)), tmp_path / "a.svg")
    width, height = re.search(r'width="([0-9.]+)pt" height="([0-9.]+)pt"', (tmp_path / "a.svg").read_text()).groups()
    assert (float(width), float(height)) == pytest.approx((88 / 25.4 * 72, 60 / 25.4 * 72), abs=0.001)


def test_letters_title_and_axes_are_those_asked_for():
    look = Look(title="cubes", font_size=6, x_limits="0.1,0.3", y_limits=(10, 1000), log_y=True)
    figure = look.apply(draw_curves(CURVES))
    (axes,) = figure.axes
    figure.draw_without_rendering()  # makes the ticks of the new limits
    assert {text.get_fontsize() for text in figure.findobj(Text) if text.get_text()} == {6}
    assert (axes.get_xlim(), axes.get_ylim(), axes.get_yscale()) == ((0.1, 0.3), (10, 1000), "log")
    assert axes.get_title() == "cubes"


def test_a_legend_that_leaves_no_room_beside_it_stands_above():
    figure = Figure(figsize=(10, 5), layout="constrained")
    figure.add_subplot().plot([1, 2], label="a name that is as long as a spec can be, with figures")
    figure.legend(loc="outside right upper")
    Look(figure_size="88x60mm").apply(figure)
    figure.draw_without_rendering()
    box, panel = figure.legends[0].get_window_extent(), figure.axes[0].get_window_extent()
    assert box.y0 > panel.y1
    assert panel.width > 0.8 * figure.bbox.width


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("--figure-size 88x60", "--figure-size must be such as 88x60mm or 3.5x2.4in, not '88x60'"),
        ("--figure-size 8x6mm", "--figure-size must be 1 to 40 inches each way, not 8x6mm"),
        ("--figure-size 1.2.3x6in", "--figure-size must be two numbers, such as 88x60mm or 3.5x2.4in"),
        ("--font-size 2", "--font-size must be 4 to 40 points, not 2.0"),
        ("--x-limits 1", "--x-limits must be two numbers, such as 0,0.5"),
        ("--x-limits 2,1", "--x-limits must be two numbers, the lower first, not '2,1'"),
        ("--y-limits 0,1 --log-y", "--y-limits must be above 0 where the axis is logarithmic, not 0,1"),
        ("--y-limits 0,nan", "--y-limits must be two numbers, such as 0,0.5"),
    ],
)
def test_what_no_figure_can_have_is_refused_before_the_work(run, tmp_path, line, told):
    status, out, err = run(f"sweep 'cube(2)' --plot a.svg {line}")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert told in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("sweep 'cube(2)' --log-y", "--log-y is for a figure: give a file to draw it in as well"),
        ("collective 'cube(2)' --op barrier --title t", "--title is for a figure"),
        (
            "compare 'cube(2)' --plot a.svg --x-limits 0,1",
            "--x-limits is for a figure of one panel, and this one has 8",
        ),
        ("faults 'rdn(cube(1), 1)' --by-case --plot a.svg --log-y", "of one panel, and this one has 4"),
        ("faults 'cube(2)' --font-size 8", "--font-size is for a figure"),
    ],
)
def test_what_nothing_drawn_can_have_is_refused(run, line, told):
    status, out, err = run(line)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert told in err


@pytest.mark.parametrize(
    "line",
    [
        "simulate 'cube(3)' --cycles 500 --rate 0.2 --plot a.svg",
        "compare 'cube(3)' 'torus(4)' --plot a.svg",
        "design --nodes 16 --degree 3 --plot a.svg",
        "faults 'cube(3)' --fault-rates 0,0.2 --trials 2 --workers 1 --plot a.svg",
        "exchange 'cube(2)' --plot a.svg",
        "collective 'cube(3)' --op allreduce --sizes 1,64 --bandwidth a.svg",
        "sweep 'cube(2)' --rates 0.1 --cycles 200 --workers 1 --plot-accepted a.svg",
    ],
)
def test_every_command_that_draws_takes_them(run, tmp_path, line):
    status, _, err = run(f"{line} --title 'of mine' --figure-size 5x4in --font-size 7")
    text = (tmp_path / "a.svg").read_text()
    assert (status, "Traceback" in err) == (0, False)
    assert 'width="360pt" height="288pt"' in text
    assert ">of mine<" in text.split("</metadata>")[1]


def test_a_figure_without_room_is_said(run):
    status, _, err = run("compare 'cube(3)' --plot a.svg --figure-size 1x1in")
    assert (status, err.count("\n")) == (0, 1)
    assert "a.svg: the figure has no room for what stands in it: make --figure-size larger" in err


def test_axes_that_are_no_ones_are_refused():
    with pytest.raises(SpecError, match="x_limits must be two numbers"):
        Look(x_limits=(1, 2, 3))
