"""Frames through the emitted endpoints by cocotbext-axi: all intact, and each kind of fault seen."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hdnhw.endpoints.axi_stream.bench import AxiBench, AxiVerdict, check_frames
from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.verilog.fabric import emit_fabric
from tests.specs import fabric_spec


def bench(text: str, **sizes: int) -> AxiBench:
    """Return the bench of a fabric; builds are kept between test runs."""
    endpoints = {name: sizes.pop(name) for name in ("max_frame", "tuser_width") if name in sizes}
    spec = fabric_spec(text, endpoints=AxiStreamSpec(**endpoints), **sizes)
    return AxiBench(emit_fabric(spec))


def run(fabric: AxiBench, *, frames: int, seed: int = 1, keep: bool = False, **sizes: int) -> AxiVerdict:
    return fabric.run_case(fabric.make_case(frames=frames, seed=seed, **sizes), keep=keep).verdict


def test_frames_between_random_nodes() -> None:
    """Sixteen nodes, frames to 256 bytes; cut ones come among them."""
    verdict = run(bench("hdn(cube(2), [[0]])", max_frame=256, tuser_width=4), frames=300)
    assert verdict.passed, verdict
    assert verdict.frames == 300 + 3 * 16
    assert verdict.overlong > 0


def test_frames_to_no_node_are_counted() -> None:
    verdict = run(bench("torus(3)", packet_length=6, flit_width=8, max_frame=64), frames=400, seed=2)
    assert verdict.passed, verdict
    assert verdict.impossible > 0


def test_short_frames_wait_until_all_queues_are_full() -> None:
    """Nothing is taken at first, and nothing is lost for that."""
    fabric = bench("torus(3)", packet_length=6, flit_width=8, max_frame=64)
    verdict = run(fabric, frames=600, seed=3, hold=3000, longest=8)
    assert verdict.passed, verdict
    assert verdict.cycles > run(fabric, frames=600, seed=3, longest=8).cycles + 1000


def test_what_memory_held_before_makes_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Verilator numbers evaluations from a member that it does not set: here so that the end comes in a bad moment."""
    small = bench("torus(3)", packet_length=6, flit_width=8, max_frame=64)
    small.build.make()
    (tmp_path / "used.cpp").write_text(
        "#include <algorithm>\n#include <cstdlib>\n#include <new>\n"
        "void* operator new(std::size_t size, std::align_val_t alignment) {\n"
        "    const std::size_t unit = static_cast<std::size_t>(alignment), whole = (size + unit - 1) / unit * unit;\n"
        "    void* const memory = std::aligned_alloc(unit, whole);\n"
        "    std::fill_n(static_cast<long long*>(memory), whole / sizeof(long long), -2174);\n"
        "    return memory;\n"
        "}\n"
    )
    library = tmp_path / "used.so"
    subprocess.run(["g++", "-std=c++17", "-shared", "-fPIC", "-o", library, tmp_path / "used.cpp"], check=True)
    monkeypatch.setenv("LD_PRELOAD", str(library))
    assert run(small, frames=200).passed


@pytest.fixture(scope="module")
def passed() -> tuple[AxiBench, dict[str, Any], list[dict[str, Any]], dict[str, Any]]:
    """Return a bench and the case, the log and the result of a run that passed."""
    small = bench("torus(3)", packet_length=6, flit_width=8, max_frame=64)
    folder = small.build.run_folder(small.name)
    assert run(small, frames=60, keep=True).passed
    case, result = (json.loads((folder / name).read_text()) for name in ("case.json", "result.json"))
    return small, case, [json.loads(line) for line in (folder / "frames.log").read_text().splitlines()], result


def test_each_fault_is_seen(passed: tuple[AxiBench, dict[str, Any], list[dict[str, Any]], dict[str, Any]]) -> None:
    small, case, log, result = passed
    expected = small.expected(case["frames"]) + small.expected(case["after_reset"])

    def faults(received: list[dict[str, Any]]) -> tuple[int, int]:
        return check_frames(expected, received, small.layout)

    last = log[-1]
    assert faults(log) == (0, 0)
    assert faults(log[:-1]) == (1, 0)
    assert faults([*log, last]) == (0, 1)
    flipped = f"{int(last['data'], 16) ^ 1:0{len(last['data'])}x}"
    for field, value in (("data", flipped), ("tuser", [last["tuser"][0] ^ 1]), ("data", last["data"] + "00")):
        assert faults([*log[:-1], {**last, field: value}]) == (0, 1)
    assert faults([*log[:-1], {**last, "tid": [0, 1]}]) == (1, 1)
    assert faults([*log[:-1], {**last, "node": (last["node"] + 1) % 3}]) == (1, 1)
    assert faults(log[::-1])[1] > 10

    def wrong(changed: dict[str, Any]) -> int:
        return small.judge(case, log, changed).register_mismatches

    assert wrong(result) == 0
    for read in ("registers", "cleared"):
        for change in (
            {"holes": [2, 2, 0, 2]},
            {"fabric": {**result[read]["fabric"], "nodes": [4, 0]}},
            {"nodes": [{**node, "frames_received": [999, 0]} for node in result[read]["nodes"][:1]]},
        ):
            nodes = {"nodes": [*change["nodes"], *result[read]["nodes"][1:]]} if "nodes" in change else change
            assert wrong({**result, read: {**result[read], **nodes}}) == 1
    assert wrong({**result, "writes": [0, 0]}) == 1


def test_lost_frames_end_the_run_and_fail_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bench waits for frames that nobody sends: it gives up, and says how many are lost."""
    small = bench("torus(3)", packet_length=6, flit_width=8, max_frame=64)
    made = small.make_case

    def waits_for_more(**options: int) -> dict[str, Any]:
        case = made(**options)
        return case | {"expected": case["expected"] + 1, "after_reset": [], "expected_after_reset": 0}

    monkeypatch.setattr(small, "make_case", waits_for_more)
    monkeypatch.setattr(small, "expected", lambda frames, real=small.expected: [*real(frames), *real(frames)[:1]])
    verdict = run(small, frames=20)
    assert verdict.lost == 1
    assert not verdict.passed


def test_a_fabric_without_endpoints_has_no_such_bench() -> None:
    with pytest.raises(ValueError, match="axi bench must have a fabric with AXI4-Stream endpoints, not one without"):
        AxiBench(emit_fabric(fabric_spec("complete(2)")))
