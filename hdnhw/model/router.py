"""The stages of routers and terminals on arrays, under the names they have in :mod:`hdnhw.rtl`.

All kernels stand in this file, since Numba keeps compiled code by the file in which a function is written. Arrays are
flat, and their indices without sign: that halves the time of a kernel.

A queue of a router has the number ``port << vc_bits | vc``, where `vc_bits` are those of its virtual channels; the last
port is injection, or ejection. A routing decision, `way`, is such a number on the side of the outputs. Packets are rows
of a pool, and queues are lists of them; work is done for what is there alone: routers that hold a packet, sources that
have one to send, packets on channels, credits on their way.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit
from numba.cpython.unsafe import numbers

from hdnhw.model.memory import borrow, prefetch
from hdnhw.routing.compiled import VC_SHIFT
from hdnhw.timing import TURN_SLOTS, SlotTiming

__all__ = [
    "ANYWHERE",
    "AT_HOME",
    "CREATED",
    "DESTINATION",
    "ENDED",
    "FIELDS",
    "FIRST",
    "HEAD_CYCLE",
    "HEAD_WAY",
    "HOPS",
    "LEFT",
    "LINKS",
    "LOST",
    "NODE",
    "NOWHERE",
    "PACE",
    "PROGRESS",
    "SENT",
    "SLOT",
    "TAG",
    "TAIL_CYCLE",
    "allocate_node",
    "make_counts",
    "make_flows",
    "make_orders",
    "make_pool",
    "make_queues",
    "make_terminals",
    "make_work",
    "push_packet",
    "simulate",
    "take_packet",
]

PORT_MASK = (1 << VC_SHIFT) - 1

trailing_zeros: Any = numbers.trailing_zeros  # an intrinsic: called without the context that its type asks for

DESTINATION, CREATED, HEAD_CYCLE, TAG, HOPS, NEXT, WAY, PACE = range(8)
FIELDS = 8
"""Words of a packet in the pool: packed destination, -1 if that is no node; cycle before which it is not offered; cycle
in which its head flit was accepted, -1 before; a number that its sender gave it; channels that it has crossed; the
packet behind it in a queue; its routing decision at the router where it is; and whether sinks may pause before it."""

ANYWHERE, AT_HOME, NOWHERE = range(3)
"""Where sinks may pause before a packet: everywhere, at its destination alone, or not at all."""

NODE, TAIL_CYCLE = WAY, NEXT
"""Words of a packet that has left, beside those of the pool: where it came out, and the cycle of its tail."""

CYCLE, SLOT, ENDED, SENT, LOST, LEFT = range(6)
PROGRESS = 6
"""Of a run: the next cycle and slot; the cycle behind the last in which a packet left or was dropped; packets sent
between routers, dropped, and left. The last three count from reset."""

FIRST, LAST, HEAD_WAY, SENT_LAST = range(4)
LINKS = 4
"""Words of a queue: its first and last packet; the routing decision of the first; the slot of its last one sent."""

AHEAD = 8
"""How many items before its turn an item's memory is asked for."""

FEW_ROUTERS = 4096
"""Routers whose state is in the cache in any order."""


@njit(cache=True, inline="always")
def _at(index):  # type: ignore[no-untyped-def]
    """Return an index without sign: with one, Numba adds code that counts from the end."""
    return np.uint64(index)


@njit(cache=True, inline="always")
def _holds_packet(present, words, node):  # type: ignore[no-untyped-def]
    """Tell whether a router holds a packet."""
    held = present[_at(node * words)]
    for word in range(1, words):
        held |= present[_at(node * words + word)]
    return held != 0


@njit(cache=True, inline="always")
def push_packet(pool, queue, node, entry, packet, way):  # type: ignore[no-untyped-def]
    """Put a packet with its routing decision at the end of a queue."""
    links, present, entries, words = queue
    row = (node * entries + entry) * LINKS
    place, bit = _at(node * words + (entry >> 6)), np.int64(1) << (entry & 63)
    held = present[place]
    if held & bit:
        pool[_at(np.int64(links[_at(row + LAST)]) * FIELDS + NEXT)] = packet
        pool[_at(packet * FIELDS + WAY)] = way
    else:
        present[place] = held | bit
        links[_at(row + FIRST)] = packet
        links[_at(row + HEAD_WAY)] = way
    links[_at(row + LAST)] = packet


@njit(cache=True, inline="always")
def take_packet(pool, queue, node, entry, way):  # type: ignore[no-untyped-def]
    """Take the first packet of a queue that goes a way, and return it."""
    links, present, entries, words = queue
    row = (node * entries + entry) * LINKS
    packet, last = np.int64(links[_at(row + FIRST)]), np.int64(links[_at(row + LAST)])
    if links[_at(row + HEAD_WAY)] == way:
        if packet == last:
            present[_at(node * words + (entry >> 6))] ^= np.int64(1) << (entry & 63)
        else:
            following = np.int64(pool[_at(packet * FIELDS + NEXT)])
            links[_at(row + FIRST)] = following
            links[_at(row + HEAD_WAY)] = pool[_at(following * FIELDS + WAY)]
        return packet
    before, packet = packet, np.int64(pool[_at(packet * FIELDS + NEXT)])
    while pool[_at(packet * FIELDS + WAY)] != way:
        before, packet = packet, np.int64(pool[_at(packet * FIELDS + NEXT)])
    if packet == last:
        links[_at(row + LAST)] = before
    else:
        pool[_at(before * FIELDS + NEXT)] = pool[_at(packet * FIELDS + NEXT)]
    return packet


