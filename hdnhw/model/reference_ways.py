"""Which way a packet leaves a router of :mod:`hdnhw.model.reference`: that of the rule, or of a routing scheme.

See :mod:`hdnhw.rules.schemes` for Valiant's routing, UGAL and adaptive routing, which the model alone has.
"""

from functools import cache
from typing import TYPE_CHECKING

from hdnhw.rules.decision import VC_SHIFT
from hdnhw.rules.plan import ADAPTIVE, UGAL, VALIANT, RoutingPlan

if TYPE_CHECKING:
    from hdnhw.model.reference import Packet, Router

Way = tuple[int, int]
"""An output port and a virtual channel there."""


class RouteUnit:
    """Route computation: the way by which a packet leaves a router."""

    def __init__(self, plan: RoutingPlan, routers: "list[Router]") -> None:
        self.plan, self.local, self.nearer = plan, len(plan.network.ports), cache(self._nearer)
        terminals = routers[: plan.network.num_terminals]
        hanging = [router for router in terminals if len(router.outputs) == 1 and len(terminals) < len(routers)]
        self.switches = {router: channel.end for router in hanging for channel in router.outputs.values()}
        self.drawn = [(self.switches.get(router, router).address, router.address) for router in terminals]
        self.chosen: dict[Router, tuple[Way, Way | None]] = {}

    def draw(self, packet: "Packet", node: int) -> None:
        """Draw the node that a packet goes by, the same one for all packets of a message (SplitMix64)."""
        if self.plan.scheme not in (VALIANT, UGAL):
            return
        word = packet.created * 0x1F123BB5159A55E5 + node * 0x5851F42D4C957F2D + packet.destination
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
            word = (word ^ (word & (1 << 64) - 1) >> shift) * factor
        packet.by = self.drawn[(word & (1 << 63) - 1) % len(self.drawn)]

    def inject(self, router: "Router", packet: "Packet") -> None:
        """With UGAL, let a source choose if its packet goes straight, or leave that to the switch that it hangs on."""
        if self.plan.scheme != UGAL:
            return
        if router not in self.switches:
            self._choose(router, router, packet)
        elif packet.destination != router.address:
            packet.is_undecided = True
        else:
            packet.by = None

    def _choose(self, router: "Router", source: "Router", packet: "Packet") -> None:
        """Send a packet straight if its hops times the packets in front are no more than by the node that was drawn.

        All packets of a message take one way.
        """
        message = packet.created, packet.destination
        if source not in self.chosen or self.chosen[source][0] != message:
            assert packet.by is not None
            end, target = packet.by
            there, stop = self._walk(router, target, end)
            straight, aside = self._way(router, packet.destination, self.plan.first_vc), self._way(router, target)
            wait = self._walk(router, packet.destination)[0] * self._in_front(router, straight)
            other = (there + self._walk(stop, packet.destination)[0]) * self._in_front(router, aside)
            self.chosen[source] = message, packet.by if wait > other else None
        packet.by, packet.is_undecided = self.chosen[source][1], False

    def _in_front(self, router: "Router", way: Way) -> int:
        """Return the packets behind a channel, as far as the router knows."""
        return way[0] < self.local and router.machine.vc_buffers(way[0]) - router.credits[way]

    def _way(self, router: "Router", target: int, first_vc: int = 0) -> Way:
        """Return the way of the rule to a packed address."""
        decision = self.plan.plain_route(router.address, target)
        port = decision & (1 << VC_SHIFT) - 1
        return (port, (decision >> VC_SHIFT) + first_vc) if port < self.local else (self.local, 0)

    def _walk(self, router: "Router", target: int, end: int = -1) -> "tuple[int, Router]":
        """Return the hops of the route to a packed address, or up to another one, and where they end."""
        hops = 0
        while router.address not in (target, end):
            router, hops = router.outputs[self._way(router, target)[0]].end, hops + 1
        return hops, router

    def route(self, router: "Router", port: int, packet: "Packet") -> None:
        """Set the way of a packet that comes to an input; where that is dead, it leaves the network."""
        if packet.is_undecided and port != self.local:
            self._choose(router, router.inputs[port].begin, packet)
        if packet.by is not None and router.address in packet.by:
            packet.by, packet.is_undecided = None, False
        target, first_vc = (packet.destination, self.plan.first_vc) if packet.by is None else (packet.by[1], 0)
        packet.way = self._way(router, target, first_vc)
        if packet.way[0] != self.local and router.outputs[packet.way[0]].is_dead:
            packet.way = self.local, 0

    def adapt(self, router: "Router") -> None:
        """With adaptive routing, choose the ways of all packets that a router may send in a slot."""
        if self.plan.scheme == ADAPTIVE:
            for _, packet in router.waiting():
                packet.way = self._freest(router, packet.destination)

    def _freest(self, router: "Router", destination: int) -> Way:
        """Return the adaptive way nearer to a destination with the most credits, if any has one; else that of the rule.

        Of equal ones the rule's port comes first, then the lower.
        """
        own = self._way(router, destination, self.plan.first_vc)
        best, most = own, (0, True)
        for way in ((port, vc) for port in self.nearer(router, destination) for vc in range(self.plan.first_vc)):
            rank = router.credits[way], way[0] == own[0]
            if rank > most:
                best, most = way, rank
        return best

    def _nearer(self, router: "Router", destination: int) -> list[int]:
        """Return the ports behind which the rule has fewer hops."""
        hops, _ = self._walk(router, destination)
        return [port for port, channel in router.outputs.items() if self._walk(channel.end, destination)[0] < hops]
