"""Allocation of one router: the twin of :mod:`hdnhw.rtl.allocator`."""

from hdnhw.model.kernel.compiled import at, inlined, wide
from hdnhw.model.kernel.matching import match
from hdnhw.model.kernel.separable import grant
from hdnhw.model.kernel.state import EPOCH, HEAD, QUEUE_WORDS, SENT_MASK, Routers

__all__ = ["allocate_node", "note_sent"]


@inlined
def allocate_node(routers: Routers, slot: int, node: int) -> int:
    """Match inputs and outputs of one router for the next slot, which has a number; return how many packets are sent.

    On return, the first entries of the work space are those granted, one an output: the first packet of each queue that
    goes to the output virtual channel. For each, :func:`note_sent` is to be called.
    """
    return match(routers, slot, node) if routers.rounds else grant(routers, slot, node)


@inlined
def note_sent(routers: Routers, slot: int, node: int, queue: int, output_vc: int) -> None:
    """Spend a credit for a packet that is granted, and note who was served."""
    queues, orders, vc_bits = routers.queues, routers.orders, routers.vc_bits
    base, ports, port, output = node * queues.size, orders.ports, queue >> vc_bits, output_vc >> vc_bits
    several, matched = routers.several[at(node)], routers.rounds > 0
    routers.work.winner[at(output)] = -1
    routers.credits[at(base + output_vc)] -= 1
    if several or matched:
        orders.by_vc[at(base + output_vc)] = slot
    if matched:
        orders.by_input[at((base + output_vc) * queues.size + queue)] = slot
        orders.by_output[at((node * ports + port) * ports + output)] = slot
    else:
        head = at((base + queue) * QUEUE_WORDS + HEAD)
        queues.links[head] = wide(queues.links[head]) & ~SENT_MASK | EPOCH | slot & (EPOCH - 1)
        if several:
            orders.by_input[at((base + output_vc) * ports + port)] = slot
