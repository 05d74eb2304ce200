"""Where a monitor is read: AXI4-Lite, and both ends of the chain."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine.machine import Machine
from hdnhw.machine.monitor import CYCLES, IDENTIFICATION, WORD_BYTES, WORD_WIDTH, MonitorMap
from hdnhw.rtl.axi_lite import Response, axi_lite_members
from hdnhw.rtl.bits import below, equals
from hdnhw.rtl.monitor.chain import ChainSignature


def monitor_members(machine: Machine) -> dict[str, Any]:
    """Return the members by which the monitor of a fabric is read, if it has one: an AXI4-Lite subordinate."""
    return {"monitor": Out(monitor_signature(MonitorMap.of(machine)))} if machine.spec.monitor else {}


def monitor_signature(of: MonitorMap) -> wiring.Signature:
    """Return that subordinate, as a fabric has it."""
    return wiring.Signature(axi_lite_members("", of.address_width))


class MonitorPort(wiring.Component):
    """A subordinate that asks routers for words; one read is in progress at a time, and writes are refused.

    A read takes two cycles a router, and as many as a router has words.

    Parameters
    ----------
    machine : Machine
        With a monitor.

    Members
    -------
    axi : Out(monitor_signature)
        Addresses as of :class:`hdnhw.machine.monitor.MonitorMap`; their bits 1 and 0, and the signals of protection,
        are not looked at.
    o, i : ChainSignature
        To the first router, and from the last.
    """

    def __init__(self, machine: Machine) -> None:
        self._map = MonitorMap.of(machine)
        chain = ChainSignature(self._map)
        super().__init__({"axi": Out(monitor_signature(self._map)), "o": Out(chain), "i": In(chain)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        axi, own = self.axi, self._map
        cycles, busy, known = Signal(WORD_WIDTH), Signal(), Signal()
        address = Signal(own.address_width - 2)
        word, node = address[: own.word_bits], address[own.word_bits :]
        is_own = Signal()
        m.d.sync += cycles.eq((cycles + 1)[:WORD_WIDTH])
        m.d.comb += [
            axi.arready.eq(~busy & ~self.i.answers),
            is_own.eq(~node.any()),
            known.eq(Mux(is_own, below(word, 2), below(node, own.nodes + 1) & below(word, own.words))),
            self.o.asks.eq(busy & known & ~is_own & ~axi.rvalid),
            self.o.node.eq(node),
            self.o.word.eq(word),
        ]
        with m.If(axi.arvalid & axi.arready):
            m.d.sync += [busy.eq(1), address.eq(axi.araddr[2:])]
        with m.If(busy & ~axi.rvalid & (self.i.answers | is_own | ~known)):
            values = Mux(is_own, Mux(equals(address, CYCLES // WORD_BYTES), cycles, IDENTIFICATION), self.i.data)
            m.d.sync += [
                axi.rvalid.eq(1),
                axi.rdata.eq(Mux(known, values, 0)),
                axi.rresp.eq(Mux(known, Response.OKAY, Response.SLVERR)),
            ]
        with m.If(axi.rvalid & axi.rready):
            m.d.sync += [axi.rvalid.eq(0), busy.eq(0)]
        m.d.comb += [
            axi.awready.eq(axi.awvalid & axi.wvalid & ~axi.bvalid),
            axi.wready.eq(axi.awready),
            axi.bresp.eq(Response.SLVERR),
        ]
        m.d.sync += axi.bvalid.eq(axi.awready | (axi.bvalid & ~axi.bready))
        return m
