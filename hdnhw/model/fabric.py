"""The cycle-accurate model of a fabric and its terminals: the twin of the RTL, equal to it in every ejection."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.machine.machine import Machine, make_machine
from hdnhw.model.core import HEAD_CYCLE, NODE, TAG, TAIL_CYCLE, Arrivals
from hdnhw.model.counts import Counts
from hdnhw.model.course import MAX_CYCLE, Course
from hdnhw.model.engines import COMPILED, REFERENCE
from hdnhw.model.reference import Reference
from hdnhw.rules.plan import ADAPTIVE, UGAL, VALIANT, RoutingPlan
from hdnhw.spec import FabricSpec
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.support.ranks import check_alone, started
from hdnhw.topology.faults import Faults
from hdnhw.topology.metrics import neighbor_table
from hdnhw.traffic.packets import Terminals, Traffic

MOST_REFERENCE_NODES = 1024
"""Of a network that the reference simulates: it is far slower than the core."""

ADDRESS_BITS = 31
"""Most bits of a packed address: packets have it in 32 bits."""

MOST_BYTES = 6 << 30
"""Of the queues of all routers that a process has."""

SCHEMES = ("", VALIANT, UGAL, ADAPTIVE)
"""In the order of their numbers in the core."""


@dataclass(frozen=True, eq=False)
class Ejections:
    """What came out of a fabric, in the order of cycles and, within a cycle, of nodes.

    Attributes
    ----------
    packet : ndarray of int64, shape (ejections,)
        Packet number, see :class:`Traffic`.
    node : ndarray of int64, shape (ejections,)
    cycle : ndarray of int64, shape (ejections,)
        Cycle in which the tail flit was taken.
    head_cycle : ndarray of int64, shape (packets,)
        Cycle in which each packet's head flit was accepted at its source, -1 if it was not.
    dropped : ndarray of int64, shape (nodes,)
        Packets with an impossible destination dropped at each node.
    cycles : int
        Cycles simulated.
    flit_hops : int
        Flits sent over channels between routers.
    """

    packet: npt.NDArray[np.int64]
    node: npt.NDArray[np.int64]
    cycle: npt.NDArray[np.int64]
    head_cycle: npt.NDArray[np.int64]
    dropped: npt.NDArray[np.int64]
    cycles: int
    flit_hops: int
    counts: Counts | None = None


class FabricModel:
    """A fabric with its terminals, simulated cycle by cycle.

    Parameters
    ----------
    machine : Machine
        What stands at its terminals does not count.
    faults : Faults, optional
        What is dead from reset on: a packet whose next channel is dead leaves at the node where it is.
    engine : str
        One of :data:`hdnhw.model.engines.ENGINES`.

    Attributes
    ----------
    address : ndarray of int32, shape (nodes,)
        Packed addresses.
    ports : int
        Of the network.
    vc_bits : int
        Of the number of a virtual channel. A queue of a router has the number ``input << vc_bits | vc``, the last input
        is injection; a way out of it ``output << vc_bits | vc``, the last output is ejection.
    mirror : ndarray of int32, shape (ways,)
        The queue at the end of each way.
    drawn : tuple of ndarray of int32
        Packed addresses of the nodes that a packet may go by, and of what it is routed to on its way there.

    Raises
    ------
    SpecError
        If the network has too many address bits, its routers need too much memory, or it is too large for the engine.
    """

    def __init__(self, machine: Machine, faults: Faults | None = None, engine: str = COMPILED) -> None:
        self.machine, self.plan, self.timing, self.faults = machine, machine.plan, machine.timing, faults
        self.engine = engine
        if engine == REFERENCE and machine.network.num_nodes > MOST_REFERENCE_NODES:
            raise SpecError(
                f"engine {engine} must have at most {MOST_REFERENCE_NODES} nodes, not {machine.network.num_nodes}"
            )
        plan, network = machine.plan, machine.network
        if plan.address.width > ADDRESS_BITS:
            raise SpecError(
                f"a network that is simulated must have at most {ADDRESS_BITS} address bits; {network.spec} has "
                f"{plan.address.width}"
            )
        if faults is not None:
            plan.check_direct("faults")
            if self.timing.gives_notice:
                raise SpecError("cut-through does not go with faults: a packet is routed before it comes")
        self.ports, self.vc_bits = len(network.ports), (plan.max_vcs - 1).bit_length()
        vcs = range(1 << self.vc_bits)
        table = neighbor_table(network)
        self._check_memory(len(vcs))
        self.address = plan.address.of_nodes.astype(np.int32)
        self.mirror = np.array([port.opposite << self.vc_bits | vc for port in network.ports for vc in vcs], np.int32)
        self.drawn, hangs = self._drawn(table)
        self.given: dict[str, Any] = self._numbers() | {
            "address": self.address,
            **_neighbors(table),
            "mirror": self.mirror,
            "room": self._room(),
            **self._channels(),
            "dead": None if faults is None else faults.all_channels(table),
            "odd": machine.channels.odd if machine.offset else None,
            "several": _several(plan),
            "hangs": hangs,
            "drawn_nodes": self.drawn[0],
            "drawn_targets": self.drawn[1],
        }

    def neighbor(self, node: Any, port: Any) -> Any:
        """Return the nodes behind ports of nodes, all of which are there: integers, or arrays of them."""
        flip, table = self.given["flips"][port], self.given["neighbors"]
        return np.where(flip, node ^ flip, 0 if table is None else table[node, port])

    def _numbers(self) -> dict[str, int]:
        """Return the numbers of the machine for the core."""
        machine, plan, timing = self.machine, self.plan, self.timing
        return {
            "nodes": machine.network.num_nodes,
            "ports": self.ports,
            "vc_bits": self.vc_bits,
            "lane_bits": (plan.lanes - 1).bit_length(),
            "first_vc": plan.first_vc,
            "address_bits": plan.address.width,
            "rounds": machine.matching_rounds,
            "early": timing.matches_early,
            "length": timing.packet_length,
            "sample": timing.sample_phase,
            "update": timing.update_phase,
            "late": timing.credit_phase + (not timing.registers_credits),
            "ejection_cycles": timing.ejection_cycles,
            "offset": machine.offset,
            "injection": timing.injection_phase,
            "gapless": timing.gapless_packets,
            "ejection_slots": timing.ejection_slots,
            "injection_buffers": machine.injection_buffers,
            "ejection_buffers": machine.ejection_buffers,
            "scheme": SCHEMES.index(plan.scheme),
            "drawn": len(self.drawn[0]),
        }

    def _room(self) -> npt.NDArray[np.int32]:
        """Return the packet buffers at the end of each way."""
        buffers = [*map(self.machine.vc_buffers, range(self.ports)), self.machine.ejection_buffers]
        return np.repeat(np.array(buffers, np.int32), 1 << self.vc_bits)

    def _channels(self) -> dict[str, npt.NDArray[np.int32]]:
        """Return what channels take, by the port that they leave by, in slots, or half slots where some are odd.

        From leaving a router to leaving the next one at the soonest; from there to the first allocation that can use
        the place that it leaves; and, in slots, from a packet to the next.
        """
        turns = 1 + bool(self.machine.offset)
        taken = [(link.latency * turns, link.credit_latency * turns, link.interval) for link in self.machine.links]
        columns = np.array(taken, np.int32).reshape(-1, 3).T
        return dict(zip(("latency", "credit_latency", "interval"), columns, strict=True))

    @property
    def window_slots(self) -> int:
        """Slots of a window so short that no packet that leaves in it could have been waited for in it.

        One that is allocated when the window begins leaves so many cycles later, and frees others in the next one.
        """
        return (self.timing.out_cycles + 1) // self.timing.packet_length

    def _drawn(
        self, table: npt.NDArray[np.int32]
    ) -> tuple[tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]], npt.NDArray[np.bool_]]:
        """Return :attr:`drawn`, and which nodes hang on a switch by their only link: that chooses for them.

        Where there are switches a packet is routed to a terminal: it would have to come back from the terminal itself.
        """
        network, terminals = self.plan.network, self.plan.network.num_terminals
        hangs = np.zeros(network.num_nodes, np.bool_)
        if terminals < network.num_nodes:
            hangs[:terminals] = (table[:terminals] >= 0).sum(axis=1) == 1
        if self.plan.scheme not in (VALIANT, UGAL):
            return (np.zeros(0, np.int32), np.zeros(0, np.int32)), hangs
        targets = self.address[:terminals]
        if terminals == network.num_nodes:
            return (targets, targets), hangs
        return (np.where(hangs[:terminals], self.address[table[:terminals].max(axis=1)], targets), targets), hangs

    def _check_memory(self, vcs: int) -> None:
        """Raise SpecError if the records of routers are too large."""
        network, is_matched = self.machine.network, self.machine.matching_rounds > 0
        inputs = self.ports + 1
        queues = inputs * vcs
        orders = queues * (queues if is_matched else inputs) if vcs > 1 or is_matched else 0
        size = network.num_nodes * (4 * inputs + 6 * queues + 2 * orders) // started()[0]
        if size > MOST_BYTES:
            raise SpecError(
                f"{network.spec} needs {size >> 20} MiB for its queues; at most {MOST_BYTES >> 20} are allowed"
            )

    def with_faults(self, faults: Faults) -> "FabricModel":
        """Return the same machine with something dead."""
        return FabricModel(self.machine, faults, self.engine)

    def course(self, terminals: Terminals, *, counting: bool = False, threads: int = 1) -> Course | Reference:
        """Return the fabric at reset, see :class:`~hdnhw.model.course.Course`.

        Raises
        ------
        SpecError
            If there are too many or too few threads.
        ValueError
            If the engine is the reference, and there are several ranks.
        """
        if self.engine != REFERENCE:
            return Course(self, terminals, counting=counting, threads=threads)
        if threads != 1:
            raise SpecError(f"{named('threads')} must be 1 with {named('engine', self.engine)}, not {threads}")
        check_alone(f"engine {self.engine}")
        return Reference(self.machine, terminals, self.faults)

    def run(
        self,
        traffic: Traffic,
        terminals: Terminals | None = None,
        *,
        max_cycles: int,
        threads: int = 1,
        counting: bool = False,
    ) -> Ejections:
        """Simulate from reset until every packet with a possible destination has left, or for `max_cycles` cycles.

        Parameters
        ----------
        traffic : Traffic
        terminals : Terminals, optional
            Ones that never pause if omitted.
        max_cycles : int
        threads : int
            That share the nodes among them; the result is the same whatever their number.
        counting : bool
            Whether to count what channels and queues do.

        Returns
        -------
        Ejections
        """
        nodes, count = self.plan.network.num_nodes, traffic.num_packets
        if len(traffic.first) != nodes + 1:
            raise ValueError(f"traffic must have {nodes} sources, not {len(traffic.first) - 1}")
        if count and traffic.earliest.max() > MAX_CYCLE:
            raise ValueError(f"earliest must be at most cycle {MAX_CYCLE}, not {traffic.earliest.max()}")
        course = self.course(terminals or Terminals(), counting=counting, threads=threads)
        left = course.advance(self._arrivals(traffic), packets=count, limit=max_cycles)
        cycles = min(course.cycles, max_cycles) if course.packets_gone == count else max_cycles
        head_cycle = np.full(count, -1, np.int64)
        for packets in (course.packets, left):
            head_cycle[packets[:, TAG]] = packets[:, HEAD_CYCLE]
        left = left[np.lexsort((left[:, NODE], left[:, TAIL_CYCLE]))]
        packet, node, cycle = left[left[:, TAIL_CYCLE] < cycles][:, [TAG, NODE, TAIL_CYCLE]].astype(np.int64).T
        flit_hops = course.packets_sent * self.timing.packet_length
        counts = course.counts() if counting else None
        return Ejections(packet, node, cycle, head_cycle, course.dropped, cycles, flit_hops, counts)

    def _arrivals(self, traffic: Traffic) -> Arrivals:
        """Return packets as their sources get them to send.

        As a source sends its packets in their order, a packet waits for those before it.
        """
        nodes = np.repeat(np.arange(len(traffic.first) - 1), np.diff(traffic.first))
        horizon = int(traffic.earliest.max(initial=0)) + 1
        cycle = np.maximum.accumulate(traffic.earliest + nodes * horizon) - nodes * horizon
        order = np.argsort(cycle, kind="stable")
        destination = np.where(self.plan.address.is_node(traffic.destination), traffic.destination, -1)
        return Arrivals.of(cycle[order], nodes[order], destination[order], order)


@lru_cache(maxsize=2)
def model_of(spec: FabricSpec, engine: str = COMPILED) -> FabricModel:
    """Return the model of the machine that a spec describes."""
    return FabricModel(make_machine(spec), engine=engine)


def _neighbors(table: npt.NDArray[np.int32]) -> dict[str, Any]:
    """Return the neighbors for the core: as the bits that flip where all ports flip some, which needs no table."""
    flips = table[0] if len(table) else np.zeros(table.shape[1], np.int32)
    there = flips > 0
    for port in np.flatnonzero(there):
        there[port] = bool((table[:, port] ^ np.arange(len(table), dtype=np.int32) == flips[port]).all())
    flips = np.where(there, flips, 0)
    return {"flips": flips, "neighbors": None if there.all() else table}


def _several(plan: RoutingPlan) -> npt.NDArray[np.bool_]:
    """Return for each node whether an input of its router has two virtual channels or more."""
    ports, nodes = plan.network.ports, plan.network.num_nodes
    has = {shape: any(plan.num_vcs[ports[port].opposite] > 1 for port in shape.ports) for shape in plan.shapes}
    if len(plan.shapes) == 1:
        return np.full(nodes, has[plan.shapes[0]])
    return np.array([has[plan.shape_of(node)] for node in range(nodes)])
