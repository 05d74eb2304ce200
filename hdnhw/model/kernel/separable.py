"""Separable allocation, input first: the twin of :mod:`hdnhw.rtl.separable`."""

from hdnhw.model.kernel.compiled import at, inlined, trailing_zeros, wide
from hdnhw.model.kernel.state import HEAD, QUEUE_WORDS, SENT_BITS, SENT_MASK, Buffers, Routers, Words
from hdnhw.timing import CLASS_SLOTS

__all__ = ["grant"]


@inlined
def grant(routers: Routers, slot: int, node: int) -> int:
    """List what the outputs of a router take of what its inputs offer, one each; return how many there are."""
    queues, credits, vc_bits, several = routers.queues, routers.credits, routers.vc_bits, routers.several[at(node)]
    links, present, words = queues.links, queues.present, queues.words
    winner, granted_queue, granted_vc = routers.work.winner, routers.work.queue, routers.work.output_vc
    base, granted = node * queues.size, 0
    for word in range(words):
        bits, first = present[at(node * words + word)], wide(word << 6)
        while bits:
            queue = first + trailing_zeros(bits)
            if several:
                last = (queue | ((1 << vc_bits) - 1)) & 63
                own = bits & ((wide(2) << last) - 1)
                bits ^= own
                if own & (own - 1):
                    queue = _offer_of_input(links, credits, base, own, first)
                    if queue < 0:
                        continue
            else:
                bits &= bits - 1
            output_vc = wide(links[at((base + queue) * QUEUE_WORDS + HEAD)]) >> SENT_BITS
            if not credits[at(base + output_vc)]:
                continue
            output = at(output_vc >> vc_bits)
            place = winner[output]
            if place < 0:
                place = wide(granted)
                winner[output] = place
                granted += 1
            elif not _precedes(
                routers, several, slot, base, queue, output_vc, granted_queue[at(place)], granted_vc[at(place)]
            ):
                continue
            granted_queue[at(place)] = queue
            granted_vc[at(place)] = output_vc
    return granted


@inlined
def _offer_of_input(links: Words, credits: Buffers, base: int, bits: int, first: int) -> int:
    """Return the queue among those of an input whose head packet may be sent and that sent longest ago, or -1."""
    chosen, since = wide(-1), wide(0)
    while bits:
        queue = first + trailing_zeros(bits)
        bits &= bits - 1
        head = wide(links[at((base + queue) * QUEUE_WORDS + HEAD)])
        last = head & SENT_MASK
        if (chosen < 0 or last < since) and credits[at(base + (head >> SENT_BITS))]:
            chosen, since = queue, last
    return chosen


@inlined
def _precedes(
    routers: Routers, several: bool, slot: int, base: int, queue: int, output_vc: int, rival: int, their_vc: int
) -> bool:
    """Tell whether one offer comes before a rival at the output that both want."""
    links, orders, vc_bits = routers.queues.links, routers.orders, routers.vc_bits
    if not several:
        mine, theirs = links[at((base + queue) * QUEUE_WORDS + HEAD)], links[at((base + rival) * QUEUE_WORDS + HEAD)]
        return bool(mine & SENT_MASK < theirs & SENT_MASK)
    if output_vc >> routers.lane_bits != their_vc >> routers.lane_bits and (slot + 1) % CLASS_SLOTS:
        return bool(output_vc > their_vc)
    if output_vc != their_vc:
        return bool(orders.by_vc[at(base + output_vc)] < orders.by_vc[at(base + their_vc)])
    row = (base + output_vc) * orders.ports
    return bool(orders.by_input[at(row + (queue >> vc_bits))] < orders.by_input[at(row + (rival >> vc_bits))])
