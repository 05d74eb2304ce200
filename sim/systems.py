"""A system of blocks in a simulator."""

from typing import Any

from hdnhw.endpoints import declared
from hdnhw.verilog.fabric import EmittedFabric


def run_bursts(fabric: EmittedFabric, *, bursts: int, seed: int) -> dict[str, Any]:
    """Play random bursts between the blocks of an emitted system; return what was seen."""
    endpoints = fabric.machine.spec.endpoints
    assert endpoints is not None
    bench = declared("bench")[endpoints.kind].of(fabric)
    run = bench.run_case(bench.make_case(bursts=bursts, seed=seed))
    return {**vars(run.verdict), "seconds": round(run.seconds, 1), "passed": run.verdict.passed}
