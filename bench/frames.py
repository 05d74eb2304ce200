"""Frames of 4 to 1500 bytes through emitted AXI4-Stream endpoints: cycles, link share, latency; three minutes."""

from math import ceil

from bench.collectives import table
from bench.rtl.frame_rates import FrameRates, FrameTiming, Latencies, Rates
from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.machine.machine import Machine
from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.measure import measure
from hdnhw.model.fabric import FabricModel
from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec
from hdnhw.topology.metrics import distances_from
from hdnhw.verilog.fabric import EmittedFabric, emit_fabric

NETWORKS = ("hdn(cube(1), [[]])", "rdn(cube(2), 1)")
BYTES = (4, 28, 32, 64, 112, 256, 1500)
MANY = 7
"""Sources that send to one sink."""
ENDPOINTS = AxiStreamSpec(max_frame=2048)


def rates(machine: Machine, size: int) -> list[Rates]:
    """Return what is measured of frames of so many bytes: one to one, many to one, uniform."""
    nodes = range(machine.network.num_nodes)
    far = distances_from(machine.network, 0).argmax()
    destinations = (
        {0: [int(far)]},
        {node: [0] for node in nodes[1 : MANY + 1]},
        {node: [other for other in nodes if other != node] for node in nodes},
    )
    return [Rates(bytes=size, destinations=each, cycles=max(4000, 10 * size)) for each in destinations]


def packets(machine: Machine, size: int) -> int:
    """Return the packets that hold the data of a frame."""
    frames = machine.endpoint_format
    count: int = ceil(ceil(size / frames.keep_width) / frames.payload_flits)
    return count


def rate_rows(fabric: EmittedFabric) -> list[list[str]]:
    """Return the cells of each frame length."""
    machine = fabric.machine
    cases = [run for size in BYTES for run in rates(machine, size)]
    measured = iter(zip(cases, FrameRates(fabric).measure(cases), strict=True))
    rows = []
    for size in BYTES:
        cells = [f"`{machine.network.spec}`", str(size)]
        for sinks in (1, 1, machine.network.num_nodes):
            run, timing = next(measured)
            cycles = sinks * run.cycles / timing.frames
            share = packets(machine, size) * machine.spec.packet_length / cycles
            cells.append(f"{cycles:.1f} / {100 * share:.0f} %")
        rows.append(cells)
    return rows


def latency_rows(fabric: EmittedFabric) -> list[list[str]]:
    """Return the cells of each number of hops: the least and the most over the phases of a slot."""
    distances = distances_from(fabric.machine.network, 0)
    hops = sorted({1, min(5, int(distances.max()))})
    ends = [int((distances == each).argmax()) for each in hops]
    cases = [Latencies(bytes=size, source=0, destination=end) for end in ends for size in BYTES]
    measured = FrameRates(fabric).measure(cases)
    return [
        [f"`{fabric.machine.network.spec}`", str(each), *map(span, measured[at * len(BYTES) :][: len(BYTES)])]
        for at, each in enumerate(hops)
    ]


def span(timing: FrameTiming) -> str:
    """Return the least and the most cycles."""
    return f"{min(timing.latencies)} to {max(timing.latencies)}"


def bare(machine: Machine) -> float:
    """Return the share of the link that bare packets reach under uniform traffic, in the model."""
    load = LoadSpec(rate=1, cycles=6000, warmup=3000)
    return measure(FabricModel(machine), load).accepted_rate


def main() -> None:
    """Print both tables."""
    fabrics = [emit_fabric(FabricSpec(network=parse(text), endpoints=ENDPOINTS)) for text in NETWORKS]
    print("Cycles a frame at a sink, and the share of its link that packets of data take.\n")
    heads = "network | bytes | one to one, farthest | seven to one | uniform, of every node"
    table(heads, (row for fabric in fabrics for row in rate_rows(fabric)))
    shares = ", ".join(f"{100 * bare(fabric.machine):.0f} % on `{fabric.machine.network.spec}`" for fabric in fabrics)
    print(f"\nBare packets under uniform traffic take {shares}.")
    print("\nCycles from the first transfer in to the last one out, in an idle fabric.\n")
    table(
        f"network | hops | {' | '.join(f'{size} B' for size in BYTES)}",
        (row for f in fabrics for row in latency_rows(f)),
    )


if __name__ == "__main__":
    main()
