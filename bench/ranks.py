"""Memory, CPU and mail of a million nodes on one, two and four ranks, single-flit packets; five minutes and 3 GiB.

Each load runs under mpirun on ranks of this machine, which share its processors: the time that goes by says little.
Figures are those of the rank that has most. What is there before the simulation is that of every rank, the model among
it, an array or two of the whole network; and for a moment a table of all neighbors, see the first column of memory.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.measure import measure
from hdnhw.model.fabric import model_of
from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec
from hdnhw.support.ranks import ranks

SPEC, CYCLES, RANKS = "cube(20)", 200, (1, 2, 4)
RATES = (0.01, 0.1)
MPIRUN = Path(sys.executable).with_name("mpirun")
COLUMNS = ("network", "rate", "ranks", "MiB to plan", "MiB before", "MiB more", "CPU s", "exchanges", "MB sent a slot")
MIB = 1 << 20


def memory() -> float:
    """Return the memory of this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / MIB


def report(rate: float) -> None:
    """Measure a load on the ranks there are; the first one prints the largest figures of all, as JSON."""
    import numpy as np

    model = model_of(FabricSpec(network=parse(SPEC), packet_length=1))
    planned = getrusage(RUSAGE_SELF).ru_maxrss / 1024
    own, before, built, most = ranks(), memory(), time.process_time(), [0.0]
    load = LoadSpec(rate=rate, cycles=CYCLES, warmup=0)
    found = measure(model, load, progress=lambda *_: most.append(max(most.pop(), memory())))
    seconds, sent = time.process_time() - built, own.bytes / found.cycles / 1e6
    figures = own.most(np.array([planned, before, most[0] - before, seconds, own.exchanges, sent]))
    if not own.rank:
        print(json.dumps([*figures.tolist(), found.cycles, found.packet_latency.tolist(), found.flit_hops]))


def main() -> None:
    """Print a Markdown table, a row as soon as it is measured."""
    for line in (COLUMNS, ["---"] * len(COLUMNS)):
        print(f"| {' | '.join(line)} |", flush=True)
    for rate in RATES:
        results = set()
        for count in RANKS:
            command = [str(MPIRUN), "-n", str(count), sys.executable, "-m", "bench.ranks", str(rate)]
            said = subprocess.check_output(command, text=True)
            *figures, cycles, latency, hops = json.loads(said)
            results.add((cycles, tuple(latency), hops))
            print(f"| `{SPEC}` | {rate} | {count} | {' | '.join(f'{figure:.4g}' for figure in figures)} |", flush=True)
        if len(results) != 1:
            raise AssertionError(f"{rate}: ranks changed the result")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        report(float(sys.argv[1]))
    else:
        main()
