"""Operations of several kinds one after the other on engines that are joined: each is judged as by its own engine."""

import random
from typing import Any

from hdnhw.endpoints.collective.bench import CollectiveBench, CollectiveCase
from hdnhw.endpoints.collective.bench_harness import MOST_OPERATIONS
from hdnhw.endpoints.collective.bench_registers import RegisterBench
from hdnhw.endpoints.collective.format_engines import engines_of
from hdnhw.verilog.fabric import EmittedFabric


class JointBench(CollectiveBench):
    """An emitted fabric with engines that are joined under Verilator; see :class:`CollectiveBench`."""

    name = "joint"

    def __init__(self, fabric: EmittedFabric) -> None:
        super().__init__(fabric)
        self._part_benches = [
            (RegisterBench if engines_of(part).spec.in_registers else CollectiveBench)(fabric, part=part)
            for part in engines_of(fabric.machine).parts
        ]

    def costs(self, operation: str) -> dict[str, Any]:
        """See :meth:`CollectiveBench.costs`."""
        return self.part_of(operation).costs(operation)


def draw_case(bench: CollectiveBench, count: int, rng: random.Random) -> CollectiveCase:
    """Draw so many operations, each any of those of the engines, with any operator, for hosts that may pause and stall.

    Raises
    ------
    ValueError
        If there would be more than a case can have.
    """
    if not 1 <= count <= MOST_OPERATIONS:
        raise ValueError(f"case must have 1 to {MOST_OPERATIONS} operations, not {count}")
    machine = bench.machine
    operators = machine.endpoint_format.operators or ("",)
    return CollectiveCase(
        [rng.choice(engines_of(machine).spec.operations) for _ in range(count)],
        [rng.choice(operators) for _ in range(count)],
        stall=rng.choice((0, 60, 235)),
        pause=rng.choice((0, 20, 400)),
        seed=rng.randrange(1, 1 << 16),
    )
