"""The model equal to the Verilog on 20 fabrics drawn at random, COUNT, or as many as HOURS allow; an hour."""

import sys
import time
from collections.abc import Sequence
from itertools import chain, count
from math import inf

import numpy as np

from hdnhw.cli.options import Parser
from hdnhw.fpga.tools import ToolError
from hdnhw.library.options import drawn_faults
from hdnhw.sim.compare import StreamVerdict
from hdnhw.sim.harness import CAPACITY
from hdnhw.sim.stimulus import Case, load_case, make_case
from hdnhw.sim.streams import StreamBench
from hdnhw.spec import FabricSpec
from hdnhw.spec.options import Choice, options_of
from hdnhw.verilog.fabric import emit_fabric
from tests.soak.draw import PACKETS, DrawnCase, command, draw_cases, draw_fabric

MOST_PACKETS = CAPACITY * 3 // 4
"""Of a case: of loads they come by chance, and the bench must hold them."""

MOST_FLAT = 64
"""Routers of a fabric that are compiled each for itself for long runs; of more it would take many minutes."""

OPTIONS = {
    name: max(len(name), 10 if isinstance(option, Choice) else 5) for name, option in options_of(FabricSpec).items()
}
"""Options of a machine, and the width of their columns."""

COLUMNS = " ".join(["{:>3} {:34}", *(f"{{:{width}}}" for width in OPTIONS.values())])
COLUMNS += " {:>7} {:>5} {:>7} {:>8} {:>10} {:>7}"
HEADINGS = ("no.", "network", *OPTIONS, "routers", "cases", "packets", "cycles", "mismatches", "seconds")


def make_drawn_case(bench: StreamBench, drawn: DrawnCase) -> Case:
    """Make the packets of a case, and let the model say what comes out."""
    model = bench.model
    if drawn.faults is not None:
        model = model.with_faults(drawn_faults(drawn.faults, bench.machine.network, drawn.seed))
    if drawn.load is None:
        return make_case(drawn.test, model, packets=drawn.packets, seed=drawn.seed, resets=drawn.resets)
    return load_case(model, drawn.load, drawn.terminals)


def count_faults(verdict: StreamVerdict) -> int:
    """Return how much differs; a case in which no packet had to come out compares nothing, and counts as one."""
    return verdict.faults + (verdict.packets == 0)


def check_fabric(fabric: FabricSpec, cases: Sequence[DrawnCase], *, long: bool = False) -> tuple[int, np.ndarray]:
    """Run cases on one build; return the routers, and the sum of cases, packets, cycles and mismatches.

    Of a case in which something differs, the command that repeats it is printed. A build for long
    runs takes longer, and its cycles less.
    """
    emitted = emit_fabric(fabric)
    bench = StreamBench(emitted, flat=long and emitted.machine.network.num_nodes <= MOST_FLAT)
    total = np.zeros(4, np.int64)
    for drawn in cases:
        try:
            verdict = bench.run_case(make_drawn_case(bench, drawn)).verdict
        except ToolError as error:
            print(f"    {error}\n    {command(fabric, drawn)}")
            total += (1, 0, 0, 1)
            continue
        faults = count_faults(verdict)
        if faults:
            print(f"    {verdict}\n    {command(fabric, drawn)}", flush=True)
        total += (1, verdict.packets, verdict.cycles, faults)
    return bench.machine.network.num_nodes, total


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one row a fabric and the totals; return 1 if anything differs."""
    parser = Parser(prog="tests.soak.lockstep", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (default 1)")
    parser.add_argument("--count", type=int, default=20, help="fabrics (default 20)")
    parser.add_argument("--hours", type=float, help="go on for so long in place of --count, up to the first mismatch")
    parser.add_argument(
        "--rounds", type=int, default=1, help="how often cases are drawn, then of heavy traffic (default 1)"
    )
    parser.add_argument("--packets", type=int, default=PACKETS, help=f"of a case, about (default {PACKETS})")
    options = parser.parse_args(arguments)
    if options.seed < 0 or options.count < 1 or options.rounds < 1:
        given = f"{options.seed}, {options.count} and {options.rounds}"
        parser.error(f"seed must be at least 0, count and rounds at least 1, not {given}")
    if not 1 <= options.packets <= MOST_PACKETS:
        parser.error(f"packets must be from 1 to {MOST_PACKETS}, not {options.packets}")
    if options.hours is not None and not 0 < options.hours < inf:
        parser.error(f"hours must be above 0, not {options.hours}")
    numbers, until, many = iter(range(options.count)), inf, str(options.count)
    if options.hours is not None:
        numbers, until, many = count(), time.time() + 3600 * options.hours, f"{options.hours:g} hours of"
    print(f"{many} fabrics drawn with seed {options.seed}; the Verilog under Verilator against the model")
    print(COLUMNS.format(*HEADINGS), flush=True)
    totals, checked, flits = np.zeros(4, np.int64), 0, 0
    for number in numbers:
        if number and time.time() > until:
            print("time is up")
            break
        rng = np.random.default_rng([options.seed, number])
        fabric = draw_fabric(number, rng)
        started = time.monotonic()
        rounds = (draw_cases(fabric, rng, options.packets, heavy=later > 0) for later in range(options.rounds))
        cases = list(chain.from_iterable(rounds))
        routers, total = check_fabric(fabric, cases, long=options.hours is not None)
        totals, checked = totals + total, number + 1
        values = (getattr(fabric, name) for name in OPTIONS)
        machine = ("-" if value is None else str(value) for value in values)
        row = (number, str(fabric.network), *machine, routers, *total)
        print(COLUMNS.format(*row, round(time.monotonic() - started)), flush=True)
        flits += int(total[1]) * fabric.packet_length
        if options.hours is not None:
            print(f"    {flits} flits so far", flush=True)
            if totals[3]:
                break
    ran, packets, cycles, faults = totals
    print(f"{checked} fabrics, {ran} cases, {packets} packets, {flits} flits, {cycles} cycles, {faults} mismatches")
    print(f"passed {'false' if faults else 'true'}")
    return int(faults != 0)


if __name__ == "__main__":
    sys.exit(main())
