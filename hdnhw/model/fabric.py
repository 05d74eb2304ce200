"""The cycle-accurate model of a fabric and its terminals: the twin of the RTL, equal to it in every ejection."""

from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.model.router import (
    CREATED,
    DESTINATION,
    FIELDS,
    HEAD_CYCLE,
    POSSIBLE,
    make_flows,
    make_orders,
    make_queues,
    make_terminals,
    simulate,
)
from hdnhw.model.traffic import Terminals, Traffic, terminal_seeds
from hdnhw.routing.plan import RoutingPlan
from hdnhw.timing import SlotTiming, slots_per_vc
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


class FabricModel:
    """A fabric with its terminals, simulated cycle by cycle.

    Parameters
    ----------
    plan : RoutingPlan
    packet_length : int
        Flits a packet.
    buffers : int, optional
        Packet slots a port, shared evenly by its virtual channels; if omitted, the least with which a port that has
        one virtual channel sustains one flit a cycle.
    """

    def __init__(self, plan: RoutingPlan, *, packet_length: int, buffers: int | None = None) -> None:
        self.plan = plan
        self.timing = SlotTiming(packet_length)
        self.buffers = index(self.timing.buffers_of(buffers))
        if self.buffers < 1 or self.buffers & (self.buffers - 1):
            raise ValueError(f"buffers must be a power of two of packet slots, not {self.buffers}")
        network = plan.network
        opposite = np.array([port.opposite for port in network.ports], dtype=np.int64)
        vcs_in = np.array([plan.num_vcs[port.opposite] for port in network.ports] + [1], dtype=np.int64)
        inputs, num_inputs = _inputs_of(plan)
        self._shape = (neighbor_table(network), opposite, vcs_in, inputs, num_inputs)
        self._slots = np.array([slots_per_vc(self.buffers, num_vcs) for num_vcs in (*plan.num_vcs, 1)], np.int32)
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
        plan, pause, count = self.plan, terminals or Terminals(), traffic.num_packets
        nodes, ports = self._shape[0].shape
        if len(traffic.first) != nodes + 1:
            raise ValueError(f"traffic must have {nodes} sources, not {len(traffic.first) - 1}")
        num_vcs = plan.max_vcs
        pool, dropped = np.empty((count, FIELDS), np.int64), np.zeros(nodes, np.int64)
        pool[:, DESTINATION], pool[:, CREATED], pool[:, HEAD_CYCLE] = traffic.destination, traffic.earliest, -1
        pool[:, POSSIBLE] = plan.address.is_node(traffic.destination)
        out = (np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count, np.int64))
        timing = self.timing
        cycles, ejected, sent = simulate(
            plan.route,
            self._address,
            self._shape,
            (
                timing.packet_length,
                timing.hop_slots,
                timing.sample_phase,
                timing.update_phase,
                timing.credit_slots,
                timing.channel_cycles,
            ),
            self.buffers,
            pool,
            _arrivals(traffic),
            make_queues(nodes, ports + 1, num_vcs),
            np.tile(self._slots[None, :, None], (nodes, 1, num_vcs)),
            make_orders(nodes, ports + 1, num_vcs),
            make_flows(nodes, ports, count, timing),
            make_terminals(nodes, self.buffers, terminal_seeds(nodes, pause.seed)),
            (pause.source_gap, pause.sink_stall, pause.sink_hold),
            dropped,
            out,
            max_cycles,
        )
        packet, node, cycle = (column[:ejected].astype(np.int64) for column in out)
        order = np.lexsort((node, cycle))
        order = order[: np.searchsorted(cycle[order], cycles)]
        sent_flits = sent * timing.packet_length
        return Ejections(
            packet[order], node[order], cycle[order], pool[:, HEAD_CYCLE].copy(), dropped, cycles, sent_flits
        )


def _arrivals(traffic: Traffic) -> tuple[npt.NDArray[Any], ...]:
    """Return (cycle, node, packet) of packets as their sources get them to send, sorted by cycle.

    As a source sends its packets in their order, a packet waits for those before it.
    """
    nodes = np.repeat(np.arange(len(traffic.first) - 1, dtype=np.int32), np.diff(traffic.first))
    horizon = int(traffic.earliest.max(initial=0)) + 1
    cycle = np.maximum.accumulate(traffic.earliest + nodes * np.int64(horizon)) - nodes * np.int64(horizon)
    order = np.argsort(cycle, kind="stable").astype(np.int32)
    return cycle[order], nodes[order], order


def _inputs_of(plan: RoutingPlan) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the input ports of each node in the order of allocation, shape (nodes, ports + 1), and their number."""
    nodes, local = plan.network.num_nodes, len(plan.network.ports)
    inputs, count = np.full((nodes, local + 1), local, np.int64), np.zeros(nodes, np.int64)
    if len(plan.shapes) == 1:
        ports = (*plan.shapes[0].ports, local)
        inputs[:, : len(ports)], count[:] = ports, len(ports)
        return inputs, count
    for node in range(nodes):
        ports = (*plan.shape_of(node).ports, local)
        inputs[node, : len(ports)], count[node] = ports, len(ports)
    return inputs, count
