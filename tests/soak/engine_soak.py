"""Random operations on collective engines drawn at random, until HOURS are over or a result differs; an hour.

Every result is compared with NumPy's or with what was given, every packet with the executor's counts, and every barrier
with its prediction.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from math import inf
from typing import Any

import numpy as np

from hdnhw.cli.options import Parser
from hdnhw.endpoints.collective.bench import CollectiveBench, CollectiveCase
from hdnhw.endpoints.collective.bench_harness import MOST_OPERATIONS
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.fpga.tools import ToolError
from hdnhw.library.options import machine_words
from hdnhw.networks.build import build
from hdnhw.sim.compare import log_rows
from hdnhw.spec import (
    BARRIER,
    ENGINE_OPERATIONS,
    EXCHANGE_ORDERS,
    INTEGERS,
    OPERATIONS,
    OPERATORS,
    REGISTER_OPERATIONS,
    FabricSpec,
    NetworkSpec,
)
from hdnhw.spec.options import options_of
from hdnhw.support.errors import SpecError
from hdnhw.verilog.fabric import EmittedFabric, emit_fabric
from tests.soak.draw import KINDS, LENGTHS, Generator

LEAST_NODES, MOST_NODES = 2, 16

DUAL_NETS, OTHERS = (KINDS[0], KINDS[1], KINDS[4]), KINDS[5:-1]
"""Those that have networks as small."""

WIDTHS = (8, 16, 24, 32, 64)
"""Of a flit, in bits."""

MESSAGE_PACKETS = (1, 1, 2, 3)
"""Of message engines."""

CASES = 12
"""Of each fabric: a build takes longer than they do."""

PAUSES = (0, 0, 3, 20, 300)
"""Most cycles before a host asks for an operation."""

STALLS = (0, 0, 100, 200, 245)
"""Of 256: how often hosts of odd nodes stall."""

MOST_RESETS, CYCLES = 8, 4
"""Of a case, and cycles that an operation takes at least: a reset must come before the case has ended."""


@dataclass(frozen=True)
class Total:
    """What some cases have shown.

    Attributes
    ----------
    operations, flits : int
        Those that have run, and what nodes have sent in them, after the last reset of a case.
    mismatches : int
        Operations in which something differed, and cases that did not end.
    """

    operations: int = 0
    flits: int = 0
    mismatches: int = 0

    def __add__(self, other: "Total") -> "Total":
        return Total(self.operations + other.operations, self.flits + other.flits, self.mismatches + other.mismatches)


def _network(rng: Generator) -> NetworkSpec:
    while True:
        kinds = (DUAL_NETS, OTHERS)[rng.integers(2)]
        kind = kinds[rng.integers(len(kinds))]
        try:
            spec = kind.draw(rng)
            if LEAST_NODES <= build(spec).num_nodes <= MOST_NODES:
                return spec
        except SpecError:
            continue


def _some(names: Sequence[str], rng: Generator) -> tuple[str, ...]:
    """Draw some of names, one at least, in their order."""
    chosen = set(rng.choice(names, rng.integers(1, len(names) + 1), replace=False).tolist())
    return tuple(name for name in names if name in chosen)


def _engines(nodes: int, rng: Generator) -> CollectiveSpec:
    """Draw engines: a third in registers, a third that move messages, and a third of both kinds in one."""
    packets, kind = int(rng.choice(MESSAGE_PACKETS)), rng.integers(3)
    if kind == 0:
        packets, operations = 1, _some(REGISTER_OPERATIONS, rng)
    elif kind == 1:
        operations = _some(OPERATIONS, rng) + _some((BARRIER, *REGISTER_OPERATIONS), rng)
    else:
        operations = _some(OPERATIONS, rng) + ENGINE_OPERATIONS[len(OPERATIONS) :] * int(rng.integers(2))
    return CollectiveSpec(
        operations=operations,
        root=int(rng.integers(nodes)),
        order=str(rng.choice(EXCHANGE_ORDERS)),
        operators=_some(OPERATORS, rng),
        numbers=str(rng.choice(INTEGERS)),
        message_packets=packets,
        variable_messages=bool(kind and rng.integers(2)),
    )


def draw_engines(rng: Generator) -> EmittedFabric:
    """Draw a fabric with collective engines, and emit it; what hdnhw refuses is drawn again."""
    while True:
        network = _network(rng)
        options: dict[str, Any] = {
            name: option.drawn[rng.integers(len(option.drawn))]
            for name, option in options_of(FabricSpec).items()
            if option.drawn and name not in {*CollectiveSpec.refuses, "switching"}
        }
        options |= {"packet_length": int(rng.choice(LENGTHS[1:])), "flit_width": int(rng.choice(WIDTHS))}
        options["channel_latency"] = str(rng.choice(["1", "1", "2", "4", "*0=9,*1=3"]))
        try:
            endpoints = _engines(build(network).num_nodes, rng)
            return emit_fabric(FabricSpec(network=network, endpoints=endpoints, **options))
        except SpecError:
            continue


def draw_cases(endpoints: CollectiveSpec, rng: Generator, cases: int = CASES) -> list[CollectiveCase]:
    """Draw sequences of operations, and how hosts go about them."""
    drawn = []
    for _ in range(cases):
        length = int(rng.integers(MOST_OPERATIONS // 2, MOST_OPERATIONS + 1))
        resets = rng.integers(1, CYCLES * length, rng.integers(MOST_RESETS + 1)).tolist() if rng.integers(2) else []
        drawn.append(
            CollectiveCase(
                operations=rng.choice(endpoints.operations, length).tolist(),
                operators=rng.choice(endpoints.operators, length).tolist(),
                stall=int(rng.choice(STALLS)),
                pause=int(rng.choice(PAUSES)),
                ahead=bool(rng.integers(2)),
                early=bool(rng.integers(2)),
                seed=int(rng.integers(1, 1 << 16)),
                resets=resets,
            )
        )
    return drawn


def check_cases(fabric: EmittedFabric, cases: Sequence[CollectiveCase]) -> Total:
    """Run cases on one build; print those in which something differs."""
    bench, total = CollectiveBench.of(fabric), Total()
    for place, case in enumerate(cases):
        try:
            run = bench.run_case(case, keep=True)
        except ToolError as error:
            print(f"    case {place}: {error}", flush=True)
            total += Total(len(case.operations), 0, 1)
            continue
        wrong = [verdict for verdict in run.verdict.operations if not verdict.passed]
        for verdict in wrong:
            print(f"    case {place}: {verdict}", flush=True)
        packets = len(log_rows(bench.build.run_folder(run.test) / "sends.log"))
        total += Total(len(case.operations), packets * bench.machine.spec.packet_length, len(wrong))
    return total


def _described(spec: FabricSpec) -> str:
    """Return the machine in words of the command line, but for what has its default."""
    parts = [str(spec.network)]
    for one in (spec, spec.endpoints):
        parts.append(machine_words({name: getattr(one, name) for name in options_of(type(one))}, type(one)))
    return " ".join(filter(None, parts))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row a fabric and the totals; return 1 if anything differs."""
    parser = Parser(prog="tests.soak.engine_soak", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (default 1)")
    parser.add_argument("--first", type=int, default=0, help="number of the first fabric (default 0)")
    parser.add_argument("--count", type=int, default=20, help="fabrics (default 20)")
    parser.add_argument("--hours", type=float, help="go on for so long in place of --count, up to the first mismatch")
    options = parser.parse_args(arguments)
    if options.seed < 0 or options.first < 0 or options.count < 1:
        given = f"{options.seed}, {options.first} and {options.count}"
        parser.error(f"seed and first must be at least 0 and count at least 1, not {given}")
    if options.hours is not None and not 0 < options.hours < inf:
        parser.error(f"hours must be above 0, not {options.hours}")
    until = time.time() + 3600 * (options.hours or inf)
    total, checked = Total(), 0
    for number in count(options.first):
        if checked and (time.time() > until or (options.hours is None and checked == options.count)):
            break
        rng = np.random.default_rng([options.seed, number])
        fabric = draw_engines(rng)
        endpoints = fabric.machine.spec.endpoints
        assert isinstance(endpoints, CollectiveSpec)
        print(f"{number:3} {_described(fabric.machine.spec)}", flush=True)
        here = check_cases(fabric, draw_cases(endpoints, rng))
        total, checked = total + here, checked + 1
        print(f"    {here.operations} operations, {here.flits} flits, {here.mismatches} mismatches", flush=True)
        if here.mismatches:
            print(f"    python -m tests.soak.engine_soak --seed {options.seed} --first {number} --count 1", flush=True)
            if options.hours is not None:
                break
    print(f"{checked} fabrics, {total.operations} operations, {total.flits} flits, {total.mismatches} mismatches")
    print(f"passed {'false' if total.mismatches else 'true'}")
    return int(total.mismatches > 0)


if __name__ == "__main__":
    sys.exit(main())
