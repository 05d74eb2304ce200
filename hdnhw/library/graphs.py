"""Networks from graphs of networkx, and networks as files for other tools."""

from pathlib import Path
from typing import TYPE_CHECKING

from hdnhw.library.options import NetworkLike, PathLike, network_of
from hdnhw.library.result import Result
from hdnhw.support.naming import named

if TYPE_CHECKING:
    import networkx

    from hdnhw.library.network import Network


def from_networkx(graph: "networkx.Graph") -> "Network":
    """Return the network of any connected graph of networkx.

    Parameters
    ----------
    graph : networkx.Graph
        Of any kind: directions, weights, second links between two nodes and links of a node to itself do not count.
        Nodes whose attribute ``switch`` is true have no terminal. The ports behind links whose attribute ``channel`` is
        a word such as ``long`` are ``long0``, ``long1`` and so on. Nodes that are numbers are numbered in their order,
        others in that of the graph, switches last.

    Returns
    -------
    Network
        What it was made from can be changed without changing it.

    Raises
    ------
    TypeError
        If it is no graph.
    SpecError
        If it has fewer than two nodes with terminals, or parts that are not joined.

    Examples
    --------
    >>> import hdnhw, networkx
    >>> network = hdnhw.from_networkx(networkx.cycle_graph(5))
    >>> network
    Network('graph([[0, 1], [0, 4], [1, 2], [2, 3], [3, 4]])')
    >>> network.diameter, network.route(0, 2).nodes
    (2, [0, 1, 2])
    """
    import networkx

    from hdnhw.library.network import Network
    from hdnhw.networks.families.graph import graph_of
    from hdnhw.topology.graphfile import of_networkx

    if not isinstance(graph, networkx.Graph):
        raise TypeError(f"graph must be one of networkx, not {graph!r}")
    return Network(graph_of(of_networkx(graph, "graph")))


def export(spec: NetworkLike, output: PathLike) -> Result:
    """Write a network as a graph file, for other tools and for ``graph(FILE)``.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    output : path
        A list of edges (.edges, .txt, .csv), GraphML (.graphml), DOT (.dot, .gv) or the list of routers of BookSim
        (.anynet).

    Returns
    -------
    Result
        ``spec``, ``file``, ``nodes``, ``edges``.

    Examples
    --------
    >>> import hdnhw, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "square.edges")
    ...     made, text = hdnhw.export("cube(2)", file), file.read_text()
    >>> made.edges, text.splitlines()
    (4, ['# cube(2)', '0 1', '0 2', '1 3', '2 3'])
    """
    from hdnhw.support.files import check_output, replacing
    from hdnhw.topology.graphfile import WRITTEN, graph_text
    from hdnhw.topology.metrics import num_edges

    path = Path(output)
    check_output(named("output"), path, WRITTEN)
    network = network_of(spec)
    text = graph_text(network, path.suffix)
    with replacing(path) as new:
        new.write_text(text, encoding="utf-8")
    return Result(
        {"spec": str(network.spec), "file": str(output), "nodes": network.num_nodes, "edges": num_edges(network)}
    )
