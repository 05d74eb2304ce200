"""Allocation of one router: the twin of :mod:`hdnhw.rtl.allocator`."""

from hdnhw.model.kernel.compiled import at, inlined
from hdnhw.model.kernel.matching import match
from hdnhw.model.kernel.separable import make_offers
from hdnhw.model.kernel.state import QUEUE_WORDS, SENT_LAST, Routers

__all__ = ["allocate_node"]


@inlined
def allocate_node(routers: Routers, slot: int, node: int) -> int:
    """Match inputs and outputs of one router for the next slot, which has a number; return how many packets are sent.

    On return, the first offers in the work space are those granted, one an output. Credits are spent; the packets stay
    in their queues, each the first that goes to its output virtual channel.
    """
    queues, orders, work, vc_bits = routers.queues, routers.orders, routers.work, routers.vc_bits
    base, ports, granted = node * queues.size, orders.ports, 0
    several, matched = routers.several[at(node)], routers.rounds > 0
    offers = match(routers, slot, node) if matched else make_offers(routers, slot, node)
    for offer in range(offers):
        queue, output_vc = work.queue[at(offer)], work.output_vc[at(offer)]
        output = at(output_vc >> vc_bits)
        if work.winner[output] != offer:
            continue
        work.winner[output] = -1
        routers.credits[at(base + output_vc)] -= 1
        port = queue >> vc_bits
        if several or matched:
            orders.by_vc[at(base + output_vc)] = slot
        if matched:
            orders.by_input[at((base + output_vc) * queues.size + queue)] = slot
            orders.by_output[at((node * ports + port) * ports + (output_vc >> vc_bits))] = slot
        else:
            queues.links[at((base + queue) * QUEUE_WORDS + SENT_LAST)] = slot
            if several:
                orders.by_input[at((base + output_vc) * ports + port)] = slot
        work.queue[at(granted)] = queue
        work.output_vc[at(granted)] = output_vc
        granted += 1
    return granted
