"""Packets and frames between nodes with clocks of their own: all intact, and each kind of fault seen."""

import json
from typing import Any

import pytest

from hdnhw.endpoints.axi_stream.bench import AxiBench
from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.sim.clocks import PERIOD_NS, RATIOS, ClockBench, draw_periods
from hdnhw.verilog.fabric import emit_fabric
from tests.specs import fabric_spec


def emitted(text: str, **options: Any) -> Any:
    initial = options.pop("initial", True)
    return emit_fabric(fabric_spec(text, **options), initial=initial, node_clocks=True)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("torus(5)", {"packet_length": 4, "initial": False}),
        ("rdn(cube(1), 1)", {}),
        ("hdn(cube(2), [[0]])", {"queueing": "voq", "buffers": 8}),
        ("cube(2)", {"switching": "cut-through"}),
        ("mesh(3)", {"packet_length": 1}),
    ],
)
def test_packets_between_unrelated_clocks(text: str, options: dict[str, Any]) -> None:
    bench = ClockBench(emitted(text, **options))
    for seed in (1, 2):
        verdict = bench.run_case(bench.make_case(packets=600, seed=seed)).verdict
        assert verdict.passed, (seed, verdict)
        assert 550 < verdict.packets <= 600


@pytest.mark.parametrize("initial", [True, False])
def test_frames_between_unrelated_clocks(initial: bool) -> None:
    endpoints = AxiStreamSpec(max_frame=64)
    fabric = emitted("torus(3)", packet_length=6, flit_width=8, endpoints=endpoints, initial=initial)
    bench = AxiBench(fabric)
    case = bench.make_case(frames=200, seed=2)
    assert len(set(case["periods"])) == 3
    verdict = bench.run_case(case).verdict
    assert verdict.passed, verdict
    assert verdict.impossible > 0


def test_periods_are_of_all_ratios() -> None:
    periods = draw_periods(16, seed="x")
    assert {2 * round(PERIOD_NS / ratio / 2) for ratio in RATIOS} <= set(periods)
    assert len(set(periods)) == 16
    assert all(period % 2 == 0 and 300 < period < 3000 for period in periods)


@pytest.fixture(scope="module")
def passed() -> tuple[ClockBench, dict[str, Any], list[dict[str, Any]], dict[str, Any]]:
    """Return a bench and the case, the log and the result of a run that passed."""
    bench = ClockBench(emitted("torus(5)", packet_length=4, initial=False))
    case = bench.make_case(packets=200, seed=1)
    folder = bench.build.run_folder(bench.name)
    assert bench.run_case(case, keep=True).verdict.passed
    log = [json.loads(line) for line in (folder / "packets.log").read_text().splitlines()]
    return bench, case, log, json.loads((folder / "result.json").read_text())


def test_each_fault_is_seen(passed: tuple[ClockBench, dict[str, Any], list[dict[str, Any]], dict[str, Any]]) -> None:
    bench, case, log, result = passed

    def faults(received: list[dict[str, Any]], **changed: Any) -> tuple[int, ...]:
        verdict = bench.judge(case, received, result | changed)
        return verdict.lost, verdict.corrupted, verdict.out_of_order, verdict.dropped_mismatches

    assert faults(log) == (0, 0, 0, 0)
    assert faults(log[:-1]) == (1, 0, 0, 0)
    assert faults([*log, log[0]]) == (0, 1, 0, 0)
    first = log[0] | {"flits": [*log[0]["flits"][:-1], log[0]["flits"][-1] ^ 1]}
    assert faults([first, *log[1:]]) == (1, 1, 0, 0)
    assert faults([log[0] | {"node": (log[0]["node"] + 1) % 5}, *log[1:]]) == (1, 1, 0, 0)
    assert faults(log[::-1])[2] > 50
    assert sum(result["dropped"]) > 0
    assert faults(log, dropped=[result["dropped"][0] + 1, *result["dropped"][1:]]) == (0, 0, 0, 1)


def test_packets_that_are_too_small_to_tell_are_refused() -> None:
    bench = ClockBench(emitted("complete(2)", packet_length=1, flit_width=4))
    with pytest.raises(ValueError, match="100 packets of 3 bits cannot be told from each other"):
        bench.make_case(packets=100, seed=1)


def test_a_fabric_of_one_clock_has_no_such_bench() -> None:
    with pytest.raises(ValueError, match="clocks bench must have a fabric of bare streams with a clock for each node"):
        ClockBench(emit_fabric(fabric_spec("complete(2)")))
