"""A system in LiteX of two processors' buses and a RAM, each at a node of an AXI4 fabric.

What stands for a processor writes words to the RAM over its Wishbone bus, waits until the other one has, and reads what
that one wrote. It writes the system in Verilog, and the names of all files of it, for a simulator.
"""

import sys
from pathlib import Path

from litex.build.generic_platform import GenericPlatform, Pins
from litex.gen import LiteXModule
from litex.soc.integration.soc import SoCRegion
from litex.soc.integration.soc_core import SoCMini
from litex.soc.interconnect import axi, wishbone
from migen import FSM, ClockDomain, If, Mux, NextState, NextValue, Signal

from hdnhw.litex import NetworkOnChip

RAM = 2
"""Its node; the processors are at nodes 0 and 1."""
ORIGIN = 0x80000000
"""Where the processors see the memories of all nodes."""
WORDS, BLOCK = 32, 64
"""What each processor writes, and words from one's to the other's; behind them it says that they are there."""
IOS = [("clk", 0, Pins(1)), ("rst", 0, Pins(1)), ("good", 0, Pins(8)), ("bad", 0, Pins(8)), ("done", 0, Pins(1))]


class Processor(LiteXModule):
    """A bus on which a processor would be; counts words that are as the other one has written them, and others."""

    def __init__(self, number, memory):
        self.bus = bus = wishbone.Interface(data_width=32, address_width=32, addressing="word")
        self.good, self.bad, self.done = Signal(8), Signal(8), Signal()
        own, other = (memory // 4 + BLOCK * one for one in (number, 1 - number))
        word, wanted = Signal(max=BLOCK), Signal(32)
        self.comb += [bus.sel.eq(0xF), bus.stb.eq(bus.cyc), wanted.eq((2 - number) * 0x1000001 + word * 0x10100)]
        self.fsm = fsm = FSM(reset_state="WRITE")
        fsm.act(
            "WRITE",
            bus.cyc.eq(1),
            bus.we.eq(1),
            bus.adr.eq(own + word),
            bus.dat_w.eq(Mux(word == WORDS, 1, (number + 1) * 0x1000001 + word * 0x10100)),
            If(bus.ack, NextValue(word, word + 1), If(word == WORDS, NextState("WAIT"))),
        )
        fsm.act(
            "WAIT",
            bus.cyc.eq(1),
            bus.adr.eq(other + WORDS),
            If(bus.ack & (bus.dat_r == 1), NextValue(word, 0), NextState("READ")),
        )
        fsm.act(
            "READ",
            bus.cyc.eq(1),
            bus.adr.eq(other + word),
            If(
                bus.ack,
                NextValue(word, word + 1),
                If(bus.dat_r == wanted, NextValue(self.good, self.good + 1)).Else(NextValue(self.bad, self.bad + 1)),
                If(word == WORDS - 1, NextState("DONE")),
            ),
        )
        fsm.act("DONE", self.done.eq(1))


class System(SoCMini):
    """The system: the first processor is a master of LiteX's bus, the second one has a bridge of its own."""

    def __init__(self, platform, folder):
        super().__init__(platform, clk_freq=100_000_000)
        self.cd_sys = ClockDomain()
        self.comb += [self.cd_sys.clk.eq(platform.request("clk")), self.cd_sys.rst.eq(platform.request("rst"))]
        self.noc = noc = NetworkOnChip(platform, folder)
        endpoints, addresses = noc.manifest["endpoints"], noc.manifest["address"]["of_node"]
        memory = ORIGIN + (addresses[RAM] << endpoints["memory_bits"])
        self.first, self.second = Processor(0, memory), Processor(1, memory)
        self.bus.add_master("first", self.first.bus)
        region = SoCRegion(origin=ORIGIN, size=1 << endpoints["address_bits"], cached=False)
        self.bus.add_slave("noc", noc.s_axi[0], region)
        self.bridge = axi.Wishbone2AXI(self.second.bus, noc.s_axi[1])
        port = noc.m_axi[RAM]
        self.ram = axi.AXILiteSRAM(4 * 2 * BLOCK, bus=axi.AXILiteInterface(port.data_width, port.address_width))
        self.to_ram = axi.AXI2AXILite(port, self.ram.bus)
        self.comb += [
            platform.request("good").eq(self.first.good + self.second.good),
            platform.request("bad").eq(self.first.bad + self.second.bad),
            platform.request("done").eq(self.first.done & self.second.done),
        ]


def main(fabric, out):
    """Write the system on the fabric in a folder to a folder."""
    platform = GenericPlatform("any", IOS, name="soc")
    system = System(platform, fabric)
    system.finalize()
    platform.get_verilog(system, name="soc").write(str(Path(out, "soc.v")))
    sources = [path for path, *_ in platform.sources]
    Path(out, "sources").write_text("\n".join([*sources, str(Path(out, "soc.v").resolve()), ""]))


if __name__ == "__main__":
    main(*sys.argv[1:])
