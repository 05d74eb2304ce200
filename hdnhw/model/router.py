"""The stages of routers and terminals on arrays, under the names they have in :mod:`hdnhw.rtl`.

All kernels stand in this file, since Numba keeps compiled code by the file in which a function is written.

Array axes: node, port (the last one is injection, or ejection), virtual channel, packet slot.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from hdnhw.routing.compiled import VC_SHIFT

__all__ = ["allocate_node", "make_orders", "make_queues", "push_decision", "simulate"]

PORT_MASK = (1 << VC_SHIFT) - 1


@njit(cache=True, inline="always")
def push_decision(queue, node, port, vc, packet, decision):  # type: ignore[no-untyped-def]
    """Put a packet with its routing decision (``port | vc << VC_SHIFT``) at the end of a queue."""
    packets, decisions, head, level = queue
    slot = (head[node, port, vc] + level[node, port, vc]) % packets.shape[3]
    packets[node, port, vc, slot] = packet
    decisions[node, port, vc, slot] = decision
    level[node, port, vc] += 1


@njit(cache=True)
def _choose_vc(queue, credits, sent, node, port, num_vcs):  # type: ignore[no-untyped-def]
    """Return the virtual channel of an input whose head packet may be sent and that sent longest ago, or -1."""
    _, decisions, head, level = queue
    chosen = -1
    for vc in range(num_vcs):
        if level[node, port, vc] and (chosen < 0 or sent[node, port, vc] < sent[node, port, chosen]):
            decision = decisions[node, port, vc, head[node, port, vc]]
            if credits[node, decision & PORT_MASK, decision >> VC_SHIFT]:
                chosen = vc
    return chosen


@njit(cache=True, inline="always")
def _precedes(sent, several, node, one, other, decisions, head, chosen):  # type: ignore[no-untyped-def]
    """Tell whether the packet of one input comes before that of another one at the output that both want."""
    by_vc, by_input, _ = sent
    if not several:
        return by_input[node, 0, 0, one] < by_input[node, 0, 0, other]
    ours = decisions[node, one, chosen[one], head[node, one, chosen[one]]]
    theirs = decisions[node, other, chosen[other], head[node, other, chosen[other]]]
    output, vc, their_vc = ours & PORT_MASK, ours >> VC_SHIFT, theirs >> VC_SHIFT
    if vc != their_vc:
        return by_vc[node, output, vc] < by_vc[node, output, their_vc]
    return by_input[node, output, vc, one] < by_input[node, output, vc, other]


@njit(cache=True)
def allocate_node(queue, credits, sent, slot, inputs, vcs_in, node, chosen, winner):  # type: ignore[no-untyped-def]
    """Match inputs and outputs of one router for the next slot; return how many outputs have a winner.

    `sent` tells in which slot packets were sent last, see :func:`make_orders`, and `slot` is the number of this one.
    `inputs` are the ports that the router has, injection last. `chosen` and `winner` are work space, shape
    (ports + 1,): on return, ``winner[o]`` is the input that sends to output o or -1, and ``chosen[i]`` the virtual
    channel that input i sends from or -1. Credits are spent; the packets stay at the heads of their queues.
    """
    _, decisions, head, _ = queue
    by_vc, by_input, by_queue = sent
    several = False
    for port in inputs:
        several |= vcs_in[port] > 1
    winner[:] = -1
    chosen[:] = -1
    granted = 0
    for port in inputs:
        vc = _choose_vc(queue, credits, by_queue, node, port, vcs_in[port])
        if vc < 0:
            continue
        chosen[port] = vc
        output = decisions[node, port, vc, head[node, port, vc]] & PORT_MASK
        if winner[output] < 0:
            granted += 1
            winner[output] = port
        elif _precedes(sent, several, node, port, winner[output], decisions, head, chosen):
            winner[output] = port
    for port in inputs:
        vc = chosen[port]
        if vc < 0:
            continue
        decision = decisions[node, port, vc, head[node, port, vc]]
        output, output_vc = decision & PORT_MASK, decision >> VC_SHIFT
        if winner[output] != port:
            chosen[port] = -1
            continue
        credits[node, output, output_vc] -= 1
        by_queue[node, port, vc] = slot
        if several:
            by_vc[node, output, output_vc] = slot
            by_input[node, output, output_vc, port] = slot
        else:
            by_input[node, 0, 0, port] = slot
    return granted


def make_orders(nodes: int, ports: int, num_vcs: int) -> tuple[npt.NDArray[Any], ...]:
    """Return the slots in which packets were sent last, as if in the order of numbers before the first slot.

    Three arrays: to each virtual channel of each output, shape (nodes, ports, num_vcs); there from each input, shape
    (nodes, ports, num_vcs, ports), or to any at index 0, 0 where no input of a router has two virtual channels; and
    from each virtual channel of each input, shape (nodes, ports, num_vcs).
    """
    vcs, inputs = np.arange(-num_vcs, 0, dtype=np.int32), np.arange(-ports, 0, dtype=np.int32)
    outputs = ports if num_vcs > 1 else 1
    return (
        np.tile(vcs, (nodes, outputs, 1)),
        np.tile(inputs, (nodes, outputs, num_vcs, 1)),
        np.tile(vcs, (nodes, ports, 1)),
    )


def make_queues(nodes: int, ports: int, num_vcs: int, buffers: int) -> tuple[npt.NDArray[Any], ...]:
    """Return empty queues: packets, decisions (node, port, vc, slot), head and level (node, port, vc)."""
    shape = (nodes, ports, num_vcs)
    return (
        np.full((*shape, buffers), -1, np.int32),
        np.zeros((*shape, buffers), np.int32),
        np.zeros(shape, np.int16),
        np.zeros(shape, np.int16),
    )


@njit(cache=True, inline="always")
def _advance(state):  # type: ignore[no-untyped-def]
    word = np.int64(state)  # Numba widens 32-bit arithmetic, so the shifts to the left are cut back by hand
    word ^= (word << 13) & 0xFFFFFFFF
    word ^= word >> 17
    word ^= (word << 5) & 0xFFFFFFFF
    return np.uint32(word)


@njit(cache=True)
def _deliver(route, address, queue, destination, crossing):  # type: ignore[no-untyped-def]
    """Route computation: put packets that have crossed a channel into the queues of the next routers."""
    nodes, ports, vcs, packets, count, at = crossing
    for item in range(count[at]):
        node, packet = nodes[at, item], packets[at, item]
        decision = route(address[node], destination[packet])
        push_decision(queue, node, ports[at, item], vcs[at, item], packet, decision)
    count[at] = 0


@njit(cache=True)
def _return_credits(credits, returning):  # type: ignore[no-untyped-def]
    """Count the packet slots that have become free downstream."""
    nodes, ports, vcs, count, at = returning
    for item in range(count[at]):
        credits[nodes[at, item], ports[at, item], vcs[at, item]] += 1
    count[at] = 0


@njit(cache=True)
def _allocate(queue, credits, orders, now, shape, crossing, returning, ejection, base, freed):  # type: ignore[no-untyped-def]
    """Allocate every router for one slot and send the winners on; return the packets sent between routers."""
    neighbors, opposite, vcs_in, inputs, num_inputs = shape
    packets, decisions, head, level = queue
    nodes, ports = neighbors.shape
    chosen, winner = np.empty(ports + 1, np.int64), np.empty(ports + 1, np.int64)
    sent = 0
    for node in range(nodes):
        own = inputs[node, : num_inputs[node]]
        if allocate_node(queue, credits, orders, now, own, vcs_in, node, chosen, winner) == 0:
            continue
        for output in range(ports + 1):
            port = winner[output]
            if port < 0:
                continue
            vc = chosen[port]
            slot = head[node, port, vc]
            packet, decision = packets[node, port, vc, slot], decisions[node, port, vc, slot]
            head[node, port, vc] = (slot + 1) % packets.shape[3]
            level[node, port, vc] -= 1
            if port < ports:
                _give_back(returning, neighbors[node, port], opposite[port], vc)
            else:
                freed[node] = 1
            if output < ports:
                _cross(crossing, neighbors[node, output], opposite[output], decision >> VC_SHIFT, packet)
                sent += 1
            else:
                _leave(ejection, node, packet, base)
    return sent


@njit(cache=True, inline="always")
def _give_back(returning, node, port, vc):  # type: ignore[no-untyped-def]
    nodes, ports, vcs, count, at = returning
    item = count[at]
    nodes[at, item], ports[at, item], vcs[at, item] = node, port, vc
    count[at] += 1


@njit(cache=True, inline="always")
def _cross(crossing, node, port, vc, packet):  # type: ignore[no-untyped-def]
    nodes, ports, vcs, packets, count, at = crossing
    item = count[at]
    nodes[at, item], ports[at, item], vcs[at, item], packets[at, item] = node, port, vc, packet
    count[at] += 1


@njit(cache=True, inline="always")
def _leave(ejection, node, packet, base):  # type: ignore[no-untyped-def]
    """Put a packet into the ejection buffer; flit p can be taken from cycle ``base + p`` on."""
    packets, bases, head, level = ejection
    place = (head[node] + level[node]) % packets.shape[1]
    packets[node, place] = packet
    bases[node, place] = base
    level[node] += 1


@njit(cache=True)
def _inject(route, address, possible, length, tails, cycle, queue, traffic, source, pauses, log):  # type: ignore[no-untyped-def]
    """Sources offer flits; complete packets enter the injection queue, or are dropped. Return how many were dropped.

    A tail flit is accepted only if `tails`: in the update phase.
    """
    first, destination, earliest = traffic
    pointer, position, held, occupied = source
    state, gap = pauses
    head_cycle, dropped = log
    nodes, ports, drops = len(pointer), queue[0].shape[1], 0
    buffers = queue[0].shape[3]
    for node in range(nodes):
        packet = pointer[node]
        if packet == first[node + 1] or earliest[packet] > cycle:
            continue
        if not held[node] and (state[node] & np.uint32(255)) < gap:
            continue
        if occupied[node] == buffers or (position[node] == length - 1 and not tails):
            held[node] = 1
            continue
        held[node] = 0
        if position[node] == 0:
            head_cycle[packet] = cycle
        position[node] += 1
        if position[node] == length:
            position[node] = 0
            pointer[node] += 1
            if possible[packet]:
                decision = route(address[node], destination[packet])
                push_decision(queue, node, ports - 1, 0, packet, decision)
                occupied[node] += 1
            else:
                dropped[node] += 1
                drops += 1
    return drops


@njit(cache=True)
def _eject(length, cycle, credits, ejection, taken, pauses, out, ejected):  # type: ignore[no-untyped-def]
    """Sinks take flits; return the packets that have left so far."""
    ejected_packet, ejected_base, ejection_head, ejection_level = ejection
    out_packet, out_node, out_cycle = out
    state, stall = pauses
    local = credits.shape[1] - 1
    for node in range(len(ejection_head)):
        if ejection_level[node] == 0:
            continue
        place = ejection_head[node]
        if ejected_base[node, place] + taken[node] > cycle or ((state[node] >> np.uint32(8)) & np.uint32(255)) < stall:
            continue
        taken[node] += 1
        if taken[node] == length:
            taken[node] = 0
            ejection_head[node] = (place + 1) % ejected_packet.shape[1]
            ejection_level[node] -= 1
            credits[node, local, 0] += 1
            out_packet[ejected] = ejected_packet[node, place]
            out_node[ejected] = node
            out_cycle[ejected] = cycle
            ejected += 1
    return ejected


@njit(cache=True)
def _make_lists(columns, delays, most):  # type: ignore[no-untyped-def]
    """Return work space, index: column, slot modulo the delay, item."""
    return np.empty((columns, delays, most), np.int64)


@njit(cache=True)
def simulate(  # type: ignore[no-untyped-def]
    route, address, possible, shape, timing, queue, credits, orders, traffic, state, pauses, log, out, expected, limit
):
    """Run until the `expected` numbers of packets have left and been dropped, or `limit` cycles have passed.

    Return (cycles, packets that have left, packets sent between routers).
    """
    length, hop_slots, sample_phase, update_phase, credit_slots, channel_cycles = timing
    gap, stall, hold = pauses
    nodes, ports = shape[0].shape
    most = nodes * (ports + 1)
    buffers = queue[0].shape[3]
    delays = 1 + credit_slots
    crossing, crossing_count = _make_lists(4, hop_slots, most), np.zeros(hop_slots, np.int64)
    returning, returning_count = _make_lists(3, delays, most), np.zeros(delays, np.int64)
    ejection = (
        np.empty((nodes, buffers), np.int64),
        np.empty((nodes, buffers), np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
    )
    taken, freed = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    source = (traffic[0][:-1].copy(), np.zeros(nodes, np.int64), np.zeros(nodes, np.uint8), np.zeros(nodes, np.int64))
    ejected, dropped, sent, cycle, slot = 0, 0, 0, 0, 0
    while (ejected < expected[0] or dropped < expected[1]) and cycle < limit:
        phase = cycle % length
        if phase == sample_phase:
            source[3][:] -= freed
            freed[:] = 0
            now_crossing = (crossing[0], crossing[1], crossing[2], crossing[3], crossing_count, slot % hop_slots)
            now_returning = (returning[0], returning[1], returning[2], returning_count, slot % delays)
            _deliver(route, address, queue, traffic[1], now_crossing)
            _return_credits(credits, now_returning)
            base = (slot + 1) * length + channel_cycles + 1
            sent += _allocate(queue, credits, orders, slot, shape, now_crossing, now_returning, ejection, base, freed)
            slot += 1
        tails = phase == update_phase
        dropped += _inject(route, address, possible, length, tails, cycle, queue, traffic, source, (state, gap), log)
        if cycle >= hold:
            ejected = _eject(length, cycle, credits, ejection, taken, (state, stall), out, ejected)
        if gap or stall:
            for node in range(nodes):
                state[node] = _advance(state[node])
        cycle += 1
    return cycle, ejected, sent