@njit(cache=True, inline="always")
def _precedes(links, orders, vc_bits, several, base, entry, way, rival, their_way):  # type: ignore[no-untyped-def]
    """Tell whether one offer comes before a rival at the output that both want."""
    if not several:
        return links[_at((base + entry) * LINKS + SENT_LAST)] < links[_at((base + rival) * LINKS + SENT_LAST)]
    by_vc, by_input, _, _, ports = orders
    if way != their_way:
        return by_vc[_at(base + way)] < by_vc[_at(base + their_way)]
    row = (base + way) * ports
    return by_input[_at(row + (entry >> vc_bits))] < by_input[_at(row + (rival >> vc_bits))]


@njit(cache=True, inline="always")
def _offer_of_port(links, credits, base, bits, first):  # type: ignore[no-untyped-def]
    """Return the queue among those of an input whose head packet may be sent and that sent longest ago, or -1."""
    chosen, since = np.int64(-1), np.int64(0)
    while bits:
        entry = first + trailing_zeros(bits)
        bits &= bits - 1
        row = (base + entry) * LINKS
        last = np.int64(links[_at(row + SENT_LAST)])
        if (chosen < 0 or last < since) and credits[_at(base + links[_at(row + HEAD_WAY)])]:
            chosen, since = entry, last
    return chosen


@njit(cache=True, inline="always")
def _make_offers(queue, credits, orders, vc_bits, several, node, work):  # type: ignore[no-untyped-def]
    """List what the inputs of a router offer and which offer leads at each output; return how many there are."""
    links, present, entries, words = queue
    winner, offer_entry, offer_way, _, _ = work
    base, offered = node * entries, 0
    for word in range(words):
        bits, first = present[_at(node * words + word)], np.int64(word << 6)
        while bits:
            entry = first + trailing_zeros(bits)
            if several:
                last = (entry | ((1 << vc_bits) - 1)) & 63
                own = bits & ((np.int64(2) << last) - 1)
                bits ^= own
                entry = _offer_of_port(links, credits, base, own, first)
                if entry < 0:
                    continue
                way = np.int64(links[_at((base + entry) * LINKS + HEAD_WAY)])
            else:
                bits &= bits - 1
                way = np.int64(links[_at((base + entry) * LINKS + HEAD_WAY)])
                if not credits[_at(base + way)]:
                    continue
            offer_entry[_at(offered)] = entry
            offer_way[_at(offered)] = way
            output = _at(way >> vc_bits)
            best = winner[output]
            if best < 0 or _precedes(
                links, orders, vc_bits, several, base, entry, way, offer_entry[_at(best)], offer_way[_at(best)]
            ):
                winner[output] = offered
            offered += 1
    return offered


@njit(cache=True, inline="always")
def _make_requests(pool, queue, credits, node, work):  # type: ignore[no-untyped-def]
    """List the packets of a router that may be sent, as queue and way; return how many there are."""
    links, present, entries, words = queue
    _, offer_entry, offer_way, _, _ = work
    base, offered = node * entries, 0
    for word in range(words):
        bits = present[_at(node * words + word)]
        while bits:
            entry = np.int64(word << 6) + trailing_zeros(bits)
            bits &= bits - 1
            row = (base + entry) * LINKS
            packet, last = np.int64(links[_at(row + FIRST)]), np.int64(links[_at(row + LAST)])
            way = np.int64(links[_at(row + HEAD_WAY)])
            while True:
                if credits[_at(base + way)]:
                    offer_entry[_at(offered)] = entry
                    offer_way[_at(offered)] = way
                    offered += 1
                if packet == last:
                    break
                packet = np.int64(pool[_at(packet * FIELDS + NEXT)])
                way = np.int64(pool[_at(packet * FIELDS + WAY)])
    return offered


@njit(cache=True, inline="always")
def _sent_by_input(by_queue, row, port, vc_bits):  # type: ignore[no-untyped-def]
    """Return the slot in which an input has sent to a way last, by any of its queues."""
    last = by_queue[_at(row + (port << vc_bits))]
    for vc in range(1, 1 << vc_bits):
        last = max(last, by_queue[_at(row + (port << vc_bits | vc))])
    return last


