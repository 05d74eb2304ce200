"""The stages of routers and terminals on arrays, under the names they have in :mod:`hdnhw.rtl`.

All kernels stand in this file, since Numba keeps compiled code by the file in which a function is written.

Array axes: node, port (the last one is injection, or ejection), virtual channel. Packets are rows of a pool, and queues
are lists of them; work is done for what is there alone: routers that hold a packet, sources that have one to send,
packets on channels, credits on their way.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit
from numba.cpython.unsafe import numbers

from hdnhw.model.borrow import borrow
from hdnhw.routing.compiled import VC_SHIFT
from hdnhw.timing import SlotTiming

__all__ = [
    "CREATED",
    "DESTINATION",
    "ENDED",
    "HEAD_CYCLE",
    "HOPS",
    "LEFT",
    "LOST",
    "POSSIBLE",
    "PROGRESS",
    "SENT",
    "SOURCE",
    "allocate_node",
    "make_flows",
    "make_orders",
    "make_pool",
    "make_queues",
    "make_terminals",
    "make_work",
    "pop_packet",
    "push_packet",
    "simulate",
]

PORT_MASK = (1 << VC_SHIFT) - 1

trailing_zeros: Any = numbers.trailing_zeros  # an intrinsic: called without the context that its type asks for

DESTINATION, CREATED, HEAD_CYCLE, POSSIBLE, NEXT, WAY, HOPS, SOURCE = range(8)
FIELDS = 8
"""Columns of the pool of packets: packed destination; cycle before which it is not offered; cycle in which its head
flit was accepted; whether the destination is a node; the packet behind it in a queue; its routing decision at the
router where it is, ``port | vc << VC_SHIFT``; channels that it has crossed; and the node that it comes from, for those
who want to know."""

CYCLE, SLOT, ENDED, SENT, LOST, LEFT = range(6)
PROGRESS = 6
"""Of a run: the next cycle and slot; the cycle behind the last in which a packet left or was dropped; packets sent
between routers, dropped, and left. The last three count from reset."""


FIRST, LAST, HEAD_WAY, SENT_LAST = range(4)
"""Of a queue: its first and last packet; the routing decision of the first; and the slot in which one was sent last."""

PORT, VC, WAY_OUT = range(3)
"""Of an offer: the input, its virtual channel, and the routing decision of the packet at its head."""

_WORD = 62
"""Bits used of a word that tells which queues of a router hold a packet."""


@njit(cache=True, inline="always")
def _place(queue, port, vc):  # type: ignore[no-untyped-def]
    """Return the word and the bit that stand for a queue; those of one port are in one word."""
    heads, present = queue
    num_vcs = heads.shape[2]
    if present.shape[1] == 1:
        return 0, 1 << (port * num_vcs + vc)
    per_word = _WORD // num_vcs
    return port // per_word, 1 << (port % per_word * num_vcs + vc)


@njit(cache=True, inline="always")
def _holds_packet(queue, node):  # type: ignore[no-untyped-def]
    """Tell whether a router holds a packet."""
    present = queue[1]
    held = present[node, 0]
    for word in range(1, present.shape[1]):
        held |= present[node, word]
    return held != 0


@njit(cache=True, inline="always")
def push_packet(pool, queue, node, port, vc, packet, way):  # type: ignore[no-untyped-def]
    """Put a packet with its routing decision (``port | vc << VC_SHIFT``) at the end of a queue."""
    heads, present = queue
    pool[packet, NEXT], pool[packet, WAY] = -1, way
    word, bit = _place(queue, port, vc)
    if present[node, word] & bit:
        pool[heads[node, port, vc, LAST], NEXT] = packet
    else:
        present[node, word] |= bit
        heads[node, port, vc, FIRST], heads[node, port, vc, HEAD_WAY] = packet, way
    heads[node, port, vc, LAST] = packet


@njit(cache=True, inline="always")
def pop_packet(pool, queue, node, port, vc):  # type: ignore[no-untyped-def]
    """Take the packet at the head of a queue and return it."""
    heads, present = queue
    packet = heads[node, port, vc, FIRST]
    following = pool[packet, NEXT]
    if following >= 0:
        heads[node, port, vc, FIRST], heads[node, port, vc, HEAD_WAY] = following, pool[following, WAY]
    else:
        word, bit = _place(queue, port, vc)
        present[node, word] ^= bit
    return packet


@njit(cache=True, inline="always")
def _precedes(heads, orders, several, node, one, other):  # type: ignore[no-untyped-def]
    """Tell whether one offer comes before another one at the output that both want."""
    if not several:
        return heads[node, one[PORT], 0, SENT_LAST] < heads[node, other[PORT], 0, SENT_LAST]
    by_vc, by_input = orders
    output, vc, their_vc = one[WAY_OUT] & PORT_MASK, one[WAY_OUT] >> VC_SHIFT, other[WAY_OUT] >> VC_SHIFT
    if vc != their_vc:
        return by_vc[node, output, vc] < by_vc[node, output, their_vc]
    return by_input[node, output, vc, one[PORT]] < by_input[node, output, vc, other[PORT]]


@njit(cache=True, inline="always")
def _offer_of_port(heads, credits, node, port, bits, shift):  # type: ignore[no-untyped-def]
    """Return the virtual channel of an input whose head packet may be sent and that sent longest ago, or -1."""
    chosen = -1
    while bits:
        vc = trailing_zeros(bits) - shift
        bits &= bits - 1
        if chosen < 0 or heads[node, port, vc, SENT_LAST] < heads[node, port, chosen, SENT_LAST]:
            way = heads[node, port, vc, HEAD_WAY]
            if credits[node, way & PORT_MASK, way >> VC_SHIFT]:
                chosen = vc
    return chosen


@njit(cache=True, inline="always")
def allocate_node(queue, credits, orders, slot, several, node, work):  # type: ignore[no-untyped-def]
    """Match inputs and outputs of one router for the next slot; return how many packets are sent.

    The order is kept in the slots in which packets were sent last, see :func:`make_orders`; `slot` is the number of
    this one, and `several` tells whether any input of the router has two virtual channels. `work` is from
    :func:`make_work`: on return, the first rows of its offers are those granted, one an output. Credits are spent; the
    packets stay at the heads of their queues.
    """
    heads, present = queue
    by_vc, by_input = orders
    winner, offers = work
    num_vcs = heads.shape[2]
    per_word = _WORD // num_vcs
    offered = 0
    for word in range(present.shape[1]):
        bits = present[node, word]
        while bits:
            inner = trailing_zeros(bits) // num_vcs
            port, shift = word * per_word + inner, inner * num_vcs
            own = bits & (((1 << num_vcs) - 1) << shift)
            bits ^= own
            vc = _offer_of_port(heads, credits, node, port, own, shift)
            if vc < 0:
                continue
            way = heads[node, port, vc, HEAD_WAY]
            offers[offered, PORT], offers[offered, VC], offers[offered, WAY_OUT] = port, vc, way
            best = winner[way & PORT_MASK]
            if best < 0 or _precedes(heads, orders, several, node, offers[offered], offers[best]):
                winner[way & PORT_MASK] = offered
            offered += 1
    granted = 0
    for offer in range(offered):
        port, vc, way = offers[offer, PORT], offers[offer, VC], offers[offer, WAY_OUT]
        output, output_vc = way & PORT_MASK, way >> VC_SHIFT
        if winner[output] != offer:
            continue
        winner[output] = -1
        credits[node, output, output_vc] -= 1
        heads[node, port, vc, SENT_LAST] = slot
        if several:
            by_vc[node, output, output_vc] = slot
            by_input[node, output, output_vc, port] = slot
        offers[granted, PORT], offers[granted, VC], offers[granted, WAY_OUT] = port, vc, way
        granted += 1
    return granted


def make_orders(nodes: int, ports: int, num_vcs: int) -> tuple[npt.NDArray[Any], ...]:
    """Return the slots in which packets were sent last, as if in the order of numbers before the first slot.

    Two arrays: to each virtual channel of each output, shape (nodes, ports, num_vcs); and there from each input, shape
    (nodes, ports, num_vcs, ports). A router whose inputs have one virtual channel each is content with when they sent.
    """
    vcs, inputs = np.arange(-num_vcs, 0, dtype=np.int32), np.arange(-ports, 0, dtype=np.int32)
    if num_vcs == 1:
        nodes = 0
    return np.tile(vcs, (nodes, ports, 1)), np.tile(inputs, (nodes, ports, num_vcs, 1))


def make_queues(nodes: int, ports: int, num_vcs: int) -> tuple[npt.NDArray[Any], ...]:
    """Return empty queues that have sent in the order of numbers before the first slot.

    Two arrays: queues, shape (nodes, ports, num_vcs, 4), and a bit for each that holds a packet, shape (nodes, words).
    """
    heads = np.zeros((nodes, ports, num_vcs, 4), np.int32)
    heads[..., SENT_LAST] = np.arange(-ports * num_vcs, 0).reshape(ports, num_vcs)
    return heads, np.zeros((nodes, -(-ports // (_WORD // num_vcs))), np.int64)


def make_pool(rows: int) -> npt.NDArray[np.int32]:
    """Return a pool of packets, whatever they hold, shape (rows, FIELDS); no row crosses a line of the cache."""
    words = np.empty(rows * FIELDS + 16, np.int32)
    start = -(words.ctypes.data // words.itemsize) % 16
    return words[start : start + rows * FIELDS].reshape(rows, FIELDS)


def make_work(ports: int) -> tuple[npt.NDArray[Any], ...]:
    """Return work space of :func:`allocate_node`: the offer that leads at each output, and the offers."""
    return np.full(ports, -1, np.int64), np.empty((ports, 3), np.int64)


@njit(cache=True, inline="always")
def _advance(state):  # type: ignore[no-untyped-def]
    word = np.int64(state)  # Numba widens 32-bit arithmetic, so the shifts to the left are cut back by hand
    word ^= (word << 13) & 0xFFFFFFFF
    word ^= word >> 17
    word ^= (word << 5) & 0xFFFFFFFF
    return np.uint32(word)


@njit(cache=True, inline="always")
def _enter(pool, queue, busy, node, port, vc, packet, way):  # type: ignore[no-untyped-def]
    """Put a packet into a queue of a router, and list the router among those that hold one."""
    nodes, count = busy
    if not _holds_packet(queue, node):
        nodes[count[0]] = node
        count[0] += 1
    push_packet(pool, queue, node, port, vc, packet, way)


@njit(cache=True, inline="always")
def _deliver(route, address, pool, queue, busy, crossing, at):  # type: ignore[no-untyped-def]
    """Route computation: put packets that have crossed a channel into the queues of the next routers."""
    items, count = crossing
    for item in range(count[at]):
        node, port, packet = items[at, item, 0], items[at, item, 1], items[at, item, 2]
        way = route(address[node], np.int64(pool[packet, DESTINATION]))
        pool[packet, HOPS] += 1
        _enter(pool, queue, busy, node, port & PORT_MASK, port >> VC_SHIFT, packet, way)
    count[at] = 0


@njit(cache=True, inline="always")
def _return_credits(credits, returning, at):  # type: ignore[no-untyped-def]
    """Count the packet slots that have become free downstream."""
    items, count = returning
    for item in range(count[at]):
        port = items[at, item, 1]
        credits[items[at, item, 0], port & PORT_MASK, port >> VC_SHIFT] += 1
    count[at] = 0


@njit(cache=True, inline="always")
def _give_back(returning, at, node, port, vc):  # type: ignore[no-untyped-def]
    items, count = returning
    item = count[at]
    items[at, item, 0], items[at, item, 1] = node, port | vc << VC_SHIFT
    count[at] += 1


@njit(cache=True, inline="always")
def _allocate(pool, queue, credits, orders, slot, shape, busy, crossing, returning, freed, leaving, work):  # type: ignore[no-untyped-def]
    """Allocate every router that holds a packet and send the winners on; return the packets sent between routers.

    What has crossed, come back or left is listed: `crossing`, `returning`, `freed` (injection), `leaving` (ejection).
    """
    neighbors, opposite, several = shape
    nodes, busy_count = busy
    items, crossing_count = crossing
    freed_nodes, freed_count = freed
    leaving_items, leaving_count = leaving
    offers = work[1]
    ports = neighbors.shape[1]
    at, back = slot % items.shape[0], slot % returning[0].shape[0]
    sent, kept = 0, 0
    leaving_count[0] = 0
    if busy_count[0] * 8 > len(queue[1]):
        _sort_busy(queue, busy)
    for place in range(busy_count[0]):
        node = nodes[place]
        for grant in range(allocate_node(queue, credits, orders, slot, several[node], node, work)):
            port, vc, way = offers[grant, PORT], offers[grant, VC], offers[grant, WAY_OUT]
            packet = pop_packet(pool, queue, node, port, vc)
            if port < ports:
                _give_back(returning, back, neighbors[node, port], opposite[port], vc)
            else:
                freed_nodes[freed_count[0]] = node
                freed_count[0] += 1
            output = way & PORT_MASK
            if output < ports:
                item = crossing_count[at]
                items[at, item, 0], items[at, item, 2] = neighbors[node, output], packet
                items[at, item, 1] = opposite[output] | way >> VC_SHIFT << VC_SHIFT
                crossing_count[at] += 1
                sent += 1
            else:
                leaving_items[leaving_count[0], 0], leaving_items[leaving_count[0], 1] = node, packet
                leaving_count[0] += 1
        if _holds_packet(queue, node):
            nodes[kept] = node
            kept += 1
    busy_count[0] = kept
    return sent


@njit(cache=True, inline="always")
def _sort_busy(queue, busy):  # type: ignore[no-untyped-def]
    """List the routers that hold a packet in the order of memory: if they are many, that is worth a look at all."""
    nodes, count = busy
    listed = 0
    for node in range(len(queue[1])):
        if _holds_packet(queue, node):
            nodes[listed] = node
            listed += 1
    count[0] = listed


@njit(cache=True, inline="always")
def _offer(pool, source, node, packet):  # type: ignore[no-untyped-def]
    """Put a packet at the end of what a source has to send."""
    backlog, _, _, nodes, count = source
    if not backlog[1][node, 0]:
        nodes[count[0]] = node
        count[0] += 1
    push_packet(pool, backlog, node, 0, 0, packet, 0)


@njit(cache=True, inline="always")
def _accept(route, address, pool, queue, busy, source, node, dropped):  # type: ignore[no-untyped-def]
    """Take the tail of a source's packet: it enters the injection queue, or is dropped; return 1 if it is dropped."""
    backlog, position, occupied, _, _ = source
    packet = pop_packet(pool, backlog, node, 0, 0)
    position[node] = 0
    if not pool[packet, POSSIBLE]:
        dropped[node] += 1
        return 1
    way = route(address[node], np.int64(pool[packet, DESTINATION]))
    occupied[node] += 1
    _enter(pool, queue, busy, node, queue[0].shape[1] - 1, 0, packet, way)
    return 0


