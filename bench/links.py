"""Rate and latency of links between bridges, and their size and speed on ECP5, placed and routed; half an hour."""

import sys

from bench.collectives import table
from hdnhw.fpga.family import FAMILIES
from hdnhw.fpga.spec import SynthSpec
from hdnhw.fpga.synth import synthesize
from hdnhw.networks.parse import parse
from hdnhw.rtl.bridge.frame import LinkFormat
from hdnhw.sim.links import LinkBench, LinkSpec, Stage
from hdnhw.spec import FabricSpec

LINKS = {
    "1 channel, 2 classes": ("hdn(cube(1), [[]])", "1", (1,), (0,)),
    "4 channels, 1 class": ("torus(4, 4)", "dim0=4", (0, 0, 0, 0), (0, 1, 2, 3)),
}
"""Network, how it is cut, ports of the channels and the numbers of those that they lead to."""
DELAY = 90
"""Cycles on the wires, one way: with what both sides take, about 200 there and back."""
CYCLES = 8000
LONG = 80_000
"""Cycles in which about one frame each way is damaged."""
DAMAGED = 0.001
"""Share of frames with a wrong bit."""
SEEDS = 3


def _format(spec: LinkSpec) -> LinkFormat:
    return LinkFormat(spec.machine, spec.ports, spec.arrivals, spec.word_width)


def _rate(bench: LinkBench, link: LinkFormat, damaged: float) -> float:
    """Return the words of packets that come, to one that the wires could carry, of the slower direction."""
    cycles = LONG if damaged else CYCLES
    run = bench.run([Stage(1500), Stage(cycles, faults={"spoils": damaged})], delay=DELAY)
    came = [sum(cycle >= run.begun[1] for packets in side.values() for cycle, _ in packets) for side in run.came]
    return min(came) * link.packet_words / cycles


def _latency(bench: LinkBench, link: LinkFormat) -> float:
    """Return the mean cycles of a head flit in both bridges at low load, without wires and the words of a frame."""
    run = bench.run([Stage(CYCLES, load=0.02), Stage(2000, load=0)], delay=DELAY)
    frame = link.header_words + link.packet_words + link.check_words
    times = [cycle - sent - DELAY - frame for sent, cycle in run.times(since=1000)]
    return sum(times) / len(times)


def row(name: str, network: str, by: str, ports: tuple[int, ...], arrivals: tuple[int, ...]) -> list[str]:
    """Return the cells of a link."""
    spec = LinkSpec(network=network, ports=ports, arrivals=arrivals)
    link, bench = _format(spec), LinkBench(spec)
    fabric = FabricSpec(network=parse(network))
    measured = SynthSpec(fabric=fabric, unit="bridge", chips=by, placements=SEEDS)
    part = synthesize(measured, say=lambda line: print(line, file=sys.stderr))
    return [
        name,
        f"{link.machine.spec.packet_length}*{link.machine.spec.flit_width}",
        str(link.word_width),
        *(f"{_rate(bench, link, damaged):.3f}" for damaged in (0.0, DAMAGED)),
        f"{_latency(bench, link) / 2:.1f}",
        *(str(part[key]) for key in ("luts", "comb_sites", "ff")),
        str(part["ram_cells"][FAMILIES["ecp5"].block_ram]),
        f"{part['fmax_mhz']} | {', '.join(map(str, part['fmax_of_seed']))}",
    ]


if __name__ == "__main__":
    table(
        f"link | flits*bits | bits of a word | rate | with {DAMAGED:g} of frames damaged | cycles a side | LUT4 | "
        "sites | FF | block RAMs | MHz | seeds",
        (row(name, *link) for name, link in LINKS.items()),
    )
