"""Networks from graphs of networkx, and their files."""

import json
import pickle

import networkx
import pytest

import hdnhw
from hdnhw.cli import main


def test_a_graph_of_networkx():
    graph = networkx.karate_club_graph()
    network = hdnhw.from_networkx(graph)
    assert networkx.is_isomorphic(network, graph)
    assert set(network.edges) == set(graph.edges)
    assert network.diameter == networkx.diameter(graph)
    assert network.average_distance == pytest.approx(networkx.average_shortest_path_length(graph))
    routed = network.routing()
    assert (routed.cdg_acyclic, routed.worst_stretch) == (True, 1.0)
    assert network.simulate(rate=0.05, cycles=1000).delivered > 0
    assert len(hdnhw.sweep(network, rates=[0.05], workers=1).points) == 1
    graph.remove_node(0)
    assert len(network) == 34
    again = pickle.loads(pickle.dumps(network))
    assert again == network
    assert str(network.spec).startswith("graph('in memory: 34 nodes, sha256 ")


def test_names_of_nodes_are_addresses():
    network = hdnhw.from_networkx(networkx.Graph([("a", "b"), ("b", "c")]))
    assert network.route("a", "c").paper_addresses == ["a", "b", "c"]
    assert hdnhw.neighbors(network, "b").neighbors == [0, 2]


def test_links_name_their_types_of_channels(tmp_path):
    graph = networkx.cycle_graph(6)
    networkx.set_edge_attributes(graph, {(0, 5): "long", (2, 3): "long"}, "channel")
    graph.add_edge(4, 4, channel="loop")
    network = hdnhw.from_networkx(graph)
    ports = {node: hdnhw.neighbors(network, node).ports for node in range(6)}
    assert ports[0] == {"long0": 5, "port0": 1}
    long = {frozenset((node, end)) for node, own in ports.items() for name, end in own.items() if name == "long0"}
    assert long == {frozenset((0, 5)), frozenset((2, 3))}
    hop = network.simulate(rate=0.02, cycles=2000).packet_latency["max"]
    assert network.simulate(rate=0.02, cycles=2000, channel_latency="long*=90").packet_latency["max"] >= hop + 80
    network.export(tmp_path / "net.graphml")
    again = hdnhw.Network(f"graph({str(tmp_path / 'net.graphml')!r})")
    assert {node: hdnhw.neighbors(again, node).ports for node in range(6)} == ports
    networkx.set_edge_attributes(graph, "10 m", "channel")
    said = r"^graph: channel of a link must be lower-case letters and _, such as long, not '10 m'$"
    with pytest.raises(hdnhw.SpecError, match=said):
        hdnhw.from_networkx(graph)


def test_what_is_no_network():
    with pytest.raises(TypeError, match=r"^graph must be one of networkx, not 3$"):
        hdnhw.from_networkx(3)
    with pytest.raises(hdnhw.SpecError, match=r"^graph: must be connected, and there is no way from '0' to '2'$"):
        hdnhw.from_networkx(networkx.Graph([(0, 1), (2, 3)]))


def test_info_of_what_was_exported_is_that_of_the_network(tmp_path, capsys):
    file = tmp_path / "net.graphml"
    assert main(["export", "rdn(cube(2), 1)", "-o", str(file), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made == {"spec": "rdn(cube(2), 1)", "file": str(file), "nodes": 32, "edges": 48}
    read, own = (hdnhw.info(spec) for spec in (f"graph({str(file)!r})", "rdn(cube(2), 1)"))
    for figure in (
        "nodes",
        "edges",
        "diameter",
        "average_distance_exact",
        "node_symmetric",
        "bisection",
        "connectivity",
        "switch_connectivity",
    ):
        assert read[figure] == own[figure]
    assert hdnhw.Network("rdn(cube(2), 1)").export(file) == made


def test_bad_files_leave_nothing(tmp_path, capsys):
    (tmp_path / "bad.edges").write_text("0\n")
    for words in (
        ["info", f"graph({str(tmp_path / 'bad.edges')!r})"],
        ["export", "cube(2)", "-o", str(tmp_path / "net.png")],
        ["export", "fat_tree(4)", "-o", str(tmp_path / "net.edges")],
        ["emit", "graph([[0, 1], [1, 2]])", "-o", str(tmp_path / "out")],
    ):
        assert main(words) == 2
        found = capsys.readouterr()
        assert (found.out, found.err.count("\n")) == ("", 1)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.edges"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("collective SPEC --op barrier", "a collective operation is among all nodes, and SPEC has switches without"),
        ("exchange SPEC --schedule network", "a total exchange is among all nodes, and SPEC has switches without"),
        ("simulate SPEC --pattern tornado", "pattern tornado is for networks whose nodes all have terminals; SPEC has"),
        ("simulate SPEC --pattern hotspot(0.1,16)", "hotspot node must have a terminal: 0 to 15, not 16"),
        ("faults SPEC --trials 1 --workers 1", "waypoints are nodes with terminals; SPEC has switches without"),
        ("route SPEC 0 16", "node 16 of SPEC has no terminal: no route leads to it"),
    ],
)
def test_what_switches_cannot_do(words, message, capsys):
    spec = "fat_tree(4)"
    assert main([spec if word == "SPEC" else word for word in words.split()]) == 2
    found = capsys.readouterr()
    assert (found.out, found.err.count("\n")) == ("", 1)
    assert found.err.startswith(f"hdnhw: {message.replace('SPEC', spec)}")
