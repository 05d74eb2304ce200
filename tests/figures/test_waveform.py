"""Cycle diagrams: what is drawn where."""

from xml.etree import ElementTree

import pytest

from hdnhw.figures.waveform import HEIGHT, MARGIN, NAMES, WIDTH, Bit, Bus, Spans, waveform_svg

CELL = (WIDTH - NAMES - MARGIN) / 4
LANES = [
    Bit("valid", [False, True, True, False]),
    Bus("flit", ["", "A", "A", "B<"], [-1, 0, 0, 1]),
    Spans("time", [(1, 3, "2")]),
]


def drawn(lanes=LANES, **options):
    """Return the elements of a picture of four cycles."""
    svg = waveform_svg(lanes, **{"title": "A < B", "cycles": 4, "slot": 2, **options})
    return [(element.tag.split("}")[1], element.attrib, element.text) for element in ElementTree.fromstring(svg)]


def texts(elements):
    return [text for tag, _, text in elements if tag == "text"]


def test_a_bit_is_a_line_that_rises_and_falls():
    (line,) = [attributes["points"] for tag, attributes, _ in drawn() if tag == "polyline"]
    points = [tuple(map(float, point.split(","))) for point in line.split()]
    assert [x - NAMES for x, _ in points] == [CELL * cycle for cycle in (0, 1, 1, 2, 2, 3, 3, 4)]
    low, high = max(y for _, y in points), min(y for _, y in points)
    assert low - high == HEIGHT
    assert [y == high for _, y in points] == [False, False, True, True, True, True, False, False]


def test_equal_neighbors_of_a_bus_are_one():
    elements = drawn()
    boxes = [attributes for tag, attributes, _ in elements if tag == "rect"][1:]
    assert [float(box["width"]) for box in boxes] == [2 * CELL - 1.5, CELL - 1.5]
    assert len({box["fill"] for box in boxes}) == 2
    assert {"A", "B<"} <= set(texts(elements))
    plain = drawn([Bus("phase", ["0", "1", "0", "1"])])
    assert [attributes["fill"] for tag, attributes, _ in plain if tag == "rect"] == ["white"] * 5


def test_slots_are_numbered():
    assert texts(drawn([], cycles=7, first=3)) == ["cycle", "4", "6"]
    assert texts(drawn([])) == ["cycle", "0", "2"]


def test_the_first_cycles_can_be_left_out():
    rest = [Bit("valid", [True, False]), Bus("flit", ["A", "B<"], [0, 1]), Spans("time", [(-1, 1, "2")])]
    names = [[text for _, _, text in elements].index("valid") for elements in (drawn(first=2), drawn(rest, cycles=2))]
    assert drawn(first=2)[names[0] :] == drawn(rest, cycles=2)[names[1] :]


def test_the_title_is_said():
    assert drawn()[0] == ("title", {}, "A < B")


def test_names_and_spans():
    elements = drawn()
    assert [text for text in texts(elements) if text in ("valid", "flit", "time", "2")] == [
        "2",  # number of a cycle
        "valid",
        "flit",
        "time",
        "2",
    ]
    ends = [attributes for tag, attributes, _ in elements if tag == "line" and attributes.get("stroke-width") == "0.8"]
    assert [(float(line["x1"]) - NAMES, float(line["x2"]) - NAMES) for line in ends] == [(CELL, 3 * CELL)]


def test_every_lane_has_a_value_a_cycle():
    with pytest.raises(ValueError, match=r"^lane flit must have 5 values, not 4$"):
        waveform_svg(LANES[1:], title="", cycles=5, slot=2)
