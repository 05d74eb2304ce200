"""The model beside the reference on machines and loads drawn at random, on threads and parts; an hour.

A seed draws a machine with packets for it, and a load that is measured on it. Every packet must leave in the same cycle
in both, every count must be the same, and every figure of the measurement.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace

import numpy as np

from hdnhw.measurement.lanes import LANES, in_reach, measure_lanes
from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.measure import measure
from hdnhw.model import course
from hdnhw.model.engines import COMPILED, REFERENCE
from hdnhw.model.fabric import FabricModel
from hdnhw.model.flows import Flows
from hdnhw.support.errors import HangError, SpecError
from hdnhw.traffic.patterns import PATTERNS
from tests.model.drawn_machines import Drawn, differences, draw

PARTS = (0, 1, 4, 16, 64)
"""Most nodes of a part, of which one is drawn; 0 for as many as fit into a cache."""


def load_of(drawn: Drawn, rng: np.random.Generator) -> LoadSpec:
    """Draw a load."""
    length = drawn.machine.timing.packet_length
    patterns = [*PATTERNS, f"hotspot(0.3, {rng.integers(4)})", "cluster(2)", "inter_class(1)", "next_group(2)"]
    lengths = (None, None, f"{length + 1}", f"uniform(1, {4 * length})", f"mix(1, 3, {5 * length}, 1)")
    return LoadSpec(
        pattern=str(rng.choice(patterns)),
        injection=str(rng.choice(["bernoulli", "on_off(20)", "on_off(3, 1.0)"])),
        lengths=lengths[rng.integers(len(lengths))],
        rate=float(rng.choice([0.02, 0.1, 0.3, 1.0])),
        cycles=int(rng.integers(20, 400)),
        warmup=None if rng.random() < 0.1 else int(rng.integers(200)),
        seed=int(rng.integers(1 << 40)),
    )


def many_loads(drawn: Drawn, rng: np.random.Generator) -> list[LoadSpec]:
    """Draw loads of messages of one packet, more than there are lanes."""
    found = list[LoadSpec]()
    while len(found) < LANES + 3:
        load = replace(load_of(drawn, rng), lengths=None, rate=float(rng.choice([0.01, 0.1, 0.3, 0.6, 1.0])))
        with suppress(SpecError):
            load.on(drawn.machine.network, drawn.machine.timing.packet_length)
            found.append(load)
    return found


def measured(drawn: Drawn, engine: str, load: LoadSpec, **options: int) -> str | list[object]:
    """Return what is measured but for the seconds, or why nothing is."""
    model = FabricModel(drawn.machine, drawn.faults, engine)
    flows = Flows(model.plan.network.num_terminals)
    try:
        found = measure(model, load, counting=load.cycles >= model.timing.packet_length, flows=flows, **options)
    except (SpecError, HangError) as error:
        return str(error)
    return [plain(replace(found, seconds=0)), flows.counts.tolist()]


def plain(value: object) -> object:
    """Return all that is in a record, arrays to their last element."""
    if is_dataclass(value):
        return [plain(getattr(value, field.name)) for field in fields(value)]
    return repr(value) if isinstance(value, float) else value.tolist() if isinstance(value, np.ndarray) else value


def faults_of(seed: int) -> Iterator[str]:
    """Yield what differs for a seed."""
    drawn, rng = draw(seed), np.random.default_rng([seed, 15])
    threads, course.PART_NODES = int(rng.integers(1, 4)), int(rng.choice(PARTS))
    if seed % 2:  # routers are small where they can
        threads, course.PART_NODES = 1, 0
    models = [FabricModel(drawn.machine, drawn.faults, engine) for engine in (REFERENCE, COMPILED)]
    made = models[0].course(drawn.terminals, counting=True)
    expected = models[1].course(drawn.terminals, counting=True, threads=threads)
    yield from differences(made, expected, drawn)
    load = load_of(drawn, rng)
    ours, theirs = measured(drawn, COMPILED, load, threads=threads), measured(drawn, REFERENCE, load)
    if ours != theirs:
        yield f"a measurement of {load}"
    loads = many_loads(drawn, rng)
    if in_reach(models[1], loads):
        for load, found in zip(loads, measure_lanes(models[1], loads), strict=True):
            if plain(replace(found, seconds=0)) != plain(replace(measure(models[1], load), seconds=0)):
                yield f"a lane of {load}"


def main() -> int:
    """Print a line for each seed in which something differs, then how many there were."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1000, help="the first (default %(default)s)")
    parser.add_argument("--count", type=int, default=0, help="of seeds; without, as many as the hours allow")
    parser.add_argument("--hours", type=float, default=1.0, help="of the clock (default %(default)s)")
    asked = parser.parse_args()
    seed, failed, end = asked.seed, 0, time.monotonic() + 3600 * asked.hours
    while time.monotonic() < end and not (asked.count and seed == asked.seed + asked.count):
        found = list(faults_of(seed))
        if found:
            failed += 1
            print(f"seed {seed}: {'; '.join(found)}: {draw(seed)}", flush=True)
        seed += 1
    print(f"{seed - asked.seed} machines and loads, {failed} with a difference")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
