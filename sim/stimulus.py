"""Cases: the traffic of one test, its packets flit by flit, and what the model says must come out."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.machine.machine import Machine
from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.replay import exchange_on
from hdnhw.model.fabric import Ejections, FabricModel
from hdnhw.rules.decision import VC_SHIFT
from hdnhw.rules.plan import RoutingPlan
from hdnhw.sim.harness import CAPACITY
from hdnhw.support.errors import SpecError
from hdnhw.topology.faults import Faults
from hdnhw.topology.metrics import neighbor_table
from hdnhw.traffic.exchange import MOST_TIMED
from hdnhw.traffic.packets import Terminals, Traffic, terminal_seeds

HOTSPOT_SHARE = 0.05
"""Share of the random test's packets that go to one node."""

SINK_STALL, SOURCE_GAP = 64, 32
"""Pauses of the random test, of 256 (see :class:`Terminals`)."""

HELD_SLOTS = 32
"""Slots for which no sink is ready in the held test: by then all is stuck. After that, sinks stall twice as often."""

ALWAYS = (0, (1 << 31) - 1)
"""All cycles of a run, from the first one and up to the last."""


@dataclass(frozen=True, eq=False)
class Case:
    """One test of one fabric.

    Attributes
    ----------
    test : str
    traffic : Traffic
    terminals : Terminals
    flits : ndarray of uint64, shape (packets, packet_length)
    destination : ndarray of int64, shape (packets,)
        Node where a packet must come out, -1 for an impossible destination. It is the one that it is for, or the one
        where its route meets something dead.
    stranded : int
        Packets of the second kind.
    faults : Faults or None
        What is dead.
    expected : Ejections
        What the model says.
    limit : int
        Cycles after which the bench gives up: the model's plus a margin.
    dead_cycles : (int, int)
        From which cycle on, and up to which, the faults are there; all the time for the model.
    resets : tuple of int
        Cycles after each of which the fabric is reset for one, and the case runs from the start.
    """

    test: str
    traffic: Traffic
    terminals: Terminals
    flits: npt.NDArray[np.uint64]
    destination: npt.NDArray[np.int64]
    stranded: int
    faults: Faults | None
    expected: Ejections
    limit: int
    dead_cycles: tuple[int, int] = ALWAYS
    resets: tuple[int, ...] = ()


