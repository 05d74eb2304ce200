"""What channels and queues of routers do, counted."""

from hdnhw.model.kernel.compiled import at, inlined, trailing_zeros, wide
from hdnhw.model.kernel.queue import ends_of
from hdnhw.model.kernel.state import (
    HEAD,
    NEXT,
    OUTPUT_VC,
    PACKET_WORDS,
    QUEUE_WORDS,
    SENT_BITS,
    Counters,
    Routers,
    State,
)

__all__ = ["count_injected", "count_slot", "count_waiting"]


@inlined
def count_slot(routers: Routers, counters: Counters, slot: int, node: int, granted: int) -> None:
    """Count what a router's channels carry in a slot, which of them stall, and the packets that leave its queues.

    A channel stalls if it carries nothing though a packet is for it that stands at the head of a queue. The packets
    granted are still there.
    """
    queues, work, vc_bits, pool = routers.queues, routers.work, routers.vc_bits, routers.pool.words
    base, channel = node * queues.size, node * (len(work.winner) + 1)
    for grant in range(granted):
        queue, output_vc = work.queue[at(grant)], work.output_vc[at(grant)]
        counters.sent[at((channel << vc_bits) + output_vc)] += 1
        counters.held[at(base + queue)] += slot + 1
        counters.level[at(base + queue)] -= 1
        work.winner[at(output_vc >> vc_bits)] = 0
    for word in range(queues.words):
        bits = queues.present[at(node * queues.words + word)]
        while bits:
            queue = (word << 6) + trailing_zeros(bits)
            bits &= bits - 1
            row = (base + queue) * QUEUE_WORDS
            packet, last = ends_of(queues.links, pool, row)
            output = wide(queues.links[at(row + HEAD)]) >> SENT_BITS + vc_bits
            while True:
                counters.stalled[at(channel + output)] += work.winner[at(output)] < 0
                work.winner[at(output)] = 0
                if not routers.rounds or packet == last:
                    break
                packet = wide(pool[at(packet * PACKET_WORDS + NEXT)])
                output = wide(pool[at(packet * PACKET_WORDS + OUTPUT_VC)]) >> vc_bits
    for output in range(len(work.winner)):
        work.winner[at(output)] = -1


@inlined
def count_injected(state: State, node: int) -> None:
    """Count a packet that goes over a node's injection channel, if anything is counted."""
    if len(state.counters.sent):
        state.counters.sent[at(_injection(state, node) << state.routers.vc_bits)] += 1


@inlined
def count_waiting(state: State, node: int) -> None:
    """Count a slot in which none goes over a node's injection channel though one waits, if anything is counted."""
    if len(state.counters.sent):
        state.counters.stalled[at(_injection(state, node))] += 1


@inlined
def _injection(state: State, node: int) -> int:
    """Return the number of a node's injection channel among those that are counted."""
    return node * (state.fabric.ports + 2) + state.fabric.ports + 1
