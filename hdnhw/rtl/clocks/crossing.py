"""What stands between the terminal of a node and the fabric, when each has its own clock."""

from collections.abc import Mapping
from typing import Any

from amaranth.hdl import ClockDomain, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect

from hdnhw.rtl.clocks.queue import CrossingQueue, synchronized

SIDES = ("fabric", "node")


def ends_of(name: str) -> tuple[str, str]:
    """Return the members of a crossing that are the ends of a stream: where it is written, and where it is read."""
    return f"{name}_i", f"{name}_o"


class Crossing(wiring.Component):
    """A queue for every stream of a node, and resets that empty both ends of all of them, whichever side is reset.

    It has the clock domains ``fabric`` and ``node``. A side that is reset stops, and *asks* the other one to stop. It
    clears its pointers once it has stopped and has seen that the other one has: no end that goes on sees a pointer of
    the other move but by steps of one. A side goes on when its own reset is over and the other no longer asks. For that
    a reset lasts, and is away, for 16 cycles of the slower clock or more, see docs/decisions/0024.

    Parameters
    ----------
    streams : mapping of str to (bool, int)
        Name of each stream -> whether it leads to the fabric, and its bits.
    alone : bool, optional
        Whether it is a top level, which brings its clock domains.

    Members
    -------
    NAME_i : In(stream), NAME_o : Out(stream)
        Both ends of each stream; see :class:`CrossingQueue`.
    fabric_clk, fabric_rst, node_clk, node_rst : In(1)
        Of a top level, so that these ports have one order: that of missing domains is drawn by Python.
    """

    def __init__(self, streams: Mapping[str, tuple[bool, int]], *, alone: bool = False) -> None:
        self._streams, self._alone = dict(streams), alone
        members: dict[str, Any] = {}
        for name, (_, width) in self._streams.items():
            writes, reads = ends_of(name)
            members |= {writes: In(stream.Signature(width)), reads: Out(stream.Signature(width))}
        if alone:
            members |= {f"{side}_{pin}": In(1) for side in SIDES for pin in ("clk", "rst")}
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        for side in SIDES if self._alone else ():
            domain = ClockDomain(side)
            domain.clk, domain.rst = getattr(self, f"{side}_clk"), getattr(self, f"{side}_rst")
            m.domains += domain
        stop, clear = self._elaborate_resets(m)
        for name, (leads_in, width) in self._streams.items():
            writer, reader = reversed(SIDES) if leads_in else SIDES
            queue = CrossingQueue(width=width, writer=writer, reader=reader)
            m.submodules[name] = queue
            i, o = (wiring.flipped(getattr(self, end)) for end in ends_of(name))
            connect(m, i, queue.i)
            connect(m, queue.o, o)
            m.d.comb += [
                queue.stop_i.eq(stop[writer]),
                queue.clear_i.eq(clear[writer]),
                queue.stop_o.eq(stop[reader]),
                queue.clear_o.eq(clear[reader]),
            ]
        return m

    def _elaborate_resets(self, m: Module) -> tuple[dict[str, Signal], dict[str, Signal]]:
        """Return for each side whether it is stopped, and whether it clears its pointers."""
        asks, stop, clear = (
            {side: Signal(name=f"{side}_{name}", init=init) for side in SIDES}
            for name, init in (("asks", 1), ("stop", 1), ("clear", 0))
        )
        for side, other in (SIDES, tuple(reversed(SIDES))):
            asked, stopped = (
                synchronized(m, signal[other], domain=side, name=f"{other}_{name}", init=1)
                for signal, name in ((asks, "asks"), (stop, "stop"))
            )
            m.d[side] += [asks[side].eq(0), stop[side].eq(asked)]
            m.d.comb += clear[side].eq(stop[side] & stopped)
        return stop, clear
