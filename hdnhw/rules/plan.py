"""The routing plan: a hop rule together with the proof that it cannot deadlock. Model and RTL accept nothing else."""

from collections.abc import Callable, Set
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product

import numpy as np

from hdnhw.core.rule import CoreRule
from hdnhw.networks.build import build
from hdnhw.rules.cdg import build_dependency_graph
from hdnhw.rules.compiled import core_rule, interpret_rule
from hdnhw.rules.hop import HopRule
from hdnhw.rules.of_network import rule_of
from hdnhw.rules.table import TableRule
from hdnhw.spec import NetworkSpec
from hdnhw.support.errors import RuleError, SpecError
from hdnhw.topology.address import AddressLayout
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.graph import Network

EXHAUSTIVE_NODES = 1 << 13
"""Largest network whose dependency graph is built in full; beyond, the ranking function is proved by a solver."""

SCHEMES = VALIANT, UGAL, ADAPTIVE = "valiant", "ugal", "adaptive"
"""Routing schemes, see :mod:`hdnhw.rules.schemes`. Behind a colon may stand the modes of the rule."""

RANKED_PORTS = 128
"""Most ports of a node for which the solver is asked: half a minute, and minutes for twice as many."""


@dataclass(frozen=True)
class Proof:
    """What was proved, and how.

    Attributes
    ----------
    method : str
        ``"exhaustive"``: the full dependency graph was built and sorted. ``"ranking"``: a solver decided for all pairs
        of nodes that the ranking function grows along every route.
    channels : int
        Virtual channels: those used (exhaustive) or all there are (ranking).
    edges : int or None
        Dependencies; None where they were not enumerated.
    acyclic : bool
    """

    method: str
    channels: int
    edges: int | None
    acyclic: bool

    def __str__(self) -> str:
        graph = f"{self.channels} virtual channels"
        if self.edges is not None:
            graph += f", {self.edges} dependencies"
        how = {
            "exhaustive": "the full channel dependency graph was built and sorted",
            "ranking": "a rank that grows on every hop between all pairs was proved by SMT solver",
        }[self.method]
        return f"{graph}: {'acyclic' if self.acyclic else 'CYCLIC'} ({how})"


@dataclass(frozen=True)
class RouterShape:
    """One kind of router: the ports it has and the turns that packets take in it.

    Attributes
    ----------
    ports : tuple of int
        Indices of the network ports it has.
    turns : frozenset of (int, int, int, int)
        (input port, virtual channel there, output port, virtual channel there); the number of ports of the network,
        with virtual channel 0, stands for injection and for ejection.
    """

    ports: tuple[int, ...]
    turns: frozenset[tuple[int, int, int, int]]

    def ways(self, port: int, vc: int) -> tuple[tuple[int, int], ...]:
        """Return the (output port, virtual channel) that packets of an input's virtual channel take, ascending."""
        return tuple(sorted(turn[2:] for turn in self.turns if turn[:2] == (port, vc)))


@dataclass(frozen=True)
class RoutingPlan:
    """A rule that has been proved deadlock-free; made by :func:`plan` alone.

    Attributes
    ----------
    rule : HopRule or TableRule
    proof : Proof
    num_vcs : tuple of int
        Virtual channels in use on each network port.
    shapes : tuple of RouterShape
        The distinct routers of the network; the fullest first.
    scheme : str
        How packets use the rule: one of :data:`SCHEMES`, or empty if they go by it alone.
    first_vc : int
        Virtual channels of a port before those of the rule on the way to the destination. With Valiant's routing and
        UGAL they are those of the rule on the way to the node that was drawn; else adaptive ones.
    """

    rule: HopRule | TableRule
    proof: Proof
    num_vcs: tuple[int, ...]
    shapes: tuple[RouterShape, ...]
    scheme: str = ""
    first_vc: int = 0

    @property
    def network(self) -> Network:
        """The network it routes."""
        return self.rule.network

    @property
    def circuit_rule(self) -> HopRule:
        """The rule as a circuit, which routers are made of.

        Raises
        ------
        SpecError
            If it is a table, or packets do not go by it alone.
        """
        self.check_direct("hardware")
        if isinstance(self.rule, HopRule):
            return self.rule
        raise SpecError(
            f"no hardware is made for {self.network.spec}: it is routed by tables, which only the model reads"
        )

    def check_direct(self, what: str) -> None:
        """Raise SpecError if packets do not go by the rule alone, which there is not for `what`."""
        if self.scheme:
            raise SpecError(
                f"modes {self.modes!r} do not go with {what}: packets that leave the routes of the rule are measured "
                "under loads alone"
            )

    @property
    def modes(self) -> str:
        """One letter a level, level k first; of tables, how their classes are found; before either the scheme."""
        return ":".join(filter(None, (self.scheme, self.rule.modes)))

    @property
    def lanes(self) -> int:
        """Virtual channels of a class."""
        return self.rule.lanes

    @property
    def max_vcs(self) -> int:
        """Most virtual channels of any port."""
        return max(self.num_vcs, default=1)

    @cached_property
    def address(self) -> AddressLayout:
        """The packed address of a node."""
        return AddressLayout(self.network)

    @cached_property
    def core_rule(self) -> CoreRule:
        """The rule in the core, for many pairs at a time."""
        return core_rule(self.rule)

    @cached_property
    def plain_route(self) -> Callable[[int, int], int]:
        """The same for Python, which remembers what it has decided."""
        return cache(interpret_rule(self.rule))

    def shape_of(self, node: int) -> RouterShape:
        """Return the shape of a node's router."""
        digits = self.network.decode(self.network.check_node(node))
        ports = tuple(port for port in range(len(self.network.ports)) if self.network.has_port(digits, port))
        return next(shape for shape in self.shapes if shape.ports == ports)


