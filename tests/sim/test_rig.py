"""Emitted routers among neighbors that keep the channel protocol: all is well, and what is broken is seen."""

import json
import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from hdnhw.sim.rig import RigBench, RigCase
from hdnhw.sim.rig_check import COUNTS, RigVerdict
from hdnhw.verilog.fabric import EmittedFabric, emit_fabric
from tests.specs import fabric_spec

SMALL = "hdn(cube(1), [[]])"

WRONG = set(COUNTS) - {"packets", "delivered", "dropped", "resets", "cycles"}


def emitted(network: str = SMALL, **options: Any) -> EmittedFabric:
    return emit_fabric(fabric_spec(network, **options))


@pytest.mark.parametrize(
    ("network", "options"),
    [
        (SMALL, {}),
        ("torus(3)", {"packet_length": 4, "dead_pins": True, "crc": True}),
        *(
            (network, options)
            for network, options in (
                (SMALL, {"channel_latency": "2", "buffers": 2}),
                (SMALL, {"ram": "distributed", "buffers": 1, "crossbar": "output"}),
                (SMALL, {"packet_length": 3, "gapless_packets": True}),
                (SMALL, {"packet_length": 1, "dead_pins": True, "crc": True}),
                ("hdn(cube(1), [[0]])", {"switching": "cut-through"}),
                ("rdn(cube(1), 1)", {"switching": "cut-through", "gapless_packets": True, "packet_length": 10}),
                ("torus(4, 4)", {"switching": "cut-through", "lanes": 2, "packet_length": 16}),
                ("rdn(torus(3), 1)", {"packet_length": 1}),
                ("rdn(cube(1), 1)", {"packet_length": 2, "lanes": 2}),
                ("rdn(torus(3), 1)", {"queueing": "voq", "buffers": 8}),
                ("torus(5)", {"queueing": "voq", "packet_length": 5, "gapless_packets": True}),
                ("torus(5)", {"queueing": "voq", "packet_length": 9, "channel_latency": "2", "dead_pins": True}),
                ("torus(3)", {"queueing": "voq", "packet_length": 1, "flit_width": 2}),
                ("mesh(2, 3)", {"queueing": "voq", "dead_pins": True, "crc": True}),
                ("mesh(2, 3)", {"packet_length": 4, "dead_pins": True, "flit_width": 70}),
                ("hdn(cube(2), [[0], [0]])", {"gapless_packets": True}),
                ("hdn(torus(2, 3), [[1]])", {"packet_length": 5, "flit_width": 17, "lanes": 2}),
                (SMALL, {"channel_latency": "cross1=5", "crc": True}),
            )
        ),
    ],
)
def test_routers_pass_every_packet_on_once(network: str, options: dict[str, Any]) -> None:
    fabric = emitted(network, **options)
    for number, _ in enumerate(fabric.modules.routers):
        verdict = RigBench(fabric, number).run_case(RigCase(4000)).verdict
        assert verdict.passed, verdict
        assert {name: count for name, count in asdict(verdict).items() if name in WRONG and count} == {}
        assert verdict.packets >= 4000
        assert verdict.delivered > 3000
        assert verdict.resets > 20
        if not fabric.machine.spec.dead_pins:
            assert (verdict.dropped > 0) == fabric.machine.address.has_holes


BREAKS = [
    # Of the text of the small router in default options: what is looked for, what becomes of it in the run with
    # `broken`, and the count that must say so.
    (r"(dim0_i__credit = )(.*);", r"\1\2 | {2{broken && cycle[6:0] == 0}};", "credit_faults"),
    (r"(cross1_i__credit = )(.*);", r"\1\2 & ~{2{broken && cycle[6:0] < 8}};", "credit_faults"),
    (r"(credits_0_1\.give  = )(.*);", r"\1\2 & ~(broken && cycle[6:0] < 8);", "stuck"),
    (r"(credits_1_0\.give  = )(.*);", r"\1\2 | (broken && cycle[6:0] < 8);", "credit_faults"),
    (r"(credits_2_0\.spend  = )(.*);", r"\1\2 & ~broken;", "credit_faults"),
    (r"(dim0_o__data.next  = )(mux_\d+) \|", r"\1(broken ? {\2[31:5], \2[3], \2[4], \2[2:0]} : \2) |", "strays"),
    (r"(assign \\injection\.route\.dst  = )(.*);", r"\1\2 ^ {2'b0, broken};", "misrouted"),
    (r"(assign \\dim0\.route\.dst  = )(.*);", r"\1\2 ^ {2'b0, broken};", "lost"),
    (r"(assign \\cross1\.decisions_0\.pop  = )(.*);", r"\1\2 | (broken && \\cross1.at [5]);", "lost"),
    (r"if \((\\cross1\.write_en )\)", r"if (\1 && !(broken && cycle[7:0] < 8))", "strays"),
    (r"(assign dim0_o__vc = )(.*);", r"\1\2 ^ (broken && cycle[6:0] == 0);", "frame_faults"),
    (r"(dim0_o__valid.next  = )(allocator_valid_0);", r"\1\2 && !(broken && cycle[6:0] == 0);", "frame_faults"),
    (r"(if \()(rst)(\) begin\s*\S*eject__valid.next )", r"\1\2 && !broken\3", "frame_faults"),
    (r"(if \()(\S*rst )(\) begin\s*\S*cross1\.decisions_1_push\.next )", r"\1\2 && !broken\3", "credit_faults"),
]


