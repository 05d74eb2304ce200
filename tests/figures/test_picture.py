"""Pictures of networks, read back from the SVG: nodes that do not touch, and every edge once."""

import re
from collections import Counter
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest

from hdnhw.figures.edges import _bend as bend_of
from hdnhw.figures.edges import curve
from hdnhw.figures.frames import Frame, apart
from hdnhw.figures.picture import network_svg
from hdnhw.library.papers import PICTURES
from hdnhw.networks.build import build

SVG = "{http://www.w3.org/2000/svg}"
PAPERS = list(dict.fromkeys(figure.spec for figure in PICTURES.values()))
OTHERS = [
    "complete(2)",
    "complete(6)",
    "mesh(5)",
    "mesh(3, 4)",
    "torus(30)",
    "torus(4, 4)",
    "ghc(3, 4)",
    "product(torus(5), complete(4))",
    "cube(4)",
    "cube(6)",
    "torus(3, 3, 3)",
    "rdn(cube(2), 1)",
    "rdn(torus(5), 1)",
    "rdn(torus(2, 3), 1)",
    "rdn(cube(1), 2)",
    "hdn(cube(2), [[0, 1]])",
    "hsn(2, complete(4))",
    "hsn(2, cube(3), top=4)",
    "hsn(2, petersen())",
    "hsn(2, star(3))",
    "folded_hsn(2, 3)",
    "hfn(3)",
    "ccc(4)",
    "folded_cube(3)",
    "folded_cube(4)",
    "crossed_cube(4)",
    "reduced_cube(3, 2)",
    "star(2)",
    "star(4)",
    "star(5)",
    "rdn(petersen(), 1)",
    "wk(3, 3)",
    "hypernet(3, 2)",
    "butterfly(3)",
    "kautz(2, 3)",
    "exchanged_cube(1, 2)",
]
LARGE = ["rdn(torus(17), 1)", "hdn(cube(3), [[0], [0, 1, 2]])", "torus(32, 32)", "cube(10)", "star(6)"]


def drawn(spec):
    """Return the size of a picture, the place of each node, and the points through which each edge runs.

    A picture with nodes that are ellipses is squeezed until they are circles.
    """
    root = ElementTree.fromstring(network_svg(build(spec)))
    lines, places, colors = [], {}, {}
    for item in root:
        numbers = {name: float(value) for name, value in item.attrib.items() if re.fullmatch(r"[-\d.]+", value)}
        if item.tag == f"{SVG}line":
            ends = np.array([[numbers["x1"], numbers["y1"]], [numbers["x2"], numbers["y2"]]])
            lines.append(np.linspace(*ends, 60))
        elif item.tag == f"{SVG}path":
            start, middle, end = np.array(re.findall(r"-?[\d.]+", item.get("d")), float).reshape(3, 2)
            t = np.linspace(0, 1, 60)[:, None]
            lines.append((1 - t) ** 2 * start + 2 * t * (1 - t) * middle + t**2 * end)
        elif item.tag in {f"{SVG}circle", f"{SVG}ellipse"}:
            radius = numbers.get("r") or numbers["ry"]
            wide = numbers.get("rx", radius) / radius
            place, color = (numbers["cx"], numbers["cy"]), item.get("fill")
        elif item.tag == f"{SVG}text":
            assert abs(numbers["x"] - place[0]) < 0.1
            places[int(item.text)], colors[int(item.text)] = place, color
    view = [float(number) for number in root.get("viewBox").split()]
    round = np.array([1 / wide, 1])
    view = [view[0] / wide, view[1], view[2] / wide, view[3]]
    lines = [points * round for points in lines]
    return view, np.array([places[node] for node in range(len(places))]) * round, radius, lines, colors


@pytest.mark.parametrize("spec", [*PAPERS, *OTHERS, *(spec for spec in LARGE)])
def test_nodes_are_apart_and_every_edge_is_drawn_once(spec):
    (left, top, width, height), places, radius, lines, _ = drawn(spec)
    network = build(spec)
    assert len(places) == network.num_nodes
    distance = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    np.fill_diagonal(distance, np.inf)
    assert distance.min() > 2 * radius
    for points in (places - radius, places + radius, *lines):
        assert (points >= (left, top)).all()
        assert (points <= (left + width, top + height)).all()
    node_at = {tuple(place): node for node, place in enumerate(places.tolist())}
    ends = Counter(frozenset(node_at[tuple(points[end].tolist())] for end in (0, -1)) for points in lines)
    assert set(ends.values()) == {1}
    assert ends.keys() == {
        frozenset({node, other}) for node in range(len(places)) for other in network.neighbors(node).values()
    }


def touched(places, radius, lines):
    """Return how many edges run over a third node."""
    count = 0
    for points in lines:
        near = np.hypot(*(places[:, None] - points[None]).transpose(2, 0, 1)).min(axis=1) < radius
        count += near.sum() > 2
    return count


