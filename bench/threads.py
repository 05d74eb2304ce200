"""One simulation on one thread and on two, single-flit packets: the same result, and its time; two minutes.

Both run in turn, twice; the faster run of each counts. On a computer that is busy with other work threads wait for
processors. So the CPU of the first thread, which does its share of the routers and all that is not shared, stands
beside the time that went by: on two idle processors, time is that.
"""

import time
from dataclasses import dataclass

from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.measure import measure
from hdnhw.model.fabric import FabricModel, model_of
from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec

LOADS = (
    ("torus(64, 64)", 0.05, 2000),
    ("cube(12)", 0.1, 2000),
    ("rdn(cube(6), 1)", 0.1, 1000),
    ("cube(16)", 0.1, 200),
    ("cube(18)", 0.1, 50),
)
REPETITIONS = 2
COLUMNS = ("network", "nodes", "rate", "million flit-hops", "s", "CPU s", "of the first thread", "ratio")


@dataclass(frozen=True)
class Run:
    """Seconds that went by, CPU of all threads and of the first, and the latencies that were measured."""

    seconds: float
    cpu: float
    first: float
    flit_hops: int
    latency: bytes


def run(model: FabricModel, rate: float, cycles: int, threads: int) -> Run:
    """Measure a load on so many threads."""
    before = time.monotonic(), time.process_time(), time.thread_time()
    measured = measure(model, LoadSpec(rate=rate, cycles=cycles, warmup=0), threads=threads)
    after = time.monotonic(), time.process_time(), time.thread_time()
    seconds, cpu, first = (later - sooner for later, sooner in zip(after, before, strict=True))
    return Run(seconds, cpu, first, measured.flit_hops, measured.packet_latency.tobytes())


def row(spec: str, rate: float, cycles: int) -> list[str]:
    """Measure one load and return its row of the table."""
    model = model_of(FabricSpec(network=parse(spec), packet_length=1))
    runs = [[run(model, rate, cycles, threads) for threads in (1, 2)] for _ in range(REPETITIONS)]
    if len({(found.flit_hops, found.latency) for pair in runs for found in pair}) != 1:
        raise AssertionError(f"{spec}: threads changed the result")
    one, two = (min(found, key=lambda each: each.first) for found in zip(*runs, strict=True))
    pairs = ((one.seconds, two.seconds), (one.cpu, two.cpu), (one.first, two.first))
    figures = [", ".join(f"{value:.2f}" for value in pair) for pair in pairs]
    head = [f"`{spec}`", str(len(model.address)), str(rate), f"{one.flit_hops / 1e6:.1f}"]
    return [*head, *figures, f"{one.first / two.first:.2f}"]


def main() -> None:
    """Print a Markdown table; where a cell has two figures, that of one thread is the first."""
    run(model_of(FabricSpec(network=parse("cube(2)"), packet_length=1)), 0.1, 20, 2)  # compiles
    for line in (COLUMNS, ["---"] * len(COLUMNS)):
        print(f"| {' | '.join(line)} |", flush=True)
    for load in LOADS:
        print(f"| {' | '.join(row(*load))} |", flush=True)


if __name__ == "__main__":
    main()