def _destinations(test: str, model: FabricModel, packets: int, rng: np.random.Generator) -> list[npt.NDArray[np.int64]]:
    """Return the packed destinations that each node sends to, in order; dead nodes send nothing."""
    plan, faults = model.plan, model.faults
    nodes = plan.network.num_nodes
    address = plan.address.of_nodes
    if test == "hops":
        offsets = np.arange(1, nodes)
        return [address[(node + offsets) % nodes] for node in range(nodes)]
    each = -(-packets // nodes)
    hotspot = int(rng.integers(nodes))
    result = []
    for node in range(nodes):
        chosen = rng.integers(nodes, size=each)
        chosen[rng.random(each) < HOTSPOT_SHARE] = hotspot
        own = address[chosen]
        if plan.address.has_holes:
            wrong = rng.random(each) < 0.05
            own[wrong] = rng.integers(1 << plan.address.width, size=int(wrong.sum()))
        result.append(own[:0] if faults is not None and faults.nodes[node] else own)
    return result


def _exchange(model: FabricModel) -> Traffic:
    nodes = model.plan.network.num_nodes
    at_once = nodes > MOST_TIMED or model.machine.is_narrow
    trace = exchange_on(model, words=model.timing.packet_length, at_once=at_once)
    first = np.arange(nodes + 1, dtype=np.int64) * (nodes - 1)
    return Traffic(first, np.asarray(model.plan.address.of_node(trace.destination)), trace.cycle)


def _node_of_address(plan: RoutingPlan, address: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.where(plan.address.is_node(address), plan.network.encode(plan.address.unpack(address)), -1)


def make_case(test: str, model: FabricModel, *, packets: int = 0, seed: int = 1, resets: Sequence[int] = ()) -> Case:
    """Make the traffic of `test` and run the model on it.

    Parameters
    ----------
    test : str
        ``hops``: every ordered pair once. ``random``: uniform and hotspot traffic at full rate, sinks stalling, sources
        pausing, some destinations impossible where the address has holes. ``exchange``: a total exchange by its
        timetable, see :func:`hdnhw.measurement.replay.exchange_on`, or at once where there can be none. ``faults``: as
        ``random``, on a model with faults. ``held``: as ``random``, but sources do not pause, sinks stall more, and
        none is ready at first. ``errors``: as ``random``, the packets numbered in their head flits.
    model : FabricModel
    packets : int
        Packets of the random test, rounded up to a multiple of the nodes.
    seed : int
    resets : sequence of int
        See :class:`Case`.

    Raises
    ------
    SpecError
        If the head flit has no room for the source address, by which ``hops`` tells packets apart, or for the number of
        a packet, by which ``errors`` does.
    """
    nodes, flits = model.plan.network.num_nodes, model.machine.flits
    if test == "hops" and flits.head_payload_width < flits.address_width:
        raise SpecError(
            f"flit width must be at least {2 * flits.address_width} for the hops test, not {flits.flit_width}"
        )
    if test == "exchange":
        return case_of_traffic(test, model, _exchange(model), Terminals())
    own = _destinations(test, model, packets, np.random.default_rng(seed))
    destination = np.concatenate(own)
    first = np.cumsum([0, *(len(part) for part in own)], dtype=np.int64)
    traffic = Traffic(first, destination, np.zeros(len(destination), np.int64))
    held = Terminals(sink_stall=2 * SINK_STALL, sink_hold=HELD_SLOTS * model.timing.packet_length, seed=seed)
    paused = Terminals(sink_stall=SINK_STALL, source_gap=SOURCE_GAP, seed=seed)
    pauses = {"hops": Terminals(), "held": held}.get(test, paused)
    case = replace(case_of_traffic(test, model, traffic, pauses), resets=tuple(resets))
    if test == "hops":
        sources = np.repeat(np.arange(nodes, dtype=np.int64), np.diff(first))
        case.flits[:, 0] = flits.head(destination, np.asarray(model.plan.address.of_node(sources)))
    if test == "errors":
        needed = flits.address_width + max(1, (len(destination) - 1).bit_length())
        if flits.flit_width < needed:
            raise SpecError(
                f"flit width must be at least {needed} for the errors test of {len(destination)} packets, not "
                f"{flits.flit_width}"
            )
        case.flits[:, 0] = flits.head(destination, np.arange(len(destination)))
    return case


def load_case(model: FabricModel, load: LoadSpec, terminals: Terminals) -> Case:
    """Make the packets that a load creates in its cycles, which begin at reset, and run the model on them.

    Raises
    ------
    SpecError
        If the pattern, the injection process or the lengths cannot be, or no packet or too many are created.
    """
    plan = model.plan
    messages = load.on(plan.network, model.timing.packet_length).window(load.cycles)
    if not len(messages.cycle):
        raise SpecError(f"load must create a message in its cycles; at rate {load.rate} it has none in {load.cycles}")
    order = np.argsort(messages.source, kind="stable")
    order = np.repeat(order, messages.packets[order])
    first = np.searchsorted(messages.source[order], np.arange(plan.network.num_nodes + 1))
    address = np.asarray(plan.address.of_node(messages.destination))
    traffic = Traffic(first, address[order], messages.cycle[order])
    return case_of_traffic("load", model, traffic, terminals)


def case_of_traffic(test: str, model: FabricModel, traffic: Traffic, terminals: Terminals) -> Case:
    """Give packets random payload and run the model on any traffic; `test` names the case.

    Raises
    ------
    SpecError
        If the bench has no room for so many packets.
    """
    if traffic.num_packets > CAPACITY:
        raise SpecError(f"a case must have at most {CAPACITY} packets, not {traffic.num_packets}")
    flits, plan = model.machine.flits, model.plan
    shape = (traffic.num_packets, flits.packet_length)
    words = np.random.default_rng(terminals.seed).integers(0, 1 << 62, size=shape, dtype=np.uint64)
    words &= np.uint64((1 << min(flits.flit_width, 62)) - 1)
    words[:, 0] = flits.head(traffic.destination, flits.head_payload(words[:, 0].astype(np.int64)))
    destination = _node_of_address(plan, traffic.destination)
    out = destination if model.faults is None else _where_out(plan, model.faults, traffic.first, destination)
    work = 20 * flits.packet_length * (traffic.num_packets + plan.network.num_nodes)
    patience = 1000 + terminals.sink_hold + int(traffic.earliest.max()) + work
    expected = model.run(traffic, terminals, max_cycles=patience, counting=model.machine.spec.monitor)
    limit = expected.cycles + 200 * flits.packet_length + 1000
    stranded = int((out != destination).sum())
    return Case(test, traffic, terminals, words, out, stranded, model.faults, expected, limit)


def _where_out(
    plan: RoutingPlan, faults: Faults, first: npt.NDArray[np.int64], destination: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the node where each packet must come out: walk its route up to something dead."""
    table = neighbor_table(plan.network)
    dead = faults.all_channels(table)
    address = [plan.address.of_node(node) for node in range(plan.network.num_nodes)]
    out = destination.copy()
    for packet, node in enumerate(np.repeat(np.arange(len(first) - 1), np.diff(first)).tolist()):
        target = int(destination[packet])
        while target >= 0 and node != target:
            port = plan.plain_route(address[node], address[target]) & (1 << VC_SHIFT) - 1
            if dead[node, port]:
                break
            node = int(table[node, port])
        out[packet] = node if target >= 0 else -1
    return out


def dead_words(faults: Faults) -> npt.NDArray[np.int64]:
    """Return what the pins of each node say that is dead, see the manifest; shape (nodes,)."""
    bits = np.column_stack([faults.channels, faults.nodes])
    words: npt.NDArray[np.int64] = bits @ (1 << np.arange(bits.shape[1], dtype=np.int64))
    return words


def dead_plusargs(cycles: tuple[int, int]) -> dict[str, int]:
    """Return what the bench is told of the cycles in which faults are there."""
    return dict(zip(("dies", "revives"), cycles, strict=True))


def write_columns(folder: Path, **columns: Iterable[Any]) -> None:
    """Write columns of numbers as the bench reads them, one file each."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, column in columns.items():
        values = column.tolist() if isinstance(column, np.ndarray) else list(column)
        (folder / f"{name}.hex").write_text(("%x\n" * len(values)) % tuple(values))


def write_case(case: Case, folder: Path, machine: Machine) -> dict[str, Any]:
    """Write the files that the bench and the check read; return the bench's plusargs."""
    nodes = machine.network.num_nodes
    columns: dict[str, Iterable[Any]] = {
        "flits": case.flits.reshape(-1),
        "earliest": case.traffic.earliest,
        "first": case.traffic.first,
        "seeds": terminal_seeds(nodes, case.terminals.seed),
    }
    if machine.spec.dead_pins:
        columns["dead"] = itertools.repeat(0, nodes) if case.faults is None else dead_words(case.faults)
    write_columns(folder, **columns)
    expected = case.expected
    np.savez(
        folder / "case.npz",
        packet=expected.packet,
        node=expected.node,
        cycle=expected.cycle,
        dropped=expected.dropped,
        head_cycle=expected.head_cycle,
        cycles=expected.cycles,
        flits=case.flits,
        destination=case.destination,
        stranded=case.stranded,
    )
    return dead_plusargs(case.dead_cycles) | {
        "packets": case.traffic.num_packets,
        "expected": case.traffic.num_packets,
        "limit": case.limit,
        "gap": case.terminals.source_gap,
        "stall": case.terminals.sink_stall,
        "hold": case.terminals.sink_hold,
        "watch": int(case.test in ("hops", "errors")),
    }
