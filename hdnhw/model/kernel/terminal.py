"""Terminals: sources that send into the fabric, and sinks that take packets out of it."""

import numpy as np
import numpy.typing as npt

from hdnhw.model.kernel.compiled import at, inlined, prefetch, wide
from hdnhw.model.kernel.counter import count_injected, count_waiting
from hdnhw.model.kernel.router import AHEAD, enter
from hdnhw.model.kernel.state import (
    ANYWHERE,
    AT_HOME,
    CREATED,
    DESTINATION,
    ENDED,
    HEAD_CYCLE,
    HOPS,
    LEAVING,
    LINE,
    NEXT,
    NODE,
    PACE,
    PACKET_WORDS,
    ROW,
    SENDING,
    TAG,
    TAIL_CYCLE,
    Arrivals,
    Offers,
    State,
    Valiant,
)
from hdnhw.model.kernel.ways import Route, choose

__all__ = [
    "advance_generators",
    "eject_cycle",
    "eject_slot",
    "inject_cycle",
    "inject_gapless",
    "inject_slot",
    "offer",
    "store_leaving",
]


@inlined
def _ahead(state: State, node: int) -> int:
    """Return by how much the kernel's number of a cycle at a node is ahead of what others call it."""
    odd = state.fabric.odd
    return wide(state.phases.offset) if len(odd) and odd[at(node)] else wide(0)


@inlined
def _end(state: State, part: int) -> int:
    """Return the node behind the last one of a part."""
    return min((part + 1) << state.parts.bits, len(state.fabric.address))


@inlined
def advance_generators(state: State, part: int, cycle: int) -> None:
    """Step the generators of a part, see :func:`hdnhw.traffic.packets.advance_generators`, from reset on."""
    states = state.generators
    for node in range(part << state.parts.bits, _end(state, part)):
        if cycle < _ahead(state, node):
            continue
        word = wide(states[node])  # Numba widens 32-bit arithmetic, so the shifts to the left are cut back by hand
        word ^= (word << 13) & 0xFFFFFFFF
        word ^= word >> 17
        word ^= (word << 5) & 0xFFFFFFFF
        states[node] = np.uint32(word)


@inlined
def offer(state: State, offers: Offers, item: int, total: int) -> None:
    """Put a packet, which the order of arrivals names, at the end of what a source has to send.

    Packets take the last rows that are free, from the end, in the order of their numbers.
    """
    pool, lasts, bits = state.routers.pool, state.sources.last, state.parts.bits
    arrivals, order = offers.arrivals, offers.order
    if item + AHEAD < total:
        prefetch(lasts, wide(arrivals.node[at(order[at(item + AHEAD)])]))
    number = wide(order[at(item)])
    packet, node = wide(pool.free[at(pool.num_free[0] - 1 - number)]), wide(arrivals.node[at(number)])
    row = packet * PACKET_WORDS
    pool.words[at(row + DESTINATION)] = arrivals.destination[at(number)]
    pool.words[at(row + CREATED)] = arrivals.cycle[at(number)]
    pool.words[at(row + HEAD_CYCLE)] = -1
    pool.words[at(row + TAG)] = arrivals.tag[at(number)]
    pool.words[at(row + HOPS)] = 0
    pool.words[at(row + PACE)] = ANYWHERE
    if len(state.valiant.nodes):
        _draw(state.valiant, arrivals, number, packet)
    last, first = wide(lasts[at(node)]), packet
    if last < 0:
        length = at((node >> bits) * LINE + SENDING)
        state.sources.busy[at((node >> bits << bits) + state.parts.lengths[length])] = node
        state.parts.lengths[length] += 1
    else:
        first = wide(pool.words[at(last * PACKET_WORDS + NEXT)])
        pool.words[at(last * PACKET_WORDS + NEXT)] = packet
    pool.words[at(row + NEXT)] = first
    lasts[at(node)] = packet


@inlined
def _draw(valiant: Valiant, arrivals: Arrivals, number: int, packet: int) -> None:
    """Draw the node that a packet goes by: the same one for all packets of a message, so that they stay in order.

    It follows from cycle, source and destination, as random numbers do from a seed (the finalizer of SplitMix64, Steele
    and others, OOPSLA 2014).
    """
    word = wide(arrivals.cycle[at(number)]) * 0x1F123BB5159A55E5
    word += wide(arrivals.node[at(number)]) * 0x5851F42D4C957F2D + wide(arrivals.destination[at(number)])
    word = (word ^ (word >> 30 & 0x3FFFFFFFF)) * -0x40A7B892E31B1A47
    word = (word ^ (word >> 27 & 0x1FFFFFFFFF)) * -0x6B2FB644ECCEEE15
    word ^= word >> 31 & 0x1FFFFFFFF
    valiant.by[at(packet)] = (word & 0x7FFFFFFFFFFFFFFF) % len(valiant.nodes)


@inlined
def _first(state: State, node: int) -> int:
    """Return the first packet of a source that has one to send."""
    return wide(state.routers.pool.words[at(wide(state.sources.last[at(node)]) * PACKET_WORDS + NEXT)])


