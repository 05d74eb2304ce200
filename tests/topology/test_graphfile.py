"""Graphs in files."""

import csv
import json
import os
from io import BytesIO, StringIO

import networkx
import pytest
import scipy.io
from hypothesis import given
from hypothesis import strategies as st

from hdnhw.networks.build import build
from hdnhw.support.errors import SpecError
from hdnhw.topology.graphfile import SUFFIXES, WRITTEN, graph_text, read_graph

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


@pytest.mark.parametrize("suffix", WRITTEN)
@pytest.mark.parametrize("text", ["rdn(cube(2), 1)", "slim_fly(3)", "concentrated(cube(2), 2)", "fat_tree(4)"])
def test_what_is_written_is_read_again(tmp_path, suffix, text):
    network = build(text)
    if suffix in (".dot", ".gv"):
        pytest.importorskip("pydot")
    if suffix in (".edges", ".txt", ".csv") and network.num_terminals < network.num_nodes:
        with pytest.raises(
            SpecError, match=r"switches without terminals, which a list of edges cannot say; GraphML can$"
        ):
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
        (".net", "0 1", r"must be \.edges, .* or \.anynet$"),
        (".edges", "0 1\n2", "line 2 must name two nodes, not '2'$"),
        (".edges", "0,1\n1,2", r"line 1 must name two nodes, not '0,1': commas stand between them in a file \.csv$"),
        (".edges", "source target weight\n0 1 3\n1 2 4\n", "line 1 looks like a header: begin it with #$"),
        (".edges", "a b\nc d\nd e", "line 1 looks like a header: begin it with #, or is joined to no other$"),
        (".csv", "x,y\n1,2\n2,3\n", "line 1 looks like a header: call its columns source and target$"),
        (".csv", "a,b\n\nb,\n", "line 3 must name two nodes, not 'b,'$"),
        (".csv", 'a,b\n"', "is no list of edges: unexpected end of data$"),
        (".json", "{", "is no JSON: "),
        (".json", "[" * 100_000, "is no JSON: "),
        (".json", "[1]", "must be an object with nodes and links, or nodes and adjacency$"),
        (".mtx", "0 1", "is no MatrixMarket: "),
        (
            ".mtx",
            "%%MatrixMarket matrix coordinate pattern general\n3 2 1\n1 2\n",
            "must be a square matrix, not 3 x 2$",
        ),
        (".g6", "A_\nA_\n", "must have one graph, not 2$"),
        (
            ".mtx",
            "%%MatrixMarket matrix coordinate pattern general\n9999999999 9999999999 1\n1 2\n",
            "must be connected, and has 9",
        ),
        (
            ".mtx",
            "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2 x\n",
            "is no MatrixMarket: '3 2 x' is no entry",
        ),
        (
            ".mtx",
            "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1\n3 4 1\n",
            "is no MatrixMarket: '3 4 1' is no entry",
        ),
        (
            ".mtx",
            "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1\n",
            "is no MatrixMarket: it has 1 entries and names 2",
        ),
        (
            ".mtx",
            "%%MatrixMarket matrix array real general\n2 2\n0\n1\n1\n",
            "is no MatrixMarket: it has 3 values and not 4",
        ),
        (
            ".mtx",
            "%%MatrixMarket matrix array real general\n2 2 1\n1\n",
            "is no MatrixMarket: there must be a line of sizes",
        ),
        (
            ".mtx",
            "%%MatrixMarket matrix array real general\n9999999 9999999\n1\n",
            "is no MatrixMarket: it has fewer entries",
        ),
        (".s6", ":~~?~~~~~A", "must be connected, and has .* nodes in 10 bytes$"),
        (
            ".dot",
            f"graph {{ {{{' '.join(map('a{}'.format, range(800)))}}} -- {{{' '.join(map(str, range(800)))}}} }}",
            "it has 640000 edges; networks that are lists of edges have at most",
        ),
        (".g6", "\x01", "is no graph6: "),
        (".gml", "graph [", "is no GML: "),
        (".gexf", "<x/>", "is no GEXF: "),
        (".graphml", "<graphml><graph/><graph/></graphml>", "must have one graph, not 2$"),
        (".dot", "graph { a -- b } graph { b -- c }", "must have one graph, not 2$"),
        (".dot", "graph { a -- b; \\n }", r"is no DOT: Expected rbrace, found .*line:1"),
        (".dot", "graph { a -- <b>hi</b> }", "is no DOT: a node is called <b>$"),
        (".edges", "0 1\n2 3", "must be connected, and there is no way from '0' to '2'$"),
        (".edges", "", "must have at least 2 nodes that send and receive, not 0$"),
        (".graphml", "<graphml>", "is no GraphML: "),
        (".anynet", "router 0 router router 3", "line 1 must be 'router N', then 'router N' or 'node N' each, not "),
        (".anynet", "node 0 router 0", "line 1 must be "),
        (
            ".anynet",
            "router 0 node 0 router 1\nrouter 1 node 0 node 1",
            "node 0 must be at one router, not at router 0 and ",
        ),
        (".anynet", "router 0 node 0 router 1", "must have at least 2 nodes that send and receive, not 1$"),
    ],
)
def test_files_that_are_refused(tmp_path, suffix, text, message):
    with pytest.raises(SpecError, match=f"^file '.*net.{suffix[1:]}': {message}"):
        read_graph(written(tmp_path, suffix, text))


