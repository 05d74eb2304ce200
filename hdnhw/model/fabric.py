"""The cycle-accurate model of a fabric and its terminals: the twin of the RTL, equal to it in every ejection."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from hdnhw.model.router import allocate_node, make_queues, push_decision
from hdnhw.model.traffic import Terminals, Traffic, terminal_seeds
from hdnhw.routing.compiled import VC_SHIFT
from hdnhw.routing.plan import RoutingPlan
from hdnhw.timing import SlotTiming
from hdnhw.topology.metrics import neighbor_table

__all__ = ["Ejections", "FabricModel"]


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


@njit(cache=True, inline="always")
def _advance(state):  # type: ignore[no-untyped-def]
    word = np.int64(state)  # Numba widens 32-bit arithmetic, so the shifts to the left are cut back by hand
    word ^= (word << 13) & 0xFFFFFFFF
    word ^= word >> 17
    word ^= (word << 5) & 0xFFFFFFFF
    return np.uint32(word)


@njit(cache=True)
def _deliver(route, address, queue, destination, crossing):  # type: ignore[no-untyped-def]
    """Route computation: put packets that have crossed a channel into the queues of the next routers."""
    nodes, ports, vcs, packets, count, at = crossing
    for item in range(count[at]):
        node, packet = nodes[at, item], packets[at, item]
        decision = route(address[node], destination[packet])
        push_decision(queue, node, ports[at, item], vcs[at, item], packet, decision)
    count[at] = 0


@njit(cache=True)
def _return_credits(credits, returning):  # type: ignore[no-untyped-def]
    """Count the packet slots that have become free downstream."""
    nodes, ports, vcs, count, at = returning
    for item in range(count[at]):
        credits[nodes[at, item], ports[at, item], vcs[at, item]] += 1
    count[at] = 0


@njit(cache=True)
def _allocate(queue, credits, turns, shape, crossing, returning, ejection, base, freed):  # type: ignore[no-untyped-def]
    """Allocate every router for one slot and send the winners on; return the packets sent between routers."""
    neighbors, opposite, vcs_in = shape
    packets, decisions, head, level = queue
    nodes, ports = neighbors.shape
    chosen, winner = np.empty(ports + 1, np.int64), np.empty(ports + 1, np.int64)
    sent = 0
    for node in range(nodes):
        if allocate_node(queue, credits, turns, vcs_in, node, chosen, winner) == 0:
            continue
        for output in range(ports + 1):
            port = winner[output]
            if port < 0:
                continue
            vc = chosen[port]
            slot = head[node, port, vc]
            packet, decision = packets[node, port, vc, slot], decisions[node, port, vc, slot]
            head[node, port, vc] = (slot + 1) % packets.shape[3]
            level[node, port, vc] -= 1
            if port < ports:
                _give_back(returning, neighbors[node, port], opposite[port], vc)
            else:
                freed[node] = 1
            if output < ports:
                _cross(crossing, neighbors[node, output], opposite[output], decision >> VC_SHIFT, packet)
                sent += 1
            else:
                _leave(ejection, node, packet, base)
    return sent


@njit(cache=True, inline="always")
def _give_back(returning, node, port, vc):  # type: ignore[no-untyped-def]
    nodes, ports, vcs, count, at = returning
    item = count[at]
    nodes[at, item], ports[at, item], vcs[at, item] = node, port, vc
    count[at] += 1


@njit(cache=True, inline="always")
def _cross(crossing, node, port, vc, packet):  # type: ignore[no-untyped-def]
    nodes, ports, vcs, packets, count, at = crossing
    item = count[at]
    nodes[at, item], ports[at, item], vcs[at, item], packets[at, item] = node, port, vc, packet
    count[at] += 1


@njit(cache=True, inline="always")
def _leave(ejection, node, packet, base):  # type: ignore[no-untyped-def]
    """Put a packet into the ejection buffer; flit p can be taken from cycle ``base + p`` on."""
    packets, bases, head, level = ejection
    place = (head[node] + level[node]) % packets.shape[1]
    packets[node, place] = packet
    bases[node, place] = base
    level[node] += 1


@njit(cache=True)
def _inject(route, address, possible, length, cycle, queue, traffic, source, pauses, log):  # type: ignore[no-untyped-def]
    """Sources offer flits; complete packets enter the injection queue, or are dropped."""
    first, destination, earliest = traffic
    pointer, position, held, occupied = source
    state, gap = pauses
    head_cycle, dropped = log
    nodes, ports = len(pointer), queue[0].shape[1]
    buffers = queue[0].shape[3]
    for node in range(nodes):
        packet = pointer[node]
        if packet == first[node + 1] or earliest[packet] > cycle:
            continue
        if not held[node] and (state[node] & np.uint32(255)) < gap:
            continue
        if position[node] == 0 and occupied[node] == buffers:
            held[node] = 1
            continue
        held[node] = 0
        if position[node] == 0:
            head_cycle[packet] = cycle
        position[node] += 1
        if position[node] == length:
            position[node] = 0
            pointer[node] += 1
            if possible[packet]:
                decision = route(address[node], destination[packet])
                push_decision(queue, node, ports - 1, 0, packet, decision)
                occupied[node] += 1
            else:
                dropped[node] += 1


@njit(cache=True)
def _eject(length, cycle, credits, ejection, taken, pauses, out, ejected):  # type: ignore[no-untyped-def]
    """Sinks take flits; return the packets that have left so far."""
    ejected_packet, ejected_base, ejection_head, ejection_level = ejection
    out_packet, out_node, out_cycle = out
    state, stall = pauses
    local = credits.shape[1] - 1
    for node in range(len(ejection_head)):
        if ejection_level[node] == 0:
            continue
        place = ejection_head[node]
        if ejected_base[node, place] + taken[node] > cycle or ((state[node] >> np.uint32(8)) & np.uint32(255)) < stall:
            continue
        taken[node] += 1
        if taken[node] == length:
            taken[node] = 0
            ejection_head[node] = (place + 1) % ejected_packet.shape[1]
            ejection_level[node] -= 1
            credits[node, local, 0] += 1
            out_packet[ejected] = ejected_packet[node, place]
            out_node[ejected] = node
            out_cycle[ejected] = cycle
            ejected += 1
    return ejected


@njit(cache=True)
def _make_lists(columns, delays, most):  # type: ignore[no-untyped-def]
    """Return work space, index: column, slot modulo the delay, item."""
    return np.empty((columns, delays, most), np.int64)


@njit(cache=True)
def _simulate(  # type: ignore[no-untyped-def]
    route, address, possible, shape, timing, queue, credits, turns, traffic, state, pauses, log, out, expected, limit
):
    """Run until `expected` packets have left or `limit` cycles have passed; return (cycles, ejected, packets sent)."""
    length, hop_slots, sample_phase, credit_slots = timing
    gap, stall, hold = pauses
    nodes, ports = shape[0].shape
    most = nodes * (ports + 1)
    buffers = queue[0].shape[3]
    delays = 1 + credit_slots
    crossing, crossing_count = _make_lists(4, hop_slots, most), np.zeros(hop_slots, np.int64)
    returning, returning_count = _make_lists(3, delays, most), np.zeros(delays, np.int64)
    ejection = (
        np.empty((nodes, buffers), np.int64),
        np.empty((nodes, buffers), np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
    )
    taken, freed = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    source = (traffic[0][:-1].copy(), np.zeros(nodes, np.int64), np.zeros(nodes, np.uint8), np.zeros(nodes, np.int64))
    ejected, sent, cycle, slot = 0, 0, 0, 0
    while ejected < expected and cycle < limit:
        phase = cycle % length
        if phase == 0:
            source[3][:] -= freed
            freed[:] = 0
        if phase == sample_phase:
            now_crossing = (crossing[0], crossing[1], crossing[2], crossing[3], crossing_count, slot % hop_slots)
            now_returning = (returning[0], returning[1], returning[2], returning_count, slot % delays)
            _deliver(route, address, queue, traffic[1], now_crossing)
            _return_credits(credits, now_returning)
            base = (slot + 1) * length + 2
            sent += _allocate(queue, credits, turns, shape, now_crossing, now_returning, ejection, base, freed)
            slot += 1
        _inject(route, address, possible, length, cycle, queue, traffic, source, (state, gap), log)
        if cycle >= hold:
            ejected = _eject(length, cycle, credits, ejection, taken, (state, stall), out, ejected)
        if gap or stall:
            for node in range(nodes):
                state[node] = _advance(state[node])
        cycle += 1
    return cycle, ejected, sent


class FabricModel:
    """A fabric with its terminals, simulated cycle by cycle.

    Parameters
    ----------
    plan : RoutingPlan
    packet_length : int
        Flits a packet.
    buffers : int, optional
        Packet slots a queue; the least that sustains one flit a cycle if omitted.
    """

    def __init__(self, plan: RoutingPlan, *, packet_length: int, buffers: int | None = None) -> None:
        self.plan = plan
        self.timing = SlotTiming(packet_length)
        self.buffers = self.timing.full_rate_buffers if buffers is None else buffers
        network = plan.network
        opposite = np.array([port.opposite for port in network.ports], dtype=np.int64)
        vcs_in = np.array([plan.num_vcs[port.opposite] for port in network.ports] + [1], dtype=np.int64)
        self._shape = (neighbor_table(network), opposite, vcs_in)
        nodes = np.arange(network.num_nodes, dtype=np.int64)
        self._address = np.ascontiguousarray(plan.address.of_node(nodes))

    def run(self, traffic: Traffic, terminals: Terminals | None = None, *, max_cycles: int) -> Ejections:
        """Simulate from reset until every packet with a possible destination has left, or for `max_cycles` cycles.

        Parameters
        ----------
        traffic : Traffic
        terminals : Terminals, optional
            Ones that never pause if omitted.
        max_cycles : int

        Returns
        -------
        Ejections
        """
        plan, pause = self.plan, terminals or Terminals()
        nodes, ports = self._shape[0].shape
        num_vcs = plan.max_vcs
        fields = zip(plan.address.unpack(traffic.destination), plan.address.fields, strict=True)
        possible = np.logical_and.reduce([digit < field.radix for digit, field in fields])
        count = traffic.num_packets
        head_cycle, dropped = np.full(count, -1, np.int64), np.zeros(nodes, np.int64)
        out = (np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64))
        timing = self.timing
        cycles, ejected, sent = _simulate(
            plan.route,
            self._address,
            possible.astype(np.uint8),
            self._shape,
            (timing.packet_length, timing.hop_slots, timing.sample_phase, timing.credit_slots),
            make_queues(nodes, ports + 1, num_vcs, self.buffers),
            np.full((nodes, ports + 1, num_vcs), self.buffers, np.int32),
            (np.zeros((nodes, ports + 1), np.int64), np.zeros((nodes, ports + 1), np.int64)),
            (traffic.first, traffic.destination, traffic.earliest),
            terminal_seeds(nodes, pause.seed),
            (pause.source_gap, pause.sink_stall, pause.sink_hold),
            (head_cycle, dropped),
            out,
            int(possible.sum()),
            max_cycles,
        )
        packet, node, cycle = (column[:ejected] for column in out)
        return Ejections(packet, node, cycle, head_cycle, dropped, cycles, sent * timing.packet_length)
