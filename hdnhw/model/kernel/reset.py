"""A fabric and its terminals as they are after reset, and the room for packets made larger in the course of a run."""

from itertools import pairwise
from mmap import mmap
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.model.kernel.compiled import kept
from hdnhw.model.kernel.state import (
    CHOSEN_WORDS,
    HEAD,
    ITEM_WORDS,
    LINE,
    PACKET_WORDS,
    QUEUE_WORDS,
    Adaptive,
    Buffers,
    Counters,
    Credits,
    Fabric,
    Integers,
    Leaving,
    Mail,
    Orders,
    Parts,
    Pauses,
    Phases,
    Pool,
    Queues,
    Routers,
    Sinks,
    Sources,
    State,
    Valiant,
    Words,
    Work,
)
from hdnhw.model.kernel.ways import WORD, Route
from hdnhw.rules.plan import ADAPTIVE, UGAL
from hdnhw.timing import SlotTiming
from hdnhw.traffic.packets import Terminals, terminal_seeds

__all__ = ["credits_under_way", "make_decisions", "make_routers", "make_states", "with_room"]

PART_BYTES = 3 << 18
"""Most that a part holds of what its routers are: with what it sends and receives it fits into a cache of 2 MiB."""

PARTS_A_THREAD = 8
"""Fewest parts that a thread has if there are several threads, so that they have about as much to do."""


DECISION_BITS = 9
"""Most bits of an address where the rule is a table of what it decides: that fits into a cache, and is faster there."""


def make_decisions(route: Route, bits: int) -> npt.NDArray[np.int16]:
    """Return what a rule decides, axes (address, address of the destination) of so many bits; of none if too many."""
    decisions = np.zeros(1 << 2 * bits if bits <= DECISION_BITS else 0, np.int16)
    _decide(route, bits, decisions)
    return decisions


@kept
def _decide(route: Route, bits: int, decisions: npt.NDArray[np.int16]) -> None:
    for pair in range(len(decisions)):
        decisions[pair] = route(pair >> bits, pair & ((1 << bits) - 1))


def make_routers(
    credits: Buffers,
    several: npt.NDArray[np.bool_],
    *,
    first_vc: int,
    vc_bits: int,
    lane_bits: int,
    rounds: int,
    early: bool,
    held: int,
    room: int,
) -> Routers:
    """Return routers that hold no packet.

    Parameters
    ----------
    credits : ndarray of uint8 or uint16, shape (output virtual channels of a node,)
        Packet buffers at its end.
    several : ndarray of bool, shape (nodes,)
        Whether an input of the router has two virtual channels or more.
    first_vc, vc_bits, lane_bits, rounds, early : int or bool
        See :class:`Routers`.
    held, room : int
        Packets that a router can hold, and all can.
    """
    nodes, ports = len(several), len(credits) >> vc_bits
    return Routers(
        _make_pool(room),
        _make_queues(nodes, ports << vc_bits, early=early),
        np.tile(credits, nodes),
        _make_orders(nodes, ports, 1 << vc_bits, matched=rounds > 0),
        _make_work(ports, held),
        several,
        first_vc,
        vc_bits,
        lane_bits,
        rounds,
        early,
    )


