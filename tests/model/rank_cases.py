"""What a simulation finds, case by case: ``mpirun -n R python -m tests.model.rank_cases THREADS`` prints it as JSON."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from zlib import crc32

import numpy as np
import pytest

from hdnhw.machine.machine import Machine
from hdnhw.measurement.closed_loop import measure_requests
from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.loaded import LoadedFabric, warm_up
from hdnhw.measurement.measure import measure
from hdnhw.measurement.record import record
from hdnhw.measurement.replay import measure_exchange, measure_trace
from hdnhw.model import course
from hdnhw.model.core import HOPS
from hdnhw.model.course import Course
from hdnhw.model.engines import COMPILED
from hdnhw.model.fabric import FabricModel, model_of
from hdnhw.rules.plan import plan
from hdnhw.spec.requests import RequestSpec
from hdnhw.support.errors import HangError
from hdnhw.support.ranks import ranks
from hdnhw.traffic.packets import Terminals, Traffic
from tests.model.drawn_machines import draw
from tests.model.fuzz import PARTS, load_of, measured, plain
from tests.specs import fabric_spec

SEEDS = (1, 11, 12, 15, 16, 22, 23, 29, 30, 31, 36, 40, 41, 45, 46, 99, 123)
"""Of 11, 99 and 123 terminals hang on switches, where UGAL chooses. All schemes are there, both queueings, pauses,
faults, cut-through, packets of one flit, which take several slots to the next router, and messages of several packets.
"""

TORUS = fabric_spec("torus(5, 3)", packet_length=3, buffers=2)
CUBE = fabric_spec("cube(4)", packet_length=1)


def told(run: Course) -> list[object]:
    """Return what a course tells of itself, in an order."""
    rows, counts = run.packets, run.counts()
    heads = [run.heads(waiting=waiting) for waiting in (False, True)]
    names = ("cycles", "packets_gone", "packets_sent", "slots", "dropped", "sending", "injected", "holds_packets")
    found = [getattr(run, name) for name in names]
    found += [rows[np.lexsort(rows.T)], *vars(counts).values(), run.core.credits(), run.core.credits(coming=True)]
    return found + [array for each in heads for array in (each.queue, each.wanted, each.free)]


def run_of(seed: int, threads: int) -> object:
    """Return the packets of a drawn machine that leave from stop to stop, what there is at a stop and at the end, and
    what is measured on it.
    """
    drawn, rng = draw(seed), np.random.default_rng([seed, 15])
    course.PART_NODES = int(rng.choice(PARTS))
    model = FabricModel(drawn.machine, drawn.faults, COMPILED)
    made = model.course(drawn.terminals, counting=True, threads=threads)
    found: list[object] = [*drawn.rows(made), *told(made)]
    found += made.ejecting() if drawn.terminals.pause else ()
    middle = model.course(drawn.terminals, counting=True, threads=threads)
    middle.advance(drawn.arrivals, packets=1 << 62, limit=drawn.stops[1], pace=drawn.pace)
    farthest = middle.farthest()
    found += [*told(middle), -1 if farthest is None else farthest[0][HOPS].item()]
    return [plain(value) for value in found] + [measured(drawn, COMPILED, load_of(drawn, rng), threads=threads)]


def deadlock(threads: int) -> str:
    """Return what is said of a network that has one."""
    spec = fabric_spec("torus(6)", packet_length=1, buffers=1)
    made = plan(spec.network)
    rule = replace(made.rule, vc=(made.rule.circuit.constant(0),), num_vcs=(1,) * len(made.num_vcs))
    model = FabricModel(Machine(spec, replace(made, rule=rule, num_vcs=rule.num_vcs)))
    with pytest.raises(HangError) as told:
        measure(model, LoadSpec(pattern="tornado", rate=1.0, cycles=2000, warmup=0), threads=threads)
    return str(told.value)


def cases(threads: int) -> dict[str, object]:
    """Return what is found by name; numbers of the clock left out."""
    found: dict[str, object] = {f"seed {seed}": run_of(seed, threads) for seed in SEEDS}
    course.PART_NODES = 1
    options = {"cycles": None, "histogram": True, "threads": threads}
    with TemporaryDirectory() as folder:
        trace = Path(folder, "trace")
        trace.write_text("".join(f"{3 * n} {n % 15} {7 * n % 15} {1 + n % 9}\n" for n in range(150)))
        rows = {"trace": measure_trace(TORUS, trace, **options) | {"trace": None}}
    rows["exchange"] = measure_exchange(TORUS, **options)
    rows["requests"] = measure_requests(CUBE, RequestSpec(window=2, requests=40, threads=threads))
    for name, row in rows.items():
        found[name] = {key: value for key, value in row.items() if "second" not in key}
    for fabric in (TORUS, fabric_spec("cube(1)", packet_length=1)):
        own = measure(model_of(fabric), LoadSpec(rate=0.3, cycles=200), counting=True, common=True, threads=threads)
        found[f"load on {fabric.network}"] = plain(replace(own, seconds=0))
    run = LoadedFabric(model_of(TORUS), LoadSpec(rate=0.3), threads=threads)
    found["warm-up"] = [warm_up(run), run.cycle, run.ledger.ended()]
    found["record"] = plain(record(model_of(CUBE), LoadSpec(rate=0.3, seed=5), 60))
    address = model_of(TORUS).address.tolist()
    traffic = Traffic.from_lists([[(address[(n * 7 + k) % 15], 4 * k) for k in range(12)] for n in range(15)])
    terminals = Terminals(source_gap=60, sink_stall=90)
    found["ejections"] = plain(model_of(TORUS).run(traffic, terminals, max_cycles=5000, threads=threads))
    found["deadlock"] = deadlock(threads)
    return found


def main() -> None:
    """Print what the first rank has found, and in how many others it is the same."""
    found = json.dumps(cases(int(sys.argv[1])))
    alike = ranks().gather(np.array([[crc32(found.encode())]])) == crc32(found.encode())
    if not ranks().rank:
        print(json.dumps([alike.sum().item(), json.loads(found)]))


if __name__ == "__main__":
    main()
