"""The pictures of the docs: letters that can be read at the width of a page, a title, and lines that are told apart."""

import re
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from hdnhw.figures.picture import CLASS_COLORS, COMPLEMENT, INNER, OUTER
from tests.conftest import each

DOCS = Path(__file__).parents[1] / "docs"
PICTURES = sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.svg"))

PAGE, LEAST = 688, 9
"""Pixels: the width of a page, where a wider picture is made smaller; the least size of letters there."""

APART = 10
"""Least distance of two colors (CIE 1976) as one sees them who cannot see green."""

DEUTERANOPIA = np.array(
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
)
"""On linear RGB (Machado, Oliveira and Fernandes, IEEE TVCG 15(6), 2009, table 1)."""

TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.119192, 0.9503041]]
)
WHITE = (0.95047, 1.0, 1.08883)


def lab(color):
    values = np.array([int(color[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    part = TO_XYZ @ np.clip(DEUTERANOPIA @ linear, 0, 1) / WHITE
    x, y, z = np.where(part > 0.008856, np.cbrt(part), 7.787 * part + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def distance(one, other):
    return float(np.linalg.norm(lab(one) - lab(other)))


def root_of(name):
    return ElementTree.parse(DOCS / name).getroot()


def number(text):
    value, unit = re.fullmatch(r"([\d.]+)(px|pt)?", text).groups()
    return float(value) * (4 / 3 if unit == "pt" else 1)


def sizes_of(element, scale, size=None):
    """Yield the size of each text as it is shown, and the text."""
    found = re.search(r"font(?:-size)?:[^;]*?([\d.]+)px", element.get("style", ""))
    size = float(found[1]) if found else float(element.get("font-size", size or 16))
    if found := re.search(r"scale\(([\d.]+)", element.get("transform", "")):
        scale *= float(found[1])
    if element.tag.endswith("}text") and "".join(element.itertext()).strip():
        yield size * scale, "".join(element.itertext())
    for child in element:
        yield from sizes_of(child, scale, size)


@each("name", PICTURES)
def test_letters_can_be_read(name):
    root = root_of(name)
    across, inner = number(root.get("width")), float(root.get("viewBox").split()[2])
    texts = list(sizes_of(root, min(1, PAGE / across) * across / inner))
    assert texts
    assert [text for size, text in texts if size < LEAST] == []


@each("name", PICTURES)
def test_there_is_a_title(name):
    titles = [element for element in root_of(name).iter() if element.tag.endswith("}title")]
    assert titles
    assert titles[0].text


@each("name", PICTURES)
def test_lines_are_told_apart_without_seeing_green(name):
    groups = [group for group in root_of(name).iter() if re.match(r"(path|step|hops)\d", group.get("class", ""))]
    looks = [(group.get("stroke"), group.get("stroke-dasharray")) for group in groups]
    close = [
        pair for pair in combinations(looks, 2) if pair[0][1] == pair[1][1] and distance(pair[0][0], pair[1][0]) < APART
    ]
    assert close == []


def test_classes_and_levels_are_told_apart_without_seeing_green():
    for colors in (CLASS_COLORS, (INNER, COMPLEMENT, *OUTER)):
        assert all(distance(one, other) >= APART for one, other in combinations(colors, 2))


def test_distance_sees_what_is_close():
    assert distance("#b5533c", "#5d7f35") < APART < distance("#d55e00", "#0072b2"), "red and green fall together"
    assert distance("#ffffff", "#000000") > 99
