"""A network as a graph of networkx."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import networkx
import numpy as np
import numpy.typing as npt

from hdnhw.library import cosimulation, faults, graphs, hardware, info, picture, proofs, routes, simulation
from hdnhw.library.collectives import exchange, operations
from hdnhw.library.options import NetworkLike, NodeLike, PathLike, network_of, node_of
from hdnhw.library.result import Result
from hdnhw.spec import NetworkSpec
from hdnhw.topology import graph as topology

SHOWN_NODES = 256
"""Most nodes of a network that a notebook draws by itself."""


class _Nodes(Mapping[int, dict[str, Any]]):
    """Node -> what is known of it: its address."""

    def __init__(self, network: topology.Network) -> None:
        self._network = network

    def __getitem__(self, node: int) -> dict[str, Any]:
        if node not in self:
            raise KeyError(node)
        return {"address": self._network.format_node(node)}

    def __contains__(self, node: object) -> bool:
        is_number = isinstance(node, (int, np.integer)) and not isinstance(node, bool)
        return is_number and node in range(self._network.num_nodes)

    def __iter__(self) -> Iterator[int]:
        return iter(range(self._network.num_nodes))

    def __len__(self) -> int:
        return int(self._network.num_nodes)


class _Adjacency(Mapping[int, dict[int, dict[str, Any]]]):
    """Node -> neighbor -> what is known of the edge; found by arithmetic when a node is first looked at."""

    def __init__(self, network: topology.Network, nodes: _Nodes) -> None:
        self._network, self._nodes = network, nodes
        self._known: dict[int, dict[int, dict[str, Any]]] = {}

    def __getitem__(self, node: int) -> dict[int, dict[str, Any]]:
        found = self._known.get(node)
        if found is None:
            if node not in self._nodes:
                raise KeyError(node)
            ports = self._network.ports
            opposite = {port.name: ports[port.opposite].name for port in ports}
            behind = self._network.neighbors(node).items()
            found = {other: {"ports": {node: name, other: opposite[name]}} for name, other in behind}
            self._known[node] = found
        return found

    def __contains__(self, node: object) -> bool:
        return node in self._nodes

    def __iter__(self) -> Iterator[int]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)


class Network(networkx.Graph):
    """A network: a graph of networkx that cannot be changed, whose nodes are numbers and whose edges are arithmetic.

    All that networkx does with graphs it does with networks. A node has its structured ``address``, an edge the names
    of its ``ports`` at both ends. What a node's neighbors are is found when they are first asked for.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
        For example ``"rdn(cube(3), 1)"``; docs/networks.md lists what there is.

    Raises
    ------
    SpecError
        If it names no network.

    Examples
    --------
    >>> import hdnhw
    >>> network = hdnhw.Network("rdn(cube(2), 1)")
    >>> network
    Network('rdn(cube(2), 1)')
    >>> len(network), list(network[5]), network.nodes[5]["address"], network.edges[5, 21]["ports"]
    (32, [7, 4, 21], '0.1/0.1', {5: 'cross1', 21: 'cross1'})
    >>> import networkx
    >>> networkx.diameter(network) == network.diameter == 6
    True
    """

    def __new__(cls, *arguments: Any, **named: Any) -> Any:
        """Return a network; without a spec an ordinary graph, since networkx makes parts of a graph of its class."""
        return super().__new__(cls) if arguments or named else networkx.Graph()

    def __init__(self, spec: NetworkLike) -> None:
        self._network = network_of(spec)
        super().__init__(spec=str(self.spec))
        self._node = _Nodes(self._network)
        self._adj = _Adjacency(self._network, self._node)
        networkx.freeze(self)

    @property
    def spec(self) -> NetworkSpec:
        """What names the network; ``str(network.spec)`` is the spec string."""
        return self._network.spec

    def __reduce__(self) -> tuple[Any, ...]:
        return Network, (self.spec,)

    def __repr__(self) -> str:
        return f"Network({str(self.spec)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Network) and other.spec == self.spec

    def __hash__(self) -> int:
        return hash(self.spec)

    def to_networkx(self) -> networkx.Graph:
        """Return a graph of networkx with the same nodes, edges and attributes, that can be changed.

        Examples
        --------
        >>> import hdnhw
        >>> graph = hdnhw.Network("cube(2)").to_networkx()
        >>> graph.remove_node(3)
        >>> sorted(graph.edges)
        [(0, 1), (0, 2)]
        """
        graph = networkx.Graph(spec=str(self.spec))
        graph.add_nodes_from(self.nodes(data=True))
        graph.add_edges_from(self.edges(data=True))
        return graph

    def export(self, output: PathLike) -> Result:
        """Write the network into a file that other tools read, see :func:`hdnhw.export`.

        Examples
        --------
        >>> import hdnhw, pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     hdnhw.Network("cube(2)").export(pathlib.Path(folder, "square.graphml")).edges
        4
        """
        return graphs.export(self.spec, output)

    def copy(self, as_view: bool = False) -> networkx.Graph:
        """Return :meth:`to_networkx`, or the network itself, which cannot be changed, as a view."""
        return self if as_view else self.to_networkx()

    # Addresses.

    def address(self, node: int) -> str:
        """Return the structured address of a node.

        Examples
        --------
        >>> import hdnhw
        >>> hdnhw.Network("rdn(cube(3), 1)").address(77)
        '1.1/1.0.1'
        """
        return self._network.format_node(node)

    def node(self, address: NodeLike) -> int:
        """Return the number of the node that an address names; a number is returned as it is.

        Raises
        ------
        ValueError
            If there is no such node.

        Examples
        --------
        >>> import hdnhw
        >>> hdnhw.Network("rdn(cube(3), 1)").node("1.1/1.0.1")
        77
        """
        return node_of(self._network, address)

    # Figures.

    @cached_property
    def properties(self) -> Result:
        """All figures of the network, see :func:`hdnhw.info`; found once.

        Examples
        --------
        >>> import hdnhw
        >>> hdnhw.Network("torus(4, 4)").properties.bisection["edges"]
        8
        """
        return info.info(self.spec)

    @property
    def diameter(self) -> int | None:
        """The diameter in hops; None where the network is too large to be searched.

        Examples
        --------
        >>> import hdnhw
        >>> hdnhw.Network("torus(4, 4)").diameter
        4
        """
        found: int | None = self.properties["diameter"]
        return found

    @property
    def average_distance(self) -> float | None:
        """The mean distance of two different nodes in hops; None where the network is too large to be searched.

        Examples
        --------
        >>> import hdnhw
        >>> hdnhw.Network("cube(2)").average_distance
        1.3333333333333333
        """
        found: float | None = self.properties["average_distance"]
        return found

    def distances(self, node: NodeLike) -> npt.NDArray[np.int64]:
        """Return the distances in hops from a node to all nodes, by search; shape (nodes,), -1 where there is no way.

        Examples
        --------
        >>> import hdnhw
        >>> hdnhw.Network("torus(5)").distances(0).tolist()
        [0, 1, 2, 2, 1]
        """
        from hdnhw.topology.metrics import distances_from

        return np.asarray(distances_from(self._network, self.node(node)), np.int64)

    def distance(self, src: NodeLike, dst: NodeLike) -> int:
        """Return the distance of two nodes in hops, by search.

        Examples
        --------
        >>> import hdnhw
        >>> hdnhw.Network("rdn(cube(3), 1)").distance(0, "1.1/1.0.1")
        4
        """
        return int(self.distances(src)[self.node(dst)])

    # What goes on in it.

    def route(self, src: NodeLike, dst: NodeLike, **options: Any) -> Result:
        """Return one route; takes what :func:`hdnhw.route` takes.

        Examples
        --------
        >>> import hdnhw
        >>> hdnhw.Network("torus(4, 4)").route(0, 5).nodes
        [0, 4, 5]
        """
        return routes.route(self.spec, src, dst, **options)

    def paths(
        self,
        src: NodeLike | Sequence[NodeLike],
        dst: NodeLike | Sequence[NodeLike],
        **options: Any,
    ) -> Result:
        """Return paths that share no other node; takes what :func:`hdnhw.paths` takes.

        Examples
        --------
        >>> import hdnhw
        >>> hdnhw.Network("cube(2)").paths(0, 3).paths
        [[0, 1, 3], [0, 2, 3]]
        """
        return routes.paths(self.spec, src, dst, **options)

    def routing(self, **options: Any) -> Result:
        """Return the figures of the routing over all pairs, and its proof; takes what :func:`hdnhw.routing` takes.

        Examples
        --------
        >>> import hdnhw
        >>> found = hdnhw.Network("rdn(cube(2), 1)").routing()
        >>> found.cdg_acyclic, found.num_vcs, found.saturation_bound
        (True, 2, 0.775)
        """
        return routes.routing(self.spec, **options)

    def faults(self, **options: Any) -> Result:
        """Count the pairs that routing still joins when something is dead; takes what :func:`hdnhw.faults` takes.

        Examples
        --------
        >>> import hdnhw
        >>> hdnhw.Network("cube(3)").faults(fault_rate=0, trials=1, waypoints=0, workers=1).reached
        [1.0]
        """
        return faults.faults(self.spec, **options)

    def waypoints(self, src: NodeLike, dst: NodeLike | None = None, **options: Any) -> Result:
        """Return the waypoints that lead from a node around what is dead; takes what :func:`hdnhw.waypoints` takes.

        Examples
        --------
        >>> import hdnhw
        >>> hdnhw.Network("cube(3)").waypoints(0, 3, dead_nodes=[2]).ways[0]["waypoints"]
        [1]
        """
        return faults.waypoints(self.spec, src, dst, **options)

    def exchange(self, **options: Any) -> Result:
        """Run a total exchange and count what it costs; takes what :func:`hdnhw.exchange` takes.

        Examples
        --------
        >>> import hdnhw
        >>> hdnhw.Network("cube(3)").exchange(words=2).cost
        '3 t_s + 24 t_w'
        """
        return exchange.exchange(self.spec, **options)

    def collective(self, op: str, **options: Any) -> Result:
        """Run another collective operation and count what it costs; takes what :func:`hdnhw.collective` takes.

        Examples
        --------
        >>> import hdnhw
        >>> hdnhw.Network("cube(3)").collective("broadcast", root=5).startups
        3
        """
        return operations.collective(self.spec, op=op, **options)

    def simulate(self, **options: Any) -> Result:
        """Measure latency and accepted rate on the cycle-accurate model; takes what :func:`hdnhw.simulate` takes.

        Examples
        --------
        >>> import hdnhw
        >>> hdnhw.Network("cube(3)").simulate(rate=0.05).steady
        True
        """
        return simulation.simulate(self.spec, **options)

    def emit(self, output: PathLike, **options: Any) -> Result:
        """Write the Verilog of a fabric of this network and its manifest into a folder, which is made.

        Takes what :func:`hdnhw.emit` takes.

        Examples
        --------
        >>> import hdnhw, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     made = hdnhw.Network("cube(2)").emit(folder, buffers=8)
        >>> made.routers, made.buffers, made.router_modules
        (4, 8, ['fabric_router'])
        """
        return hardware.emit(self.spec, output, **options)

    def cosim(self, **options: Any) -> Result:
        """Simulate the emitted Verilog and compare it with the model; takes what :func:`hdnhw.cosim` takes.

        Examples
        --------
        >>> import hdnhw
        >>> hdnhw.Network("cube(2)").cosim(test="random", packets=1000).cycle_mismatches  # doctest: +SKIP
        0
        """
        return cosimulation.cosim(self.spec, **options)

    def prove(self, **options: Any) -> Result:
        """Prove that the emitted Verilog does what it should; takes what :func:`hdnhw.prove` takes.

        Examples
        --------
        >>> import hdnhw
        >>> hdnhw.Network("cube(1)").prove().proved  # doctest: +SKIP
        True
        """
        return proofs.prove(self.spec, **options)

    def picture(self, output: PathLike | None = None, **options: Any) -> picture.Drawing:
        """Draw the network, or what goes on in it; takes what :func:`hdnhw.picture` takes.

        Examples
        --------
        >>> import hdnhw
        >>> hdnhw.Network("cube(2)").picture(route=(0, 3)).paths
        {'route': [0, 2, 3]}
        """
        return picture.picture(self.spec, output, **options)

    def synth(self, **options: Any) -> Result:
        """Measure size and speed on an FPGA; takes what :func:`hdnhw.synth` takes."""
        return hardware.synth(self.spec, **options)

    def _repr_svg_(self) -> str | None:
        """Draw a network that is small enough; called by notebooks."""
        if len(self) > SHOWN_NODES:
            return None
        from hdnhw.figures.picture import network_svg

        picture: str = network_svg(self._network)
        return picture