def _make_pool(rows: int) -> Pool:
    """Return a pool all rows of which are free; none of them crosses a line of the cache."""
    words = np.empty(rows * PACKET_WORDS + 16, np.int32)
    start = -(words.ctypes.data // words.itemsize) % 16
    return Pool(words[start : start + rows * PACKET_WORDS], np.arange(rows, dtype=np.int32), np.array([rows]))


def _make_queues(nodes: int, size: int, *, early: bool) -> Queues:
    """Return empty queues that have sent in the order of numbers before the first slot."""
    words = -(-size // 64)
    links = np.zeros((nodes, size, QUEUE_WORDS), np.int32)
    links[..., HEAD] = np.arange(size)
    came = np.full(nodes * size * early, -1, np.int32)
    return Queues(links.reshape(-1), np.zeros(nodes * words, np.int64), came, size, words)


def _make_orders(nodes: int, ports: int, vcs: int, *, matched: bool) -> Orders:
    """Return orders as if all had sent in the order of numbers before the first slot, with the axes that are needed.

    Where queues are first in, first out, a router whose inputs have one virtual channel each has none of them: that
    queues know when they have sent is enough.
    """
    numbers = np.arange(-ports * vcs, 0, dtype=np.int32)
    ordered, every = nodes * (vcs > 1 or matched), nodes * matched
    return Orders(
        np.tile(numbers[-vcs:], ordered * ports),
        np.tile(numbers if matched else numbers[-ports:], ordered * ports * vcs),
        np.tile(numbers[-ports:], every * ports),
        ports,
    )


def _make_work(ports: int, packets: int) -> Work:
    """Return work space for routers with so many packets at most."""
    sizes = ports, packets, packets, ports, ports
    winner, queue, output_vc, leader, partner = (_alone(size) for size in sizes)
    for none in (winner, leader, partner):
        none[:] = -1
    return Work(winner, queue, output_vc, leader, partner)


def _alone(size: int) -> Integers:
    """Return zeros in lines of the cache that nothing else is in."""
    return np.zeros(size + 2 * LINE, np.int64)[LINE : LINE + size]


def make_states(
    fabric: Fabric,
    routers: Routers,
    timing: SlotTiming,
    terminals: Terminals,
    *,
    drawn: tuple[Words, Words],
    hangs: npt.NDArray[np.bool_],
    room: Buffers,
    scheme: str,
    ejection_buffers: int,
    counting: bool,
    threads: int,
) -> list[State]:
    """Return a fabric with idle terminals as each of so many threads has it.

    `drawn` is `nodes` and `targets` of :class:`Valiant`, `hangs` and `room` what they are there; `scheme` is that of
    :class:`hdnhw.rules.plan.RoutingPlan`. With `counting`, what channels and queues do is counted.
    """
    nodes, parts = len(fabric.address), _make_parts(fabric, routers, threads)
    state = State(
        fabric=fabric,
        phases=_make_phases(timing),
        pauses=Pauses(terminals.source_gap, terminals.sink_stall, terminals.sink_hold),
        parts=parts,
        routers=routers,
        valiant=Valiant(
            np.zeros(len(routers.pool.free) if len(drawn[0]) else 0, np.int32),
            *drawn,
            room,
            np.full(nodes * CHOSEN_WORDS if scheme == UGAL else 0, -1, np.int32),
            hangs,
        ),
        adaptive=_make_adaptive(len(routers.pool.free) if scheme == ADAPTIVE else 0, fabric.ports),
        busy=_unused(nodes + parts.number),
        **_make_lists(fabric, parts, timing),
        sources=_make_sources(nodes),
        sinks=_make_sinks(nodes, ejection_buffers),
        generators=terminal_seeds(nodes, terminals.seed),
        counters=_make_counters(nodes if counting else 0, fabric.ports, 1 << routers.vc_bits),
        out=_unused(len(routers.pool.free) * PACKET_WORDS),
        progress=_alone(LINE),
    )
    return [_of_thread(state, thread) for thread in range(threads)]


def _make_adaptive(rows: int, ports: int) -> Adaptive:
    """Return what there is to be known of the ports of packets in a pool of so many rows."""
    words = 1 + -(-ports // WORD)
    return Adaptive(np.zeros(rows * words, np.int64), words)


def _of_thread(state: State, thread: int) -> State:
    """Return a state as a thread has it: with its parts, and what it alone writes."""
    parts, routers, work = state.parts, state.routers, state.routers.work
    begin, end = (parts.number * number // parts.threads for number in (thread, thread + 1))
    own = _make_work(len(work.winner), len(work.queue))
    return state._replace(
        parts=parts._replace(thread=thread, begin=begin, end=end),
        routers=routers._replace(work=own),
        out=_unused(len(state.out)),
        progress=_alone(LINE),
    )


def _make_parts(fabric: Fabric, routers: Routers, threads: int) -> Parts:
    """Cut the nodes into parts; those of a thread come one after the other.

    A thread has as many channels to a part as the part has to the thread: mail of both kinds has room for as much.
    """
    nodes = len(fabric.address)
    of_node = 4 * (len(fabric.neighbors) + len(routers.queues.links)) // nodes + 2 * routers.queues.size + 48
    most = max(1, PART_BYTES // of_node)
    if threads > 1:
        most = min(most, max(1, nodes // (PARTS_A_THREAD * threads)))
    bits = min(most, nodes).bit_length() - 1 if most < nodes else (nodes - 1).bit_length()
    number = -(-nodes // (1 << bits))
    bounds = np.array([number * thread // threads for thread in range(threads + 1)])
    counts = _count_channels(fabric.neighbors.reshape(nodes, fabric.ports), bits, bounds)
    first = np.cumsum(counts.reshape(-1)) - counts.reshape(-1)
    lengths, gone = np.zeros(number * LINE, np.int64), np.zeros(2 * threads * LINE, np.int64)
    return Parts(bits, number, 0, number, 0, threads, lengths, first, _alone(1), gone)


def _count_channels(neighbors: Words, bits: int, bounds: Integers) -> Integers:
    """Count the channels, axes (thread, part), from the parts of a thread, which begin at `bounds`, to each part."""
    counts = np.zeros((len(bounds) - 1, bounds[-1]), np.int64)
    for thread, (begin, end) in enumerate(pairwise(bounds)):
        for part in range(begin, end):
            there = neighbors[part << bits : (part + 1) << bits]
            counts[thread] += np.bincount(there[there >= 0] >> bits, minlength=bounds[-1])
    return counts


def _make_lists(fabric: Fabric, parts: Parts, timing: SlotTiming) -> dict[str, Any]:
    """Return lists with nothing in them of what takes a slot or more, and of what leaves in it."""
    nodes, channels, ejected = len(fabric.address), len(fabric.neighbors), timing.ejection_slots
    steps = 1 if timing.cuts_through else timing.hop_slots
    return {
        "crossing": _make_mail(parts, steps + 1, channels, ITEM_WORDS),
        "returning": _make_mail(parts, 2 + timing.credit_slots + timing.cuts_through, channels, 1),
        "freed": _unused(nodes),
        "leaving": Leaving(_unused(nodes), _unused(nodes)),
        "ejected": Credits(_unused(ejected * nodes), np.zeros(ejected * parts.number * LINE, np.int64), ejected),
    }


def _make_mail(parts: Parts, slots: int, room: int, words: int) -> Mail:
    """Return boxes with no mail in them."""
    stride = -(-parts.number // LINE) * LINE
    ends = np.zeros((slots, parts.threads, stride), np.int64)
    ends[..., : parts.number] = _mail_begins(parts, slots, room)
    return Mail(_unused(slots * room * words), ends.reshape(-1), slots, room, stride)


def _mail_begins(parts: Parts, slots: int, room: int) -> Integers:
    """Return the first item of the mail of each slot from each thread for each part."""
    return parts.first.reshape(parts.threads, -1) + np.arange(slots)[:, None, None] * room


def _unused(size: int) -> Words:
    """Return an array of which pages of 4 KiB take memory when they are first written, and no others.

    NumPy asks for huge pages.
    """
    return np.frombuffer(mmap(-1, max(4, 4 * size)), np.int32, size)


def _make_phases(timing: SlotTiming) -> Phases:
    late = timing.credit_phase + (not timing.registers_credits)
    return Phases(
        timing.packet_length,
        timing.sample_phase,
        timing.update_phase,
        late,
        timing.ejection_cycles,
        timing.offset,
        timing.injection_phase,
        timing.gapless_packets,
    )


def _make_sources(nodes: int) -> Sources:
    zeros = np.zeros(nodes, np.int32), np.zeros(nodes, np.int32)
    dropped, offering = np.zeros(nodes, np.int64), np.zeros(nodes, np.uint8)
    return Sources(np.full(nodes, -1, np.int32), *zeros, np.empty(nodes, np.int32), dropped, offering)


def _make_sinks(nodes: int, buffers: int) -> Sinks:
    packets = np.empty((nodes, buffers), np.int32), np.empty((nodes, buffers), np.int64)
    return Sinks(*packets, *(np.zeros(nodes, np.int64) for _ in range(3)))


def _make_counters(nodes: int, ports: int, vcs: int) -> Counters:
    channels, queues = nodes * (ports + 2), nodes * (ports + 1) * vcs
    return Counters(*(np.zeros(size, np.int64) for size in (channels * vcs, channels, queues, queues)))


def with_room(states: list[State], rows: int) -> list[State]:
    """Return the states, the packets in a pool of so many rows: more than there are."""
    pool = states[0].routers.pool
    old, num_free = len(pool.free), int(pool.num_free[0])
    larger = _make_pool(rows)
    larger.words[: len(pool.words)] = pool.words
    larger.free[:num_free] = pool.free[:num_free]
    larger.free[num_free : num_free + rows - old] = np.arange(old, rows)
    larger.num_free[0] = num_free + rows - old
    valiant, adaptive = states[0].valiant, states[0].adaptive
    if len(valiant.nodes):
        valiant = valiant._replace(by=np.append(valiant.by, np.zeros(rows - old, np.int32)))
    if len(adaptive.nearer):
        more = np.zeros((rows - old) * adaptive.words, np.int64)
        adaptive = adaptive._replace(nearer=np.append(adaptive.nearer, more))
    return [
        state._replace(
            routers=state.routers._replace(pool=larger),
            valiant=valiant,
            adaptive=adaptive,
            out=_unused(rows * PACKET_WORDS),
        )
        for state in states
    ]


def credits_under_way(state: State) -> Words:
    """Return the output virtual channels, of those of all nodes, to which a credit is on its way: once for each."""
    mail, parts, ejected = state.returning, state.parts, state.ejected
    ends = mail.ends.reshape(mail.slots, parts.threads, mail.stride)[..., : parts.number]
    begins = _mail_begins(parts, mail.slots, mail.room)
    given = ejected.lengths.reshape(ejected.slots, parts.number, LINE)[..., 0]
    starts = np.arange(ejected.slots)[:, None] * len(state.fabric.address) + (np.arange(parts.number) << parts.bits)
    found = [mail.words[begin:end] for begin, end in zip(begins.flat, ends.flat, strict=True)]
    found += [ejected.place[begin : begin + length] for begin, length in zip(starts.flat, given.flat, strict=True)]
    return np.concatenate(found)
