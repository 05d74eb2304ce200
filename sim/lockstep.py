"""The check that the model is the Verilog, on fabrics drawn at random: ``make check-lockstep``."""

import sys
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hdnhw.cli.options import Parser
from hdnhw.spec import FabricSpec
from sim.check import Verdict
from sim.draw import PACKETS, DrawnCase, command, draw_cases, draw_fabric
from sim.runner import Bench, SimulatorError
from sim.stimulus import Case, load_case, make_case

__all__ = ["count_faults", "main"]

COLUMNS = "{:>3} {:34} {:5} {:>5} {:>2} {:>7} {:>5} {:6} {:10} {:>7} {:>5} {:>7} {:>8} {:>10} {:>7}"
HEADINGS = ("no.", "network", "modes", "lanes", "L", "buffers", "width", "queues", "crossbar")
HEADINGS += ("routers", "cases", "packets", "cycles", "mismatches", "seconds")


def make_drawn_case(bench: Bench, drawn: DrawnCase) -> Case:
    """Make the packets of a case, and let the model say what comes out."""
    machine = (bench.model, bench.flits)
    if drawn.load is None:
        return make_case(drawn.test, *machine, packets=PACKETS, seed=drawn.seed)
    return load_case(*machine, drawn.load, drawn.terminals)


def count_faults(verdict: Verdict) -> int:
    """Return how much differs; a case in which no packet had to come out compares nothing, and counts as one."""
    return verdict.faults + (verdict.packets == 0)


def check_fabric(fabric: FabricSpec, cases: Sequence[DrawnCase]) -> tuple[int, np.ndarray]:
    """Run cases on one build; return the routers, and the sum of cases, packets, cycles and mismatches.

    Of a case in which something differs, the command that repeats it is printed.
    """
    bench = Bench(fabric)
    total = np.zeros(4, np.int64)
    for drawn in cases:
        try:
            verdict = bench.run_case(make_drawn_case(bench, drawn)).verdict
        except SimulatorError as error:
            print(f"    {error}\n    {command(fabric, drawn)}")
            total += (1, 0, 0, 1)
            continue
        faults = count_faults(verdict)
        if faults:
            print(f"    {verdict}\n    {command(fabric, drawn)}", flush=True)
        total += (1, verdict.packets, verdict.cycles, faults)
    return bench.plan.network.num_nodes, total


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one row a fabric and the totals; return 1 if anything differs."""
    parser = Parser(prog="sim.lockstep", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (default 1)")
    parser.add_argument("--count", type=int, default=20, help="fabrics (default 20)")
    parser.add_argument("--crc", action="store_true", help="with check bits")
    options = parser.parse_args(arguments)
    if options.seed < 0 or options.count < 1:
        parser.error(f"seed must be at least 0 and count at least 1, not {options.seed} and {options.count}")
    print(f"{options.count} fabrics drawn with seed {options.seed}; the Verilog under Verilator against the model")
    print(COLUMNS.format(*HEADINGS), flush=True)
    totals = np.zeros(4, np.int64)
    for number in range(options.count):
        rng = np.random.default_rng([options.seed, number])
        fabric = replace(draw_fabric(number, rng), crc=options.crc)
        started = time.monotonic()
        routers, total = check_fabric(fabric, draw_cases(fabric, rng))
        totals += total
        machine = (fabric.modes or "-", fabric.lanes, fabric.packet_length, fabric.buffers, fabric.flit_width)
        row = (number, str(fabric.network), *machine, fabric.queueing, fabric.crossbar, routers, *total)
        print(COLUMNS.format(*row, round(time.monotonic() - started)), flush=True)
    cases, packets, cycles, faults = totals
    print(f"{options.count} fabrics, {cases} cases, {packets} packets, {cycles} cycles, {faults} mismatches")
    print(f"passed {'false' if faults else 'true'}")
    return int(faults != 0)


if __name__ == "__main__":
    sys.exit(main())
