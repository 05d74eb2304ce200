"""A node's part of a barrier: signals to and from all its neighbors, round by round."""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.bits import counted, equals, index_width


def signal_pin(port: str) -> str:
    """Return the name of the input by which the neighbor of a port signals."""
    return f"{port}_signal"


class Barrier(wiring.Component):
    """Enter a barrier, and leave it when all nodes have entered; :mod:`hdnhw.collectives.barrier` says how.

    All nodes are released in the same cycle, `rounds` x (1 + `registers`) cycles after the last one has entered. A node
    may enter again from the next cycle on.

    Never too early: in a barrier a node sends as many signals as it takes from each neighbor, so that the signal that
    it takes in a round is the neighbor's of the same round and barrier. In round 1 it says that the neighbor has
    entered; in round k that the neighbor has ended round k - 1, and all nodes within k - 1 hops of it have entered.

    No hang: once all have entered, take a node in the least round of any. Its neighbors are in that round or beyond it,
    so that their signals for the round have been sent. Nothing else is waited for.

    No signal is lost: a neighbor sends its signal of a round when it has taken this node's of the round before. So no
    more than two of its signals are under way or not taken, which is what a counter of two bits holds.

    A reset, of all nodes at once, leaves no signal behind.

    Parameters
    ----------
    ports : sequence of str
        Names of the network's ports.
    rounds : int
        At least 1.
    registers : int
        Further registers on the way of a signal.

    Members
    -------
    enter : In(1)
        High for one cycle; not before the node has been released.
    P_signal : In(1)
        Of each port P: `signal` of the neighbor there; 1 where there is none.
    signal : Out(1)
        For all neighbors, from a register.
    released : Out(1)
        High for one cycle.
    """

    def __init__(self, ports: Sequence[str], rounds: int, registers: int) -> None:
        self._rounds, self._registers = rounds, registers
        self._pins = [signal_pin(port) for port in ports]
        members: dict[str, Any] = {"enter": In(1), "signal": Out(1), "released": Out(1)}
        super().__init__(members | {pin: In(1) for pin in self._pins})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        waits, ends, last = (Signal(name=name) for name in ("waits", "ends", "last"))
        place = Signal(index_width(self._rounds))
        signals = {pin: getattr(self, pin) for pin in self._pins}
        if self._registers:
            signals["own"] = self.signal  # with it, a round takes as long at a node as on the way between two
        come = [self._elaborate_signal(m, name, signal, ends) for name, signal in signals.items()]
        m.d.comb += [
            ends.eq(waits & Cat(come).all()),
            last.eq(equals(place, self._rounds - 1)),
            self.released.eq(ends & last),
        ]
        m.d.sync += self.signal.eq(self.enter | (ends & ~last))
        with m.If(self.enter):
            m.d.sync += [waits.eq(1), place.eq(0)]
        with m.Elif(ends):
            m.d.sync += [waits.eq(~last), place.eq(place + 1)]
        return m

    def _elaborate_signal(self, m: Module, name: str, signal: Value, ends: Value) -> Value:
        """Count signals that have come and were not taken; return whether there is one."""
        for stage in range(self._registers):
            register = Signal(name=f"{name}_{stage}")
            m.d.sync += register.eq(signal)
            signal = register
        waiting = Signal(2, name=f"{name}_waiting")
        m.d.sync += waiting.eq(counted(waiting, signal, ends))
        return signal | waiting.any()
