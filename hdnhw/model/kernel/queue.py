"""Queues of a router: the twin of the packet buffers in :mod:`hdnhw.rtl.buffer`."""

import numpy as np

from hdnhw.model.kernel.compiled import at, called, inlined, wide
from hdnhw.model.kernel.state import (
    EPOCH,
    HEAD,
    LAST,
    NEXT,
    OUTPUT_VC,
    PACKET_WORDS,
    QUEUE_WORDS,
    SENT_BITS,
    SENT_MASK,
    Integers,
    Pool,
    Queues,
    Words,
)

__all__ = [
    "ends_of",
    "holds_packet",
    "note_arrival",
    "push_packet",
    "start_epoch",
    "take_packet",
]


@inlined
def holds_packet(present: Integers, words: int, node: int) -> bool:
    """Tell whether a router holds a packet."""
    held = wide(present[at(node * words)])
    for word in range(1, words):
        held |= wide(present[at(node * words + word)])
    return held != 0


@inlined
def ends_of(links: Words, words: Words, row: int) -> tuple[int, int]:
    """Return the first and the last packet of a queue that holds one, whose words begin at `row`."""
    last = wide(links[at(row + LAST)])
    if last >= 0:
        return last, last
    return wide(words[at(~last * PACKET_WORDS + NEXT)]), wide(~last)


@inlined
def push_packet(pool: Pool, queues: Queues, node: int, queue: int, packet: int, output_vc: int) -> None:
    """Put a packet with its routing decision at the end of a queue."""
    words, links, present = pool.words, queues.links, queues.present
    row = (node * queues.size + queue) * QUEUE_WORDS
    place, bit = at(node * queues.words + (queue >> 6)), wide(1) << (queue & 63)
    held = present[place]
    if held & bit:
        first, last = ends_of(links, words, row)
        words[at(last * PACKET_WORDS + NEXT)] = packet
        words[at(packet * PACKET_WORDS + NEXT)] = first
        words[at(packet * PACKET_WORDS + OUTPUT_VC)] = output_vc
        links[at(row + LAST)] = ~packet
    else:
        present[place] = held | bit
        links[at(row + LAST)] = packet
        links[at(row + HEAD)] = output_vc << SENT_BITS | wide(links[at(row + HEAD)]) & SENT_MASK


@inlined
def note_arrival(queues: Queues, node: int, queue: int, slot: int) -> None:
    """Say that the last packet of a queue has come for the allocation at the end of a slot, with matching."""
    queues.came[at(node * queues.size + queue)] = slot


@inlined
def take_packet(pool: Pool, queues: Queues, node: int, queue: int, output_vc: int) -> int:
    """Take the first packet of a queue that goes to an output virtual channel, and return it."""
    words, links, present = pool.words, queues.links, queues.present
    row = (node * queues.size + queue) * QUEUE_WORDS
    last, head = wide(links[at(row + LAST)]), wide(links[at(row + HEAD)])
    if last >= 0:
        present[at(node * queues.words + (queue >> 6))] ^= wide(1) << (queue & 63)
        return last
    last = ~last
    packet = wide(words[at(last * PACKET_WORDS + NEXT)])
    following = wide(words[at(packet * PACKET_WORDS + NEXT)])
    if head >> SENT_BITS == output_vc:
        links[at(row + HEAD)] = wide(words[at(following * PACKET_WORDS + OUTPUT_VC)]) << SENT_BITS | head & SENT_MASK
        before = last
    else:
        before, packet = packet, following
        while words[at(packet * PACKET_WORDS + OUTPUT_VC)] != output_vc:
            before, packet = packet, wide(words[at(packet * PACKET_WORDS + NEXT)])
        following = wide(words[at(packet * PACKET_WORDS + NEXT)])
        if packet == last:
            last = before
    words[at(before * PACKET_WORDS + NEXT)] = following
    links[at(row + LAST)] = last if before == following else ~last
    return packet


@called
def start_epoch(queues: Queues, begin: int, end: int) -> None:
    """Let the queues of routers, from one node to another, have sent before an epoch that begins: in the same order."""
    links, size = queues.links, queues.size
    sent = np.empty(size, np.int64)
    for node in range(begin, end):
        latest = wide(0)
        for queue in range(size):
            sent[queue] = wide(links[at((node * size + queue) * QUEUE_WORDS + HEAD)]) & SENT_MASK
            latest = max(latest, sent[queue])
        if latest < EPOCH:
            continue
        for queue in range(size):
            before = wide(0)
            for other in range(size):
                before += sent[other] < sent[queue]
            row = (node * size + queue) * QUEUE_WORDS
            links[at(row + HEAD)] += before - sent[queue]
