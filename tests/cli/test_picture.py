"""``hdnhw picture``: what is drawn, read back from the SVG by where it stands, against searches of the network."""

import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import networkx
import numpy as np
import pytest

from hdnhw.library.papers import PICTURES
from hdnhw.networks.build import build

DOCS = Path(__file__).parents[2] / "docs"
SVG = "{http://www.w3.org/2000/svg}"


class Drawing:
    """A picture, read.

    Attributes
    ----------
    places : ndarray, shape (nodes, 2)
        Middles of the nodes, which are drawn in the order of their numbers.
    radii : (float, float)
        Half axes of all nodes.
    texts, fills : list
        Lines and color of each node.
    hops : dict of str to list of (int, int)
        Group of arrows -> the nodes that each leaves and points at.
    dashed, crosses : set, list
        Groups that are dashed; middles of the crosses.
    rings : dict of int to bool
        Node with a ring around it -> whether it is dashed.
    legend : list of str
    off : list of float
        Pixels between the middle of each arrow and that of its edge.
    """

    def __init__(self, text):
        self.root = ElementTree.fromstring(text)
        self.places, self.texts, self.fills, self.rings, self.legend = [], [], [], {}, []
        self.hops, self.crosses, self.dashed, self.colors, radii = {}, [], set(), {}, set()
        self.strokes, self.off = set(), []
        groups, edges = [], []
        for item in self.root:
            kind = item.tag.removeprefix(SVG)
            if kind in {"circle", "ellipse"} and item.get("fill") != "none":
                self.places.append((float(item.get("cx")), float(item.get("cy"))))
                self.fills.append(item.get("fill"))
                self.texts.append([])
                radii.add((float(item.get("rx") or item.get("r")), float(item.get("ry") or item.get("r"))))
            elif kind in {"circle", "ellipse"}:
                self.rings[len(self.places) - 1] = item.get("stroke-dasharray") is not None
            elif kind == "text":
                self.texts[-1].append(item.text)
            elif kind == "g" and item.get("class") == "legend":
                self.legend = [text.text for text in item.iter(f"{SVG}text")]
                self.keys = item
            elif kind == "g":
                groups.append(item)
            elif item.get("d", "").count("M") == 2:
                self.crosses.append(np.array(re.findall(r"-?[\d.]+", item.get("d")), float).reshape(-1, 2).mean(axis=0))
            elif kind in {"line", "path"}:
                self.strokes.add(item.get("stroke"))
                edges.append(item)
        self.places = np.array(self.places)
        (self.radii,) = radii
        self.middles = {frozenset(ends): middle for ends, middle in map(self._line, edges)}
        for group in groups:
            self._read(group)

    def _read(self, group):
        name = group.get("class")
        assert name not in self.hops
        self.hops[name], self.colors[name] = [], group.get("stroke")
        if group.get("stroke-dasharray"):
            self.dashed.add(name)
        for line, head in zip(group[::2], group[1::2], strict=True):
            (one, other), middle = self._line(line)
            self.off.append(np.hypot(*(middle - self.middles[frozenset((one, other))])))
            tip = np.array(re.findall(r"-?[\d.]+", head.get("d")), float)[:2]
            off = (tip - self.places[other]) / self.radii
            assert 1 <= np.hypot(*off) <= 1.4, "an arrowhead touches the node that the hop leads to"
            self.hops[name].append((one, other))

    def _line(self, line):
        """Return the nodes at the ends of a line, and its middle."""
        if line.tag == f"{SVG}line":
            start, end = np.array([[float(line.get(f"{axis}{end}")) for axis in "xy"] for end in (1, 2)])
            middle = (start + end) / 2
        else:
            start, control, end = np.array(re.findall(r"-?[\d.]+", line.get("d")), float).reshape(3, 2)
            middle = (start + 2 * control + end) / 4
        return (self.node_at(start), self.node_at(end)), middle

    def node_at(self, place):
        distance = np.hypot(*(self.places - place).T)
        assert distance.min() < 0.2
        return int(distance.argmin())


@pytest.fixture
def draw(run):
    """Return a function of arguments that returns the drawing and the JSON object."""

    def draw(line, status=0):
        code, out, _ = run(f"picture {line} -o p.svg --json")
        assert code == status
        return Drawing(Path("p.svg").read_text()), json.loads(out)

    return draw


def graph_of(spec, dead=()):
    network = build(spec)
    graph = networkx.DiGraph()
    graph.add_nodes_from(set(range(network.num_nodes)) - set(dead))
    for node in graph:
        graph.add_edges_from((node, other) for other in network.neighbors(node).values() if other not in dead)
    return graph