@njit(cache=True, inline="always")
def _inject_slot(route, address, begin, tails, buffers, pool, queue, busy, source, dropped):  # type: ignore[no-untyped-def]
    """Sources that never pause offer flits for a slot that begins in cycle `begin` and ends in an update phase.

    A packet whose head is accepted in the first cycle is complete in the last one, if `tails` are accepted there at
    all; another one waits for the next update phase. Return how many were dropped.
    """
    backlog, position, occupied, nodes, count = source
    first, waiting = backlog
    drops, kept = 0, 0
    for place in range(count[0]):
        node = nodes[place]
        if occupied[node] < buffers:
            complete = position[node] > 0
            if not complete:
                packet = first[node, 0, 0, FIRST]
                start = max(pool[packet, CREATED], begin, 0)
                pool[packet, HEAD_CYCLE] = start
                position[node] = 1
                complete = start == begin
            if complete and tails:
                drops += _accept(route, address, pool, queue, busy, source, node, dropped)
        if waiting[node, 0]:
            nodes[kept] = node
            kept += 1
    count[0] = kept
    return drops


@njit(cache=True, inline="always")
def _inject_cycle(route, address, length, tails, cycle, buffers, pool, queue, busy, source, dropped, held, state, gap):  # type: ignore[no-untyped-def]
    """Sources that pause offer a flit each; a tail is accepted only if `tails`. Return how many were dropped."""
    backlog, position, occupied, nodes, count = source
    first, waiting = backlog
    drops, kept = 0, 0
    for place in range(count[0]):
        node = nodes[place]
        nodes[kept] = node
        kept += 1
        packet = first[node, 0, 0, FIRST]
        if not held[node] and (state[node] & np.uint32(255)) < gap:
            continue
        if occupied[node] == buffers or (position[node] == length - 1 and not tails):
            held[node] = 1
            continue
        held[node] = 0
        if position[node] == 0:
            pool[packet, HEAD_CYCLE] = cycle
        position[node] += 1
        if position[node] == length:
            drops += _accept(route, address, pool, queue, busy, source, node, dropped)
            if not waiting[node, 0]:
                kept -= 1
    count[0] = kept
    return drops


