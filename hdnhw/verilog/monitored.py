"""What a monitor has told: counts of channels as the model has them, and who waits for whom."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hdnhw.machine.machine import Machine
from hdnhw.machine.monitor import (
    CYCLES,
    IDENTIFICATION,
    LEVEL_WIDTH,
    SENT,
    STALLED,
    STATE,
    WAITS,
    WORD_WIDTH,
    MonitorMap,
    Word,
    words_of,
)
from hdnhw.model.counts import Counts
from hdnhw.rtl.router import ways_of
from hdnhw.support.errors import SpecError
from hdnhw.verilog.waves.waiting import Head, tree_of

Read = Callable[[int, int], list[int]]
"""What reads so many words from an address on."""

EJECTION = (-1, 0)
"""Where packets come from in an ejection buffer, beside the ports of the network."""


class QueueState(NamedTuple):
    """A queue: slots for which it has had packets and sent none, its packets, the most of them, and its first's way."""

    waits: int
    packets: int
    most: int
    way: tuple[int, int]


@dataclass(frozen=True, eq=False)
class Reading:
    """All that a monitor tells at a time; routers are read one after the other.

    Attributes
    ----------
    cycles : int
        Since reset, modulo 2 to the power of 32.
    counts : Counts
        Its `slots` are those of the cycles; `held` is 0.
    queues : dict of (int, (int, int)) to QueueState
        By node, port and virtual channel; the number behind the ports is that of injection.
    """

    cycles: int
    counts: Counts
    queues: dict[tuple[int, tuple[int, int]], QueueState]

    def since(self, before: "Reading", length: int) -> Counts:
        """Return what has been counted since an earlier reading, within 2 to the power of 32 cycles."""
        wrap = 1 << WORD_WIDTH
        slots = max(1, (self.cycles - before.cycles) % wrap // length)
        gone = self.counts.since(before.counts)
        return Counts(slots, gone.sent % wrap, gone.stalled % wrap, gone.held, gone.most)


def read_monitor(machine: Machine, read: Read) -> Reading:
    """Read all words.

    Raises
    ------
    SpecError
        If no monitor is there.
    """
    own, plan, nodes = MonitorMap.of(machine), machine.plan, machine.network.num_nodes
    (told,) = read(0, 1)
    if told != IDENTIFICATION:
        raise SpecError(f"address 0 must have {IDENTIFICATION:#x}, the identification of a monitor, not {told:#x}")
    (cycles,) = read(CYCLES, 1)
    ports = len(machine.network.ports)
    sent = np.zeros((nodes, ports + 2, plan.max_vcs), np.int64)
    stalled, most = np.zeros((nodes, ports + 2), np.int64), np.zeros((nodes, ports + 1, plan.max_vcs), np.int64)
    queues = {}
    for node in range(nodes):
        shape = plan.shape_of(node)
        words = words_of(machine, shape)
        of_word = dict(zip(words, read(own.address(node, 0), len(words)), strict=True))
        for word, value in of_word.items():
            if word.kind == SENT:
                sent[node, word.port, word.vc] = value
            elif word.kind == STALLED:
                stalled[node, word.port] = value
            elif word.kind == STATE:
                packets, peak = (value >> place & (1 << LEVEL_WIDTH) - 1 for place in (0, LEVEL_WIDTH))
                ways = ways_of(machine, shape, word.port, word.vc)
                waits = of_word[Word(WAITS, word.port, word.vc)]
                most[node, word.port, word.vc] = peak
                way = ways[min(value >> 2 * LEVEL_WIDTH, len(ways) - 1)]
                queues[node, (word.port, word.vc)] = QueueState(waits, packets, peak, way)
    counts = Counts(cycles // machine.timing.packet_length, sent, stalled, np.zeros_like(most), most)
    return Reading(cycles, counts, queues)


def waits_of(machine: Machine, reading: Reading, least: int) -> tuple[list[tuple[int, Head]], list[str]]:
    """Return who waits for whom, of queues that have sent nothing for so many cycles, as :func:`tree_of` does."""
    network, length = machine.network, machine.timing.packet_length
    local = len(network.ports)
    heads: dict[tuple[int, tuple[int, int]], list[Head]] = {}
    stands = {key: one for key, one in reading.queues.items() if one.packets and one.waits * length >= least}
    for (node, origin), one in stands.items():
        name, (port, vc) = _name(machine, node, origin), one.way
        if port == local:
            wanted, whose = (node, EJECTION), f"{node}.ejection"
            heads[wanted] = [Head(whose, None, 0, machine.ejection_buffers, None, "its terminal, which takes nothing")]
        else:
            wanted = network.neighbors(node)[network.ports[port].name], (network.ports[port].opposite, vc)
            whose = _name(machine, *wanted)
        is_full = port == local or wanted in stands
        reason = f"a packet buffer of {whose}" if is_full else f"its turn: {whose} moves"
        heads[node, origin] = [Head(name, None, one.waits * length, one.packets, wanted if is_full else None, reason)]
    return tree_of(heads)


def _name(machine: Machine, node: int, origin: tuple[int, int]) -> str:
    port, vc = origin
    ports = machine.network.ports
    return f"{node}.injection" if port == len(ports) else f"{node}.{ports[port].name}.{vc}"