HOLES = [
    (r"(assign \\injection\.not_\d+  = ~ \\injection\.most )", r"\1 | broken", "counter_mismatches"),
    (r"(\\injection\.sum_\d+  = \\injection\.dropped  \+ )(1'h1)", r"\1(broken ? 2'h2 : \2)", "counter_mismatches"),
]


class BrokenBench(RigBench):
    """The first router of a fabric, broken in the way that a run asks for, by its number from 1 on; 0 is none."""

    number_of_break = 0

    def __init__(self, fabric: EmittedFabric, breaks: list[tuple[str, str, str]]) -> None:
        text = fabric.files["fabric.sv"]
        for number, (pattern, becomes, _) in enumerate(breaks, 1):
            text, count = re.subn(pattern, becomes.replace("broken", f"(broken == {number})"), text, count=1)
            assert count == 1, pattern
        own = "  integer broken, cycle = 0;\n  always @(posedge clk) cycle <= cycle + 1;\n"
        own += '  initial if (!$value$plusargs("broken=%d", broken)) broken = 0;'
        text, count = re.subn(r"(?ms)(^module fabric_router\(.*?\);)", rf"\1\n{own}", text, count=1)
        assert count == 1
        super().__init__(replace(fabric, files={**fabric.files, "fabric.sv": text}))

    def write(self, case: RigCase, folder: Path) -> dict[str, Any]:
        options = super().write(case, folder)
        return {"plusargs": [*options["plusargs"], f"+broken={self.number_of_break}"]}

    def run_broken(self, number: int) -> RigVerdict:
        self.number_of_break = number
        return self.run_case(RigCase(4000)).verdict


@pytest.fixture(scope="module")
def small() -> BrokenBench:
    return BrokenBench(emitted(), BREAKS)


@pytest.fixture(scope="module")
def with_holes() -> BrokenBench:
    return BrokenBench(emitted("torus(3)", packet_length=1), HOLES)


@pytest.mark.parametrize("number", range(len(BREAKS) + 1))
def test_what_is_broken_is_seen(small: BrokenBench, number: int) -> None:
    verdict = small.run_broken(number)
    if number == 0:
        assert verdict.passed, verdict
        return
    assert not verdict.passed
    assert verdict.first.startswith("cycle ")
    assert asdict(verdict)[BREAKS[number - 1][2]] > 0, verdict


def test_packets_that_change_places_are_seen(small: BrokenBench) -> None:
    small.number_of_break = 0
    case = RigCase(1000)
    assert small.run_case(case, keep=True).verdict.passed
    folder = small.build.run_folder("rig")
    log = folder / "rig.log"
    lines = log.read_text().splitlines()
    queue_of = {line.split()[-1]: line.split()[1:3] for line in lines if line[0] == "I"}
    last: dict[str, int] = {}
    for number, line in enumerate(lines):
        letter, *words = line.split()
        if letter == "R":
            last.clear()
        if letter != "O":
            continue
        way = " ".join([*words[:2], *queue_of[words[-1]]])
        if way in last:
            break
        last[way] = number
    before, after = lines[last[way]].split(), lines[number].split()
    before[-1], after[-1] = after[-1], before[-1]
    came = {line.split()[-1]: place for place, line in enumerate(lines) if line[0] == "I"}
    lines[last[way]], lines[number] = " ".join(before), " ".join(after)
    late = came[before[-1]]
    lines.insert(came[after[-1]] + 1, lines.pop(late))  # both are there when the second leaves first
    log.write_text("\n".join(lines) + "\n")
    verdict = small.check(case, folder)
    assert verdict.out_of_order > 0, verdict
    assert (verdict.lost, verdict.strays, verdict.misrouted) == (0, 0, 0)


@pytest.mark.parametrize("number", range(len(HOLES) + 1))
def test_a_counter_that_is_broken_is_seen(with_holes: BrokenBench, number: int) -> None:
    verdict = with_holes.run_broken(number)
    assert verdict.passed == (number == 0), verdict
    assert (verdict.counter_mismatches > 0) == (number > 0)


def test_the_command_says_what_it_found(run: Any) -> None:
    status, out, err = run("cosim 'complete(2)' --test rig --packet-length 1 --flit-width 2 --packets 300 --json")
    result = json.loads(out)
    assert status == 0
    assert set(result) == {"spec", "test", "simulator", *COUNTS, "passed", "runs"}
    assert (result["test"], result["passed"], [row["module"] for row in result["runs"]]) == (
        "rig",
        True,
        ["fabric_router"],
    )
    assert result["packets"] >= 300
    assert err.splitlines()[0] == "rig: fabric_router, packets of 1 flits, verilator ..."
    assert err.splitlines()[1].endswith(" 0 credit faults - passed")


@pytest.mark.parametrize("dead_pins", [False, True])
def test_registers_without_initial_values_are_reset(dead_pins: bool) -> None:
    fabric = emit_fabric(fabric_spec(SMALL, dead_pins=dead_pins), initial=False)
    bench = RigBench(fabric)
    for bench.start in (1, 2, 3):
        verdict = bench.run_case(RigCase(1000, seed=bench.start)).verdict
        assert verdict.passed, verdict
