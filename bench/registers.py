"""One-packet all-reduces and scans on emitted engines of up to 256 nodes, and their cost; half an hour."""

import sys

from bench.collectives import table
from hdnhw.endpoints.collective.bench import CollectiveCase
from hdnhw.endpoints.collective.bench_registers import RegisterBench
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.networks.parse import parse
from hdnhw.spec import REGISTER_OPERATIONS, FabricSpec
from hdnhw.verilog.fabric import emit_fabric

NETWORKS = (
    "cube(2)",
    "torus(8)",
    "torus(4, 4)",
    "hdn(cube(2), [[0]])",
    "hsn(2, cube(2))",
    "rdn(cube(2), 1)",
    "hsn(2, cube(3))",
    "rdn(cube(3), 1)",
    "cube(7)",
    "torus(8, 16)",
    "hdn(cube(2), [[0], [0]])",
)

ENGINES = CollectiveSpec(operations=REGISTER_OPERATIONS, operators=("sum", "max"))


def row(text: str) -> list[str]:
    """Return the cells of a network."""
    bench = RegisterBench(emit_fabric(FabricSpec(network=parse(text), endpoints=ENGINES)))
    ran = bench.run_case(CollectiveCase(REGISTER_OPERATIONS)).verdict
    assert ran.passed, ran
    cells = [f"`{text}`", str(bench.network.num_nodes)]
    for verdict in ran.operations:
        counted, costs = bench.program.executions[verdict.operation], bench.costs(verdict.operation)
        words = counted.words * bench.machine.spec.packet_length
        cells += [f"{counted.startups}, {words}", f"{verdict.cycles} / {costs['cost_cycles']}"]
    return cells


if __name__ == "__main__":
    table(
        "network | nodes | all-reduce: start-ups, words | cycles, Verilog / cost model | scan | cycles | exscan | "
        "cycles",
        map(row, sys.argv[1:] or NETWORKS),
    )