def nodes_of(hops):
    """Return the nodes of hops that follow each other."""
    assert all(one[1] == other[0] for one, other in pairwise(hops))
    return [hops[0][0], *(node for _, node in hops)]


@pytest.mark.parametrize(
    ("spec", "src", "dst"),
    [
        ("rdn(cube(2), 1)", "0", "1.3/1.0"),
        ("dualcube(3)", "00000", "10111"),
        ("hsn(3, cube(2))", "9", "62"),
        ("torus(4, 5)", "0", "13"),
    ],
)
def test_a_route_is_as_long_as_the_distance(draw, spec, src, dst):
    drawing, _ = draw(f"'{spec}' --route {src} {dst}")
    graph, network = graph_of(spec), build(spec)
    path = nodes_of(drawing.hops["path0"])
    assert (path[0], path[-1]) == (network.parse_node(src), network.parse_node(dst))
    assert networkx.is_simple_path(graph, path)
    assert len(path) - 1 == networkx.shortest_path_length(graph, path[0], path[-1])
    assert f"route: {len(path) - 1} hops" in drawing.legend
    assert drawing.rings == {path[0]: False, path[-1]: False}
    assert {node for node, fill in enumerate(drawing.fills) if fill != "#ffffff"} == set(path)


def test_the_papers_route_may_be_longer(draw):
    drawing, result = draw("'hdn(cube(2), [[0], [0, 1]])' --route 1 76 --algorithm paper")
    graph = graph_of("hdn(cube(2), [[0], [0, 1]])")
    path = nodes_of(drawing.hops["path0"])
    assert path == result["paths"]["route"]
    assert all(graph.has_edge(*hop) for hop in pairwise(path))
    assert len(path) - 1 > networkx.shortest_path_length(graph, 1, 76)


@pytest.mark.parametrize(
    ("spec", "options", "count"),
    [
        ("hdn(cube(3), [[0]])", "--paths 0 63", 4),
        ("hdn(cube(3), [[0]])", "--paths 0 7 --algorithm paper", 4),
        ("dualcube(3)", "--paths 0 31 --algorithm address", 3),
        ("petersen()", "--paths 0 7", 3),
    ],
)
def test_paths_share_no_node(draw, spec, options, count):
    drawing, result = draw(f"'{spec}' {options}")
    graph, paths = graph_of(spec), [nodes_of(hops) for hops in drawing.hops.values()]
    assert len(paths) == count == graph.out_degree(0)
    assert all(networkx.is_simple_path(graph, path) for path in paths)
    inner = [node for path in paths for node in path[1:-1]]
    assert len(set(inner)) == len(inner)
    assert len({(path[0], path[-1]) for path in paths}) == 1
    assert len(set(drawing.colors.values())) == count
    assert max(drawing.off) < 0.2, "arrows lie on their edges, as no two share one"
    assert all(drawing.fills[node] == drawing.colors[f"path{n}"] for n, path in enumerate(paths) for node in path[1:-1])
    assert [text for text in drawing.legend if text.startswith("path ")] == [
        f"path {n}: {len(path) - 1} hops" for n, path in enumerate(paths, start=1)
    ]
    assert result["disjoint"]
    assert result["broken"] == []
    assert "waypoint" in drawing.legend if True in drawing.rings.values() else "waypoint" not in drawing.legend


def test_paths_of_the_paper_that_meet_are_shown(draw):
    drawing, result = draw("'hdn(cube(2), [[]])' --paths 0 7 --algorithm paper", status=1)
    on = Counter(node for hops in drawing.hops.values() for node in set(nodes_of(hops)) - {0, 7})
    shared = {node for node, count in on.items() if count > 1}
    assert shared
    assert not result["disjoint"]
    assert {node for node in on if drawing.fills[node] == drawing.fills[0]} == shared
    assert "on several paths" in drawing.legend


def test_what_is_dead_is_crossed_out_and_breaks_paths(draw):
    drawing, result = draw("'hdn(cube(3), [[0]])' --paths 0 63 --dead-nodes 4 58 --dead-channels 31:cross1 34:dim1")
    paths = {name: nodes_of(hops) for name, hops in drawing.hops.items()}
    network = build("hdn(cube(3), [[0]])")
    channels = {(31, network.neighbors(31)["cross1"]), (34, network.neighbors(34)["dim1"])}
    broken = {name for name, path in paths.items() if {4, 58} & set(path) or channels & set(pairwise(path))}
    assert drawing.dashed == broken
    assert broken == {"path1", "path2", "path3"}
    assert (32, 34) in pairwise(paths["path3"]), "of which the other direction is dead"
    assert [f"path {n}" for n in range(1, 5) if f"path{n - 1}" in broken] == result["broken"]
    assert sum(text.endswith("broken") for text in drawing.legend) == len(broken)
    assert {"dead node", "dead channel, at the node that it leaves"} <= set(drawing.legend)
    whole = [np.hypot(*(drawing.places[node] - drawing.crosses).T).min() < 0.2 for node in range(64)]
    assert np.flatnonzero(whole).tolist() == [4, 58]
    assert len(drawing.crosses) == 4


