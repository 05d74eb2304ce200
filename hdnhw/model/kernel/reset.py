"""A fabric and its terminals as they are after reset, and the room for packets made larger in the course of a run."""

from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.model.kernel.state import (
    PACKET_WORDS,
    PROGRESS_WORDS,
    QUEUE_WORDS,
    SENT_LAST,
    Counters,
    Credits,
    Crossing,
    Fabric,
    Leaving,
    Nodes,
    Orders,
    Pauses,
    Phases,
    Pool,
    Queues,
    Routers,
    Sinks,
    Sources,
    State,
    Words,
    Work,
)
from hdnhw.timing import SlotTiming
from hdnhw.traffic.packets import Terminals, terminal_seeds

__all__ = ["make_routers", "make_state", "with_room"]


def make_routers(
    credits: npt.NDArray[np.int16],
    several: npt.NDArray[np.bool_],
    *,
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
    credits : ndarray of int16, shape (output virtual channels of a node,)
        Packet buffers at its end.
    several : ndarray of bool, shape (nodes,)
        Whether an input of the router has two virtual channels or more.
    vc_bits, lane_bits, rounds, early : int or bool
        See :class:`Routers`.
    held, room : int
        Packets that a router can hold, and all can.
    """
    nodes, ports = len(several), len(credits) >> vc_bits
    return Routers(
        _make_pool(room),
        _make_queues(nodes, ports, 1 << vc_bits),
        np.tile(credits, nodes),
        _make_orders(nodes, ports, 1 << vc_bits, matched=rounds > 0),
        _make_work(ports, held),
        several,
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


def _make_queues(nodes: int, inputs: int, vcs: int) -> Queues:
    """Return empty queues that have sent in the order of numbers before the first slot."""
    size = inputs * vcs
    words = -(-size // 64)
    links = np.zeros((nodes, size, QUEUE_WORDS), np.int32)
    links[..., SENT_LAST] = np.arange(-size, 0)
    return Queues(links.reshape(-1), np.zeros(nodes * words, np.int64), size, words)


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
    none = np.full(ports, -1, np.int64)
    return Work(none, np.empty(packets, np.int64), np.empty(packets, np.int64), none.copy(), none.copy())


def make_state(
    fabric: Fabric, routers: Routers, timing: SlotTiming, terminals: Terminals, *, ejection_buffers: int, counting: bool
) -> State:
    """Return a fabric with idle terminals; with `counting`, what channels and queues do is counted."""
    nodes, room = len(fabric.address), len(routers.pool.free)
    return State(
        fabric=fabric,
        phases=_make_phases(timing),
        pauses=Pauses(terminals.source_gap, terminals.sink_stall, terminals.sink_hold),
        routers=routers,
        busy=_no_nodes(nodes),
        **_under_way(nodes, fabric.ports, room, timing),
        sources=_make_sources(nodes),
        sinks=_make_sinks(nodes, ejection_buffers),
        generators=terminal_seeds(nodes, terminals.seed),
        counters=_make_counters(nodes if counting else 0, fabric.ports, 1 << routers.vc_bits),
        out=np.empty(room * PACKET_WORDS, np.int32),
        progress=np.zeros(PROGRESS_WORDS, np.int64),
    )


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


def _under_way(nodes: int, ports: int, room: int, timing: SlotTiming) -> dict[str, Any]:
    """Return lists with no item of what takes slots: each for as many as there can be with so many packets."""
    most, once = max(1, min(room, nodes * ports)), max(1, min(room, nodes))
    slots = timing.hop_slots
    crossing = np.empty((slots, most), np.int32), np.empty((slots, most), np.int16), np.empty((slots, most), np.int32)
    return {
        "crossing": Crossing(*crossing, np.zeros(slots, np.int64)),
        "returning": _no_credits(1 + timing.credit_slots + timing.cuts_through, most),
        "freed": _no_nodes(once),
        "leaving": Leaving(np.empty(once, np.int32), np.empty(once, np.int32), np.zeros(1, np.int64)),
        "ejected": _no_credits(timing.ejection_slots, once),
    }


def _no_nodes(most: int) -> Nodes:
    return Nodes(np.empty(most, np.int32), np.zeros(1, np.int64))


def _no_credits(slots: int, most: int) -> Credits:
    return Credits(np.empty((slots, most), np.int64), np.zeros(slots, np.int64))


def _make_sources(nodes: int) -> Sources:
    zeros = np.zeros(nodes, np.int32), np.zeros(nodes, np.int32)
    dropped, offering = np.zeros(nodes, np.int64), np.zeros(nodes, np.uint8)
    return Sources(_make_queues(nodes, 1, 1), *zeros, _no_nodes(nodes), dropped, offering)


def _make_sinks(nodes: int, buffers: int) -> Sinks:
    packets = np.empty((nodes, buffers), np.int32), np.empty((nodes, buffers), np.int64)
    return Sinks(*packets, *(np.zeros(nodes, np.int64) for _ in range(3)))


def _make_counters(nodes: int, ports: int, vcs: int) -> Counters:
    channels, queues = nodes * (ports + 2), nodes * (ports + 1) * vcs
    return Counters(*(np.zeros(size, np.int64) for size in (channels * vcs, channels, queues, queues)))


def with_room(state: State, timing: SlotTiming, rows: int) -> State:
    """Return the state, its packets in a pool of so many rows: more than there are."""
    pool, routers, fabric = state.routers.pool, state.routers, state.fabric
    old, num_free = len(pool.free), int(pool.num_free[0])
    larger = _make_pool(rows)
    larger.words[: len(pool.words)] = pool.words
    larger.free[:num_free] = pool.free[:num_free]
    larger.free[num_free : num_free + rows - old] = np.arange(old, rows)
    larger.num_free[0] = num_free + rows - old
    lists = _under_way(len(fabric.address), fabric.ports, rows, timing)
    for name, after in lists.items():
        for source, target in zip(getattr(state, name), after, strict=True):
            target[tuple(slice(size) for size in source.shape)] = source
    out: Words = np.empty(rows * PACKET_WORDS, np.int32)
    return state._replace(routers=routers._replace(pool=larger), out=out, **lists)
