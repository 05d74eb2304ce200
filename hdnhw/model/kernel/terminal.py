"""Terminals: sources that send into the fabric, and sinks that take packets out of it."""

import numpy as np
import numpy.typing as npt

from hdnhw.model.kernel.compiled import at, inlined, wide
from hdnhw.model.kernel.counter import count_injected, count_waiting
from hdnhw.model.kernel.memory import prefetch
from hdnhw.model.kernel.queue import push_packet, take_packet
from hdnhw.model.kernel.router import AHEAD, Route, enter
from hdnhw.model.kernel.state import (
    ANYWHERE,
    AT_HOME,
    CREATED,
    DESTINATION,
    FIRST,
    HEAD_CYCLE,
    HOPS,
    NODE,
    PACE,
    PACKET_WORDS,
    QUEUE_WORDS,
    TAG,
    TAIL_CYCLE,
    Arrivals,
    State,
)

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
def advance_generators(state: State, cycle: int) -> None:
    """Step the generators of all terminals, see :func:`hdnhw.traffic.packets.advance_generators`, from reset on."""
    states = state.generators
    for node in range(len(states)):
        if cycle < _ahead(state, node):
            continue
        word = wide(states[node])  # Numba widens 32-bit arithmetic, so the shifts to the left are cut back by hand
        word ^= (word << 13) & 0xFFFFFFFF
        word ^= word >> 17
        word ^= (word << 5) & 0xFFFFFFFF
        states[node] = np.uint32(word)


@inlined
def offer(state: State, arrivals: Arrivals, number: int) -> None:
    """Put a packet at the end of what a source has to send."""
    pool, backlog, busy = state.routers.pool, state.sources.backlog, state.sources.busy
    if number + AHEAD < len(arrivals.node):
        prefetch(backlog.links, arrivals.node[at(number + AHEAD)] * QUEUE_WORDS)
        prefetch(backlog.present, arrivals.node[at(number + AHEAD)])
    pool.num_free[0] -= 1
    packet, node = wide(pool.free[at(pool.num_free[0])]), wide(arrivals.node[at(number)])
    row = packet * PACKET_WORDS
    pool.words[at(row + DESTINATION)] = arrivals.destination[at(number)]
    pool.words[at(row + CREATED)] = arrivals.cycle[at(number)]
    pool.words[at(row + HEAD_CYCLE)] = -1
    pool.words[at(row + TAG)] = arrivals.tag[at(number)]
    pool.words[at(row + HOPS)] = 0
    pool.words[at(row + PACE)] = ANYWHERE
    if not backlog.present[at(node)]:
        busy.node[at(busy.length[0])] = node
        busy.length[0] += 1
    push_packet(pool, backlog, node, 0, packet, 0)


@inlined
def _accept(route: Route, state: State, slot: int, node: int) -> int:
    """Take the tail of a source's packet, or the head of a gapless one; return 1 if it is dropped, for no node.

    It enters the injection queue. One that is dropped keeps its row of the pool, as a record.
    """
    pool, sources = state.routers.pool, state.sources
    count_injected(state, node)
    packet = take_packet(pool, sources.backlog, node, 0, 0)
    sources.position[at(node)] = 0
    if pool.words[at(packet * PACKET_WORDS + DESTINATION)] < 0:
        sources.dropped[at(node)] += 1
        return 1
    sources.occupied[at(node)] += 1
    enter(route, state, slot, node, state.fabric.ports << state.routers.vc_bits, packet)
    return 0


@inlined
def inject_slot(route: Route, state: State, slot: int, begin: int, tails: bool) -> int:
    """Sources that never pause offer flits for a slot that begins in cycle `begin` and ends in an update phase.

    A packet whose head is accepted in the first cycle is complete in the last one, if `tails` are accepted there at
    all; another one waits for the next update phase. Return how many were dropped.
    """
    sources, pool, buffers = state.sources, state.routers.pool.words, state.fabric.buffers
    links, waiting, busy = sources.backlog.links, sources.backlog.present, sources.busy
    drops, kept, total = 0, 0, busy.length[0]
    for place in range(total):
        if place + AHEAD < total:
            node = wide(busy.node[at(place + AHEAD)])
            prefetch(links, node * QUEUE_WORDS)
            prefetch(sources.position, node)
            prefetch(sources.occupied, node)
        node = wide(busy.node[at(place)])
        if sources.occupied[at(node)] < buffers:
            complete = sources.position[at(node)] > 0
            if not complete:
                row, ahead = wide(links[at(node * QUEUE_WORDS + FIRST)]) * PACKET_WORDS, _ahead(state, node)
                start = max(wide(pool[at(row + CREATED)]) + ahead, begin, 0)
                if start < begin + state.phases.length:
                    pool[at(row + HEAD_CYCLE)] = start - ahead
                    sources.position[at(node)] = 1
                    complete = start == begin
            if complete and tails:
                drops += _accept(route, state, slot, node)
        elif tails:
            count_waiting(state, node)
        if waiting[at(node)]:
            busy.node[at(kept)] = node
            kept += 1
    busy.length[0] = kept
    return drops