def test_a_way_around_avoids_what_is_dead(draw):
    drawing, result = draw("'hdn(cube(3), [[0]])' --route 0 36 --dead-nodes 4 32")
    graph = graph_of("hdn(cube(3), [[0]])", dead={4, 32})
    route, around = (nodes_of(drawing.hops[name]) for name in ("path0", "path1"))
    assert 32 in route or 4 in route
    assert drawing.dashed == {"path0"}
    assert (around[0], around[-1]) == (0, 36)
    assert networkx.is_path(graph, around)
    assert [node for node, is_dashed in drawing.rings.items() if is_dashed] == result["waypoints"]
    assert set(result["waypoints"]) <= set(around)


def test_no_way_around(run):
    status, out, err = run("picture 'torus(6)' --route 0 2 --dead-nodes 1 5 -o p.svg --json")
    drawing = Drawing(Path("p.svg").read_text())
    assert (status, json.loads(out)["reach"], drawing.dashed) == (0, "not connected", {"path0"})
    assert err == "torus(6): no way around from 0 to 2: not connected\n"


def test_a_fan_leads_to_different_clusters(draw):
    drawing, _ = draw("'hdn(cube(3), [[0]])' --fan 0")
    network, graph = build("hdn(cube(3), [[0]])"), graph_of("hdn(cube(3), [[0]])")
    paths = [nodes_of(hops) for hops in drawing.hops.values()]
    assert len(paths) == 4
    assert {path[0] for path in paths} == {0}
    assert all(networkx.is_simple_path(graph, path) for path in paths)
    assert len({network.format_node(path[-1]).split("/")[0] for path in paths}) == 4
    inner = [node for path in paths for node in path[1:]]
    assert len(set(inner)) == len(inner)
    assert "source, and ends of paths" in drawing.legend


def test_a_guest_has_its_edges_by_their_length(draw):
    drawing, result = draw("'dualcube(3)' --embed 'torus(4, 8)'")
    graph = graph_of("dualcube(3)")
    assert (result["dilation"], sorted(result["placement"])) == (3, list(range(32)))
    assert set(drawing.hops) == {"hops1", "hops3"}
    assert all(graph.has_edge(*ends) for hops in drawing.hops.values() for ends in hops)
    guest = {frozenset((result["placement"][a], result["placement"][b])) for a, b in graph_of("torus(4, 8)").edges}
    near = {edge for edge in guest if graph.has_edge(*edge)}
    assert {frozenset(ends) for ends in drawing.hops["hops1"]} == near
    assert f"{len(near)} edges of the guest: 1 hop each" in drawing.legend


