"""The cycle diagrams of docs/hardware.md and waveforms.md, of emitted Verilog, a part of `make docs`; a minute."""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench.rtl.waves import Packet, Recorder, Traces
from hdnhw.figures.waveform import Lane, Spans, waveform_svg
from hdnhw.library.waves import packet_lanes
from hdnhw.machine.timing import SlotTiming
from hdnhw.networks.parse import parse
from hdnhw.sim.stimulus import case_of_traffic, write_case
from hdnhw.sim.streams import StreamBench
from hdnhw.spec import FabricSpec
from hdnhw.traffic.packets import Terminals, Traffic
from hdnhw.verilog.fabric import emit_fabric
from hdnhw.verilog.waves.dump import Dump
from hdnhw.verilog.waves.packets import Waves
from hdnhw.verilog.waves.wires import EJECT, INJECT, LOCAL

SPEC = FabricSpec(network=parse("hdn(cube(3), [[0, 1]])"), buffers=4)
"""32 routers of five ports: three of the cube, a cross-edge, the terminal."""
LENGTH = SPEC.packet_length
HEAD = LENGTH + SlotTiming(LENGTH).sample_phase
"""Cycle in which packets are offered: one whose head flit waits least."""


def _head(traces: Traces, prefix: str) -> int:
    return traces.head_cycles(f"{prefix}_data", f"{prefix}_valid")[0]


def one_packet(recorder: Recorder) -> tuple[list[Lane], int]:
    """Follow one packet over two channels."""
    neighbors = recorder.machine.network.neighbors
    middle = neighbors(0)["dim0"]
    target = neighbors(middle)["dim1"]
    cycles = 6 * LENGTH + 4
    traces = recorder.record([Packet(0, target, HEAD)], cycles=cycles)
    prefixes = ["channel_0_dim0", f"channel_{middle}_dim1"]
    first, second = (_head(traces, prefix) for prefix in prefixes)
    out = f"eject_{target}_"
    (delivered,) = traces.head_cycles(f"{out}payload", f"{out}valid", f"{out}ready")
    steps = [(HEAD, first), (first, second), (second, delivered), (delivered, delivered + LENGTH)]
    return [
        traces.phases(),
        *traces.stream("inject_0", "inject"),
        *traces.channel(prefixes[0], "first channel"),
        *traces.channel(prefixes[1], "second channel"),
        *traces.stream(f"eject_{target}", "eject"),
        Spans("cycles", [(start, end, str(end - start)) for start, end in steps]),
    ], cycles


def two_for_one(recorder: Recorder) -> tuple[list[Lane], int]:
    """Let two packets meet in a router that both leave by the same channel."""
    neighbors = recorder.machine.network.neighbors
    left, right = neighbors(0)["dim0"], neighbors(0)["dim1"]
    target = neighbors(0)["dim2"]
    sources = [left, right]
    cycles = 7 * LENGTH + 4
    traces = recorder.record([Packet(source, target, HEAD) for source in sources], cycles=cycles)
    ports = recorder.machine.network.ports
    ways = [next(port.name for port in ports if neighbors(source).get(port.name) == 0) for source in sources]
    lanes: list[Lane] = [traces.phases()]
    for source, way, name in zip(sources, ways, ("from the left", "from the right"), strict=True):
        lanes += traces.channel(f"channel_{source}_{way}", name)
    return [
        *lanes,
        *traces.channel("channel_0_dim2", "out"),
        *traces.stream(f"eject_{target}", "eject"),
    ], cycles


def stalled_sink(recorder: Recorder) -> tuple[list[Lane], int]:
    """Stream packets to a sink that takes nothing for a while."""
    target = recorder.machine.network.neighbors(0)["dim0"]
    cycles = 20 * LENGTH
    packets = [Packet(0, target, HEAD)] * 12
    traces = recorder.record(packets, cycles=cycles, stall=(6 * LENGTH, 12 * LENGTH))
    return [
        *traces.stream("inject_0", "inject"),
        *traces.channel("channel_0_dim0", "channel"),
        *traces.channel(f"channel_{target}_eject", "to the terminal"),
        *traces.stream(f"eject_{target}", "eject"),
    ], cycles


LINE = FabricSpec(network=parse("mesh(4)"), buffers=2)
"""Nodes 0 and 1 send to node 3, whose terminal takes nothing."""


def stopped_line(cycles: int) -> Path:
    """Simulate the line for so many cycles; return the dump."""
    bench = StreamBench(emit_fabric(LINE), dump=True)
    traffic = Traffic(np.array([0, 12, 24, 24, 24]), np.full(24, 3), np.zeros(24, np.int64))
    case = case_of_traffic("stopped", bench.model, traffic, Terminals(sink_hold=cycles + 100))

    def write(folder: Path) -> dict[str, object]:
        plusargs = write_case(case, folder, bench.machine) | {"limit": cycles}
        return bench.options(plusargs)

    return bench.simulate("dump", write)[0] / "dump.vcd"


def stopped() -> tuple[list[Lane], int]:
    """Show the packets of that line as viewers do, until nothing moves."""
    waves = Waves(emit_fabric(LINE).machine, Dump(stopped_line(200)))
    cycles = waves.moved + 12
    shown = [(0, INJECT), (1, INJECT), (0, 0), (1, 0), (2, 0), (3, LOCAL), (3, EJECT)]
    places = {(place.node, place.port): place for place in waves.places}
    return list(packet_lanes(waves, [places[one] for one in shown], cycles)), cycles


SCENES = {
    "one-packet": (one_packet, "A packet is injected, passes two channels and is ejected"),
    "two-for-one": (two_for_one, "Two packets for one channel: the second leaves a slot after the first"),
    "stalled-sink": (stalled_sink, "A stream of packets stops when its sink does"),
}
"""Name -> (what is recorded, what the diagram shows)."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Write one SVG a scene."""
    parser = argparse.ArgumentParser(prog="bench/waves.py", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("docs"), metavar="DIR")
    folder = parser.parse_args(arguments).output
    recorder = Recorder(SPEC)
    for name, (scene, title) in SCENES.items():
        lanes, cycles = scene(recorder)
        path = folder / f"cycles-{name}.svg"
        path.write_text(waveform_svg(lanes, title=title, cycles=cycles, slot=LENGTH, first=HEAD - HEAD % LENGTH))
        print(path)
    lanes, cycles = stopped()
    path = folder / "waves-stopped.svg"
    title = "Packets of a fabric whose sink has stopped, until nothing moves"
    path.write_text(waveform_svg(lanes, title=title, cycles=cycles, slot=LINE.packet_length))
    print(path)


if __name__ == "__main__":
    main()