@inlined
def inject_gapless(route: Route, state: State, slot: int, cycle: int, taken: bool) -> int:
    """Sources offer the heads of gapless packets, which are accepted only if `taken`; return how many were dropped.

    Sources that never pause need not be asked in other cycles.
    """
    sources, pool, buffers, gap = state.sources, state.routers.pool.words, state.fabric.buffers, state.pauses.gap
    links, waiting, busy, position = sources.backlog.links, sources.backlog.present, sources.busy, sources.position
    drops, kept, total = 0, 0, busy.length[0]
    if gap and taken:
        position[:] = 0
    for place in range(total):
        if place + AHEAD < total:
            node = wide(busy.node[at(place + AHEAD)])
            prefetch(links, node * QUEUE_WORDS)
            prefetch(sources.occupied, node)
        node = wide(busy.node[at(place)])
        busy.node[at(kept)] = node
        kept += 1
        row, ahead = wide(links[at(node * QUEUE_WORDS + FIRST)]) * PACKET_WORDS, _ahead(state, node)
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
        drops += _accept(route, state, slot, node)
        sources.offering[at(node)], position[at(node)] = 0, gap > 0
        if not waiting[at(node)]:
            kept -= 1
    busy.length[0] = kept
    return drops


@inlined
def inject_cycle(route: Route, state: State, slot: int, cycle: int, tails: bool) -> int:
    """Sources that pause offer a flit each; a tail is accepted only if `tails`. Return how many were dropped."""
    sources, pool, length, gap = state.sources, state.routers.pool.words, state.phases.length, state.pauses.gap
    links, waiting, busy, position = sources.backlog.links, sources.backlog.present, sources.busy, sources.position
    drops, kept = 0, 0
    for place in range(busy.length[0]):
        node = wide(busy.node[place])
        busy.node[kept] = node
        kept += 1
        row, ahead = wide(links[node * QUEUE_WORDS + FIRST]) * PACKET_WORDS, _ahead(state, node)
        if pool[at(row + CREATED)] + ahead > cycle:
            continue
        if not sources.offering[node] and (state.generators[node] & np.uint32(255)) < gap:
            continue
        full = sources.occupied[node] == state.fabric.buffers
        if full or (position[node] == length - 1 and not tails):
            if tails:
                count_waiting(state, node)
            sources.offering[node] = 1
            continue
        sources.offering[node] = 0
        if position[node] == 0:
            pool[at(row + HEAD_CYCLE)] = cycle - ahead
        position[node] += 1
        if position[node] == length:
            drops += _accept(route, state, slot, node)
            if not waiting[node]:
                kept -= 1
    busy.length[0] = kept
    return drops


@inlined
def eject_slot(state: State, slot: int, cycle: int, left: int) -> int:
    """Sinks that never pause take the tails of all packets in `cycle`; return the packets that have left so far."""
    leaving, ejected, size = state.leaving, state.ejected, state.routers.queues.size
    local, now = state.fabric.ports << state.routers.vc_bits, slot % len(ejected.lengths)
    for item in range(leaving.length[0]):
        node = wide(leaving.node[at(item)])
        _leave(state, wide(leaving.packet[at(item)]), node, cycle, left + item)
        ejected.place[now, at(item)] = node * size + local
    ejected.lengths[now] = leaving.length[0]
    return wide(left + leaving.length[0])


@inlined
def store_leaving(state: State, ready: int) -> None:
    """Put packets into the ejection buffers of sinks that pause; flit p can be taken from cycle ``ready + p`` on."""
    sinks, leaving = state.sinks, state.leaving
    for item in range(leaving.length[0]):
        node = leaving.node[item]
        place = (sinks.head[node] + sinks.level[node]) % sinks.packet.shape[1]
        sinks.packet[node, place], sinks.ready[node, place] = leaving.packet[item], ready
        sinks.level[node] += 1


@inlined
def eject_cycle(state: State, cycle: int, left: int, late: bool) -> int:
    """Sinks that pause take a flit each; return the packets that have left so far.

    Where it is `late`, the place of a packet is free an allocation later.
    """
    sinks, routers, stall, ejected = state.sinks, state.routers, state.pauses.stall, state.ejected
    for node in range(len(sinks.head)):
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
                ejected.place[0, ejected.lengths[0]] = output_vc
                ejected.lengths[0] += 1
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
    """Record a packet whose tail is taken in a cycle; its row of the pool is free again."""
    pool, out = state.routers.pool, state.out
    for word in range(PACKET_WORDS):
        out[at(left * PACKET_WORDS + word)] = pool.words[at(packet * PACKET_WORDS + word)]
    out[at(left * PACKET_WORDS + NODE)] = node
    out[at(left * PACKET_WORDS + TAIL_CYCLE)] = cycle - _ahead(state, node)
    pool.free[at(pool.num_free[0])] = packet
    pool.num_free[0] += 1
