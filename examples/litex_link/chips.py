"""Two chips of a ring of four nodes in LiteX, joined by SerDes: each node sends packets to one on the other chip.

A SerDes core such as those of LiteICLink takes and gives 8b/10b words with control characters. Their encoder and
decoder, LiteX's, are here; in place of the transceiver there are registers, and bits that turn over.
It writes the design in Verilog, and the names of all files of it, for a simulator.
"""

import sys
from pathlib import Path

from litex.build.generic_platform import GenericPlatform, Pins
from litex.gen import LiteXModule
from litex.soc.cores.code_8b10b import Decoder, Encoder, K
from litex.soc.interconnect import stream
from migen import Cat, ClockDomain, If, Mux, Signal

from hdnhw.litex import NetworkOnChip

CHIPS, PLACES, LENGTH, PACKETS, LANES = 2, 2, 8, 16, 4
IDLE, END = K(28, 5), K(29, 7)
IOS = [
    ("clk", 0, Pins(1)),
    ("rst", 0, Pins(1)),
    ("flip", 0, Pins(CHIPS)),
    ("good", 0, Pins(CHIPS * PLACES)),
    ("bad", 0, Pins(CHIPS * PLACES)),
    ("damaged", 0, Pins(16 * CHIPS)),
]


class ToSerdes(LiteXModule):
    """Words of a link as words of a SerDes: control characters say that nothing comes, or that a frame has ended."""

    def __init__(self, tx):
        self.source = source = stream.Endpoint([("data", 8 * LANES), ("ctrl", LANES)])
        ends = Signal()
        self.comb += [
            source.valid.eq(1),
            tx.ready.eq(source.ready & ~ends),
            source.data.eq(Cat(*[Mux(ends, END, IDLE)] * LANES)),
            source.ctrl.eq(2**LANES - 1),
            If(tx.valid & ~ends, source.data.eq(tx.data), source.ctrl.eq(0)),
        ]
        self.sync += If(source.ready, ends.eq(tx.valid & tx.last & ~ends))


class FromSerdes(LiteXModule):
    """The other way: a word waits for the next one, which tells whether it was the last of its frame."""

    def __init__(self, rx):
        self.sink = sink = stream.Endpoint([("data", 8 * LANES), ("ctrl", LANES)])
        held, is_held, is_word, is_end = Signal(8 * LANES), Signal(), Signal(), Signal()
        self.comb += [
            sink.ready.eq(1),  # as the link's own always is
            is_word.eq(sink.valid & (sink.ctrl == 0)),
            is_end.eq(sink.valid & (sink.ctrl == 2**LANES - 1) & (sink.data[:8] == END)),
            rx.valid.eq(is_held & (is_word | is_end)),
            rx.data.eq(held),
            rx.last.eq(is_end),
        ]
        self.sync += If(is_word, held.eq(sink.data), is_held.eq(1)).Elif(is_end, is_held.eq(0))


class Line(LiteXModule):
    """One way between two SerDes: encoders, what is on the line, a bit of it turned over by `flip`, and decoders."""

    def __init__(self, flip):
        self.sink, self.source = (stream.Endpoint([("data", 8 * LANES), ("ctrl", LANES)]) for _ in range(2))
        self.encoder = encoder = Encoder(LANES, lsb_first=True)
        self.comb += [self.sink.ready.eq(1), self.source.valid.eq(1)]
        for lane in range(LANES):
            decoder, symbol, byte = Decoder(lsb_first=True), Signal(10), slice(8 * lane, 8 * lane + 8)
            self.add_module(f"decoder_{lane}", decoder)
            self.comb += [
                encoder.d[lane].eq(self.sink.data[byte]),
                encoder.k[lane].eq(self.sink.ctrl[lane]),
                decoder.input.eq(symbol),
                self.source.data[byte].eq(decoder.d),
                self.source.ctrl[lane].eq(decoder.k),
            ]
            self.sync += symbol.eq(encoder.output[lane] ^ (flip if lane == 1 else 0))


class Node(LiteXModule):
    """A source of packets for another node, and a look at what comes from a third."""

    def __init__(self, send, receive, number, to, of, addresses):
        self.good, self.bad = Signal(), Signal()
        sent, came, count = (Signal(max=LENGTH * PACKETS + 1) for _ in range(3))
        words = Mux(sent[:3] == 0, addresses[to], 0) | number << 8 | sent << 16
        must = Mux(came[:3] == 0, addresses[number], 0) | of << 8 | came << 16
        self.comb += [
            send.valid.eq(sent != LENGTH * PACKETS),
            send.data.eq(words),
            receive.ready.eq(1),
            self.good.eq(count == LENGTH * PACKETS),
        ]
        is_last = came[:3] == LENGTH - 1
        self.sync += [
            If(send.valid & send.ready, sent.eq(sent + 1)),
            If(
                receive.valid,
                came.eq(came + 1),
                If((receive.data == must) & (receive.last == is_last), count.eq(count + 1)).Else(self.bad.eq(1)),
            ),
        ]


class Pair(LiteXModule):
    """The design."""

    def __init__(self, platform, folder):
        self.cd_sys = ClockDomain()
        self.comb += [self.cd_sys.clk.eq(platform.request("clk")), self.cd_sys.rst.eq(platform.request("rst"))]
        flip, good, bad, damaged = (platform.request(name) for name in ("flip", "good", "bad", "damaged"))
        chips = [NetworkOnChip(platform if chip == 0 else None, folder) for chip in range(CHIPS)]
        about = chips[0].manifest
        addresses, nodes, numbers = about["address"]["of_node"], about["chips"]["nodes"], about["chips"]["numbers"]
        found = {}
        for chip, (noc, other) in enumerate(zip(chips, reversed(chips), strict=True)):
            self.add_module(f"chip_{chip}", noc)
            leaves, line, comes = ToSerdes(noc.link[0].tx), Line(flip[chip]), FromSerdes(other.link[0].rx)
            for name, module in (("leaves", leaves), ("line", line), ("comes", comes)):
                self.add_module(f"{name}_{chip}", module)
            self.comb += [
                noc.chip.eq(numbers[chip]),
                leaves.source.connect(line.sink),
                line.source.connect(comes.sink),
                damaged[16 * chip : 16 * chip + 16].eq(noc.link[0].damaged),
            ]
            for place, number in enumerate(nodes[chip]):
                there = nodes[1 - chip][place]
                found[number] = Node(noc.inject[place], noc.eject[place], number, there, there, addresses)
        for number, node in sorted(found.items()):
            self.add_module(f"node_{number}", node)
            self.comb += [good[number].eq(node.good), bad[number].eq(node.bad)]


def main(fabric, out):
    """Write the design on the fabric in a folder to a folder."""
    platform = GenericPlatform("any", IOS, name="pair")
    pair = Pair(platform, fabric)
    platform.get_verilog(pair, name="pair").write(str(Path(out, "pair.v")))
    sources = [path for path, *_ in platform.sources]
    Path(out, "sources").write_text("\n".join([*sources, str(Path(out, "pair.v").resolve()), ""]))


if __name__ == "__main__":
    main(*sys.argv[1:])