@njit(cache=True, inline="always")
def _goes_first(orders, vc_bits, slot, node, entry, way, rival, their_way):  # type: ignore[no-untyped-def]
    """Tell whether one request comes before a rival at the output that both want, among virtual output queues."""
    by_vc, by_queue, _, turn, ports = orders
    entries = ports << vc_bits
    base = node * entries
    if way != their_way:
        return by_vc[_at(base + way)] < by_vc[_at(base + their_way)]
    port, other, injection, row = entry >> vc_bits, rival >> vc_bits, ports - 1, (base + way) * entries
    if port == other:
        return by_queue[_at(row + entry)] < by_queue[_at(row + rival)]
    if port == injection or other == injection:
        had_its_turn = by_queue[_at(row + (injection << vc_bits))] >= slot - slot % turn
        return (other if had_its_turn else port) == injection
    return _sent_by_input(by_queue, row, port, vc_bits) < _sent_by_input(by_queue, row, other, vc_bits)


@njit(cache=True, inline="always")
def _match(pool, queue, credits, orders, vc_bits, slot, rounds, node, work):  # type: ignore[no-untyped-def]
    """Match inputs and outputs in rounds: outputs grant, inputs accept; leave the winner of each output."""
    _, _, by_output, _, ports = orders
    winner, offer_entry, offer_way, leader, partner = work
    offers = _make_requests(pool, queue, credits, node, work)
    for _ in range(rounds):
        for offer in range(offers):
            entry, way = offer_entry[_at(offer)], offer_way[_at(offer)]
            output = _at(way >> vc_bits)
            if winner[output] >= 0 or partner[_at(entry >> vc_bits)] >= 0:
                continue
            best = leader[output]
            if best < 0 or _goes_first(
                orders, vc_bits, slot, node, entry, way, offer_entry[_at(best)], offer_way[_at(best)]
            ):
                leader[output] = offer
        for output in range(ports):
            if leader[_at(output)] >= 0:
                port = offer_entry[_at(leader[_at(output)])] >> vc_bits
                row, other = (node * ports + port) * ports, partner[_at(port)]
                if other < 0 or by_output[_at(row + output)] < by_output[_at(row + other)]:
                    partner[_at(port)] = output
        for output in range(ports):
            offer = leader[_at(output)]
            if offer >= 0 and partner[_at(offer_entry[_at(offer)] >> vc_bits)] == output:
                winner[_at(output)] = offer
            leader[_at(output)] = -1
    partner[:] = -1
    return offers


@njit(cache=True, inline="always")
def allocate_node(pool, queue, credits, orders, vc_bits, slot, several, rounds, node, work):  # type: ignore[no-untyped-def]
    """Match inputs and outputs of one router for the next slot; return how many packets are sent.

    The order is kept in the slots in which packets were sent last, see :func:`make_orders`; `slot` is the number of
    this one, and `several` tells whether any input of the router has two virtual channels. With `rounds`, a queue is
    a virtual output queue for each way; without, it is first in, first out. `work` is from :func:`make_work`: on
    return, the first of its offers are those granted, one an output. Credits are spent; the packets stay in their
    queues, each the first that goes its way.
    """
    links, _, entries, _ = queue
    by_vc, by_input, by_output, _, ports = orders
    winner, offer_entry, offer_way, _, _ = work
    base, granted = node * entries, 0
    if rounds:
        offers = _match(pool, queue, credits, orders, vc_bits, slot, rounds, node, work)
    else:
        offers = _make_offers(queue, credits, orders, vc_bits, several, node, work)
    for offer in range(offers):
        entry, way = offer_entry[_at(offer)], offer_way[_at(offer)]
        output = _at(way >> vc_bits)
        if winner[output] != offer:
            continue
        winner[output] = -1
        credits[_at(base + way)] -= 1
        links[_at((base + entry) * LINKS + SENT_LAST)] = slot
        port = entry >> vc_bits
        if several or rounds:
            by_vc[_at(base + way)] = slot
        if rounds:
            by_input[_at((base + way) * entries + entry)] = slot
            by_output[_at((node * ports + port) * ports + (way >> vc_bits))] = slot
        elif several:
            by_input[_at((base + way) * ports + port)] = slot
        offer_entry[_at(granted)] = entry
        offer_way[_at(granted)] = way
        granted += 1
    return granted


def make_orders(nodes: int, ports: int, num_vcs: int, rounds: int) -> tuple[Any, ...]:
    """Return the slots in which packets were sent last, as if in the order of numbers before the first slot.

    To each virtual channel of each output, axes (node, port, virtual channel); there from each input, axes (node, port,
    virtual channel, input), or with `rounds` from each queue, axes (node, port, virtual channel, queue); with `rounds`,
    of each input, by each output, axes (node, input, port); all flat; :data:`hdnhw.timing.TURN_SLOTS`, which the kernel
    is told as its compiled code is kept; and the number of ports. First in, first out, a router whose inputs have one
    virtual channel each is content with when they sent.
    """
    slots = 1 << (num_vcs - 1).bit_length()
    many, matched = nodes * (num_vcs > 1 or rounds > 0), nodes * (rounds > 0)
    vcs, inputs = np.arange(-slots, 0, dtype=np.int32), np.arange(-ports, 0, dtype=np.int32)
    senders = np.arange(-ports * slots, 0, dtype=np.int32) if rounds else inputs
    return (
        np.tile(vcs, many * ports),
        np.tile(senders, many * ports * slots),
        np.tile(inputs, matched * ports),
        TURN_SLOTS,
        ports,
    )


