"""Small queues: routing decisions waiting at an input, and the round-robin choice among requests."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.bits import equals

__all__ = ["DecisionQueue", "RoundRobinArbiter"]


class DecisionQueue(wiring.Component):
    """A first-in first-out queue whose head is always visible; what is pushed is seen in the next cycle.

    Parameters
    ----------
    width : int
        Bits an entry.
    depth : int
        Entries. The user never pushes into a full queue nor pops an empty one.

    Members
    -------
    push : In(1)
    i : In(width)
    pop : In(1)
    o : Out(width)
        The head entry while `valid`.
    valid : Out(1)
    full : Out(1)
    """

    def __init__(self, *, width: int, depth: int) -> None:
        self._width, self._depth = width, depth
        super().__init__(
            {"push": In(1), "i": In(width), "pop": In(1), "o": Out(width), "valid": Out(1), "full": Out(1)}
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        level = Signal(range(self._depth + 1))
        m.d.sync += level.eq(level + self.push - self.pop)
        m.d.comb += [self.valid.eq(level.any()), self.full.eq(equals(level, self._depth))]
        if self._depth <= 2:
            self._elaborate_registers(m, level)
        else:
            self._elaborate_memory(m)
        return m

    def _elaborate_registers(self, m: Module, level: Signal) -> None:
        head = Signal(self._width, reset_less=True)
        m.d.comb += self.o.eq(head)
        if self._depth == 1:
            with m.If(self.push):
                m.d.sync += head.eq(self.i)
            return
        second = Signal(self._width, reset_less=True)
        with m.If(self.pop | equals(level, 0)):
            m.d.sync += head.eq(Mux(equals(level, 2), second, self.i))
        with m.If(self.push):
            m.d.sync += second.eq(self.i)

    def _elaborate_memory(self, m: Module) -> None:
        m.submodules.memory = entries = memory.Memory(shape=self._width, depth=self._depth, init=[])
        write, read = entries.write_port(), entries.read_port(domain="comb")
        write_at, read_at = Signal(range(self._depth)), Signal(range(self._depth))
        m.d.sync += [write_at.eq(write_at + self.push), read_at.eq(read_at + self.pop)]
        m.d.comb += [write.addr.eq(write_at), write.data.eq(self.i), write.en.eq(self.push)]
        m.d.comb += [read.addr.eq(read_at), self.o.eq(read.data)]


class RoundRobinArbiter(wiring.Component):
    """A round-robin choice: the first request at or after the one behind the last winner.

    Parameters
    ----------
    count : int
        Requests.

    Members
    -------
    requests : In(count)
    grant : Out(count)
        One-hot, or 0 without requests; combinational.
    served : In(count)
        One-hot, a request that has been served: the turn moves on behind it at the end of the cycle. 0 otherwise.
    """

    def __init__(self, *, count: int) -> None:
        self._count = count
        super().__init__({"requests": In(count), "grant": Out(count), "served": In(count)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        if self._count == 1:
            m.d.comb += self.grant.eq(self.requests)
            return m
        turn = Signal(self._count)  # ones at and above the first position whose turn it is; none if that is the first
        ahead = Signal(self._count)
        m.d.comb += ahead.eq(self.requests & turn)
        first_ahead, first = self._lowest(ahead), self._lowest(self.requests)
        m.d.comb += self.grant.eq(Mux(ahead.any(), first_ahead, first))
        with m.If(self.served.any()):
            m.d.sync += turn.eq(Cat(self.served[:position].any() for position in range(self._count)))
        return m

    def _lowest(self, bits: Signal) -> Any:
        return Cat(bits[position] & ~bits[:position].any() for position in range(self._count))