@njit(cache=True, inline="always")
def _leave_slot(leaving, cycle, at, local, credits_back, out, ejected):  # type: ignore[no-untyped-def]
    """Sinks that never pause take the tails of all packets in `cycle`; return the packets that have left so far."""
    items, count = leaving
    out_packet, out_node, out_cycle = out
    for item in range(count[0]):
        node = items[item, 0]
        out_packet[ejected], out_node[ejected], out_cycle[ejected] = items[item, 1], node, cycle
        ejected += 1
        _give_back(credits_back, at, node, local, 0)
    return ejected


@njit(cache=True, inline="always")
def _store_leaving(leaving, base, ejection):  # type: ignore[no-untyped-def]
    """Put packets into the ejection buffers; flit p can be taken from cycle ``base + p`` on."""
    items, count = leaving
    packets, bases, head, level = ejection
    for item in range(count[0]):
        node = items[item, 0]
        place = (head[node] + level[node]) % packets.shape[1]
        packets[node, place], bases[node, place] = items[item, 1], base
        level[node] += 1


@njit(cache=True, inline="always")
def _eject_cycle(length, cycle, credits, ejection, taken, state, stall, out, ejected):  # type: ignore[no-untyped-def]
    """Sinks that pause take a flit each; return the packets that have left so far."""
    packets, bases, head, level = ejection
    out_packet, out_node, out_cycle = out
    local = credits.shape[1] - 1
    for node in range(len(head)):
        if level[node] == 0:
            continue
        place = head[node]
        if bases[node, place] + taken[node] > cycle or ((state[node] >> np.uint32(8)) & np.uint32(255)) < stall:
            continue
        taken[node] += 1
        if taken[node] == length:
            taken[node] = 0
            head[node] = (place + 1) % packets.shape[1]
            level[node] -= 1
            credits[node, local, 0] += 1
            out_packet[ejected], out_node[ejected], out_cycle[ejected] = packets[node, place], node, cycle
            ejected += 1
    return ejected


