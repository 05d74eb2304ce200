"""A total exchange packet by packet: every node sends to all others in the same relative order.

A node and an offset give a destination, so that where routes do not depend on where they start the packets of one
offset take the same ports from all nodes: if these send theirs at once, no channel has two of them to carry. A
timetable goes on from there: it gives each packet a slot in which it starts, so that it never waits for another one.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.circuits.circuit import INTEGER_OPERATIONS, Circuit, Term
from hdnhw.core import Function, Number, array_of
from hdnhw.multipath.waypoints import RouteTable
from hdnhw.rules.plan import RoutingPlan
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.topology.graph import Network
from hdnhw.topology.levels import LeveledNetwork
from hdnhw.traffic.trace import Trace

MOST_EXCHANGED = 8192
"""Nodes of a total exchange."""

MOST_TIMED = 1024
"""Nodes of a timetable: it takes two seconds."""

CHUNK = 1 << 20
"""Messages whose destinations are computed at once."""

MOST_ATTEMPTS, ATTEMPTED_MESSAGES = 64, 1 << 20
"""Orders of offsets that are tried for a timetable, and messages of all of them."""

_ON_ARRAYS: Mapping[str, Callable[..., Any]] = {**INTEGER_OPERATIONS, "mux": np.where}

Integers = npt.NDArray[np.int64]

_place = Function(
    "routes_timetable",
    *(array_of(np.uint8), array_of(np.int32), Number, Number),
    *(array_of(np.int64), array_of(np.int64), array_of(np.int64), Number, array_of(np.int64)),
    result=Number,
)


def check_size(network: Network, *, timed: bool) -> None:
    """Raise SpecError if a total exchange is among too few or too many nodes, or too many for a timetable."""
    nodes = network.num_nodes
    if network.num_terminals < nodes:
        raise SpecError(f"a total exchange is among all nodes, and {network.spec} has switches without terminals")
    if not 2 <= nodes <= MOST_EXCHANGED:
        raise SpecError(f"a total exchange is among 2 to {MOST_EXCHANGED} nodes; {network.spec} has {nodes}")
    if timed and nodes > MOST_TIMED:
        raise SpecError(
            f"a timetable is for at most {MOST_TIMED} nodes; {network.spec} has {nodes}: use {named('at_once')}"
        )


def exchange_circuit(network: Network) -> tuple[Circuit, list[Term]]:
    """Return the arithmetic by which a node and an offset give a destination.

    Its inputs are the digits of both, ``own0`` and ``off0`` the most significant; its outputs are those of the
    destination. An offset has digits like a node; 0 gives the node itself. Digits are added. In a dual-net, where the
    offset's class bit of a level is 1, the node's is flipped and its cluster and super-node change places, as over a
    cross-edge; then both have the offset's added, level by level.
    """
    circuit = Circuit()
    digits = {place: circuit.input(f"own{place}", radix) for place, radix in enumerate(network.radices)}
    offset = [circuit.input(f"off{place}", radix) for place, radix in enumerate(network.radices)]
    if isinstance(network, LeveledNetwork):
        _combine(network, len(network.levels), {place: place for place in digits}, digits, offset)
    none = circuit.constant(0)
    return circuit, [
        digits[place].submod(none.submod(offset[place], radix), radix) for place, radix in enumerate(network.radices)
    ]


def _combine(
    network: LeveledNetwork, level: int, places: Mapping[int, int], digits: dict[int, Term], offset: list[Term]
) -> None:
    """Let cluster and super-node change places, in a node of a level and then in both; it stands at `places`."""
    if not level:
        return
    layout = network.levels[level - 1]
    pairs = zip(layout.cluster, layout.super_node, strict=True)
    there = {cluster: inner for cluster, inner in pairs if cluster in places and inner in places}
    crosses = offset[places[layout.class_digit]]
    for cluster, inner in there.items():
        one, other = places[cluster], places[inner]
        digits[one], digits[other] = (
            crosses.mux(digits[other], digits[one]),
            crosses.mux(digits[one], digits[other]),
        )
    within = {place for place in places if place > layout.class_digit} - set(layout.cluster)
    _combine(network, level - 1, {place: places[place] for place in within}, digits, offset)
    _combine(network, level - 1, {inner: places[cluster] for cluster, inner in there.items()}, digits, offset)


def exchange_order(network: Network) -> Integers:
    """Return to whom every node sends.

    Returns
    -------
    ndarray of int64, shape (nodes, nodes - 1)
        Of node n in the order of offsets 1, 2, ..., mixed-radix numbers: the node that n and the offset give, see
        :func:`exchange_circuit`.
    """
    nodes = network.num_nodes
    circuit, digits = exchange_circuit(network)
    offset = np.unravel_index(np.arange(1, nodes), network.radices)
    result = np.empty((nodes, nodes - 1), np.int64)
    rows = max(1, CHUNK // nodes)

    def destinations(own: Integers) -> Integers:
        inputs = {"own": network.decode(own[:, None]), "off": offset}
        values = circuit.run(digits, lambda name: inputs[name[:3]][int(name[3:])], _ON_ARRAYS)
        return np.asarray(network.encode(tuple(values)))

    for first in range(0, nodes, rows):
        result[first : first + rows] = destinations(np.arange(first, min(first + rows, nodes), dtype=np.int64))
    return result


def exchange_trace(destination: Integers, flits: int, start: Integers | None = None) -> Trace:
    """Return the messages of a total exchange.

    Parameters
    ----------
    destination : ndarray of int64, shape (nodes, nodes - 1)
        Of every node, see :func:`exchange_order`.
    flits : int
        Of each message.
    start : ndarray of int64, optional, of the same shape
        Cycle of each message; if omitted, 0: each is offered when the one before has been accepted.
    """
    nodes, others = destination.shape
    cycle = np.zeros(destination.shape, np.int64) if start is None else start
    order = np.argsort(cycle, axis=1, kind="stable")
    cycle, target = (np.take_along_axis(array, order, axis=1).ravel() for array in (cycle, destination))
    source, none = np.repeat(np.arange(nodes), others), np.zeros(0, np.int64)
    return Trace(
        "exchange", cycle, source, target, np.full(len(cycle), flits), np.zeros(len(cycle) + 1, np.int64), none
    )


def timetable(plan: RoutingPlan, destination: Integers, *, hop_slots: Sequence[int]) -> tuple[Integers, int]:
    """Return the slot in which each message of one packet starts, so that no two want a channel or terminal at once.

    The longest routes are placed first, those of one offset one after the other, each in the first slot that is free
    all along it. If routes do not depend on where they start, the packets of one offset get the same slot at all nodes.
    Of several orders of the offsets of one length, drawn with a fixed seed, the one is taken that ends first.

    Parameters
    ----------
    plan : RoutingPlan
    destination : ndarray of int64, shape (nodes, nodes - 1)
        See :func:`exchange_order`.
    hop_slots : sequence of int
        Slots that a hop behind each port takes.

    Returns
    -------
    start : ndarray of int64, shape (nodes, nodes - 1)
    slots : int
        From the first start to the last arrival: those after which it can begin again.
    """
    routes = RouteTable(plan)
    table = routes.neighbors
    hops = np.take_along_axis(routes.legs(), destination, axis=1).astype(np.int64)
    attempts = max(1, min(MOST_ATTEMPTS, ATTEMPTED_MESSAGES // destination.size))
    source, offset = np.indices(destination.shape)
    taken = np.asarray(hop_slots, np.int64)
    rng, best, slots = np.random.default_rng(1), (hops, 0), 2 * len(destination)
    for attempt in range(attempts):
        rank = rng.permutation(destination.shape[1])[offset]
        order = np.lexsort((source.ravel(), rank.ravel(), -hops.ravel()))
        start = np.empty_like(destination)
        while not (end := _place(routes.ports, table, *table.shape, destination, order, taken, slots, start)):
            slots *= 2
        if not attempt or end < best[1]:
            best = start, end
    return best


def broadcast_slots(plan: RoutingPlan, *, hop_slots: Sequence[int]) -> list[int]:
    """Return the timetable as one that all nodes share: of each slot the packed offset of the packets that start, or 0.

    Raises
    ------
    SpecError
        If packets of one offset start in different slots at different nodes, or there are too many nodes.
    """
    network = plan.network
    check_size(network, timed=True)
    start, _ = timetable(plan, exchange_order(network), hop_slots=hop_slots)
    if (start != start[0]).any():
        raise SpecError(
            f"no timetable is the same at all nodes of {network.spec}, where routes depend on where they start: "
            f"use {named('at_once')}"
        )
    slots = [0] * (int(start.max()) + 1)
    for number, slot in enumerate(start[0].tolist(), start=1):
        slots[slot] = plan.address.pack([int(digit) for digit in np.unravel_index(number, network.radices)])
    return slots