@inlined
def _accept(route: Route, state: State, slot: int, part: int, node: int) -> int:
    """Take the tail of a source's packet, or the head of a gapless one; return 1 if it is dropped, for no node.

    It enters the injection queue. One that is dropped keeps its row of the pool, as a record.
    """
    pool, sources = state.routers.pool, state.sources
    count_injected(state, node)
    packet, last = _first(state, node), wide(sources.last[at(node)])
    if packet == last:
        sources.last[at(node)] = -1
    else:
        pool.words[at(last * PACKET_WORDS + NEXT)] = pool.words[at(packet * PACKET_WORDS + NEXT)]
    sources.position[at(node)] = 0
    if pool.words[at(packet * PACKET_WORDS + DESTINATION)] < 0:
        sources.dropped[at(node)] += 1
        return 1
    sources.occupied[at(node)] += 1
    if len(state.valiant.chosen):
        choose(route, state.fabric, state.routers, state.valiant, node, packet)
    enter(route, state, slot, part, node, state.fabric.ports << state.routers.vc_bits, packet)
    return 0


@inlined
def inject_slot(route: Route, state: State, slot: int, part: int, begin: int, tails: bool) -> int:
    """Sources that never pause offer flits for a slot that begins in cycle `begin` and ends in an update phase.

    A packet whose head is accepted in the first cycle is complete in the last one, if `tails` are accepted there at
    all; another one waits for the next update phase. Return how many were dropped.
    """
    sources, pool, buffers = state.sources, state.routers.pool.words, state.fabric.buffers
    lasts, busy = sources.last, sources.busy
    length, first, drops = at(part * LINE + SENDING), part << state.parts.bits, 0
    kept, total = first, first + state.parts.lengths[length]
    for place in range(first, total):
        if place + AHEAD < total:
            node = wide(busy[at(place + AHEAD)])
            prefetch(lasts, node)
            prefetch(sources.position, node)
            prefetch(sources.occupied, node)
        node = wide(busy[at(place)])
        if sources.occupied[at(node)] < buffers:
            complete = sources.position[at(node)] > 0
            if not complete:
                row, ahead = _first(state, node) * PACKET_WORDS, _ahead(state, node)
                start = max(wide(pool[at(row + CREATED)]) + ahead, begin, 0)
                if start < begin + state.phases.length:
                    pool[at(row + HEAD_CYCLE)] = start - ahead
                    sources.position[at(node)] = 1
                    complete = start == begin
            if complete and tails:
                drops += _accept(route, state, slot, part, node)
        elif tails:
            count_waiting(state, node)
        if lasts[at(node)] >= 0:
            busy[at(kept)] = node
            kept += 1
    state.parts.lengths[length] = kept - first
    return drops


@inlined
def inject_gapless(route: Route, state: State, slot: int, part: int, cycle: int, taken: bool) -> int:
    """Sources offer the heads of gapless packets, which are accepted only if `taken`; return how many were dropped.

    Sources that never pause need not be asked in other cycles.
    """
    sources, pool, buffers, gap = state.sources, state.routers.pool.words, state.fabric.buffers, state.pauses.gap
    lasts, busy, position = sources.last, sources.busy, sources.position
    length, begin, drops = at(part * LINE + SENDING), part << state.parts.bits, 0
    kept, total = begin, begin + state.parts.lengths[length]
    if gap and taken:
        for node in range(begin, _end(state, part)):
            position[at(node)] = 0
    for place in range(begin, total):
        if place + AHEAD < total:
            node = wide(busy[at(place + AHEAD)])
            prefetch(lasts, node)
            prefetch(sources.occupied, node)
        node = wide(busy[at(place)])
        busy[at(kept)] = node
        kept += 1
        row, ahead = _first(state, node) * PACKET_WORDS, _ahead(state, node)
        if position[at(node)] or max(wide(pool[at(row + CREATED)]) + ahead, 0) > cycle:
            continue
        if gap and not sources.offering[at(node)] and (state.generators[at(node)] & np.uint32(255)) < gap:
            continue
        sources.offering[at(node)] = 1
        if not taken:
            continue
        if sources.occupied[at(node)] == buffers:
            count_waiting(state, node)
            continue
        pool[at(row + HEAD_CYCLE)] = cycle - ahead
        drops += _accept(route, state, slot, part, node)
        sources.offering[at(node)], position[at(node)] = 0, gap > 0
        if lasts[at(node)] < 0:
            kept -= 1
    state.parts.lengths[length] = kept - begin
    return drops