def make_flows(nodes: int, ports: int, packets: int, timing: SlotTiming) -> tuple[Any, ...]:
    """Return what is under way, empty: lists of at most as many items as there are packets.

    Routers that hold a packet, and their number; packets on channels and credits on their way back, each a list for
    every slot that they take; nodes whose injection queue has lost a packet; nodes and packets that leave; credits of
    ejection, by slot; and work space of allocation.
    """
    most, once = max(1, min(packets, nodes * ports)), max(1, min(packets, nodes))
    # Slots from sending a packet to the terminal to the first allocation that can use the credit of its place there.
    ejection_slots = 3 + (timing.channel_cycles - timing.sample_phase) // timing.packet_length
    crossing_slots, credit_slots = timing.hop_slots, 1 + timing.credit_slots
    one = np.zeros(1, np.int64)
    return (
        (np.empty(nodes, np.int32), one.copy()),
        (np.empty((crossing_slots, most, 3), np.int32), np.zeros(crossing_slots, np.int64)),
        (np.empty((credit_slots, most, 2), np.int32), np.zeros(credit_slots, np.int64)),
        (np.empty(once, np.int32), one.copy()),
        (np.empty((once, 2), np.int32), one.copy()),
        (np.empty((ejection_slots, once, 2), np.int32), np.zeros(ejection_slots, np.int64)),
        make_work(ports + 1),
    )


