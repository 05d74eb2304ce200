"""The stages of all routers in a slot: the twin of :mod:`hdnhw.rtl.router`."""

from hdnhw.model.kernel.allocator import allocate_node, note_sent
from hdnhw.model.kernel.compiled import at, inlined, prefetch, trailing_zeros, wide
from hdnhw.model.kernel.counter import count_slot
from hdnhw.model.kernel.queue import holds_packet, note_arrival, push_packet, take_packet
from hdnhw.model.kernel.state import (
    BUSY,
    DESTINATION,
    FREED,
    HOPS,
    ITEM_WORDS,
    LEAVING,
    LINE,
    PACKET_WORDS,
    QUEUE_WORDS,
    UNDECIDED,
    Mail,
    Parts,
    State,
    Words,
)
from hdnhw.model.kernel.ways import PORT_MASK, Route, adapt, choose_at, decide
from hdnhw.rules.decision import VC_SHIFT

__all__ = ["AHEAD", "allocate", "deliver", "enter", "return_credits", "return_ejected"]

AHEAD = 8
"""How many items before its turn an item's memory is asked for."""


@inlined
def _list(nodes: Words, parts: Parts, part: int, name: int, node: int) -> None:
    """Put a node at the end of a list of a part."""
    length = at(part * LINE + name)
    nodes[at((part << parts.bits) + parts.lengths[length])] = node
    parts.lengths[length] += 1


@inlined
def _list_busy(state: State, part: int, node: int) -> None:
    """List a router that gets a packet among those that hold one, unless it holds one already.

    There is no branch, as the processor would often foretell it wrongly.
    """
    queues, length = state.routers.queues, at(part * LINE + BUSY)
    state.busy[at((part << state.parts.bits) + part + state.parts.lengths[length])] = node
    state.parts.lengths[length] += not holds_packet(queues.present, queues.words, node)


@inlined
def enter(route: Route, state: State, slot: int, part: int, node: int, queue: int, packet: int) -> None:
    """Route computation: put a packet into a queue of a router, and list the router among those that hold one.

    A packet whose next channel is dead is ejected.
    """
    pool, queues, vc_bits = state.routers.pool, state.routers.queues, state.routers.vc_bits
    dead, ports, counters, valiant = state.fabric.dead, state.fabric.ports, state.counters, state.valiant
    own, target = wide(state.fabric.address[at(node)]), wide(pool.words[at(packet * PACKET_WORDS + DESTINATION)])
    first_vc = wide(state.routers.first_vc)
    if len(valiant.nodes):
        if valiant.by[at(packet)] >= UNDECIDED and queue < ports << vc_bits:
            source = wide(state.fabric.neighbors[at(node * ports + (queue >> vc_bits))])
            choose_at(route, state.fabric, state.routers, valiant, node, source, packet)
        by = wide(valiant.by[at(packet)])
        first = by & (UNDECIDED - 1)
        if by >= 0 and (valiant.nodes[at(first)] == own or valiant.targets[at(first)] == own):
            by = ~first
            valiant.by[at(packet)] = by
        if by >= 0:
            target, first_vc = wide(valiant.targets[at(first)]), wide(0)
    decision = decide(route, state.fabric, own, target)
    _list_busy(state, part, node)
    port = decision & PORT_MASK
    output_vc = port << vc_bits | decision >> VC_SHIFT
    if first_vc and port < ports:
        output_vc += first_vc
    if len(state.adaptive.nearer):
        state.adaptive.nearer[at(packet * state.adaptive.words)] = ~output_vc
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
def deliver(route: Route, state: State, slot: int, turn: int, part: int) -> None:
    """Put packets that have crossed a channel into the queues of a part's routers."""
    pool, queues, crossing, parts = state.routers.pool.words, state.routers.queues, state.crossing, state.parts
    now = (_step(state, slot, turn) + 1) % crossing.slots
    for thread in range(parts.threads):
        box, begin = _box(crossing, parts, now, thread, part), _begin(crossing, parts, now, thread, part)
        words, total = crossing.words, crossing.ends[box]
        asked = total if parts.number > 1 else begin  # what one part holds is in the cache
        for item in range(begin, total):
            if item + AHEAD < asked:
                place = (item + AHEAD) * ITEM_WORDS
                node = wide(words[at(place)])
                prefetch(pool, wide(words[at(place + 2)]) * PACKET_WORDS)
                prefetch(state.fabric.address, node)
                prefetch(queues.present, node * queues.words)
                prefetch(queues.links, (node * queues.size + words[at(place + 1)]) * QUEUE_WORDS)
            place = item * ITEM_WORDS
            node, queue, packet = wide(words[at(place)]), wide(words[at(place + 1)]), wide(words[at(place + 2)])
            pool[at(packet * PACKET_WORDS + HOPS)] += 1
            enter(route, state, slot, part, node, queue, packet)
        crossing.ends[box] = begin


@inlined
def return_credits(state: State, slot: int, part: int) -> None:
    """Count the packet buffers that have become free downstream of a part's routers."""
    credits, returning, parts = state.routers.credits, state.returning, state.parts
    now = slot % returning.slots
    for thread in range(parts.threads):
        box, begin = _box(returning, parts, now, thread, part), _begin(returning, parts, now, thread, part)
        total = returning.ends[box]
        asked = total if parts.number > 1 else begin
        for item in range(begin, total):
            if item + 4 * AHEAD < asked:
                prefetch(credits, wide(returning.words[at(item + 4 * AHEAD)]))
            credits[at(returning.words[at(item)])] += 1
        returning.ends[box] = begin


