"""A design in LiteX on a fabric of four nodes: each sends a frame to the next, and the registers say what fabric it is.

It writes the design in Verilog, and the names of all files of it, for a simulator.
"""

import sys
from pathlib import Path

from litex.build.generic_platform import GenericPlatform, Pins
from litex.gen import LiteXModule
from migen import Cat, ClockDomain, If, Signal

from hdnhw.litex import NetworkOnChip

NODES = 4
IOS = [
    ("clk", 0, Pins(1)),
    ("rst", 0, Pins(1)),
    ("good", 0, Pins(NODES)),
    ("bad", 0, Pins(NODES)),
    ("identification", 0, Pins(32)),
]


class Node(LiteXModule):
    """A source of one frame of a word, its number, and a look at what comes from the node before."""

    def __init__(self, noc, node):
        before, after = (node - 1) % NODES, (node + 1) % NODES
        addresses = noc.manifest["address"]["of_node"]
        send, receive, sent = noc.s_axis[node], noc.m_axis[node], Signal()
        self.good, self.bad = Signal(), Signal()
        self.comb += [
            send.valid.eq(~sent),
            send.data.eq(node),
            send.keep.eq(0xF),
            send.last.eq(1),
            send.dest.eq(addresses[after]),
            receive.ready.eq(1),
        ]
        as_sent = (receive.data == before) & (receive.id == addresses[before]) & receive.last & (receive.keep == 0xF)
        self.sync += [
            If(send.ready, sent.eq(1)),
            If(receive.valid, If(as_sent & ~self.good, self.good.eq(1)).Else(self.bad.eq(1))),
        ]


class Chip(LiteXModule):
    """The design."""

    def __init__(self, platform, folder):
        self.cd_sys = ClockDomain()
        self.noc = noc = NetworkOnChip(platform, folder)
        self.comb += [self.cd_sys.clk.eq(platform.request("clk")), self.cd_sys.rst.eq(platform.request("rst"))]
        good, bad, identification = (platform.request(name) for name in ("good", "bad", "identification"))
        nodes = [Node(noc, number) for number in range(NODES)]
        for number, node in enumerate(nodes):
            self.add_module(f"node_{number}", node)
        self.comb += [good.eq(Cat(node.good for node in nodes)), bad.eq(Cat(node.bad for node in nodes))]
        asked, bus, registers = Signal(), noc.bus, noc.manifest["endpoints"]["registers"]["fabric"]
        self.comb += [bus.ar.valid.eq(~asked), bus.ar.addr.eq(registers["identification"]), bus.r.ready.eq(1)]
        self.sync += [If(bus.ar.ready, asked.eq(1)), If(bus.r.valid, identification.eq(bus.r.data))]


def main(fabric, out):
    """Write the design on the fabric in a folder to a folder."""
    platform = GenericPlatform("any", IOS, name="chip")
    chip = Chip(platform, fabric)
    platform.get_verilog(chip, name="chip").write(str(Path(out, "chip.v")))
    sources = [path for path, *_ in platform.sources]
    Path(out, "sources").write_text("\n".join([*sources, str(Path(out, "chip.v").resolve()), ""]))


if __name__ == "__main__":
    main(*sys.argv[1:])