@pytest.mark.parametrize("end", [5, 7])
def test_a_path_of_a_fan_can_end_in_the_own_cluster(draw, end):
    drawing, _ = draw(f"'hdn(cube(3), [[0]])' --fan 0 {end}")
    graph = graph_of("hdn(cube(3), [[0]])")
    paths = [nodes_of(hops) for hops in drawing.hops.values()]
    assert all(networkx.is_simple_path(graph, path) for path in paths)
    assert sorted(path[-1] // 8 for path in paths) == [0, *sorted({path[-1] // 8 for path in paths} - {0})]
    assert [path[-1] for path in paths if path[-1] < 32] == [end]
    inner = [node for path in paths for node in path[1:]]
    assert (len(paths), len(set(inner))) == (4, len(inner))


def test_the_edges_of_a_cluster(draw):
    """Figure 3 of the dual-cube paper: cluster 0 of class 1, nodes with 1 above and 000 below."""
    drawing, result = draw("'dualcube(4)' --cluster 1000000 --labels address")
    (hops,) = drawing.hops.values()
    own = {node for node in range(128) if f"{node:07b}"[0] == "1" and f"{node:07b}"[-3:] == "000"}
    edges = graph_of("dualcube(4)").edges
    assert sorted(hops) == sorted((one, other) for one, other in edges if one in own and other not in own)
    assert result["edges"] == len(hops) == 8


def test_the_edges_of_a_cluster_over_any_base(draw):
    drawing, _ = draw("'rdn(petersen(), 1)' --cluster 25")
    network = build("rdn(petersen(), 1)")
    assert drawing.hops == {"cluster": [(node, network.neighbors(node)["cross1"]) for node in range(20, 30)]}


def moved(drawing, source):
    """Return the step in which each node is first sent a message, as arrows bring it from nodes that have one."""
    first = {source: -1}
    for name in sorted(drawing.hops, key=lambda name: int(name.removeprefix("step"))):
        step = int(name.removeprefix("step"))
        assert all(first.get(sender, step) < step for sender, _ in drawing.hops[name])
        for count in (Counter(sender for sender, _ in drawing.hops[name]), Counter(to for _, to in drawing.hops[name])):
            assert set(count.values()) == {1}  # one port
        for _, to in drawing.hops[name]:
            first.setdefault(to, step)
    return first


@pytest.mark.parametrize(
    ("spec", "options", "source"),
    [
        ("dualcube(3)", "broadcast", 0),
        ("rdn(cube(2), 1)", "scatter --root 5", 5),
        ("hdn(cube(2), [[0]])", "exchange --root 0 --schedule paper", 0),
        ("hsn(2, cube(2))", "allgather --root 6", 6),
    ],
)
def test_nodes_bear_the_step_that_brings_a_message(draw, spec, options, source):
    drawing, _ = draw(f"'{spec}' --collective {options}")
    first, graph = moved(drawing, source), graph_of(spec)
    assert first.keys() == set(graph)
    assert all(graph.has_edge(*hop) for hops in drawing.hops.values() for hop in hops)
    for node, lines in enumerate(drawing.texts):
        assert lines == ([str(node), str(first[node])] if node != source else [str(source)])
        assert node == source or drawing.fills[node] == drawing.colors[f"step{first[node]}"]
    assert drawing.rings == {source: False}
    steps = [text for text in drawing.legend if text.startswith("step ")]
    assert [text.partition(":")[0] for text in steps] == [name.replace("step", "step ") for name in drawing.hops]
    assert any("the first step that brings" in text for text in drawing.legend)


@pytest.mark.parametrize(
    ("spec", "options", "root"),
    [
        ("rdn(cube(2), 1)", "gather", 0),
        ("dualcube(3)", "reduce --root 9", 9),
        ("hdn(cube(2), [[0]])", "reducescatter --root 5", 5),
        ("torus(5)", "gather --root 2", 2),
    ],
)
def test_nodes_bear_the_step_in_which_they_give_away_what_they_have(draw, spec, options, root):
    drawing, _ = draw(f"'{spec}' --collective {options}")
    last, known, graph = {}, {}, graph_of(spec)
    for name, hops in drawing.hops.items():
        known |= {node: known.get(node, {node}) | known.get(other, {other}) for other, node in hops}
        last |= {node: int(name[4:]) for node, _ in hops}
        assert all(graph.has_edge(*hop) for hop in hops)
    assert known[root] == last.keys() | {root} == set(graph)
    if "gather" not in options:
        assert Counter(node for hops in drawing.hops.values() for node, _ in hops) == Counter(last.keys())
    for node, lines in enumerate(drawing.texts):
        assert lines == ([str(node), str(last[node])] if node != root else [str(root)])
        assert node == root or drawing.fills[node] == drawing.colors[f"step{last[node]}"]
    assert drawing.rings == {root: False}
    assert "destination" in drawing.legend
    text = (
        "the last step in which it sends messages on" if "gather" in options else "the step in which it gives its part"
    )
    assert any(text in each for each in drawing.legend)


def test_steps_of_a_reduce_after_the_first(draw):
    whole, _ = draw("'rdn(cube(2), 1)' --collective reduce")
    some, _ = draw("'rdn(cube(2), 1)' --collective reduce --step 2-3")
    assert some.hops == {name: whole.hops[name] for name in ("step2", "step3")}
    done = {node for name in ("step0", "step1") for node, _ in whole.hops[name]}
    (held,) = {some.fills[node] for node in done}
    assert {node for node, fill in enumerate(some.fills) if fill == held} == done
    assert "has given its part away before" in some.legend


def test_a_broadcast_on_the_dual_cube_takes_as_many_steps_as_its_diameter(draw):
    """Figure 5 and Theorem 2 of the dual-cube paper: every node receives once."""
    drawing, _ = draw("'dualcube(3)' --collective broadcast --labels address")
    arrivals = Counter(to for hops in drawing.hops.values() for _, to in hops)
    assert set(arrivals.values()) == {1}
    assert len(arrivals) == 31
    assert len(drawing.hops) == 6 == networkx.diameter(graph_of("dualcube(3)"))
    assert [lines[0] for lines in drawing.texts] == [f"{node:05b}" for node in range(32)]


def test_one_step_and_several(draw):
    line = "'rdn(cube(2), 1)' --collective broadcast"
    whole, _ = draw(line)
    one, result = draw(f"{line} --step 3")
    assert one.hops == {"step3": whole.hops["step3"]}
    assert (result["first"], result["last"]) == (3, 3)
    first = moved(whole, 0)
    held = next(fill for node, fill in enumerate(one.fills) if first[node] in (0, 1, 2))
    assert {node for node, fill in enumerate(one.fills) if fill == held} == {
        node for node, step in first.items() if 0 <= step < 3
    }
    assert "has had the message before" in one.legend
    some, _ = draw(f"{line} --step 1-2")
    assert some.hops == {name: whole.hops[name] for name in ("step1", "step2")}


def test_a_step_of_an_exchange_has_the_messages_of_all_nodes(draw):
    drawing, _ = draw("'rdn(cube(2), 1)' --collective exchange --step 0")
    (hops,) = drawing.hops.values()
    network = build("rdn(cube(2), 1)")
    assert sorted(hops) == [(node, network.neighbors(node)["dim0"]) for node in range(32)]


@pytest.mark.parametrize(
    ("spec", "label"),
    [
        ("hsn(3, cube(2))", lambda node: np.base_repr(node, 4).zfill(3)),
        ("hsn(2, star(4))", lambda node: build("hsn(2, star(4))").format_node(node)),
        ("dualcube(4)", lambda node: f"{node:07b}"),
        ("rdn(cube(2), 1)", lambda node: build("rdn(cube(2), 1)").format_node(node)),
    ],
)
def test_addresses_have_room(draw, spec, label):
    drawing, _ = draw(f"'{spec}' --labels address")
    assert ["".join(lines) for lines in drawing.texts] == [label(node) for node in range(len(drawing.texts))]
    across, down = drawing.radii
    for lines in drawing.texts:
        for place, line in enumerate(lines):
            width = sum(0.28 if letter in "./" else 0.556 for letter in line) * 8  # of Helvetica
            edge = abs(place - (len(lines) - 1) / 2) * 9 + 3
            assert np.hypot(width / 2 / across, edge / down) <= 1
    apart = np.hypot(*((drawing.places[:, None] - drawing.places[None]) / drawing.radii).transpose(2, 0, 1))
    assert apart[~np.eye(len(apart), dtype=bool)].min() > 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("'petersen()'", []),
        ("'torus(4, 4)'", []),
        ("'dualcube(2)'", ["edge in a cluster", "cross-edge of level 1", "class 0", "class 1"]),
        ("'hsn(3, cube(1))'", ["edge of level 1, in a nucleus", "edge of level 2", "edge of level 3"]),
        ("'folded_cube(3)'", ["other edge", "edge to the complement"]),
        ("'ccc(3)'", ["other edge", "edge of port cross"]),
        ("'torus(4)' --dead-nodes 1", ["dead node"]),
        ("'torus(4)' --route 0 1", ["route: 1 hop", "source and destination"]),
    ],
)
def test_the_legend_tells_what_occurs_and_no_more(draw, options, said):
    assert draw(options)[0].legend == said


