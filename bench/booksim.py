"""CPU, latency and saturation of the model beside BookSim2; BOOKSIM names its program, built elsewhere; 5 minutes.

Both have packets of one or eight flits, BUFFERS packets per port shared evenly by its virtual channels, one virtual
channel per class, and 3 cycles a hop of single flits. What is compared is user CPU a flit-hop and a packet-hop,
generation of traffic and statistics included. Set-up is not: a run of BookSim2 with next to no cycles is subtracted,
and the model is planned before. User CPU is that of all threads of a process. A row that cannot be measured says so.
"""

import argparse
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from os import X_OK, access
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from statistics import median
from typing import Any

from hdnhw.machine.machine import make_machine
from hdnhw.machine.timing import buffers_per_vc
from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.measure import measure
from hdnhw.measurement.statistics import summarize
from hdnhw.model.fabric import FabricModel
from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec
from hdnhw.support.processes import Budget, SpentError
from hdnhw.topology.metrics import neighbor_table

BUFFERS = 8
REPETITIONS = 3
LONGER = 10
"""Cycles of the model for one of BookSim2: both then run for seconds."""
SECONDS = 120
"""Most CPU time that a run of BookSim2 may take; one that hangs in a deadlock goes on for ever, and has no row."""

DIMENSION_ORDER = {
    "mesh(8, 8)": {"topology": "mesh", "k": 8, "n": 2},
    "torus(8, 8)": {"topology": "torus", "k": 8, "n": 2},
    "torus(16, 16)": {"topology": "torus", "k": 16, "n": 2},
    "torus(32, 32)": {"topology": "torus", "k": 32, "n": 2},
    "cube(10)": {"topology": "mesh", "k": 2, "n": 10},
}
"""Networks that BookSim2 builds and routes itself; others are given to it as a list of channels."""

SETTINGS = {
    "use_noc_latency": 0,
    "routing_delay": 0,
    "speculative": 1,
    "injection_rate_uses_flits": 1,
    "traffic": "uniform",
    "injection_process": "bernoulli",
    "sim_type": "throughput",
    "warmup_periods": 1,
    "max_samples": 2,
    "acc_stopping_thres": "0.0",
}
"""Channels of one cycle, lookahead routing, speculative switch allocation: the shortest pipeline of its input-queued
router. One period of warm-up and one that is measured, each of `sample_period` cycles, then all packets come out."""


class BenchError(Exception):
    """What cannot be measured, in one line."""


@dataclass(frozen=True)
class Load:
    """A network, flits per node per cycle, cycles of warm-up and interval in BookSim2, and flits per packet."""

    spec: str
    rate: float
    cycles: int
    length: int = 1


@dataclass(frozen=True)
class Result:
    """User CPU without set-up, packets over channels between routers, mean packet latency, accepted rate."""

    seconds: float
    packet_hops: float
    latency: float
    accepted: float

    @property
    def nanoseconds(self) -> float:
        """User CPU a packet-hop."""
        return self.seconds / self.packet_hops * 1e9


SPEED = (
    Load("mesh(8, 8)", 0.05, 30_000),
    Load("mesh(8, 8)", 0.2, 10_000),
    Load("mesh(8, 8)", 0.4, 5_000),
    Load("torus(8, 8)", 0.05, 30_000),
    Load("torus(8, 8)", 0.2, 10_000),
    Load("torus(8, 8)", 0.4, 5_000),
    Load("torus(16, 16)", 0.05, 4_000),
    Load("torus(16, 16)", 0.2, 1_000),
    Load("torus(32, 32)", 0.05, 400),
    Load("torus(32, 32)", 0.1, 200),
    Load("cube(10)", 0.2, 150),
    Load("cube(10)", 0.4, 100),
    Load("rdn(cube(3), 1)", 0.05, 10_000),
    Load("rdn(cube(3), 1)", 0.2, 3_000),
    Load("mesh(8, 8)", 0.2, 10_000, 8),
    Load("torus(8, 8)", 0.05, 30_000, 8),
    Load("torus(8, 8)", 0.2, 10_000, 8),
    Load("cube(10)", 0.2, 150, 8),
    Load("rdn(cube(3), 1)", 0.05, 10_000, 8),
    Load("rdn(cube(3), 1)", 0.2, 3_000, 8),
)
SPEED_COLUMNS = (
    *("network", "nodes", "flits", "rate", "cycles", "accepted", "latency"),
    *("million packet-hops", "ns per packet-hop", "ns per flit-hop", "ratio"),
)
ENDS = ("mesh(8, 8)", "torus(8, 8)")
"""Networks whose zero-load latency and saturation are compared."""
ZERO_LOAD, BEYOND = 0.005, 0.9
ENDS_COLUMNS = ("network", f"latency at {ZERO_LOAD}", "95 % accepted up to", f"accepted at {BEYOND}")