def prove(rule: HopRule | TableRule) -> RoutingPlan:
    """Prove `rule` deadlock-free and return the plan.

    Raises
    ------
    RuleError
        If it can deadlock; the message names the virtual channels that wait for each other.
    """
    if rule.network.num_nodes <= EXHAUSTIVE_NODES:
        return _prove_exhaustively(rule)
    if not isinstance(rule, HopRule) or not isinstance(rule.network, DualNetwork):
        raise SpecError(
            f"routing of {rule.network.spec} is not proved deadlock-free: it has {rule.network.num_nodes} nodes, and "
            f"dependencies are enumerated up to {EXHAUSTIVE_NODES}"
        )
    ports = len(rule.network.ports)
    if ports > RANKED_PORTS:
        raise SpecError(
            f"routing of {rule.network.spec} is not proved deadlock-free: it has {ports} ports per node, and a solver "
            f"proves it for at most {RANKED_PORTS}"
        )
    from hdnhw.rules.ranking import prove_ranks_grow

    refutation = prove_ranks_grow(rule)
    if refutation is not None:
        raise RuleError(
            f"rule of {rule.network.spec} in modes {rule.modes!r} is not proved deadlock-free: {refutation}"
        )
    return _ranked_plan(rule)


def _prove_exhaustively(rule: HopRule | TableRule) -> RoutingPlan:
    network = rule.network
    graph = build_dependency_graph(rule)
    cycle = graph.find_cycle()
    if cycle is not None:
        names = " -> ".join(f"{node}.{network.ports[port].name}.{vc}" for node, port, vc in cycle)
        raise RuleError(
            f"rule of {network.spec} in modes {rule.modes!r} can deadlock: {len(cycle)} virtual channels wait in a "
            f"cycle (node.port.vc): {names}"
        )
    used = graph.used.reshape(network.num_nodes, graph.num_ports, graph.num_vcs).any(axis=0)
    num_vcs = tuple(int(np.flatnonzero(row).max(initial=0)) + 1 for row in np.atleast_2d(used))
    exists = graph.neighbors >= 0
    shapes = []
    for ports in _fullest_first({tuple(np.flatnonzero(row).tolist()) for row in exists}):
        mask = np.isin(np.arange(graph.num_ports), ports)
        turns = graph.turns[np.flatnonzero((exists == mask).all(axis=1))].any(axis=0)
        pairs = ((divmod(int(a), graph.num_vcs), divmod(int(b), graph.num_vcs)) for a, b in np.argwhere(turns))
        shapes.append(RouterShape(ports, frozenset((*a, *b) for a, b in pairs)))
    proof = Proof("exhaustive", graph.num_channels, graph.num_edges, True)
    return RoutingPlan(rule, proof, num_vcs, tuple(shapes))


def _fullest_first(shapes: Set[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Order the port sets of routers, so that modules are numbered the same every time."""
    return sorted(shapes, key=lambda ports: (-len(ports), ports))


def _ranked_plan(rule: HopRule) -> RoutingPlan:
    """Make the plan of a network too large to enumerate; every turn between the ports of a router counts as taken."""
    network, local = rule.network, len(rule.network.ports)
    shapes = []
    for ports in _fullest_first(network.port_sets):
        arrivals = [(a, vc) for a in ports for vc in range(rule.num_vcs[network.ports[a].opposite])]
        departures = [(b, vc) for b in ports for vc in range(rule.num_vcs[b])]
        pairs = product([*arrivals, (local, 0)], [*departures, (local, 0)])
        shapes.append(RouterShape(ports, frozenset((*a, *b) for a, b in pairs)))
    channels = sum(vcs * network.port_count(port) for port, vcs in enumerate(rule.num_vcs))
    return RoutingPlan(rule, Proof("ranking", channels, None, True), rule.num_vcs, tuple(shapes))


def plan(spec: NetworkSpec | str, modes: str | None = None, lanes: int = 1) -> RoutingPlan:
    """Make the routing plan of a network, proved deadlock-free.

    Parameters
    ----------
    spec : NetworkSpec or str
    modes : str, optional
        One letter f or O a level, level k first; the default ``O..Of`` needs two classes on any channel. Of networks
        without a table-free rule one of :data:`hdnhw.rules.table.TABLE_MODES`.
    lanes : int
        Virtual channels of a class, 1 or 2.

    Raises
    ------
    SpecError
        If `modes` or `lanes` does not fit.
    RuleError
        If the rule is not deadlock-free.
    """
    return prove(rule_of(build(spec), modes, lanes))