def test_a_file_that_is_not_there_or_no_text(tmp_path):
    with pytest.raises(SpecError, match=r"^file 'none\.edges': cannot be read: No such file or directory$"):
        read_graph("none.edges")
    for data in (b"\xff\xfe\n", b"0 \xff", b"0 1\n\0"):
        (tmp_path / "x.edges").write_bytes(data)
        with pytest.raises(SpecError, match=r"cannot be read: it is no text$"):
            read_graph(str(tmp_path / "x.edges"))


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo.edges")
    os.symlink("/dev/zero", "zero.edges")
    os.mkdir("folder.edges")
    for name, message in (("fifo", "must be a file"), ("zero", "must be a file"), ("folder", "Is a directory")):
        with pytest.raises(SpecError, match=message):
            read_graph(f"{name}.edges")
    monkeypatch.setattr("hdnhw.topology.graphfile.MOST_BYTES", 1 << 20)
    (tmp_path / "long.edges").write_text("0 1\n" * (1 << 18) + "\n")
    with pytest.raises(SpecError, match="must be at most 1 MiB"):
        read_graph("long.edges")


@pytest.mark.parametrize(
    ("suffix", "text", "names", "edges", "terminals"),
    [
        (".dot", "graph { a -- b; a:e -- c; c:n:w -- b; }", "a b c", "ab ac bc", 3),
        (".dot", 'graph { s [switch="true"]; s -- a; s -- b; s -- c }', "a b c s", "as bs cs", 3),
        (".dot", "graph { node [switch=1]; s -- t; node [switch=0]; a -- s; t -- b }", "a b s t", "as bt st", 2),
        (".dot", "graph { a -- b; subgraph x { node [switch=1]; b -- s } s -- c }", "a b c s", "ab bs cs", 3),
        (".dot", "graph { a -- {b -- c} -- d }", "a b c d", "ab ac bc bd cd", 4),
        (".dot", 'graph { "a" -- b:"p q"; "b" -- c }', "a b c", "ab bc", 3),
        (".anynet", "router 0 node 2 router 1\nrouter 1 node 0 router 2\nrouter 2 node 1", "0 1 2", "02 01", 3),
        (".edges", "\ufeffa b\nb c", "a b c", "ab bc", 3),
        (".edges", '% KONECT\n// more\n"a" b # x\nb c', "a b c", "ab bc", 3),
        (".csv", "\ufeffid;Source;Target\n0;a;b\n1;b;c", "a b c", "ab bc", 3),
        (".csv", "b,a\nc,a", "b a c", "ab ac", 3),
        (".gml", "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] ]", "0 1", "01", 2),
        (".json", '{"nodes": [{}, {}], "links": [{"source": 0, "target": 1}]}', "0 1", "01", 2),
        (".mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n", "1 2 3", "12 23", 3),
        (".mtx", "%%MatrixMarket matrix array real general\n% by columns\n2 2\n0\n1\n1.5\n0\n", "1 2", "12", 2),
        (".mtx", "%%matrixmarket MATRIX array complex hermitian\n2 2\n0 0\n0 1\n0 0\n", "1 2", "12", 2),
        (".mtx", "%%MatrixMarket matrix array integer skew-symmetric\n3 3\n0\n7\n-2\n", "1 2 3", "13 23", 3),
        (
            ".graphml",
            '<graphml><key id="k" for="node" attr.name="switch" attr.type="boolean"><default>true</default></key>'
            '<graph edgedefault="undirected"><node id="a"><data key="k">false</data></node><node id="s"/><node id="b">'
            '<data key="k">0</data></node><edge source="a" target="s" directed="true"/><edge source="s" target="b"/>'
            "</graph></graphml>",
            "a b s",
            "as bs",
            2,
        ),
    ],
)
def test_a_file_is_the_graph_that_its_format_says(tmp_path, suffix, text, names, edges, terminals):
    found = read_graph(written(tmp_path, suffix, text))
    assert found.names == tuple(names.split())
    assert {frozenset(found.names[end] for end in edge) for edge in found.edges} == set(map(frozenset, edges.split()))
    assert found.num_terminals == terminals


