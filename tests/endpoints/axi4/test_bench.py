"""Bursts between managers and memories through the emitted endpoints by cocotbext-axi, and each kind of fault seen."""

import copy
import json
from typing import Any

import pytest

from hdnhw.endpoints.axi4.bench import FIXED, INCR, WRAP, MemoryBench, MemoryVerdict
from hdnhw.endpoints.axi4.spec import AxiMemorySpec
from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec
from hdnhw.spec.chips import ChipOptions
from hdnhw.support.errors import SpecError
from hdnhw.verilog.fabric import emit_fabric


def bench(text: str, *, node_clocks: bool = False, initial: bool = True, **options: Any) -> MemoryBench:
    """Return the bench of a fabric; builds are kept between test runs."""
    endpoints = {name: options.pop(name) for name in ("memory_bits", "id_width", "outstanding") if name in options}
    cut = ChipOptions(**{name: options.pop(name) for name in ("chips", "link") if name in options})
    spec = FabricSpec(network=parse(text), endpoints=AxiMemorySpec(**endpoints), **options)
    return MemoryBench(emit_fabric(spec, node_clocks=node_clocks, initial=initial, cut=cut))


def run(fabric: MemoryBench, *, keep: bool = False, **case: Any) -> MemoryVerdict:
    return fabric.run_case(fabric.make_case(**{"seed": 1, **case}), keep=keep).verdict


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("hdn(cube(1), [[]])", {}),
        ("torus(3)", {"flit_width": 64, "packet_length": 4, "id_width": 1}),
        ("cube(1)", {"flit_width": 8, "packet_length": 16, "outstanding": 1}),
        ("cube(2)", {"switching": "cut-through", "outstanding": 8}),
        ("cube(2)", {"gapless_packets": True}),
        ("rdn(cube(1), 1)", {"queueing": "voq", "buffers": 8, "initial": False}),
        ("torus(3)", {"node_clocks": True, "memory_bits": 16}),
        ("torus(3)", {"node_clocks": True, "initial": False}),
        ("torus(4)", {"chips": "dim0=2", "link": "parallel"}),
        ("hdn(cube(1), [[0]])", {"chips": "1", "gapless_packets": True}),
    ],
)
def test_bursts_of_all_kinds(text: str, options: dict[str, Any]) -> None:
    """Memories that take what comes, such as take nothing at first, and one that answers nothing at first."""
    fabric = bench(text, **options)
    for seed, hold, to_one in ((1, 0, False), (2, 2000, False), (3, 2000, True)):
        verdict = run(fabric, bursts=300, seed=seed, hold=hold, to_one=to_one)
        assert verdict.passed, (seed, verdict)
        assert verdict.bursts == 300


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (".chip(1'd1)", ".chip(1'd0)"),
        (".s_axi_0_awaddr(s_axi_2_awaddr)", ".s_axi_0_awaddr(s_axi_3_awaddr)"),
        (".cut(cut[0])", ".cut(1'b1)"),
    ],
)
def test_chips_that_are_joined_wrongly_are_seen(before: str, after: str) -> None:
    class Wrong(MemoryBench):
        def sources(self) -> Any:
            top, files, rules = super().sources()
            text = files["fabric_system.sv"]
            assert before in text
            return top, files | {"fabric_system.sv": text.replace(before, after)}, rules

    fabric = bench("torus(4)", chips="dim0=2").fabric
    assert not run(Wrong(fabric), bursts=100).passed


@pytest.fixture(scope="module")
def passed() -> tuple[MemoryBench, dict[str, Any], dict[str, Any]]:
    """Return a bench and the case and the result of a run that passed."""
    small = bench("torus(3)")
    folder = small.build.run_folder(small.name)
    verdict = run(small, bursts=400, keep=True)
    assert verdict.passed
    assert verdict.refused > 0
    case, result = (json.loads((folder / name).read_text()) for name in ("case.json", "result.json"))
    return small, case, result


def test_each_fault_is_seen(passed: tuple[MemoryBench, dict[str, Any], dict[str, Any]]) -> None:
    small, case, result = passed

    def faults(changed: dict[str, Any]) -> tuple[int, ...]:
        verdict = small.judge(case, changed)
        counts = (verdict.unanswered, verdict.wrong_data, verdict.wrong_responses, verdict.memory_mismatches)
        assert verdict.passed == (counts == (0, 0, 0, 0))
        return counts

    assert faults(result) == (0, 0, 0, 0)
    other = copy.deepcopy(result)
    other["threads"][0][0].pop()
    assert faults(other)[0] == 1
    for node in (0, 2):
        place = next(
            place
            for place, burst in enumerate(case["threads"][node][0])
            if result["threads"][node][0][place]["responses"] == [0] and "data" not in burst and "beats" not in burst
        )
        other = copy.deepcopy(result)
        answer = other["threads"][node][0][place]
        if "data" in answer:
            answer["data"] = f"{int(answer['data'][:2], 16) ^ 1:02x}{answer['data'][2:]}"
        else:
            answer["beats"] = [beat ^ (1 << 32) - 1 for beat in answer["beats"]]
        assert faults(other) == (0, 1, 0, 0)
        answer["responses"] = [0, 2]
        assert faults(other) == (0, 0, 1, 0)
    other = copy.deepcopy(result)
    answers = (answer for threads in other["threads"] for thread in threads for answer in thread)
    next(answer for answer in answers if answer["responses"] == [2])["responses"] = [0]
    assert faults(other)[2] == 1
    other = copy.deepcopy(result)
    other["memories"][1][0] = "01" + other["memories"][1][0][2:]
    assert other["memories"][1] != result["memories"][1]
    assert faults(other) == (0, 0, 0, 1)


def test_cases_have_all_kinds(passed: tuple[MemoryBench, dict[str, Any], dict[str, Any]]) -> None:
    small, _, _ = passed
    case = small.make_case(bursts=1000, seed=3)
    bursts = [burst for node in case["threads"] for thread in node for burst in thread]
    assert {small.response(burst, 0) for burst in bursts} == {0, 2, 3}
    assert {small.is_bad(burst, 0) for burst in bursts if small.response(burst, 0) == 0} == {False, True}
    plain = [burst for thread in case["threads"][-1] for burst in thread]
    assert {FIXED, INCR, WRAP, 3} == {burst["burst"] for burst in plain}
    assert all({"size", "len"} <= burst.keys() for burst in plain)
    assert {burst["size"] for burst in bursts} == {0, 1, 2, 3}
    assert any(len(burst.get("data", "")) > 500 for burst in bursts)


def test_memories_that_are_too_small_are_refused() -> None:
    with pytest.raises(SpecError, match="memory_bits must be at least 16 for the axi4 test of 4 nodes"):
        bench("cube(2)", memory_bits=12)
