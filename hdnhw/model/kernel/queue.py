"""Queues of a router: the twin of the packet buffers in :mod:`hdnhw.rtl.buffer`."""

from typing import Any

import numpy as np
from numba.cpython.unsafe import numbers

from hdnhw.model.kernel.compiled import at, inlined, wide
from hdnhw.model.kernel.state import (
    CAME_LAST,
    FIRST,
    HEAD_OUTPUT_VC,
    LAST,
    NEXT,
    OUTPUT_VC,
    PACKET_WORDS,
    QUEUE_WORDS,
    Integers,
    Pool,
    Queues,
)

__all__ = ["holds_packet", "note_arrival", "push_packet", "take_packet", "trailing_zeros"]

trailing_zeros: Any = numbers.trailing_zeros  # an intrinsic: called without the context that its type asks for


@inlined
def holds_packet(present: Integers, words: int, node: int) -> bool:
    """Tell whether a router holds a packet."""
    held = wide(present[at(node * words)])
    for word in range(1, words):
        held |= wide(present[at(node * words + word)])
    return held != 0


@inlined
def push_packet(pool: Pool, queues: Queues, node: int, queue: int, packet: int, output_vc: int) -> None:
    """Put a packet with its routing decision at the end of a queue."""
    words, links, present = pool.words, queues.links, queues.present
    row = (node * queues.size + queue) * QUEUE_WORDS
    place, bit = at(node * queues.words + (queue >> 6)), np.int64(1) << (queue & 63)
    held = present[place]
    if held & bit:
        words[at(wide(links[at(row + LAST)]) * PACKET_WORDS + NEXT)] = packet
        words[at(packet * PACKET_WORDS + OUTPUT_VC)] = output_vc
    else:
        present[place] = held | bit
        links[at(row + FIRST)] = packet
        links[at(row + HEAD_OUTPUT_VC)] = output_vc
    links[at(row + LAST)] = packet


@inlined
def note_arrival(queues: Queues, node: int, queue: int, slot: int) -> None:
    """Say that the last packet of a queue has come for the allocation at the end of a slot, with matching."""
    queues.links[at((node * queues.size + queue) * QUEUE_WORDS + CAME_LAST)] = slot


@inlined
def take_packet(pool: Pool, queues: Queues, node: int, queue: int, output_vc: int) -> int:
    """Take the first packet of a queue that goes to an output virtual channel, and return it."""
    words, links, present = pool.words, queues.links, queues.present
    row = (node * queues.size + queue) * QUEUE_WORDS
    packet, last = wide(links[at(row + FIRST)]), wide(links[at(row + LAST)])
    if links[at(row + HEAD_OUTPUT_VC)] == output_vc:
        if packet == last:
            present[at(node * queues.words + (queue >> 6))] ^= np.int64(1) << (queue & 63)
        else:
            following = wide(words[at(packet * PACKET_WORDS + NEXT)])
            links[at(row + FIRST)] = following
            links[at(row + HEAD_OUTPUT_VC)] = words[at(following * PACKET_WORDS + OUTPUT_VC)]
        return packet
    before, packet = packet, wide(words[at(packet * PACKET_WORDS + NEXT)])
    while words[at(packet * PACKET_WORDS + OUTPUT_VC)] != output_vc:
        before, packet = packet, wide(words[at(packet * PACKET_WORDS + NEXT)])
    if packet == last:
        links[at(row + LAST)] = before
    else:
        words[at(before * PACKET_WORDS + NEXT)] = words[at(packet * PACKET_WORDS + NEXT)]
    return packet