@pytest.mark.parametrize(
    ("suffix", "text", "dropped"),
    [
        (".edges", "0 1\n1 0\n1 2 {}", ""),
        (
            ".edges",
            "0 1 5\n1 2 6\n0 1 5\n2 2 7",
            "what follows two names of 4 links, 1 link beside another one, 1 link of a node to itself",
        ),
        (".edges", "0 1 2 3\n1 2\n2 3", "what follows two names (neighbors stand in .adjlist) of 1 link"),
        (".anynet", "router 0 node 0 router 1 15\nrouter 1 node 1", "latencies of 1 link"),
        (
            ".dot",
            "digraph { a -> b [weight=3]; b -> a; b -> b }",
            "directions of links, weight of 1 link, 1 link of a node to itself",
        ),
        (".dot", "graph { edge [len=2]; a -- b; a -- b }", "len of 2 links, 1 link beside another one"),
        (".dot", "strict graph { a -- b; b -- a }", ""),
        (
            ".mtx",
            "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 0.5\n",
            "directions of links, weight of 1 link",
        ),
        (".gexf", "".join(networkx.generate_gexf(networkx.path_graph(3))), ""),
    ],
)
def test_a_line_says_what_was_not_kept(tmp_path, capsys, suffix, text, dropped):
    file = written(tmp_path, suffix, text)
    read_graph(file)
    assert capsys.readouterr().err == (f"file {file!r}: not kept: {dropped}\n" if dropped else "")


def _as_csv(graph):
    text = StringIO()
    csv.writer(text).writerows([("source", "target"), *graph.edges])
    return text.getvalue()


def _as_matrix(graph):
    data = BytesIO()
    scipy.io.mmwrite(data, networkx.to_scipy_sparse_array(graph, weight=None))
    return data.getvalue().decode()


def _as_anynet(graph):
    return "\n".join(
        " ".join([f"router {node} node {node}", *(f"router {other}" for other in graph[node])]) for node in graph
    )


BY_NUMBER = {
    ".mtx": _as_matrix,
    ".g6": lambda graph: networkx.to_graph6_bytes(graph).decode(),
    ".s6": lambda graph: networkx.to_sparse6_bytes(graph).decode(),
    ".anynet": _as_anynet,
}
"""Formats that have no names for nodes."""
BY_NAME = {
    ".edges": lambda graph: "\n".join(networkx.generate_edgelist(graph)),
    ".txt": lambda graph: "\n".join(networkx.generate_edgelist(graph, data=False)),
    ".csv": _as_csv,
    ".adjlist": lambda graph: "\n".join(networkx.generate_adjlist(graph)),
    ".graphml": lambda graph: "\n".join(networkx.generate_graphml(graph)),
    ".gml": lambda graph: "\n".join(networkx.generate_gml(graph)),
    ".gexf": lambda graph: "\n".join(networkx.generate_gexf(graph)),
    ".json": lambda graph: json.dumps(networkx.node_link_data(graph, edges="links")),
    ".dot": lambda graph: networkx.nx_pydot.to_pydot(graph).to_string(),
    ".gv": lambda graph: networkx.nx_pydot.to_pydot(graph).to_string(),
}
"""What networkx makes of a graph whose nodes are words."""


def test_every_format_is_drawn():
    assert {*BY_NUMBER, *BY_NAME} == set(SUFFIXES)


WORDS = st.text("abcxyz019_.äß", min_size=1, max_size=4)


@given(
    names=st.lists(WORDS, min_size=2, max_size=7, unique=True),
    ends=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12),
)
def test_drawn_graphs_are_read_back(tmp_path_factory, names, ends):
    graph = networkx.Graph(networkx.utils.pairwise(names))
    graph.add_edges_from(
        (names[one], names[other]) for one, other in ends if max(one, other) < len(names) and one != other
    )
    folder = tmp_path_factory.mktemp("drawn")
    numbered = networkx.convert_node_labels_to_integers(graph)
    for suffix, text in {**BY_NAME, **BY_NUMBER}.items():
        given, first = (numbered, int(suffix == ".mtx")) if suffix in BY_NUMBER else (graph, "")
        found = read_graph(written(folder, suffix, text(given)))
        edges = {frozenset(found.names[end] for end in edge) for edge in found.edges}
        assert edges == {frozenset(str(end + first) for end in edge) for edge in given.edges}, suffix
