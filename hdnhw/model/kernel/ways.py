"""Ways of packets that are not those of the rule alone: Valiant's routing, UGAL and adaptive routing."""

from collections.abc import Callable

from hdnhw.model.kernel.compiled import at, called, inlined, trailing_zeros, wide
from hdnhw.model.kernel.queue import ends_of
from hdnhw.model.kernel.state import (
    CHOSEN_WORDS,
    CREATED,
    DESTINATION,
    HEAD,
    NEXT,
    OUTPUT_VC,
    PACKET_WORDS,
    QUEUE_WORDS,
    SENT_BITS,
    SENT_MASK,
    STRAIGHT,
    UNDECIDED,
    Fabric,
    Routers,
    State,
    Valiant,
)
from hdnhw.rules.decision import VC_SHIFT

__all__ = ["PORT_MASK", "WORD", "Route", "adapt", "choose", "choose_at", "decide"]

Route = Callable[[int, int], int]
"""A compiled rule of two packed addresses, see :func:`hdnhw.rules.compiled.compile_rule`."""

PORT_MASK = (1 << VC_SHIFT) - 1

WORD = 64
"""Ports of a word of :class:`hdnhw.model.kernel.state.Adaptive`."""


@inlined
def decide(route: Route, fabric: Fabric, own: int, target: int) -> int:
    """Return what a rule decides for packed addresses of a node and of what a packet is routed to."""
    decisions = fabric.decisions
    return wide(decisions[at(own << fabric.bits | target)]) if len(decisions) else route(own, target)


@called
def choose(route: Route, fabric: Fabric, routers: Routers, valiant: Valiant, source: int, packet: int) -> None:
    """Choose the way of a packet that a source sends; if it hangs on a switch, that is left to the switch."""
    own, destination = fabric.address[at(source)], routers.pool.words[at(packet * PACKET_WORDS + DESTINATION)]
    if valiant.hangs[at(source)] and own != destination:
        valiant.by[at(packet)] |= UNDECIDED
    else:
        choose_at(route, fabric, routers, valiant, source, source, packet)


@called
def choose_at(
    route: Route, fabric: Fabric, routers: Routers, valiant: Valiant, node: int, source: int, packet: int
) -> None:
    """Send a packet straight if its hops times the packets in front of it are no more than on the way by another node.

    The packets of a message take one way, so that they stay in order.
    """
    words, last = routers.pool.words, valiant.chosen
    row, place = packet * PACKET_WORDS, source * CHOSEN_WORDS
    created, destination = words[at(row + CREATED)], wide(words[at(row + DESTINATION)])
    if last[at(place)] != created or last[at(place + 1)] != destination:
        by = wide(valiant.by[at(packet)]) & (UNDECIDED - 1)
        end, target = wide(valiant.nodes[at(by)]), wide(valiant.targets[at(by)])
        most = len(fabric.address)
        hops, _ = _hops(route, fabric, node, destination, destination, most)
        there, stop = _hops(route, fabric, node, end, target, most)
        onward, _ = _hops(route, fabric, stop, destination, destination, most)
        straight = hops * _ahead_of(route, fabric, routers, valiant, node, destination, wide(routers.first_vc))
        aside = (there + onward) * _ahead_of(route, fabric, routers, valiant, node, target, wide(0))
        if there == 0 or straight <= aside:
            by = wide(STRAIGHT)
        last[at(place)], last[at(place + 1)], last[at(place + 2)] = created, destination, by
    valiant.by[at(packet)] = last[at(place + 2)]


@inlined
def _hops(route: Route, fabric: Fabric, node: int, end: int, target: int, most: int) -> tuple[int, int]:
    """Return the hops of the way to a node, or to the target that it is routed to, and where it ends: after `most`."""
    hops, stop = wide(0), wide(node)
    own = wide(fabric.address[at(stop)])
    while own != end and own != target and hops < most:
        port = decide(route, fabric, own, target) & PORT_MASK
        stop = wide(fabric.neighbors[at(stop * fabric.ports + port)])
        own = wide(fabric.address[at(stop)])
        hops += 1
    return hops, stop


