"""The stages of all routers in a slot: the twin of :mod:`hdnhw.rtl.router`."""

from collections.abc import Callable

from hdnhw.model.kernel.allocator import allocate_node
from hdnhw.model.kernel.compiled import at, inlined, wide
from hdnhw.model.kernel.counter import count_slot
from hdnhw.model.kernel.memory import prefetch
from hdnhw.model.kernel.queue import holds_packet, note_arrival, push_packet, take_packet, trailing_zeros
from hdnhw.model.kernel.state import (
    DESTINATION,
    HOPS,
    PACKET_WORDS,
    QUEUE_WORDS,
    Credits,
    Nodes,
    Queues,
    Routers,
    State,
)
from hdnhw.routing.compiled import VC_SHIFT

__all__ = ["AHEAD", "Route", "allocate", "deliver", "enter", "return_credits"]

Route = Callable[[int, int], int]
"""A compiled rule of two packed addresses, see :func:`hdnhw.routing.compiled.compile_rule`."""

PORT_MASK = (1 << VC_SHIFT) - 1

AHEAD = 8
"""How many items before its turn an item's memory is asked for."""

FEW_ROUTERS = 4096
"""Routers whose state is in the cache in any order."""


@inlined
def enter(route: Route, state: State, slot: int, node: int, queue: int, packet: int) -> None:
    """Route computation: put a packet into a queue of a router, and list the router among those that hold one.

    A packet whose next channel is dead is ejected.
    """
    pool, queues, vc_bits = state.routers.pool, state.routers.queues, state.routers.vc_bits
    dead, ports, counters = state.fabric.dead, state.fabric.ports, state.counters
    decision = route(state.fabric.address[at(node)], wide(pool.words[at(packet * PACKET_WORDS + DESTINATION)]))
    if not holds_packet(queues.present, queues.words, node):
        state.busy.node[at(state.busy.length[0])] = node
        state.busy.length[0] += 1
    port = decision & PORT_MASK
    output_vc = port << vc_bits | decision >> VC_SHIFT
    if len(dead) and port < ports and dead[at(node * ports + port)]:
        output_vc = ports << vc_bits
    push_packet(pool, queues, node, queue, packet, output_vc)
    if state.routers.early:
        note_arrival(queues, node, queue, slot)
    if len(counters.sent):
        place = at(node * queues.size + queue)
        counters.held[place] -= slot
        counters.level[place] += 1


@inlined
def deliver(route: Route, state: State, slot: int) -> None:
    """Put packets that have crossed a channel into the queues of the next routers."""
    pool, queues, crossing = state.routers.pool.words, state.routers.queues, state.crossing
    now = slot % len(crossing.lengths)
    to_node, to_queue, packets = crossing.node[now], crossing.queue[now], crossing.packet[now]
    total = crossing.lengths[now]
    for item in range(total):
        if item + AHEAD < total:
            node = wide(to_node[at(item + AHEAD)])
            prefetch(pool, packets[at(item + AHEAD)] * PACKET_WORDS)
            prefetch(state.fabric.address, node)
            prefetch(queues.present, node * queues.words)
            prefetch(queues.links, (node * queues.size + to_queue[at(item + AHEAD)]) * QUEUE_WORDS)
        node, queue, packet = wide(to_node[at(item)]), wide(to_queue[at(item)]), wide(packets[at(item)])
        pool[at(packet * PACKET_WORDS + HOPS)] += 1
        enter(route, state, slot, node, queue, packet)
    crossing.lengths[now] = 0


@inlined
def return_credits(routers: Routers, returning: Credits, slot: int) -> None:
    """Count the packet buffers that have become free downstream."""
    now = slot % len(returning.lengths)
    places, total = returning.place[now], returning.lengths[now]
    for item in range(total):
        if item + AHEAD < total:
            prefetch(routers.credits, places[at(item + AHEAD)])
        routers.credits[at(places[at(item)])] += 1
    returning.lengths[now] = 0


