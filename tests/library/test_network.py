"""Networks as graphs of networkx, against graphs that networkx makes itself."""

import pickle

import networkx
import pytest

import hdnhw

GRAPHS = {
    "cube(3)": networkx.hypercube_graph(3),
    "torus(4, 5)": networkx.grid_graph([4, 5], periodic=True),
    "mesh(3, 4)": networkx.grid_graph([3, 4]),
    "complete(5)": networkx.complete_graph(5),
    "petersen()": networkx.petersen_graph(),
}


@pytest.mark.parametrize("spec", GRAPHS)
def test_a_network_is_the_graph_of_its_name(spec):
    assert networkx.is_isomorphic(hdnhw.Network(spec), GRAPHS[spec])


@pytest.mark.parametrize(
    "spec", ["rdn(cube(2), 1)", "hdn(cube(2), [[0]])", "hsn(2, cube(2))", "mesh(2, 3)", "torus(5)"]
)
def test_figures_are_those_of_networkx(spec):
    network = hdnhw.Network(spec)
    graph = network.to_networkx()
    assert networkx.diameter(network) == networkx.diameter(graph) == network.diameter
    assert networkx.average_shortest_path_length(graph) == pytest.approx(network.average_distance)
    assert dict(networkx.shortest_path_length(graph, 1)) == dict(enumerate(network.distances(1).tolist()))
    assert network.number_of_edges() == graph.number_of_edges() == network.properties.edges
    assert networkx.utils.graphs_equal(network.copy(), graph)


def test_ports_of_an_edge_are_those_at_its_ends():
    network = hdnhw.Network("torus(4, 4)")
    for node, other, known in network.edges(data=True):
        for one, end in ((node, other), (other, node)):
            assert hdnhw.neighbors("torus(4, 4)", one).ports[known["ports"][one]] == end


def test_a_network_cannot_be_changed_but_a_copy_can():
    network = hdnhw.Network("cube(2)")
    with pytest.raises(networkx.NetworkXError, match="Frozen"):
        network.add_edge(0, 3)
    graph = network.copy()
    graph.add_edge(0, 3)
    assert 3 not in network[0]


def test_networkx_makes_parts_and_copies_of_it():
    network = hdnhw.Network("cube(3)")
    assert sorted(network.subgraph([0, 1, 2]).edges) == [(0, 1), (0, 2)]
    assert sorted(networkx.relabel_nodes(network, {0: "a"})["a"]) == [1, 2, 4]
    assert network.to_directed().number_of_edges() == 24
    assert pickle.loads(pickle.dumps(network)) == network


def test_equal_specs_are_equal_networks():
    one, other = hdnhw.Network("cube(3)"), hdnhw.Network(hdnhw.cube(3))
    assert one == other
    assert hash(one) == hash(other)
    assert one != hdnhw.Network("cube(2)")
    assert hdnhw.Network(one) == one
    assert repr(one) == "Network('cube(3)')"


@pytest.mark.parametrize("node", [-1, 8, 1.0, "1", True, None])
def test_what_is_no_node_is_not_there(node):
    network = hdnhw.Network("cube(3)")
    assert node not in network
    with pytest.raises(KeyError):
        network[node]


def test_addresses_are_read_and_written():
    network = hdnhw.Network("rdn(cube(3), 1)")
    assert [network.node(network.address(node)) for node in network] == list(range(128))
    with pytest.raises(ValueError, match="must be 0 to 127"):
        network.node(128)


def test_small_networks_draw_themselves():
    assert hdnhw.Network("cube(3)")._repr_svg_().startswith("<svg")
    assert hdnhw.Network("cube(9)")._repr_svg_() is None