def make_terminals(nodes: int, buffers: int, seeds: npt.NDArray[np.uint32]) -> tuple[Any, ...]:
    """Return idle terminals.

    Of sources: a queue of packets, flits accepted of the first, packets in the injection queue, nodes that have a
    packet, and their number. Of sources that pause: whether a flit is on offer. Of sinks that pause: buffers of packets
    with the cycle from which each can be taken, first and number, and flits taken. Last, the states of the generators.
    """
    return (
        (
            make_queues(nodes, 1, 1),
            np.zeros(nodes, np.int32),
            np.zeros(nodes, np.int32),
            np.empty(nodes, np.int32),
            np.zeros(1, np.int64),
        ),
        np.zeros(nodes, np.uint8),
        (
            np.empty((nodes, buffers), np.int32),
            np.empty((nodes, buffers), np.int64),
            np.zeros(nodes, np.int64),
            np.zeros(nodes, np.int64),
        ),
        np.zeros(nodes, np.int64),
        seeds,
    )


@njit(cache=True)
def simulate(  # type: ignore[no-untyped-def]
    route,
    address,
    shape,
    timing,
    buffers,
    pool,
    arrivals,
    queue,
    credits,
    orders,
    flows,
    terminals,
    pauses,
    dropped,
    out,
    progress,
    packets,
    limit,
):
    """Go on until `packets` packets have left or been dropped since reset, or cycle `limit` is reached.

    `arrivals` are cycles, nodes and packets, sorted by cycle: when a source has a packet to send. Terminals that never
    pause are worked on once a slot: then `limit` must be in the sample phase if the run is to go on, `out` tells of
    tails that are still on their way to the terminal, and is in no order within a cycle. `progress` is told where the
    run stands. Return how many packets have left since the call.
    """
    length, hop_slots, sample_phase, update_phase, credit_slots, channel_cycles = timing
    gap, stall, hold = pauses
    plain = gap == 0 and stall == 0 and hold == 0
    # The caller holds all arrays.
    address, pool, credits, dropped = borrow(address), borrow(pool), borrow(credits), borrow(dropped)
    shape, queue, orders, out = borrow(shape), borrow(queue), borrow(orders), borrow(out)
    release, arrival_node, arrival_packet = borrow(arrivals)
    busy, crossing, returning, freed, leaving, credits_back, work = borrow(flows)
    source, held, ejection, taken, state = borrow(terminals)
    freed_nodes, freed_count = freed
    occupied, ejection_slots = source[2], len(credits_back[1])
    nodes, ports, total = len(address), shape[0].shape[1], len(release)
    arrived, ejected = 0, 0
    cycle, slot, ended = progress[CYCLE], progress[SLOT], progress[ENDED]
    sent, lost, before = progress[SENT], progress[LOST], progress[LEFT]
    while before + ejected + lost < packets and cycle < limit:
        phase = cycle % length
        if phase == sample_phase:
            for item in range(freed_count[0]):
                occupied[freed_nodes[item]] -= 1
            freed_count[0] = 0
            _deliver(route, address, pool, queue, busy, crossing, slot % hop_slots)
            _return_credits(credits, returning, slot % (1 + credit_slots))
            if plain:
                _return_credits(credits, credits_back, slot % ejection_slots)
            sent += _allocate(
                pool, queue, credits, orders, slot, shape, busy, crossing, returning, freed, leaving, work
            )
            base = (slot + 1) * length + channel_cycles + 1
            if not plain:
                _store_leaving(leaving, base, ejection)
            else:
                at, tail_cycle = slot % ejection_slots, base + length - 1
                ejected = _leave_slot(leaving, tail_cycle, at, ports, credits_back, out, ejected)
                if leaving[1][0]:
                    ended = base + length
            slot += 1
        # Terminals: up to the next allocation, or this cycle alone.
        end = cycle + (sample_phase - phase - 1) % length if plain else cycle
        while arrived < total and release[arrived] <= min(end, limit - 1):
            _offer(pool, source, arrival_node[arrived], arrival_packet[arrived])
            arrived += 1
        if plain:
            drops = _inject_slot(
                route, address, end - length + 1, end < limit, buffers, pool, queue, busy, source, dropped
            )
            if drops:
                ended = max(ended, end + 1)
            lost += drops
        else:
            tail = phase == update_phase
            lost += _inject_cycle(
                route, address, length, tail, cycle, buffers, pool, queue, busy, source, dropped, held, state, gap
            )
            if cycle >= hold:
                ejected = _eject_cycle(length, cycle, credits, ejection, taken, state, stall, out, ejected)
            if gap or stall:
                for node in range(nodes):
                    state[node] = _advance(state[node])
            ended = end + 1
        cycle = end + 1
    progress[CYCLE], progress[SLOT], progress[ENDED] = cycle, slot, ended
    progress[SENT], progress[LOST], progress[LEFT] = sent, lost, before + ejected
    return ejected
