"""CPU of seeds on the model, one after the other and at once in lanes; two minutes.

Each load is measured with common random numbers, as `measure_seeds` does for several seeds: traffic, counts and
statistics are in the time. Of the single runs some stand before and some behind those in lanes, in the same minute.
"""

import time
from collections.abc import Sequence

from hdnhw.measurement.lanes import LANES, LEAST_LOADS, measure_lanes
from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.measure import Measurement, measure
from hdnhw.measurement.seeds import loads_of
from hdnhw.model.fabric import FabricModel, model_of
from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec

NETWORKS = ("rdn(cube(3), 1)", "torus(8, 8)", "mesh(8, 8)")
RATES = (0.05, 0.2, 0.4)
CYCLES, FEW = 50_000, 4
"""Of an interval; single runs before and behind."""
COLUMNS = ("network", "nodes", "rate", "ns per packet-hop", f"in {LANES} lanes", "ratio", f"in {LEAST_LOADS} lanes")


def each(model: FabricModel, loads: Sequence[LoadSpec]) -> list[Measurement]:
    """Measure loads one after the other."""
    return [measure(model, load, common=True) for load in loads]


def at_once(model: FabricModel, loads: Sequence[LoadSpec]) -> list[Measurement]:
    """Measure loads in lanes."""
    return measure_lanes(model, loads, common=True)


def row(spec: str, rate: float) -> list[str]:
    """Measure one load in all ways and return its row of the table."""
    model = model_of(FabricSpec(network=parse(spec)))
    loads = loads_of(LoadSpec(rate=rate, cycles=CYCLES), LANES)
    figures = []
    for way, some in ((each, loads[:FEW]), (at_once, loads), (at_once, loads[:LEAST_LOADS]), (each, loads[-FEW:])):
        started = time.process_time()
        flit_hops = sum(one.flit_hops for one in way(model, some))
        figures.append((time.process_time() - started) * 1e9 * model.timing.packet_length / flit_hops)
    before, lanes, few, behind = figures
    single = (before + behind) / 2
    return [
        f"`{spec}`",
        str(len(model.address)),
        str(rate),
        *(f"{x:.1f}" for x in (single, lanes, single / lanes, few)),
    ]


def main() -> None:
    """Print a Markdown table, a row as soon as it is measured."""
    for line in (COLUMNS, ["---"] * len(COLUMNS)):
        print(f"| {' | '.join(line)} |", flush=True)
    for spec in NETWORKS:
        for rate in RATES:
            print(f"| {' | '.join(row(spec, rate))} |", flush=True)


if __name__ == "__main__":
    main()