@inlined
def return_ejected(state: State, slot: int, part: int) -> None:
    """Count the places that have become free in the ejection buffers of a part."""
    ejected, parts = state.ejected, state.parts
    now = slot % ejected.slots
    begin, length = now * len(state.fabric.address) + (part << parts.bits), at((now * parts.number + part) * LINE)
    for item in range(begin, begin + ejected.lengths[length]):
        state.routers.credits[at(ejected.place[at(item)])] += 1
    ejected.lengths[length] = 0


@inlined
def _step(state: State, slot: int, turn: int) -> int:
    """Return the number of a turn, of which a slot has two with cut-through."""
    return 2 * slot + turn if len(state.fabric.odd) else slot


@inlined
def _box(mail: Mail, parts: Parts, now: int, thread: int, part: int) -> int:
    """Return where the end of a thread's mail for a part stands."""
    return at((now * parts.threads + thread) * mail.stride + part)


@inlined
def _begin(mail: Mail, parts: Parts, now: int, thread: int, part: int) -> int:
    """Return the first item of a thread's mail for a part."""
    return wide(now * mail.room + parts.first[at(thread * parts.number + part)])


@inlined
def allocate(route: Route, state: State, slot: int, turn: int, part: int) -> int:
    """Allocate every router of a part that holds a packet and send the winners on.

    What has crossed, come back or left is listed: `crossing`, `returning`, `freed` and `leaving` of the state. With
    cut-through odd routers have the first `turn` in a slot, and what they send is there when the others have theirs.
    Return the packets sent between routers.
    """
    fabric, routers, busy, parts = state.fabric, state.routers, state.busy, state.parts
    queues, work, vc_bits = routers.queues, routers.work, routers.vc_bits
    odd, halves, counting = fabric.odd, len(fabric.odd) > 0, len(state.counters.sent) > 0
    adapts = len(state.adaptive.nearer) > 0
    local, sent = fabric.ports << vc_bits, wide(0)
    # What odd routers forget, the others know a slot later; what these forget, odd ones know half a slot after that.
    now = _step(state, slot, turn) % state.crossing.slots
    back = (slot + (1 if halves and turn == 0 else state.returning.slots - 1)) % state.returning.slots
    begin, length = part << parts.bits, at(part * LINE + BUSY)
    kept = begin + part
    total = kept + parts.lengths[length]
    asked = total if parts.number > 1 else kept
    for place in range(begin + part, total):
        if place + 2 * AHEAD < asked:
            prefetch(queues.present, busy[at(place + 2 * AHEAD)] * queues.words)
            _ask_ahead(state, wide(busy[at(place + AHEAD)]))
        node = wide(busy[at(place)])
        if halves and odd[at(node)] == (turn == 1):
            busy[at(kept)] = node
            kept += 1
            continue
        if adapts:
            adapt(route, state, node)
        granted = allocate_node(routers, slot, node)
        if counting:
            count_slot(routers, state.counters, slot, node, granted)
        for grant in range(granted):
            queue, output_vc = work.queue[at(grant)], work.output_vc[at(grant)]
            note_sent(routers, slot, node, queue, output_vc)
            packet = take_packet(routers.pool, queues, node, queue, output_vc)
            if queue < local:
                _return_credit(state, back, node, queue)
            else:
                _list(state.freed, parts, part, FREED, node)
            if output_vc < local:
                _send(state, now, node, output_vc, packet)
                sent += 1
            else:
                state.leaving.packet[at(begin + parts.lengths[at(part * LINE + LEAVING)])] = packet
                _list(state.leaving.node, parts, part, LEAVING, node)
        busy[at(kept)] = node
        kept += holds_packet(queues.present, queues.words, node)
    parts.lengths[length] = kept - begin - part
    return sent


@inlined
def _return_credit(state: State, back: int, node: int, queue: int) -> None:
    """Tell the router before a queue that a packet has left it."""
    fabric, mail, size = state.fabric, state.returning, state.routers.queues.size
    behind = wide(fabric.neighbors[at(node * fabric.ports + (queue >> state.routers.vc_bits))])
    box = _box(mail, state.parts, back, state.parts.thread, behind >> state.parts.bits)
    item = mail.ends[box]
    mail.words[at(item)] = behind * size + fabric.mirror[at(queue)]
    mail.ends[box] = item + 1


@inlined
def _send(state: State, now: int, node: int, output_vc: int, packet: int) -> None:
    """Send a packet over a channel between routers."""
    fabric, mail = state.fabric, state.crossing
    to = wide(fabric.neighbors[at(node * fabric.ports + (output_vc >> state.routers.vc_bits))])
    box = _box(mail, state.parts, now, state.parts.thread, to >> state.parts.bits)
    item = mail.ends[box]
    place = item * ITEM_WORDS
    mail.words[at(place)] = to
    mail.words[at(place + 1)] = fabric.mirror[at(output_vc)]
    mail.words[at(place + 2)] = packet
    mail.ends[box] = item + 1


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