@inlined
def allocate(state: State, slot: int, turn: int) -> int:
    """Allocate every router that holds a packet and send the winners on; return the packets sent between routers.

    What has crossed, come back or left is listed: `crossing`, `returning`, `freed` and `leaving` of the state. With
    cut-through odd routers have the first `turn` in a slot, and what they send is there when the others have theirs.
    """
    fabric, routers, busy = state.fabric, state.routers, state.busy
    queues, work, vc_bits = routers.queues, routers.work, routers.vc_bits
    crossing, returning, freed, leaving = state.crossing, state.returning, state.freed, state.leaving
    odd, halves = fabric.odd, len(fabric.odd) > 0
    # What odd routers forget, the others know a slot later; what these forget, odd ones know half a slot after that.
    now, back = slot % len(crossing.lengths), (slot + (halves and turn == 0)) % len(returning.lengths)
    to_node, to_queue, crossed, returned = (
        crossing.node[now],
        crossing.queue[now],
        crossing.packet[now],
        returning.place[back],
    )
    sent, given, free = crossing.lengths[now], returning.lengths[back], freed.length[0]
    left, kept = leaving.length[0], 0
    before, local, counting = sent, fabric.ports << vc_bits, len(state.counters.sent) > 0
    if len(routers.several) > FEW_ROUTERS and busy.length[0] * 32 > len(routers.several):
        _sort_busy(queues, busy)
    total = busy.length[0]
    for place in range(total):
        if place + 2 * AHEAD < total:
            prefetch(queues.present, busy.node[at(place + 2 * AHEAD)] * queues.words)
            _ask_ahead(state, wide(busy.node[at(place + AHEAD)]))
        node = wide(busy.node[at(place)])
        if halves and odd[at(node)] == (turn == 1):
            busy.node[at(kept)] = node
            kept += 1
            continue
        granted = allocate_node(routers, slot, node)
        if counting:
            count_slot(routers, state.counters, slot, node, granted)
        for grant in range(granted):
            queue, output_vc = work.queue[at(grant)], work.output_vc[at(grant)]
            packet = take_packet(routers.pool, queues, node, queue, output_vc)
            if queue < local:
                behind = wide(fabric.neighbors[at(node * fabric.ports + (queue >> vc_bits))])
                returned[at(given)] = behind * queues.size + fabric.mirror[at(queue)]
                given += 1
            else:
                freed.node[at(free)] = node
                free += 1
            if output_vc < local:
                to_node[at(sent)] = fabric.neighbors[at(node * fabric.ports + (output_vc >> vc_bits))]
                to_queue[at(sent)] = fabric.mirror[at(output_vc)]
                crossed[at(sent)] = packet
                sent += 1
            else:
                leaving.node[at(left)] = node
                leaving.packet[at(left)] = packet
                left += 1
        if holds_packet(queues.present, queues.words, node):
            busy.node[at(kept)] = node
            kept += 1
    crossing.lengths[now], returning.lengths[back], freed.length[0], leaving.length[0] = sent, given, free, left
    busy.length[0] = kept
    return wide(sent - before)


@inlined
def _ask_ahead(state: State, node: int) -> None:
    """Ask for the memory that allocation of a router will look at: all of it if one queue holds a packet."""
    queues, credits, ports = state.routers.queues, state.routers.credits, state.fabric.ports
    first = trailing_zeros(queues.present[at(node * queues.words)])
    prefetch(queues.links, (node * queues.size + first) * QUEUE_WORDS)
    prefetch(credits, node * queues.size)
    prefetch(credits, (node + 1) * queues.size - 1)
    prefetch(state.fabric.neighbors, node * ports)
    prefetch(state.fabric.neighbors, (node + 1) * ports - 1)


@inlined
def _sort_busy(queues: Queues, busy: Nodes) -> None:
    """List the routers that hold a packet in the order of memory: if they are many, that is worth a look at all."""
    listed = 0
    for node in range(len(queues.present) // queues.words):
        if holds_packet(queues.present, queues.words, node):
            busy.node[at(listed)] = node
            listed += 1
    busy.length[0] = listed