@lru_cache(maxsize=1)
def model_of(spec: str, length: int) -> FabricModel:
    """Return the model of a network with packets of so many flits."""
    return FabricModel(make_machine(FabricSpec(network=parse(spec), packet_length=length, buffers=BUFFERS)))


def run_model(load: Load, *, longer: int, seed: int) -> Result:
    """Measure a load on the model as ``hdnhw simulate`` does, with a prescribed warm-up."""
    model, cycles = model_of(load.spec, load.length), longer * load.cycles
    started = getrusage(RUSAGE_SELF).ru_utime
    measured = measure(model, LoadSpec(rate=load.rate, cycles=cycles, warmup=cycles, seed=seed))
    seconds = getrusage(RUSAGE_SELF).ru_utime - started
    latency = summarize(measured.packet_latency)
    if latency is None:
        raise BenchError(f"no packet has come out: {load}")
    return Result(seconds, measured.flit_hops / load.length, latency["mean"], measured.accepted_rate)


def configuration(load: Load, *, seed: int, folder: Path) -> dict[str, Any]:
    """Return BookSim2's settings for a load; a list of channels goes into the folder."""
    model = model_of(load.spec, load.length)
    num_vcs = model.plan.max_vcs
    if load.spec in DIMENSION_ORDER:
        network = DIMENSION_ORDER[load.spec] | {"routing_function": "dim_order"}
    else:
        channels = folder / "channels"
        rows = enumerate(neighbor_table(model.plan.network).tolist())
        lines = [f"router {node} node {node}" + "".join(f" router {to}" for to in row if to >= 0) for node, row in rows]
        channels.write_text("\n".join(lines) + "\n")
        network = {"topology": "anynet", "routing_function": "min", "network_file": channels}
    shape = {
        "packet_size": load.length,
        "num_vcs": num_vcs,
        "vc_buf_size": load.length * buffers_per_vc(BUFFERS, num_vcs),
    }
    time = {"injection_rate": f"{load.rate:f}", "sample_period": load.cycles, "seed": seed}
    return SETTINGS | network | shape | time


def call_booksim(binary: Path, settings: dict[str, Any], folder: Path) -> tuple[float, str]:
    """Run BookSim2; return its user CPU and what it printed."""
    file = folder / "config"
    file.write_text("".join(f"{name} = {value};\n" for name, value in settings.items()))
    budget = Budget(SECONDS)
    try:
        done = budget.run([binary, file])
    except SpentError:
        raise BenchError(f"BookSim2 takes more than {SECONDS} s, it may hang in a deadlock: {settings}") from None
    if "Time taken is" not in done.stdout:
        raise BenchError(f"BookSim2 fails with {settings}: {(done.stderr or done.stdout)[-200:]!r}")
    return budget.spent, done.stdout


