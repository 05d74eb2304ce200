"""The counters of one router: their low bits in registers, their words in a RAM to which these are added in turn."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine.machine import Machine
from hdnhw.machine.monitor import (
    LEVEL_WIDTH,
    SENT,
    STALLED,
    WAITS,
    WORD_WIDTH,
    MonitorMap,
    queues_of,
    words_of,
)
from hdnhw.rtl.bits import chosen_from, counted, equals, less, padded
from hdnhw.rtl.monitor.chain import ChainSignature
from hdnhw.rules.plan import RouterShape

HALF, SUM = WORD_WIDTH // 2, 4
"""Bits of a word that are added at a time, and cycles from the choice of a word to the one in which it is written."""


class MonitorCounters(wiring.Component):
    """What a router has done, in words that are visited one a cycle, each as often as any.

    A few bits that count are the lowest of a word, whose others are in RAM: a visit adds to these if the few are less
    than at the last one. So there is one adder a router, and no wide choice among counters. A word that is asked for is
    told when it is visited.

    Parameters
    ----------
    machine : Machine
        With a monitor.
    shape : RouterShape

    Members
    -------
    sent, stalled : In
        A bit for each word of the kind, high for a cycle at each event; one event a word and slot at most.
    push, pop : In
        A bit for each queue: a packet comes, and one leaves.
    looks : In(1)
        Once a slot, when the queues have what is allocated.
    first_Q : In
        Which way the first packet of queue Q takes, by its number, and above it whether there is one; right then.
    i, o : ChainSignature
    """

    def __init__(self, machine: Machine, shape: RouterShape) -> None:
        self.words, self._map = words_of(machine, shape), MonitorMap.of(machine)
        self._queues = queues_of(machine, shape)
        self._length, self._most = machine.timing.packet_length, machine.most_buffers
        self._way_width, self._is_block_ram = WORD_WIDTH - 2 * LEVEL_WIDTH, machine.is_block_ram
        chain = ChainSignature(self._map)
        super().__init__(
            {
                **{kind: In(sum(word.kind == kind for word in self.words)) for kind in (SENT, STALLED)},
                "push": In(len(self._queues)),
                "pop": In(len(self._queues)),
                "looks": In(1),
                **{f"first_{queue}": In(self._way_width + 1) for queue in range(len(self._queues))},
                "i": In(chain),
                "o": Out(chain),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        words = self._map.words
        turn, visits = Signal(range(words)), Signal(words, init=1)
        stages = -(-len(turn) // 2)  # of the choice
        fresh = Signal(stages + 1, init=-1)
        m.d.sync += [
            visits.eq(Cat(visits[-1], visits[:-1])),
            turn.eq(Mux(visits[-1], 0, turn + 1)[: len(turn)]),
            fresh.eq(Cat(fresh[0] & ~visits[-1], fresh[:-1])),
        ]
        visited = [turn, *(Signal.like(turn, name=f"visited_{at}", reset_less=True) for at in range(stages + SUM))]
        m.d.sync += [later.eq(sooner) for sooner, later in pairwise(visited)]
        entries = zip(*self._elaborate_entries(m, visits), strict=True)
        few, anew, above = (
            self._elaborate_choice(m, name, values, visited[:stages])
            for name, values in zip(("few", "anew", "above"), entries, strict=True)
        )
        attributes = {"ram_style": "block", "no_rw_check": 1} if self._is_block_ram else {}
        m.submodules.counts = counts = memory.Memory(shape=WORD_WIDTH, depth=words, init=[], attrs=attributes)
        write, read = counts.write_port(), counts.read_port()
        total = self._elaborate_sum(m, few, above, anew | fresh[-1], read.data)
        m.d.comb += [
            read.addr.eq(visited[stages - 1]),
            write.addr.eq(visited[-1]),
            write.data.eq(total),
            write.en.eq(1),
        ]
        self._elaborate_chain(m, visited[-2], total)
        return m

    @staticmethod
    def _elaborate_choice(m: Module, name: str, values: Sequence[Value], visited: Sequence[Value]) -> Value:
        """Return the value of the word that is visited, in a cycle for each two bits of its number."""
        width = max(map(len, values))
        for stage, turn in enumerate(visited):
            index, fours = turn[2 * stage : 2 * stage + 2], list[Value]()
            for start in range(0, len(values), 4):
                four = Signal(width, name=f"{name}_{stage}_{start}", reset_less=True)
                m.d.sync += four.eq(chosen_from([padded(own, width) for own in values[start : start + 4]], index))
                fours.append(four)
            values = fours
        return values[0]

    @staticmethod
    def _elaborate_sum(m: Module, few: Value, above: Value, begins: Value, word: Value) -> Value:
        """Return a word whose low bits have come to `few`, and if it begins, the others to what is above these.

        It takes four cycles, as no router waits for it: the first one for the output register of a block RAM.
        """
        bits = len(few)
        low = [Signal(bits, name=f"low_{stage}", reset_less=True) for stage in range(SUM - 1)]
        now, high = (Signal(WORD_WIDTH - bits, name=name, reset_less=True) for name in ("now", "high"))
        old, total = (Signal(WORD_WIDTH, name=name, reset_less=True) for name in ("old", "total"))
        half, rest = Signal(HALF + 1 - bits, reset_less=True), Signal(WORD_WIDTH - HALF, reset_less=True)
        anew, wraps = Signal(), Signal()
        m.d.sync += [
            *(later.eq(sooner) for sooner, later in pairwise([few, *low])),
            now.eq(padded(above, len(now))),
            old.eq(word),
            anew.eq(begins),
            high.eq(Mux(anew, now, old[bits:])),
            wraps.eq(Mux(anew, 0, low[0] < old[:bits])),
            half.eq(high[: HALF - bits] + wraps),
            rest.eq(high[HALF - bits :]),
            total.eq(Cat(low[-1], half[:-1], (rest + half[-1])[: len(rest)])),
        ]
        return total

    def _elaborate_entries(self, m: Module, visits: Value) -> list[tuple[Value, Value, Value]]:
        """Return for each word its low bits, whether it begins anew, and what it is above them then."""
        of_kind = {kind: iter(getattr(self, kind)) for kind in (SENT, STALLED)}
        entries: list[tuple[Value, Value, Value]] = []
        for number, word in enumerate(self.words):
            few = Signal(range(-(-self._map.words // self._length) + 2), name=f"few_{number}")  # of two visits
            if word.kind in of_kind:
                m.d.sync += few.eq((few + next(of_kind[word.kind]))[: len(few)])
                entries.append((few, Const(0, 1), Const(0, 0)))
                continue
            queue = self._queues.index((word.port, word.vc))
            if word.kind == WAITS:
                entries.append((few, self._elaborate_waits(m, few, queue, visits[number]), Const(0, 0)))
                continue
            state = self._elaborate_state(m, queue)
            entries.append((state[: len(few)], Const(1, 1), state[len(few) :]))
        return entries

    def _elaborate_waits(self, m: Module, few: Signal, queue: int, visit: Value) -> Signal:
        """Count the slots for which a queue has had a packet and sent none; return whether it has sent some."""
        stays, ends, moved = (Signal(name=f"{name}_{queue}") for name in ("stays", "ends", "moved"))
        m.d.sync += [
            stays.eq(self.looks & getattr(self, f"first_{queue}")[-1] & ~self.pop[queue]),
            ends.eq(self.pop[queue]),
            moved.eq(ends | (moved & ~visit)),
            few.eq(Mux(ends, 0, (few + stays)[: len(few)])),
        ]
        return moved

    def _elaborate_state(self, m: Module, queue: int) -> Value:
        """Return the packets in a queue, the most there have been, and the way of the first one."""
        first = getattr(self, f"first_{queue}")[:-1]
        names, way = ("level", "seen", "most"), Signal(self._way_width, name=f"way_{queue}")
        level, seen, most = (Signal(range(self._most + 1), name=f"{name}_{queue}") for name in names)
        rises = Signal(name=f"rises_{queue}")
        m.d.sync += [
            level.eq(counted(level, self.push[queue], self.pop[queue])),
            seen.eq(level),
            rises.eq(self.looks & less(most, level)),
        ]
        with m.If(self.looks):
            m.d.sync += way.eq(first)
        with m.If(rises):  # where a slot is a cycle, of another `most`: a queue grows by one a slot
            m.d.sync += most.eq(seen)
        return Cat(padded(level, LEVEL_WIDTH), padded(most, LEVEL_WIDTH), way)

    def _elaborate_chain(self, m: Module, comes: Value, total: Value) -> None:
        """Pass a question on, or answer it when its word is visited; else pass on the answer of a router before.

        `comes` is the word that is visited in the next cycle.
        """
        # What decides is known in registers: it enables all bits of the answer.
        asks, here, is_now = Signal(), Signal(), Signal()
        node, word = Signal.like(self.i.node, name="node"), Signal.like(self.i.word, name="word")
        m.d.sync += [
            asks.eq(self.i.asks),
            here.eq(self.i.asks & equals(self.i.node, 1)),
            is_now.eq(self.i.word == comes),
            node.eq(self.i.node),
            word.eq(self.i.word),
        ]
        m.d.comb += [
            self.o.asks.eq(asks & ~here),
            self.o.node.eq((node - 1)[: len(node)]),
            self.o.word.eq(word),
        ]
        with m.If(~here):
            m.d.sync += [self.o.answers.eq(self.i.answers), self.o.data.eq(self.i.data)]
        with m.Elif(is_now):
            m.d.sync += [self.o.answers.eq(1), self.o.data.eq(total)]
