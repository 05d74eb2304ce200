"""Iterative matching, output first: the twin of :mod:`hdnhw.rtl.matching`."""

from hdnhw.model.kernel.compiled import at, inlined, trailing_zeros, wide
from hdnhw.model.kernel.queue import ends_of
from hdnhw.model.kernel.state import (
    HEAD,
    NEXT,
    OUTPUT_VC,
    PACKET_WORDS,
    QUEUE_WORDS,
    SENT_BITS,
    Orders,
    Routers,
    Words,
)
from hdnhw.timing import TURN_SLOTS

__all__ = ["match"]


@inlined
def match(routers: Routers, slot: int, node: int) -> int:
    """Match inputs and outputs in rounds: outputs grant, inputs accept; list what is sent, and return how many.

    If the first round is early, packets that have just come take part in the second only.
    """
    orders, work, vc_bits, ports = routers.orders, routers.work, routers.vc_bits, routers.orders.ports
    winner, leader, partner = work.winner, work.leader, work.partner
    old, offers = _make_requests(routers, slot, node)
    for number in range(routers.rounds):
        for offer in range(offers if number else old):
            queue, output_vc = work.queue[at(offer)], work.output_vc[at(offer)]
            output = at(output_vc >> vc_bits)
            if winner[output] >= 0 or partner[at(queue >> vc_bits)] >= 0:
                continue
            best = leader[output]
            if best < 0 or _goes_first(
                orders, vc_bits, slot, node, queue, output_vc, work.queue[at(best)], work.output_vc[at(best)]
            ):
                leader[output] = offer
        for output in range(ports):
            if leader[at(output)] >= 0:
                port = work.queue[at(leader[at(output)])] >> vc_bits
                row, other = (node * ports + port) * ports, partner[at(port)]
                if other < 0 or orders.by_output[at(row + output)] < orders.by_output[at(row + other)]:
                    partner[at(port)] = output
        for output in range(ports):
            offer = leader[at(output)]
            if offer >= 0 and partner[at(work.queue[at(offer)] >> vc_bits)] == output:
                winner[at(output)] = offer
            leader[at(output)] = -1
    for port in range(ports):
        partner[at(port)] = -1
    granted = 0
    for offer in range(offers):
        queue, output_vc = work.queue[at(offer)], work.output_vc[at(offer)]
        if winner[at(output_vc >> vc_bits)] == offer:
            work.queue[at(granted)] = queue
            work.output_vc[at(granted)] = output_vc
            granted += 1
    return granted


@inlined
def _make_requests(routers: Routers, slot: int, node: int) -> tuple[int, int]:
    """List the packets of a router that may be sent, as queue and output virtual channel.

    Return how many of them take part in the first round, which come first, and how many there are.
    """
    queues, credits, work, rows = routers.queues, routers.credits, routers.work, routers.pool.words
    links, present, words = queues.links, queues.present, queues.words
    base, offered, end = node * queues.size, 0, len(work.queue)
    for word in range(words):
        bits = present[at(node * words + word)]
        while bits:
            queue = wide(word << 6) + trailing_zeros(bits)
            bits &= bits - 1
            row = (base + queue) * QUEUE_WORDS
            packet, last = ends_of(links, rows, row)
            output_vc = wide(links[at(row + HEAD)]) >> SENT_BITS
            came = routers.early and queues.came[at(base + queue)] == slot
            while True:
                if credits[at(base + output_vc)]:
                    is_new = came and packet == last
                    end -= is_new
                    place = end if is_new else offered
                    offered += not is_new
                    work.queue[at(place)] = queue
                    work.output_vc[at(place)] = output_vc
                if packet == last:
                    break
                packet = wide(rows[at(packet * PACKET_WORDS + NEXT)])
                output_vc = wide(rows[at(packet * PACKET_WORDS + OUTPUT_VC)])
    old = offered
    for place in range(end, len(work.queue)):
        work.queue[at(offered)] = work.queue[at(place)]
        work.output_vc[at(offered)] = work.output_vc[at(place)]
        offered += 1
    return old, offered


@inlined
def _goes_first(
    orders: Orders, vc_bits: int, slot: int, node: int, queue: int, output_vc: int, rival: int, their_vc: int
) -> bool:
    """Tell whether one request comes before a rival at the output that both want."""
    size = orders.ports << vc_bits
    base = node * size
    if output_vc != their_vc:
        return bool(orders.by_vc[at(base + output_vc)] < orders.by_vc[at(base + their_vc)])
    port, other, injection = queue >> vc_bits, rival >> vc_bits, orders.ports - 1
    by_queue, row = orders.by_input, (base + output_vc) * size
    if port == other:
        return bool(by_queue[at(row + queue)] < by_queue[at(row + rival)])
    if port == injection or other == injection:
        had_its_turn = by_queue[at(row + (injection << vc_bits))] >= slot - slot % TURN_SLOTS
        return (other if had_its_turn else port) == injection
    return _sent_by_input(by_queue, row, port, vc_bits) < _sent_by_input(by_queue, row, other, vc_bits)


@inlined
def _sent_by_input(by_queue: Words, row: int, port: int, vc_bits: int) -> int:
    """Return the slot in which an input has sent to an output virtual channel last, by any of its queues."""
    last = by_queue[at(row + (port << vc_bits))]
    for vc in range(1, 1 << vc_bits):
        last = max(last, by_queue[at(row + (port << vc_bits | vc))])
    return wide(last)