def run_booksim(binary: Path, load: Load, *, seed: int) -> Result:
    """Measure a load on BookSim2.

    A flit crosses one channel between routers less than BookSim2 counts hops: the way to the terminal is one.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = configuration(load, seed=seed, folder=folder)
        idle = settings | {"injection_rate": "0.000001", "sample_period": 1}
        set_up, _ = call_booksim(binary, idle, folder)
        seconds, text = call_booksim(binary, settings, folder)
    warmup, interval, accepted = numbers(text, "Accepted flit rate average")
    nodes = model_of(load.spec, load.length).plan.network.num_nodes
    flits = (warmup + interval) * nodes * load.cycles + numbers(text, "Total in-flight flits")[-1]
    hops = numbers(text, "Hops average")[-1] - 1
    return Result(seconds - set_up, flits * hops / load.length, numbers(text, "Packet latency average")[-1], accepted)


def numbers(text: str, name: str) -> list[float]:
    """Return the values that BookSim2 printed under a name."""
    return [float(value) for value in re.findall(rf"^{name} ?= (\S+)", text, re.MULTILINE)]


def row_or_why(row: Callable[[Path, Any], str], binary: Path, what: Any) -> str:
    """Return a row of a table, or why there is none."""
    try:
        return row(binary, what)
    except BenchError as error:
        return f"{what}: {error}"


def speed_row(binary: Path, load: Load) -> str:
    """Return a row of the first table; the two programs run in turn."""
    theirs, ours = [], []
    for seed in range(1, REPETITIONS + 1):
        theirs.append(run_booksim(binary, load, seed=seed))
        ours.append(run_model(load, longer=LONGER, seed=seed))
    pair = theirs, ours
    speed = [median(result.nanoseconds for result in results) for results in pair]
    hops, latency, accepted = (
        [median(getattr(result, name) for result in results) for results in pair]
        for name in ("packet_hops", "latency", "accepted")
    )
    cycles, nodes = 2 * load.cycles, model_of(load.spec, load.length).plan.network.num_nodes
    cells = [
        f"`{load.spec}`",
        f"{nodes}",
        f"{load.length}",
        f"{load.rate}",
        f"{cycles}, {LONGER * cycles}",
        f"{accepted[0]:.3f}, {accepted[1]:.3f}",
        f"{latency[0]:.1f}, {latency[1]:.1f}",
        f"{hops[0] / 1e6:.2f}, {hops[1] / 1e6:.2f}",
        f"{speed[0]:.0f}, {speed[1]:.0f}",
        f"{speed[0] / load.length:.0f}, {speed[1] / load.length:.3g}",
        f"{speed[0] / speed[1]:.1f}",
    ]
    return table_row(cells)


def table_row(cells: Sequence[str]) -> str:
    """Return a row of a table in Markdown."""
    return f"| {' | '.join(cells)} |"


def ends_row(binary: Path, spec: str) -> str:
    """Return a row of the second table."""
    programs: tuple[Callable[[Load], Result], ...] = (
        lambda load: run_booksim(binary, load, seed=1),
        lambda load: run_model(load, longer=1, seed=1),
    )
    zero = [program(Load(spec, ZERO_LOAD, 50_000)).latency for program in programs]
    most = [saturation(program, spec) for program in programs]
    beyond = [program(Load(spec, BEYOND, 5_000)).accepted for program in programs]
    cells = [f"{zero[0]:.2f}, {zero[1]:.2f}", f"{most[0]:.2f}, {most[1]:.2f}", f"{beyond[0]:.3f}, {beyond[1]:.3f}"]
    return table_row([f"`{spec}`", *cells])


def saturation(program: Callable[[Load], Result], spec: str) -> float:
    """Return the highest rate, in hundredths, of which 95 % is accepted: by bisection."""
    accepted, refused = 0, 100
    while refused - accepted > 1:
        rate = (accepted + refused) // 2
        if program(Load(spec, rate / 100, 5_000)).accepted >= 0.95 * rate / 100:
            accepted = rate
        else:
            refused = rate
    return accepted / 100


def main() -> int:
    """Print two tables; where a cell has two figures, that of BookSim2 is the first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--booksim", default="", metavar="PATH", help="its program")
    given = parser.parse_args().booksim
    binary = Path(given).absolute()
    if not (binary.is_file() and access(binary, X_OK)):
        print(f"BOOKSIM must be the path of a BookSim2 program, not {given!r}", file=sys.stderr)
        return 2
    tables: tuple[tuple[Sequence[str], Iterator[str]], ...] = (
        (SPEED_COLUMNS, (row_or_why(speed_row, binary, load) for load in SPEED)),
        (ENDS_COLUMNS, (row_or_why(ends_row, binary, spec) for spec in ENDS)),
    )
    for columns, rows in tables:
        print(table_row(columns), table_row(["---"] * len(columns)), sep="\n")
        for row in rows:
            print(row, flush=True)
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
