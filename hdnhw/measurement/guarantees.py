"""Guarantees of flows: the longest latency and the least rate of each, by arithmetic in place of simulation.

The bounds hold for any traffic. They follow a packet down the channel dependency graph, which has no cycle: at the head
of a queue it waits for a number of others, each of which waits for what is ahead of it (Lee, "Real-time wormhole
channels", Journal of Parallel and Distributed Computing 63, 2003; Rahmati and others, "Computing accurate performance
bounds for best effort networks-on-chip", IEEE Transactions on Computers 62, 2013). How many others there are is in
:mod:`hdnhw.measurement.contention`; declared rates are in :mod:`hdnhw.measurement.calculus`.
"""

from collections.abc import Sequence
from functools import cached_property
from graphlib import TopologicalSorter
from math import ceil

from hdnhw.machine.machine import Machine
from hdnhw.measurement.contention import Contention, Queue, Turn
from hdnhw.rules.decision import VC_SHIFT
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.topology.metrics import neighbor_table
from hdnhw.traffic.declared import Flow

MOST_FLOWS = 1 << 18
"""Whose routes are followed one by one."""


class Guarantees:
    """Bounds of flows on a machine whose terminals take what comes at once, and send the flits of a packet in a row.

    Latency is that of the network: from the cycle in which a head flit is accepted to that of the tail's delivery.

    Parameters
    ----------
    machine : Machine
    flows : sequence of Flow
        All that is sent.

    Attributes
    ----------
    routes : list of list of Turn
        Of each flow, the queues that its packets stand in, and the ways by which they leave these.

    Raises
    ------
    SpecError
        If the bounds do not hold for such a machine, or there are too many flows.
    """

    def __init__(self, machine: Machine, flows: Sequence[Flow]) -> None:
        machine.plan.check_direct("guarantees")
        if machine.timing.matches:
            raise SpecError(
                f"guarantees need {named('queueing', 'fifo')}: how long a packet waits is not known otherwise"
            )
        if machine.is_narrow:
            raise SpecError(f"guarantees do not go with {named('channel_width')}: packets queue for such channels")
        if not 0 < len(flows) <= MOST_FLOWS:
            raise SpecError(f"guarantees are of 1 to {MOST_FLOWS} flows, not {len(flows)}")
        self.machine, self.flows = machine, flows
        self._local = len(machine.network.ports)
        self._neighbors, self._address = neighbor_table(machine.network), machine.address.of_nodes.tolist()
        self.routes = [self._route(flow) for flow in flows]
        plan = machine.plan
        self._turns = {turn for route in self.routes for turn in route}
        self.contention = Contention(
            self._turns,
            lambda node: any(plan.num_vcs[plan.network.ports[port].opposite] > 1 for port in plan.shape_of(node).ports),
            plan.lanes,
        )

    def _route(self, flow: Flow) -> list[Turn]:
        """Follow the rule from the source of a flow to its destination."""
        decide, target = self.machine.plan.plain_route, self._address[flow.destination]
        queue, turns = (flow.source, self._local, 0), []
        while True:
            node = queue[0]
            decision = decide(self._address[node], target)
            port = decision & (1 << VC_SHIFT) - 1
            way = (node, port, decision >> VC_SHIFT if port < self._local else 0)
            turns.append((queue, way))
            if port == self._local:
                return turns
            queue = self.behind(way)

    def behind(self, way: Queue) -> Queue:
        """Return the queue at the end of a way."""
        node, port, vc = way
        return int(self._neighbors[node, port]), self.machine.network.ports[port].opposite, vc

    def buffers(self, queue: Queue) -> int:
        """Return the packet buffers of a queue."""
        return self.machine.injection_buffers if self.injects(queue) else self.machine.input_buffers(queue[1])

    def injects(self, queue: Queue) -> bool:
        """Return whether a queue is that of injection, or a way that of ejection."""
        return queue[1] == self._local

    def around(self, way: Queue) -> int:
        """Return the slots from sending a packet to that in which its place can be used, if it does not wait there."""
        link = self.machine.links[way[1]]
        return ceil(link.latency + link.credit_latency)

    def _waits(self, gaps: dict[Queue, int]) -> dict[Queue, dict[Queue, int]]:
        """Return for each queue and way the most slots from when a packet is first to when it has left.

        `gaps` has the most slots in a row in which a way has no credit, where it is known; for others they follow from
        what the queue behind it waits. What is found so is true, and may make other waits shorter.
        """
        waits: dict[Queue, dict[Queue, int]] = {}
        onward = {
            queue: {self.behind(way) for way in ways if way not in gaps} for queue, ways in self.contention.ways.items()
        }
        order = list(TopologicalSorter(onward).static_order())
        found, was = dict(gaps), None
        while waits != was:
            was = dict(waits)
            for queue in order:
                for way in self.contention.ways[queue] - gaps.keys():
                    behind = self.behind(way)
                    found[way] = max(0, self.around(way) - self.buffers(behind)) + max(waits[behind].values()) - 1
                waits[queue] = {way: self.contention.wait(queue, way, found) for way in self.contention.ways[queue]}
        return waits

    @cached_property
    def waits(self) -> dict[Queue, dict[Queue, int]]:
        """Most slots in which a packet is first in a queue, by the way that it takes, whatever else is sent."""
        gap = max(0, self.machine.timing.ejection_slots - self.machine.ejection_buffers)
        return self._waits({way: gap for way in self.contention.entries if self.injects(way)})

    def _stay(self, queue: Queue, way: Queue) -> int:
        """Return the most slots by which a packet leaves a queue later than if it were alone."""
        waits = self.waits[queue]
        most = max(waits.values())
        return 0 if most == 1 else (self.buffers(queue) - 1) * most + waits[way] - 1

    @cached_property
    def zero_load_latency(self) -> list[int]:
        """Cycles of a packet of each flow that nothing delays, if its head flit is accepted in the worst phase."""
        timing = self.machine.timing
        least = timing.zero_load_latency(0, timing.start_phase + (not timing.gapless_packets))
        cycles = [self.machine.hop_cycles(port) for port in range(self._local)]
        return [least + sum(cycles[way[1]] for _, way in route[:-1]) for route in self.routes]

    @cached_property
    def latency(self) -> list[int]:
        """Most cycles of each flow, whatever the others and itself send."""
        length, stays = self.machine.spec.packet_length, {turn: self._stay(*turn) for turn in self._turns}
        delays = (length * sum(stays[turn] for turn in route) for route in self.routes)
        return [alone + delay for alone, delay in zip(self.zero_load_latency, delays, strict=True)]

    @property
    def rate(self) -> list[float]:
        """Flits a cycle that a source gets accepted at least if it sends packets of one flow alone, of each flow."""
        refill = self.machine.injection_buffers == 1
        return [1 / (self.waits[route[0][0]][route[0][1]] + refill) for route in self.routes]

    def without_credits(self) -> dict[Queue, int]:
        """Return the most slots in which a packet is first in each queue where nothing waits for a credit."""
        waits = self._waits(dict.fromkeys(self.contention.entries, 0))
        return {queue: max(ways.values()) for queue, ways in waits.items()}
