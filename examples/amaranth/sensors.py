"""A design in Amaranth on a fabric of four nodes with AXI4-Stream endpoints, simulated, and elaborated to Verilog.

Nodes 1 to 3 are sensors that report to node 0, whose frames come out of the design. The fabric is in a clock domain of
the design's choice, `noc`. Run it with Python; a file named behind it gets the design in Verilog.
"""

import sys

from amaranth.back import verilog
from amaranth.hdl import DomainRenamer, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import Out, connect
from amaranth.sim import Simulator

from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec
from hdnhw.verilog.component import fabric_component

WORDS, FRAMES = 3, 2
SPEC = FabricSpec(network=parse("cube(2)"), endpoints=AxiStreamSpec(max_frame=64))


class Sensor(wiring.Component):
    """A source of frames, one after the other: its number, a count of frames, and the count of words in them."""

    def __init__(self, number, destination, payload):
        self.number, self.destination = number, destination
        super().__init__({"o": Out(stream.Signature(payload))})

    def elaborate(self, _):
        m = Module()
        frame, word = Signal(32), Signal(range(WORDS))
        m.d.comb += [
            self.o.valid.eq(frame < FRAMES),
            self.o.p.dest.eq(self.destination),
            self.o.p.keep.eq(-1),
            self.o.p.last.eq(word == WORDS - 1),
        ]
        with m.Switch(word):
            for place, value in enumerate((self.number, frame, frame * WORDS + word)):
                with m.Case(place):
                    m.d.comb += self.o.p.data.eq(value)
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += word.eq(word + 1)
            with m.If(self.o.p.last):
                m.d.sync += [word.eq(0), frame.eq(frame + 1)]
        return m


class Chip(wiring.Component):
    """The design: `frames` are those that have reached node 0."""

    def __init__(self):
        self.fabric = fabric_component(SPEC)
        super().__init__({"frames": Out(self.fabric.m_axis[0].signature)})

    def elaborate(self, _):
        m = Module()
        fabric, address = self.fabric, self.fabric.machine.address
        for node in range(1, len(fabric.s_axis)):
            sensor = Sensor(node, address.of_node(0), fabric.s_axis[node].payload.shape())
            m.submodules[f"sensor_{node}"] = DomainRenamer("noc")(sensor)
            connect(m, sensor.o, fabric.s_axis[node])
        m.submodules.fabric = DomainRenamer("noc")(fabric)
        received = fabric.m_axis[0]
        m.d.comb += [
            self.frames.payload.eq(received.payload),
            self.frames.valid.eq(received.valid),
            received.ready.eq(self.frames.ready),
        ]
        return m


def simulate():
    """Run the design until all frames are there; return them as (source, words)."""
    chip, found = Chip(), []

    async def bench(ctx):
        words = []
        ctx.set(chip.frames.ready, 1)
        while len(found) < FRAMES * (len(chip.fabric.s_axis) - 1):
            _, _, valid, transfer = await ctx.tick("noc").sample(chip.frames.valid, chip.frames.payload)
            if valid:
                words.append(transfer.data)
            if valid and transfer.last:
                found.append((transfer.id, words))
                words = []

    simulator = Simulator(chip)
    simulator.add_clock(1e-8, domain="noc")
    simulator.add_testbench(bench)
    simulator.run_until(1e-4)
    return chip, found


def main(arguments):
    """Simulate, check every frame, and write Verilog if a file is named."""
    chip, found = simulate()
    address = chip.fabric.machine.address
    nodes = range(1, len(chip.fabric.s_axis))
    expected = [
        (address.of_node(node), [node, frame, frame * WORDS + WORDS - 1]) for node in nodes for frame in range(FRAMES)
    ]
    if sorted(found) != sorted(expected):
        sys.exit(f"{len(found)} frames, and not those that were sent")
    print(f"{len(found)} frames from {len(nodes)} nodes, each as sent")
    for path in arguments:
        with open(path, "w") as file:
            file.write(verilog.convert(Chip(), name="chip"))


if __name__ == "__main__":
    main(sys.argv[1:])
