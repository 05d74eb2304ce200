"""The routing plan: a hop rule together with the proof that it cannot deadlock. Model and RTL accept nothing else."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hdnhw.routing.cdg import RuleError, build_dependency_graph
from hdnhw.routing.compiled import compile_rule
from hdnhw.routing.hop import HopRule, hop_rule
from hdnhw.spec import NetworkSpec
from hdnhw.topology.address import AddressLayout
from hdnhw.topology.network import Network, build

__all__ = ["EXHAUSTIVE_NODES", "Proof", "RouterShape", "RoutingPlan", "plan", "prove"]

EXHAUSTIVE_NODES = 1 << 13
"""Largest network whose dependency graph is built in full; beyond, the ranking function is proved by a solver."""


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
    turns : frozenset of (int, int)
        (input port, output port); the number of ports of the network stands for injection and for ejection.
    """

    ports: tuple[int, ...]
    turns: frozenset[tuple[int, int]]


@dataclass(frozen=True)
class RoutingPlan:
    """A rule that has been proved deadlock-free; made by :func:`plan` alone.

    Attributes
    ----------
    rule : HopRule
    proof : Proof
    num_vcs : tuple of int
        Virtual channels in use on each network port.
    shapes : tuple of RouterShape
        The distinct routers of the network; the fullest first.
    """

    rule: HopRule
    proof: Proof
    num_vcs: tuple[int, ...]
    shapes: tuple[RouterShape, ...]

    @property
    def network(self) -> Network:
        """The network it routes."""
        return self.rule.network

    @property
    def modes(self) -> str:
        """One letter a level, level k first."""
        return self.rule.modes

    @property
    def max_vcs(self) -> int:
        """Most virtual channels of any port."""
        return max(self.num_vcs, default=1)

    @cached_property
    def address(self) -> AddressLayout:
        """The packed address of a node."""
        return AddressLayout(self.network)

    @cached_property
    def route(self) -> Callable[[int, int], int]:
        """The compiled rule, see :func:`hdnhw.routing.compiled.compile_rule`."""
        return compile_rule(self.rule)

    def shape_of(self, node: int) -> RouterShape:
        """Return the shape of a node's router."""
        digits = self.network.decode(self.network.check_node(node))
        ports = tuple(port for port in range(len(self.network.ports)) if self.network.has_port(digits, port))
        return next(shape for shape in self.shapes if shape.ports == ports)


def prove(rule: HopRule) -> RoutingPlan:
    """Prove `rule` deadlock-free and return the plan.

    Raises
    ------
    RuleError
        If it can deadlock; the message names the virtual channels that wait for each other.
    """
    if rule.network.num_nodes <= EXHAUSTIVE_NODES:
        return _prove_exhaustively(rule)
    from hdnhw.routing.ranking import prove_ranks_grow

    refutation = prove_ranks_grow(rule)
    if refutation is not None:
        raise RuleError(
            f"rule of {rule.network.spec} in modes {rule.modes!r} is not proved deadlock-free: {refutation}"
        )
    return _ranked_plan(rule)


def _prove_exhaustively(rule: HopRule) -> RoutingPlan:
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
    for mask in sorted({tuple(bool(flag) for flag in row) for row in exists}, key=lambda row: (-sum(row), row)):
        members = np.flatnonzero((exists == np.array(mask, dtype=bool)).all(axis=1))
        turns = graph.turns[members].any(axis=0)
        ports = tuple(port for port, present in enumerate(mask) if present)
        shapes.append(RouterShape(ports, frozenset((int(a), int(b)) for a, b in np.argwhere(turns))))
    proof = Proof("exhaustive", graph.num_channels, graph.num_edges, True)
    return RoutingPlan(rule, proof, num_vcs, tuple(shapes))


def _ranked_plan(rule: HopRule) -> RoutingPlan:
    network = rule.network
    count = len(network.ports)
    channels = sum(network.num_nodes * vcs for vcs in rule.num_vcs)
    shapes = []
    optional = [port for port in range(count) if not network.has_port((0,) * len(network.radices), port)]
    if optional or any(factor.kind == "path" for factor in network.factors):
        raise RuleError(f"{network.spec} has more than {EXHAUSTIVE_NODES} nodes and paths; use cycles for such sizes")
    turns = frozenset((a, b) for a in range(count + 1) for b in range(count + 1))
    shapes.append(RouterShape(tuple(range(count)), turns))
    return RoutingPlan(rule, Proof("ranking", channels, None, True), rule.num_vcs, tuple(shapes))


def plan(spec: NetworkSpec, modes: str | None = None) -> RoutingPlan:
    """Make the routing plan of a network, proved deadlock-free.

    Parameters
    ----------
    spec : NetworkSpec
    modes : str, optional
        One letter f or O a level, level k first; the default ``O..Of`` needs two classes on any channel.

    Raises
    ------
    SpecError
        If `modes` does not fit.
    RuleError
        If the rule is not deadlock-free.
    """
    return prove(hop_rule(build(spec), modes))
