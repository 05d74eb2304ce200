"""Graphs in files."""

import networkx
import pytest

from hdnhw.spec import SpecError, parse
from hdnhw.topology.graphfile import graph_text, read_graph
from hdnhw.topology.network import build

SQUARE = ((0, 1), (0, 2), (1, 3), (2, 3))
TEXTS = {
    ".edges": "# a square\n0 1 {}\n\n2 0 # back\n1 3\n3 2\n2 3\n",
    ".txt": "0 1\n0 2\n1 3\n2 3",
    ".dot": "digraph { 0 -> 1; 1 -> 3 [weight=2]; 0 -> 2; 2 -> 3; 3 -> 2; }",
    ".anynet": "router 0 node 0 router 1 router 2 15\n"
    "router 1 node 1 router 3\nrouter 2 node 2 router 3\nrouter 3 node 3\n",
}


def written(tmp_path, suffix, text):
    file = tmp_path / f"net{suffix}"
    file.write_text(text)
    return str(file)


@pytest.mark.parametrize("suffix", TEXTS)
def test_a_square(tmp_path, suffix):
    if suffix == ".dot":
        pytest.importorskip("pydot")
    found = read_graph(written(tmp_path, suffix, TEXTS[suffix]))
    assert (found.names, found.edges, found.num_terminals) == (("0", "1", "2", "3"), SQUARE, 4)


def test_graphml_of_networkx(tmp_path):
    graph = networkx.DiGraph([("b", "a"), ("a", "hub"), ("hub", "b")])
    graph.nodes["hub"]["switch"] = True
    networkx.write_graphml(graph, tmp_path / "net.graphml")
    found = read_graph(str(tmp_path / "net.graphml"))
    assert (found.names, found.edges, found.num_terminals) == (("b", "a", "hub"), ((0, 1), (0, 2), (1, 2)), 2)


def test_nodes_of_booksim_that_share_a_router(tmp_path):
    text = "router 0 node 0 node 1 router 1\nrouter 1 node 2 node 3\n"
    found = read_graph(written(tmp_path, ".anynet", text))
    assert found.names == ("node 0", "node 1", "node 2", "node 3", "router 0", "router 1")
    assert (found.edges, found.num_terminals) == (((0, 4), (1, 4), (2, 5), (3, 5), (4, 5)), 4)


@pytest.mark.parametrize("suffix", [".edges", ".txt", ".graphml", ".dot", ".gv", ".anynet"])
@pytest.mark.parametrize("text", ["rdn(cube(2), 1)", "slim_fly(3)", "concentrated(cube(2), 2)", "fat_tree(4)"])
def test_what_is_written_is_read_again(tmp_path, suffix, text):
    network = build(parse(text))
    if suffix in (".dot", ".gv"):
        pytest.importorskip("pydot")
    if suffix in (".edges", ".txt") and network.num_terminals < network.num_nodes:
        with pytest.raises(SpecError, match="switches without terminals, which a list of edges cannot say"):
            graph_text(network, suffix)
        return
    found = read_graph(written(tmp_path, suffix, graph_text(network, suffix)))
    edges = {
        tuple(sorted((node, other))) for node in range(network.num_nodes) for other in network.neighbors(node).values()
    }
    assert (len(found.names), found.num_terminals) == (network.num_nodes, network.num_terminals)
    assert set(found.edges) == edges


@pytest.mark.parametrize(
    ("suffix", "text", "message"),
    [
        (".csv", "0 1", r"must be \.edges, .* or \.anynet$"),
        (".edges", "0 1\n2", "line 2 must name two nodes, not '2'$"),
        (".edges", "0 1\n2 3", "must be connected, and there is no way from '0' to '2'$"),
        (".edges", "0 1\n1 1", "a link must join two nodes, and one joins '1' to itself$"),
        (".edges", "", "must have at least 2 nodes that send and receive, not 0$"),
        (".graphml", "<graphml>", "is no GraphML: "),
        (".anynet", "router 0 router router 3", "line 1 must be 'router N', then 'router N' or 'node N' each, not "),
        (".anynet", "node 0 router 0", "line 1 must be "),
        (".anynet", "router 0 node 0 router 1", "must have at least 2 nodes that send and receive, not 1$"),
    ],
)
def test_files_that_are_refused(tmp_path, suffix, text, message):
    with pytest.raises(SpecError, match=f"^file '.*net.{suffix[1:]}': {message}"):
        read_graph(written(tmp_path, suffix, text))


def test_a_file_that_is_not_there_or_no_text(tmp_path):
    with pytest.raises(SpecError, match=r"^file 'none\.edges': cannot be read: No such file or directory$"):
        read_graph("none.edges")
    (tmp_path / "x.edges").write_bytes(b"\xff\xfe\n")
    with pytest.raises(SpecError, match=r"cannot be read: it is no text$"):
        read_graph(str(tmp_path / "x.edges"))


def test_dot_that_is_none(tmp_path):
    pytest.importorskip("pydot")
    with pytest.raises(SpecError, match="is no DOT"):
        read_graph(written(tmp_path, ".dot", "graph { 0 -- "))
