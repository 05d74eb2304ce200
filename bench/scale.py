"""CPU and memory of up to three million nodes on the model, single-flit packets; 15 minutes and 5 GiB.

Each load runs in a process of its own. The CPU of planning, which includes the proof, and of building the model stands
apart from that of the simulation: 1000 cycles at the load, and as many more as their last packets take.
"""

import time
from multiprocessing import get_context
from resource import RUSAGE_SELF, getrusage

from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.measure import measure
from hdnhw.model.fabric import model_of
from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec

CYCLES = 1000
LOADS = (
    ("cube(20)", 0.01),
    ("cube(20)", 0.1),
    ("rdn(cube(9), 1)", 0.01),
    ("rdn(cube(9), 1)", 0.1),
    ("hdn(torus(2, 3, 5), [[0], [0]])", 0.01),
    ("rdn(torus(5, 5), 2)", 0.01),
)
COLUMNS = ("network", "nodes", "rate", "cycles", "accepted", "set-up s", "CPU s", "million hops", "ns per hop", "MiB")


def row(spec: str, rate: float) -> list[str]:
    """Measure one load and return its row of the table."""
    started = time.process_time()
    model = model_of(FabricSpec(network=parse(spec), packet_length=1))
    built = time.process_time()
    measured = measure(model, LoadSpec(rate=rate, cycles=CYCLES, warmup=0))
    seconds = time.process_time() - built
    flit_hops, peak = measured.flit_hops, getrusage(RUSAGE_SELF).ru_maxrss / 1024
    figures = (measured.cycles, round(measured.accepted_rate, 4), round(built - started, 1), round(seconds, 1))
    rest = (round(flit_hops / 1e6, 1), round(seconds / flit_hops * 1e9), round(peak))
    return [f"`{spec}`", *map(str, (len(model.address), rate, *figures, *rest))]


def main() -> None:
    """Print a Markdown table, a row as soon as it is measured."""
    for line in (COLUMNS, ["---"] * len(COLUMNS)):
        print(f"| {' | '.join(line)} |", flush=True)
    for load in LOADS:
        with get_context("spawn").Pool(1) as pool:
            print(f"| {' | '.join(pool.apply(row, load))} |", flush=True)


if __name__ == "__main__":
    main()