@pytest.mark.parametrize(
    "spec", [*PAPERS, "torus(4, 4)", "cube(4)", "star(4)", "hsn(2, petersen())", "rdn(cube(2), 1)"]
)
def test_hardly_an_edge_runs_over_a_third_node(spec):
    _, places, radius, lines, _ = drawn(spec)
    most = 1 / 40 if len(places) < 100 else 1 / 12  # where a page is too narrow for them
    assert touched(places, radius, lines) <= most * len(lines)


def test_an_edge_over_a_node_would_be_seen():
    _, places, radius, lines, _ = drawn("mesh(3)")
    assert touched(places, radius, lines) == 0
    assert touched(places, radius, [*lines, np.linspace(places[0], places[2], 60)]) == 1


@pytest.mark.parametrize(
    "spec", ["rdn(cube(2), 1)", "hdn(cube(3), [[2]])", "hdn(cube(2), [[0], [0, 1]])", "dualcube(3)"]
)
def test_classes_of_a_dual_net_stand_one_below_the_other(spec):
    _, places, _, _, colors = drawn(spec)
    network = build(spec)
    classes = [network.address_of(network.decode(node))[0][0] for node in range(network.num_nodes)]
    heights = [[y for (_, y), own in zip(places, classes, strict=True) if own == half] for half in range(2)]
    assert max(heights[0]) + 100 < min(heights[1])
    for half in range(2):
        own = {colors[node] for node, given in enumerate(classes) if given == half}
        assert len(own) == 2 ** (len(network.levels) - 1)
    assert len(set(colors.values())) == 2 ** len(network.levels)


@pytest.mark.parametrize("spec", ["hsn(3, cube(2))", "ccc(3)", "reduced_cube(2, 1)", "star(4)", "rdn(cube(2), 1)"])
def test_clusters_stand_together(spec):
    """No node is nearer to the middle of another cluster."""
    _, places, _, _, _ = drawn(spec)
    network = build(spec)
    addresses = [network.format_node(node) for node in range(network.num_nodes)]
    own = [text[text.rindex(".") :] if spec == "star(4)" else text.rsplit("/", 1)[0] for text in addresses]
    names = sorted(set(own))
    assert len(names) >= 4
    middles = np.array([places[[name == cluster for cluster in own]].mean(axis=0) for name in names])
    nearest = np.hypot(*(places[:, None] - middles[None]).transpose(2, 0, 1)).argmin(axis=1)
    assert [names[place] for place in nearest] == own


def test_the_same_network_gives_the_same_picture():
    assert len({network_svg(build("hdn(cube(3), [[0]])")) for _ in range(2)}) == 1


@pytest.mark.parametrize("side", [1, -1])
def test_an_edge_is_bent_towards_the_middle_of_the_network(side):
    places = np.array([[0, 0], [50, 0], [100, 0], [50, 80 * side]], float)
    middle = curve(places[0], places[2], bend_of(places, 0, 2), 3)[1]
    assert 0 < side * middle[1] < 40


@pytest.mark.parametrize("spec", ["rdn(cube(2), 1)", "hdn(cube(2), [[0], [0, 1]])", "hsn(3, cube(2))", "torus(4, 4)"])
def test_frames_hold_whole_clusters_and_lie_apart_or_in_each_other(spec):
    network = build(spec)
    root = ElementTree.fromstring(network_svg(network))
    rects = [item for item in root if item.get("class") == "cluster"]
    sides = np.array([[float(item.get(name)) for name in ("x", "y", "width", "height")] for item in rects])
    boxes = [(box[:2], box[:2] + box[2:]) for box in sides.reshape(-1, 4)]
    circles = [item for item in root if item.tag in {f"{SVG}circle", f"{SVG}ellipse"}]
    nodes = np.array([[float(item.get("cx")), float(item.get("cy"))] for item in circles])[: network.num_nodes]
    parts = [network.format_node(node).split("/") for node in range(network.num_nodes)]
    clusters = {
        frozenset(node for node, own in enumerate(parts) if own[:depth] == first[:depth])
        for first in parts
        for depth in range(1, len(first))
    }
    held = [frozenset(np.flatnonzero(((nodes > low) & (nodes < high)).all(axis=1)).tolist()) for low, high in boxes]
    assert set(held) <= clusters
    assert len(set(held)) == len(held)
    assert bool(held) == (spec != "torus(4, 4)")
    for (low, high), (other_low, other_high) in combinations(boxes, 2):
        inside = ((low >= other_low) & (high <= other_high)).all() or ((low <= other_low) & (high >= other_high)).all()
        assert inside or (low >= other_high).any() or (other_low >= high).any()


def test_frames_that_meet_are_not_apart():
    first, second, third = (Frame(1, "", np.array(box, float), 1) for box in ([0, 0, 4, 4], [3, 3, 6, 6], [5, 0, 9, 3]))
    assert apart([first, third])
    assert not apart([first, second])