@inlined
def inject_cycle(route: Route, state: State, slot: int, part: int, cycle: int, tails: bool) -> int:
    """Sources that pause offer a flit each; a tail is accepted only if `tails`. Return how many were dropped."""
    sources, pool, flits, gap = state.sources, state.routers.pool.words, state.phases.length, state.pauses.gap
    lasts, busy, position = sources.last, sources.busy, sources.position
    length, begin, drops = at(part * LINE + SENDING), part << state.parts.bits, 0
    kept = begin
    for place in range(begin, begin + state.parts.lengths[length]):
        node = wide(busy[place])
        busy[kept] = node
        kept += 1
        row, ahead = _first(state, node) * PACKET_WORDS, _ahead(state, node)
        if pool[at(row + CREATED)] + ahead > cycle:
            continue
        if not sources.offering[node] and (state.generators[node] & np.uint32(255)) < gap:
            continue
        full = sources.occupied[node] == state.fabric.buffers
        if full or (position[node] == flits - 1 and not tails):
            if tails:
                count_waiting(state, node)
            sources.offering[node] = 1
            continue
        sources.offering[node] = 0
        if position[node] == 0:
            pool[at(row + HEAD_CYCLE)] = cycle - ahead
        position[node] += 1
        if position[node] == flits:
            drops += _accept(route, state, slot, part, node)
            if lasts[node] < 0:
                kept -= 1
    state.parts.lengths[length] = kept - begin
    return drops


@inlined
def eject_slot(state: State, slot: int, part: int, cycle: int, left: int) -> int:
    """Sinks of a part that never pause take the tails of all packets in `cycle`; return the packets that have left."""
    leaving, ejected, parts, size = state.leaving, state.ejected, state.parts, state.routers.queues.size
    local, now, begin = state.fabric.ports << state.routers.vc_bits, slot % ejected.slots, part << parts.bits
    number, first = parts.lengths[at(part * LINE + LEAVING)], now * len(state.fabric.address) + begin
    for item in range(number):
        node = wide(leaving.node[at(begin + item)])
        _leave(state, wide(leaving.packet[at(begin + item)]), node, cycle, left + item)
        ejected.place[at(first + item)] = node * size + local
    ejected.lengths[at((now * parts.number + part) * LINE)] = number
    return wide(left + number)


@inlined
def store_leaving(state: State, part: int, ready: int) -> None:
    """Put packets into the ejection buffers of sinks that pause; flit p can be taken from cycle ``ready + p`` on."""
    sinks, leaving, begin = state.sinks, state.leaving, part << state.parts.bits
    for item in range(begin, begin + state.parts.lengths[at(part * LINE + LEAVING)]):
        node = leaving.node[item]
        place = (sinks.head[node] + sinks.level[node]) % sinks.packet.shape[1]
        sinks.packet[node, place], sinks.ready[node, place] = leaving.packet[item], ready
        sinks.level[node] += 1


@inlined
def eject_cycle(state: State, part: int, cycle: int, left: int, late: bool) -> int:
    """Sinks that pause take a flit each; return the packets that have left so far.

    Where it is `late`, the place of a packet is free an allocation later.
    """
    sinks, routers, stall, ejected = state.sinks, state.routers, state.pauses.stall, state.ejected
    for node in range(part << state.parts.bits, _end(state, part)):
        if sinks.level[node] == 0 or cycle - _ahead(state, node) < state.pauses.hold:
            continue
        place = sinks.head[node]
        if sinks.ready[node, place] + sinks.taken[node] > cycle:
            continue
        packet = wide(sinks.packet[node, place])
        pauses = ((state.generators[node] >> np.uint32(8)) & np.uint32(255)) < stall
        if pauses and _may_pause(routers.pool.words, packet, state.fabric.address[node]):
            continue
        sinks.taken[node] += 1
        if sinks.taken[node] == state.phases.length:
            sinks.taken[node] = 0
            sinks.head[node] = (place + 1) % sinks.packet.shape[1]
            sinks.level[node] -= 1
            output_vc = node * routers.queues.size + (state.fabric.ports << routers.vc_bits)
            if late:
                ejected.place[(part << state.parts.bits) + ejected.lengths[part * LINE]] = output_vc
                ejected.lengths[part * LINE] += 1
            else:
                routers.credits[output_vc] += 1
            _leave(state, packet, node, cycle, left)
            left += 1
    return left


@inlined
def _may_pause(pool: npt.NDArray[np.int32], packet: int, address: int) -> bool:
    """Tell whether a sink at an address may pause before a packet."""
    pace = pool[at(packet * PACKET_WORDS + PACE)]
    return bool(pace == ANYWHERE or (pace == AT_HOME and pool[at(packet * PACKET_WORDS + DESTINATION)] == address))


@inlined
def _leave(state: State, packet: int, node: int, cycle: int, left: int) -> None:
    """Record a packet whose tail is taken in a cycle."""
    pool, out = state.routers.pool.words, state.out
    rows = len(out) // PACKET_WORDS
    for word in (DESTINATION, CREATED, HEAD_CYCLE, TAG, HOPS):
        out[at(word * rows + left)] = pool[at(packet * PACKET_WORDS + word)]
    out[at(NODE * rows + left)] = node
    tail = cycle - _ahead(state, node)
    out[at(TAIL_CYCLE * rows + left)] = tail
    state.progress[ENDED] = max(state.progress[ENDED], tail + 1)
    out[at(ROW * rows + left)] = packet