@inlined
def _ahead_of(
    route: Route, fabric: Fabric, routers: Routers, valiant: Valiant, node: int, target: int, first_vc: int
) -> int:
    """Return the packets in the virtual channel by which a router sends to a target, as far as it knows."""
    decision = decide(route, fabric, wide(fabric.address[at(node)]), target)
    output_vc = ((decision & PORT_MASK) << routers.vc_bits) + (decision >> VC_SHIFT) + first_vc
    credits = wide(routers.credits[at(node * routers.queues.size + output_vc)])
    return wide(valiant.room[at(output_vc)]) - credits


@inlined
def adapt(route: Route, state: State, node: int) -> None:
    """Choose anew the virtual channel by which each packet leaves that a router may send in this slot."""
    routers, queues, rows = state.routers, state.routers.queues, state.routers.pool.words
    for word in range(queues.words):
        bits = queues.present[at(node * queues.words + word)]
        while bits:
            queue = wide(word << 6) + trailing_zeros(bits)
            bits &= bits - 1
            row = (node * queues.size + queue) * QUEUE_WORDS
            packet, last = ends_of(queues.links, rows, row)
            head = packet
            while True:
                output_vc = _freest(route, state, node, packet)
                if packet == head:
                    order = wide(queues.links[at(row + HEAD)]) & SENT_MASK
                    queues.links[at(row + HEAD)] = output_vc << SENT_BITS | order
                else:
                    rows[at(packet * PACKET_WORDS + OUTPUT_VC)] = output_vc
                if packet == last or not routers.rounds:
                    break
                packet = wide(rows[at(packet * PACKET_WORDS + NEXT)])


@inlined
def _freest(route: Route, state: State, node: int, packet: int) -> int:
    """Return the adaptive virtual channel with the most credits of the ports that lead nearer, else that of the rule.

    Of equal ones the rule's port comes first, then the others in the order of ports.
    """
    adaptive, routers, vc_bits = state.adaptive, state.routers, state.routers.vc_bits
    credits, base, place = routers.credits, node * routers.queues.size, packet * adaptive.words
    best, most = wide(adaptive.nearer[at(place)]), wide(0)
    if best < 0:
        best = ~best
        adaptive.nearer[at(place)] = best
        _note_nearer(route, state, node, packet)
    own = best >> vc_bits
    for word in range(adaptive.words - 1):
        bits = adaptive.nearer[at(place + 1 + word)]
        while bits:
            port = wide(word * WORD) + trailing_zeros(bits)
            bits &= bits - 1
            for vc in range(routers.first_vc):
                free = 2 * wide(credits[at(base + (port << vc_bits | vc))])
                free += free > 0 and port == own
                if free > most:
                    best, most = port << vc_bits | vc, free
    return best


@inlined
def _note_nearer(route: Route, state: State, node: int, packet: int) -> None:
    """Note the ports behind which the rule has fewer hops, none where the packet is to be ejected."""
    fabric, nearer, words = state.fabric, state.adaptive.nearer, state.adaptive.words
    for word in range(1, words):
        nearer[at(packet * words + word)] = 0
    if nearer[at(packet * words)] >> state.routers.vc_bits < fabric.ports:
        destination = wide(state.routers.pool.words[at(packet * PACKET_WORDS + DESTINATION)])
        hops, _ = _hops(route, fabric, node, destination, destination, len(fabric.address))
        for port in range(fabric.ports):
            following = wide(fabric.neighbors[at(node * fabric.ports + port)])
            if following >= 0:
                onward, _ = _hops(route, fabric, following, destination, destination, hops)
                nearer[at(packet * words + 1 + port // WORD)] |= wide(onward < hops) << (port % WORD)