@pytest.mark.parametrize(
    "options",
    ["'hdn(cube(2), [[0], [0]])'", "'folded_hsn(3, 1)'", "'hsn(4, cube(1))' --route 0 7", "'rdn(cube(2), 1)'"],
)
def test_colors_of_the_legend_are_those_of_the_edges(draw, options):
    drawing, _ = draw(options)
    keys = [item.get("stroke") for item in drawing.keys.iter(f"{SVG}path") if item.get("stroke-width") == "1.4"]
    assert len(set(keys)) == len(keys)
    assert set(keys) == drawing.strokes
    view = [float(number) for number in drawing.root.get("viewBox").split()]
    left, top, scale = map(float, re.findall(r"-?[\d.]+", drawing.keys.get("transform")))
    for entry in drawing.keys:
        x, y = map(float, re.findall(r"-?[\d.]+", entry.get("transform")))
        width = 0.556 * 11 * len(entry[-1].text)
        assert left + scale * (x + 30 + width) <= view[0] + view[2]
        assert top + scale * (y + 6) <= view[1] + view[3]


@pytest.mark.parametrize("name", PICTURES)
def test_the_papers_figures_are_in_docs(draw, name):
    draw(PICTURES[name].words)
    assert Path("p.svg").read_text() == (DOCS / "papers" / name).read_text()
