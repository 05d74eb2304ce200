"""The tables of AXI4 endpoints: each row has the cell of what it names."""

from collections.abc import Sequence

import pytest

from bench.axi4 import CYCLES, FOUR, SIXTEEN, span
from bench.rtl.axi_rates import BurstTiming, Load, Lone


class Told:
    """A bench whose results say what it was asked for."""

    def __init__(self, reaches_own: bool) -> None:
        self.reaches_own = reaches_own

    def measure(self, case: Sequence[Load | Lone]) -> list[BurstTiming]:
        """Return memory, beats and direction of a single burst as digits, and of a load managers and memories."""
        return [
            BurstTiming(0, [1000 * run.destination + 10 * run.beats + run.write], 0)
            if isinstance(run, Lone)
            else BurstTiming(
                CYCLES * (1000 * len(run.managers) + 10 * len(run.memories) + run.reads + 2 * run.writes), [], 0
            )
            for run in case
        ]


@pytest.mark.parametrize("reaches_own", [True, False])
def test_a_cell_is_in_its_row(reaches_own: bool) -> None:
    four, sixteen = (
        dict(zip(size.rows(), size.column(Told(reaches_own), 1, 15), strict=True)) for size in (FOUR, SIXTEEN)
    )
    assert four["read of one beat, neighbor"] == sixteen["read of one beat, neighbor"] == "1010"
    assert four["write of 64 bytes, neighbor"] == "1641"
    assert sixteen["write of one beat, farthest node"] == "15011"
    assert four["read of 64 bytes, own memory"] == ("640" if reaches_own else "-")
    assert [value for table in (four, sixteen) for value in table.values()].count("-") == (0 if reaches_own else 6)
    assert four["one to one, writes"] == "1012.0"
    assert four["three to one, reads and writes"] == "3013.0"
    assert sixteen["15 to 1, reads"] == "15011.0"
    assert sixteen["16 to 4, reads"] == "16041.0"
    assert sixteen["16 to 8, writes"] == "16082.0"
    assert sixteen["all to all, reads"] == "16161.0"


def test_bytes_are_beats_times_their_width() -> None:
    assert FOUR.column(Told(True), 8, 3)[-1] == "32344.0"
    assert FOUR.column(Told(True), 8, 3)[4] == "1080"


def test_every_memory_is_asked_by_others() -> None:
    for size in (FOUR, SIXTEEN):
        for managers, memories in size.busy.values():
            assert all(set(memories) - {manager} for manager in managers)
            assert len(set(memories)) == len(memories)


def test_cycles_that_do_not_vary_stand_alone() -> None:
    assert [span([3, 3]), span([4, 5, 9])] == ["3", "4, 6.0, 9"]