def make_queues(nodes: int, ports: int, num_vcs: int) -> tuple[Any, ...]:
    """Return empty queues that have sent in the order of numbers before the first slot.

    Queues, axes (node, queue, LINKS), flat; a bit for each that holds a packet, axes (node, word), flat; and queues and
    words of a node.
    """
    entries = ports << (num_vcs - 1).bit_length()
    words = -(-entries // 64)
    links = np.zeros((nodes, entries, LINKS), np.int32)
    links[..., SENT_LAST] = np.arange(-entries, 0)
    return links.reshape(-1), np.zeros(nodes * words, np.int64), entries, words


def make_pool(rows: int) -> npt.NDArray[np.int32]:
    """Return a pool of packets, whatever they hold, axes (row, FIELDS), flat; no row crosses a line of the cache."""
    words = np.empty(rows * FIELDS + 16, np.int32)
    start = -(words.ctypes.data // words.itemsize) % 16
    return words[start : start + rows * FIELDS]


def make_work(ports: int, packets: int) -> tuple[npt.NDArray[np.int64], ...]:
    """Return work space of :func:`allocate_node` for a router with so many packets at most.

    Which offer wins at each output; each offer's queue and way; and, of virtual output queues, which offer leads at
    each output, and the output that each input accepts.
    """
    none = np.full(ports, -1, np.int64)
    return none, np.empty(packets, np.int64), np.empty(packets, np.int64), none.copy(), none.copy()


@njit(cache=True, inline="always")
def _advance(state):  # type: ignore[no-untyped-def]
    word = np.int64(state)  # Numba widens 32-bit arithmetic, so the shifts to the left are cut back by hand
    word ^= (word << 13) & 0xFFFFFFFF
    word ^= word >> 17
    word ^= (word << 5) & 0xFFFFFFFF
    return np.uint32(word)


@njit(cache=True, inline="always")
def _enter(route, layout, pool, routers, slot, node, entry, packet):  # type: ignore[no-untyped-def]
    """Route computation: put a packet into a queue of a router, and list the router among those that hold one.

    A packet whose next channel is dead is ejected.
    """
    address, vc_bits, dead = layout
    queue, (nodes, count), counts = routers
    decision = route(address[_at(node)], np.int64(pool[_at(packet * FIELDS + DESTINATION)]))
    if not _holds_packet(queue[1], queue[3], node):
        nodes[_at(count[0])] = node
        count[0] += 1
    port, ports = decision & PORT_MASK, (queue[2] >> vc_bits) - 1
    way = port << vc_bits | decision >> VC_SHIFT
    if len(dead) and port < ports and dead[_at(node * ports + port)]:
        way = ports << vc_bits
    push_packet(pool, queue, node, entry, packet, way)
    if len(counts[0]):
        place = _at(node * queue[2] + entry)
        counts[2][place] -= slot
        counts[3][place] += 1


@njit(cache=True, inline="always")
def _deliver(route, layout, pool, routers, slot, crossing):  # type: ignore[no-untyped-def]
    """Put packets that have crossed a channel into the queues of the next routers."""
    links, present, entries, words = routers[0]
    to_node, to_entry, packets, count = crossing
    at = slot % len(count)
    to_node, to_entry, packets, total = to_node[at], to_entry[at], packets[at], count[at]
    for item in range(total):
        if item + AHEAD < total:
            node = np.int64(to_node[_at(item + AHEAD)])
            prefetch(pool, packets[_at(item + AHEAD)] * FIELDS)
            prefetch(layout[0], node)
            prefetch(present, node * words)
            prefetch(links, (node * entries + to_entry[_at(item + AHEAD)]) * LINKS)
        node, entry = np.int64(to_node[_at(item)]), np.int64(to_entry[_at(item)])
        packet = np.int64(packets[_at(item)])
        pool[_at(packet * FIELDS + HOPS)] += 1
        _enter(route, layout, pool, routers, slot, node, entry, packet)
    count[at] = 0


@njit(cache=True, inline="always")
def _return_credits(credits, returning, slot):  # type: ignore[no-untyped-def]
    """Count the packet slots that have become free downstream."""
    places, count = returning
    at = slot % len(count)
    places, total = places[at], count[at]
    for item in range(total):
        if item + AHEAD < total:
            prefetch(credits, places[_at(item + AHEAD)])
        credits[_at(places[_at(item)])] += 1
    count[at] = 0


@njit(cache=True, inline="always")
def _count_slot(pool, queue, vc_bits, slot, rounds, node, granted, work, counts):  # type: ignore[no-untyped-def]
    """Count what a router's channels carry in a slot, which of them stall, and the packets that leave its queues.

    A channel stalls if it carries nothing though a packet is for it that stands at the head of a queue. The packets
    granted are still there.
    """
    links, present, entries, words = queue
    winner, offer_entry, offer_way, _, _ = work
    sent, stalled, held, level = counts
    base, channel = node * entries, node * (len(winner) + 1)
    for grant in range(granted):
        entry, way = offer_entry[_at(grant)], offer_way[_at(grant)]
        sent[_at((channel << vc_bits) + way)] += 1
        held[_at(base + entry)] += slot + 1
        level[_at(base + entry)] -= 1
        winner[_at(way >> vc_bits)] = 0
    for word in range(words):
        bits = present[_at(node * words + word)]
        while bits:
            entry = (word << 6) + trailing_zeros(bits)
            bits &= bits - 1
            row = (base + entry) * LINKS
            packet, last = np.int64(links[_at(row + FIRST)]), np.int64(links[_at(row + LAST)])
            output = np.int64(links[_at(row + HEAD_WAY)]) >> vc_bits
            while True:
                stalled[_at(channel + output)] += winner[_at(output)] < 0
                winner[_at(output)] = 0
                if not rounds or packet == last:
                    break
                packet = np.int64(pool[_at(packet * FIELDS + NEXT)])
                output = np.int64(pool[_at(packet * FIELDS + WAY)]) >> vc_bits
    winner[:] = -1


@njit(cache=True, inline="always")
def _allocate(pool, routers, credits, orders, vc_bits, slot, shape, crossing, returning, freed, leaving, work):  # type: ignore[no-untyped-def]
    """Allocate every router that holds a packet and send the winners on; return the packets sent between routers.

    What has crossed, come back or left is listed: `crossing`, `returning`, `freed` (injection), `leaving` (ejection).
    """
    neighbors, mirror, several, rounds, _, ports = shape
    queue, busy, counts = routers
    nodes, busy_count = busy
    _, present, entries, words = queue
    to_node, to_entry, crossed, crossed_count = crossing
    at, back = slot % len(crossed_count), slot % len(returning[1])
    to_node, to_entry, crossed, returned = to_node[at], to_entry[at], crossed[at], returning[0][back]
    sent, given, free, left, kept = crossed_count[at], returning[1][back], freed[1][0], 0, 0
    before, local, counting = sent, ports << vc_bits, len(counts[0]) > 0
    if len(several) > FEW_ROUTERS and busy_count[0] * 32 > len(several):
        _sort_busy(queue, busy)
    total = busy_count[0]
    for place in range(total):
        if place + 2 * AHEAD < total:
            prefetch(present, nodes[_at(place + 2 * AHEAD)] * words)
            _ask_ahead(queue, credits, neighbors, ports, np.int64(nodes[_at(place + AHEAD)]))
        node = np.int64(nodes[_at(place)])
        granted = allocate_node(pool, queue, credits, orders, vc_bits, slot, several[_at(node)], rounds, node, work)
        if counting:
            _count_slot(pool, queue, vc_bits, slot, rounds, node, granted, work, counts)
        for grant in range(granted):
            entry, way = work[1][_at(grant)], work[2][_at(grant)]
            packet = take_packet(pool, queue, node, entry, way)
            if entry < local:
                behind = np.int64(neighbors[_at(node * ports + (entry >> vc_bits))])
                returned[_at(given)] = behind * entries + mirror[_at(entry)]
                given += 1
            else:
                freed[0][_at(free)] = node
                free += 1
            if way < local:
                to_node[_at(sent)] = neighbors[_at(node * ports + (way >> vc_bits))]
                to_entry[_at(sent)] = mirror[_at(way)]
                crossed[_at(sent)] = packet
                sent += 1
            else:
                leaving[0][_at(left)] = node
                leaving[1][_at(left)] = packet
                left += 1
        if _holds_packet(present, words, node):
            nodes[_at(kept)] = node
            kept += 1
    crossed_count[at], returning[1][back], freed[1][0], leaving[2][0], busy_count[0] = sent, given, free, left, kept
    return sent - before


@njit(cache=True, inline="always")
def _ask_ahead(queue, credits, neighbors, ports, node):  # type: ignore[no-untyped-def]
    """Ask for the memory that allocation of a router will look at: all of it if one queue holds a packet."""
    links, present, entries, words = queue
    prefetch(links, (node * entries + trailing_zeros(present[_at(node * words)])) * LINKS)
    prefetch(credits, node * entries)
    prefetch(credits, (node + 1) * entries - 1)
    prefetch(neighbors, node * ports)
    prefetch(neighbors, (node + 1) * ports - 1)


@njit(cache=True, inline="always")
def _sort_busy(queue, busy):  # type: ignore[no-untyped-def]
    """List the routers that hold a packet in the order of memory: if they are many, that is worth a look at all."""
    nodes, count = busy
    _, present, _, words = queue
    listed = 0
    for node in range(len(present) // words):
        if _holds_packet(present, words, node):
            nodes[_at(listed)] = node
            listed += 1
    count[0] = listed


@njit(cache=True, inline="always")
def _offer(pool, free, source, arrivals, number):  # type: ignore[no-untyped-def]
    """Put a packet at the end of what a source has to send."""
    cycle, senders, destination, tag = arrivals
    backlog, _, _, nodes, count, _ = source
    rows, left = free
    if number + AHEAD < len(senders):
        prefetch(backlog[0], senders[_at(number + AHEAD)] * LINKS)
        prefetch(backlog[1], senders[_at(number + AHEAD)])
    left[0] -= 1
    packet, node = np.int64(rows[_at(left[0])]), np.int64(senders[_at(number)])
    row = packet * FIELDS
    pool[_at(row + DESTINATION)] = destination[_at(number)]
    pool[_at(row + CREATED)] = cycle[_at(number)]
    pool[_at(row + HEAD_CYCLE)] = -1
    pool[_at(row + TAG)] = tag[_at(number)]
    pool[_at(row + HOPS)] = 0
    pool[_at(row + PACE)] = ANYWHERE
    if not backlog[1][_at(node)]:
        nodes[_at(count[0])] = node
        count[0] += 1
    push_packet(pool, backlog, node, 0, packet, 0)


@njit(cache=True, inline="always")
def _injection(queue, vc_bits, node):  # type: ignore[no-untyped-def]
    """Return the number of a node's injection channel among those that are counted."""
    ports = queue[2] >> vc_bits
    return node * (ports + 1) + ports


@njit(cache=True, inline="always")
def _accept(route, layout, pool, routers, slot, source, node):  # type: ignore[no-untyped-def]
    """Take the tail of a source's packet: it enters the injection queue, or is dropped; return 1 if it is dropped.

    One that is dropped keeps its row of the pool, as a record.
    """
    backlog, position, occupied, _, _, dropped = source
    queue, _, counts = routers
    if len(counts[0]):
        counts[0][_at(_injection(queue, layout[1], node) << layout[1])] += 1
    packet = take_packet(pool, backlog, node, 0, 0)
    position[_at(node)] = 0
    if pool[_at(packet * FIELDS + DESTINATION)] < 0:
        dropped[_at(node)] += 1
        return 1
    occupied[_at(node)] += 1
    _enter(route, layout, pool, routers, slot, node, queue[2] - (1 << layout[1]), packet)
    return 0


@njit(cache=True, inline="always")
def _inject_slot(route, layout, pool, routers, slot, source, buffers, begin, tails):  # type: ignore[no-untyped-def]
    """Sources that never pause offer flits for a slot that begins in cycle `begin` and ends in an update phase.

    A packet whose head is accepted in the first cycle is complete in the last one, if `tails` are accepted there at
    all; another one waits for the next update phase. Return how many were dropped.
    """
    (first, waiting, _, _), position, occupied, nodes, count, _ = source
    drops, kept, total = 0, 0, count[0]
    for place in range(total):
        if place + AHEAD < total:
            node = np.int64(nodes[_at(place + AHEAD)])
            prefetch(first, node * LINKS)
            prefetch(position, node)
            prefetch(occupied, node)
        node = np.int64(nodes[_at(place)])
        if occupied[_at(node)] < buffers:
            complete = position[_at(node)] > 0
            if not complete:
                row = np.int64(first[_at(node * LINKS + FIRST)]) * FIELDS
                start = max(np.int64(pool[_at(row + CREATED)]), begin, 0)
                pool[_at(row + HEAD_CYCLE)] = start
                position[_at(node)] = 1
                complete = start == begin
            if complete and tails:
                drops += _accept(route, layout, pool, routers, slot, source, node)
        elif tails and len(routers[2][0]):
            routers[2][1][_at(_injection(routers[0], layout[1], node))] += 1
        if waiting[_at(node)]:
            nodes[_at(kept)] = node
            kept += 1
    count[0] = kept
    return drops


@njit(cache=True, inline="always")
def _inject_cycle(route, layout, pool, routers, slot, source, buffers, cycle, tails, length, pausing):  # type: ignore[no-untyped-def]
    """Sources that pause offer a flit each; a tail is accepted only if `tails`. Return how many were dropped."""
    (first, waiting, _, _), position, occupied, nodes, count, _ = source
    held, state, gap = pausing
    drops, kept = 0, 0
    for place in range(count[0]):
        node = np.int64(nodes[place])
        nodes[kept] = node
        kept += 1
        if not held[node] and (state[node] & np.uint32(255)) < gap:
            continue
        if occupied[node] == buffers or (position[node] == length - 1 and not tails):
            if tails and len(routers[2][0]):
                routers[2][1][_at(_injection(routers[0], layout[1], node))] += 1
            held[node] = 1
            continue
        held[node] = 0
        if position[node] == 0:
            pool[_at(np.int64(first[node * LINKS + FIRST]) * FIELDS + HEAD_CYCLE)] = cycle
        position[node] += 1
        if position[node] == length:
            drops += _accept(route, layout, pool, routers, slot, source, node)
            if not waiting[node]:
                kept -= 1
    count[0] = kept
    return drops


@njit(cache=True, inline="always")
def _leave(pool, free, packet, node, cycle, out, left):  # type: ignore[no-untyped-def]
    """Record a packet whose tail is taken in a cycle; its row of the pool is free again."""
    for word in range(FIELDS):
        out[_at(left * FIELDS + word)] = pool[_at(packet * FIELDS + word)]
    out[_at(left * FIELDS + NODE)] = node
    out[_at(left * FIELDS + TAIL_CYCLE)] = cycle
    rows, count = free
    rows[_at(count[0])] = packet
    count[0] += 1


@njit(cache=True, inline="always")
def _leave_slot(pool, free, leaving, slot, cycle, entries, local, credits_back, out, left):  # type: ignore[no-untyped-def]
    """Sinks that never pause take the tails of all packets in `cycle`; return the packets that have left so far."""
    nodes, packets, count = leaving
    places, given = credits_back
    at = slot % len(given)
    for item in range(count[0]):
        node = np.int64(nodes[_at(item)])
        _leave(pool, free, np.int64(packets[_at(item)]), node, cycle, out, left + item)
        places[at, _at(item)] = node * entries + local
    given[at] = count[0]
    return left + count[0]


@njit(cache=True, inline="always")
def _store_leaving(leaving, base, ejection):  # type: ignore[no-untyped-def]
    """Put packets into the ejection buffers; flit p can be taken from cycle ``base + p`` on."""
    nodes, leavers, count = leaving
    packets, bases, head, level = ejection
    for item in range(count[0]):
        node = nodes[item]
        place = (head[node] + level[node]) % packets.shape[1]
        packets[node, place], bases[node, place] = leavers[item], base
        level[node] += 1


@njit(cache=True, inline="always")
def _may_pause(pool, packet, address):  # type: ignore[no-untyped-def]
    """Tell whether a sink at an address may pause before a packet."""
    pace = pool[_at(packet * FIELDS + PACE)]
    return pace == ANYWHERE or (pace == AT_HOME and pool[_at(packet * FIELDS + DESTINATION)] == address)


@njit(cache=True, inline="always")
def _eject_cycle(pool, free, length, cycle, entries, address, credits, ejection, taken, pausing, out, left):  # type: ignore[no-untyped-def]
    """Sinks that pause take a flit each; return the packets that have left so far."""
    state, stall, local = pausing
    packets, bases, head, level = ejection
    for node in range(len(head)):
        if level[node] == 0:
            continue
        place = head[node]
        if bases[node, place] + taken[node] > cycle:
            continue
        pauses = ((state[node] >> np.uint32(8)) & np.uint32(255)) < stall
        if pauses and _may_pause(pool, np.int64(packets[node, place]), address[node]):
            continue
        taken[node] += 1
        if taken[node] == length:
            taken[node] = 0
            head[node] = (place + 1) % packets.shape[1]
            level[node] -= 1
            credits[node * entries + local] += 1
            _leave(pool, free, np.int64(packets[node, place]), node, cycle, out, left)
            left += 1
    return left


def make_flows(nodes: int, ports: int, packets: int, held: int, timing: SlotTiming) -> tuple[Any, ...]:
    """Return what is under way, empty: lists of at most as many items as there are packets, `held` in a router.

    Routers that hold a packet, and their number; packets on channels (the next router, its queue, the packet) and
    credits on their way back, each a list for every slot that they take; nodes whose injection queue has lost a packet;
    nodes and packets that leave; credits of ejection, by slot; and work space of allocation.
    """
    most, once = max(1, min(packets, nodes * ports)), max(1, min(packets, nodes))
    crossing_slots, credit_slots, ejection_slots = timing.hop_slots, 1 + timing.credit_slots, timing.ejection_slots
    one = np.zeros(1, np.int64)
    crossing = (
        np.empty((crossing_slots, most), np.int32),
        np.empty((crossing_slots, most), np.int16),
        np.empty((crossing_slots, most), np.int32),
    )
    return (
        (np.empty(nodes, np.int32), one.copy()),
        (*crossing, np.zeros(crossing_slots, np.int64)),
        (np.empty((credit_slots, most), np.int64), np.zeros(credit_slots, np.int64)),
        (np.empty(once, np.int32), one.copy()),
        (np.empty(once, np.int32), np.empty(once, np.int32), one.copy()),
        (np.empty((ejection_slots, once), np.int64), np.zeros(ejection_slots, np.int64)),
        make_work(ports + 1, held),
    )


def make_counts(nodes: int, ports: int, num_vcs: int) -> tuple[npt.NDArray[np.int64], ...]:
    """Return counters at nought, flat; of no nodes: nothing is counted.

    Of channels, those of the outputs, then ejection, then injection: packets sent to each virtual channel, axes (node,
    channel, virtual channel); and slots in which a channel carried none though one waited for it, axes (node, channel).
    Of queues, as those of :func:`make_queues`: the sum of the slots in which packets were there when it was allocated,
    less the number of the first one for each packet that still is; and how many are.
    """
    vc_bits = (num_vcs - 1).bit_length()
    channels, queues = nodes * (ports + 2), nodes * (ports + 1) << vc_bits
    return tuple(np.zeros(size, np.int64) for size in (channels << vc_bits, channels, queues, queues))


def make_terminals(nodes: int, buffers: int, seeds: npt.NDArray[np.uint32]) -> tuple[Any, ...]:
    """Return idle terminals.

    Of sources: a queue of packets, flits accepted of the first, packets in the injection queue, nodes that have a
    packet, their number, and packets dropped. Of sources that pause: whether a flit is on offer. Of sinks that pause:
    buffers of packets with the cycle from which each can be taken, first and number, and flits taken. Last, the states
    of the generators.
    """
    return (
        (
            make_queues(nodes, 1, 1),
            np.zeros(nodes, np.int32),
            np.zeros(nodes, np.int32),
            np.empty(nodes, np.int32),
            np.zeros(1, np.int64),
            np.zeros(nodes, np.int64),
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
    free,
    arrivals,
    queue,
    credits,
    orders,
    flows,
    terminals,
    waits,
    counts,
    out,
    progress,
    packets,
    limit,
):
    """Go on until `packets` packets have left or been dropped since reset, or cycle `limit` is reached.

    `arrivals` are cycles, nodes, destinations and tags of packets, sorted by cycle: when a source has one to send; they
    take rows of the pool from those that are `free`, a list and its length. Terminals that never pause are worked on
    once a slot: then `limit` must be in the sample phase if the run is to go on, and `out` tells of tails that are
    still on their way to the terminal, and is in no order within a cycle. `progress` is told where the run stands.
    Return how many packets have left since the call.
    """
    length, sample_phase, update_phase, ejection_cycles, vc_bits = timing
    gap, stall, hold = waits
    plain = gap == 0 and stall == 0 and hold == 0
    # The caller holds all arrays.
    pool, free, credits, out = borrow(pool), borrow(free), borrow(credits), borrow(out)
    shape, queue, orders, counts, arrivals = (
        borrow(shape),
        borrow(queue),
        borrow(orders),
        borrow(counts),
        borrow(arrivals),
    )
    busy, crossing, returning, freed, leaving, credits_back, work = borrow(flows)
    source, held, ejection, taken, state = borrow(terminals)
    layout, routers, occupied, release = (
        (borrow(address), vc_bits, shape[4]),
        (queue, busy, counts),
        source[2],
        arrivals[0],
    )
    nodes, entries, local, total = len(address), queue[2], shape[5] << vc_bits, len(release)
    arrived, left = 0, 0
    cycle, slot, ended = progress[CYCLE], progress[SLOT], progress[ENDED]
    sent, lost, before = progress[SENT], progress[LOST], progress[LEFT]
    while before + left + lost < packets and cycle < limit:
        phase = cycle % length
        if phase == sample_phase:
            for item in range(freed[1][0]):
                occupied[_at(freed[0][_at(item)])] -= 1
            freed[1][0] = 0
            _deliver(route, layout, pool, routers, slot, crossing)
            _return_credits(credits, returning, slot)
            if plain:
                _return_credits(credits, credits_back, slot)
            sent += _allocate(
                pool, routers, credits, orders, vc_bits, slot, shape, crossing, returning, freed, leaving, work
            )
            base = (slot + 1) * length + ejection_cycles
            if not plain:
                _store_leaving(leaving, base, ejection)
            else:
                if leaving[2][0]:
                    ended = base + length
                tail_cycle = base + length - 1
                left = _leave_slot(pool, free, leaving, slot, tail_cycle, entries, local, credits_back, out, left)
            slot += 1
        # Terminals: up to the next allocation, or this cycle alone.
        end = cycle + (sample_phase - phase - 1) % length if plain else cycle
        while arrived < total and release[_at(arrived)] <= min(end, limit - 1):
            _offer(pool, free, source, arrivals, arrived)
            arrived += 1
        if plain:
            begin, tails = end - length + 1, end < limit
            drops = _inject_slot(route, layout, pool, routers, slot, source, buffers, begin, tails)
            if drops:
                ended = max(ended, end + 1)
            lost += drops
        else:
            tails, pausing = phase == update_phase, (held, state, gap)
            lost += _inject_cycle(route, layout, pool, routers, slot, source, buffers, cycle, tails, length, pausing)
            if cycle >= hold:
                pauses = (state, stall, local)
                left = _eject_cycle(
                    pool, free, length, cycle, entries, layout[0], credits, ejection, taken, pauses, out, left
                )
            if gap or stall:
                for node in range(nodes):
                    state[node] = _advance(state[node])
            ended = end + 1
        cycle = end + 1
    progress[CYCLE], progress[SLOT], progress[ENDED] = cycle, slot, ended
    progress[SENT], progress[LOST], progress[LEFT] = sent, lost, before + left
    return left
