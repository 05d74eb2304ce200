"""Operations of all kinds on engines in the emitted Verilog, in any order; what is not done right is seen."""

import random
import re
from dataclasses import replace

import pytest

from hdnhw.endpoints.collective.bench import CollectiveBench, CollectiveCase
from hdnhw.endpoints.collective.bench_joint import JointBench, draw_case
from hdnhw.endpoints.collective.format_engines import engines_of
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.fpga.tools import ToolError
from hdnhw.sim.compare import log_rows
from hdnhw.spec import ENGINE_OPERATIONS, REGISTER_OPERATIONS
from hdnhw.verilog.fabric import emit_fabric
from tests.specs import fabric_spec

ALL = (*ENGINE_OPERATIONS, *REGISTER_OPERATIONS)
SMALL = ("gather", "allreduce", "barrier", "scan")


def bench(text: str, operations: tuple[str, ...] = ALL, **machine: int) -> CollectiveBench:
    """Return the bench of a fabric; builds are kept between test runs."""
    engines = CollectiveSpec(operations=operations, root=1, operators=("sum", "max"), numbers="int8")
    return CollectiveBench.of(emit_fabric(fabric_spec(text, endpoints=engines, **machine)))


@pytest.fixture(scope="module")
def small() -> CollectiveBench:
    """Return a bench of 4 nodes on a ring, with headers of two lengths."""
    return bench("torus(4)", SMALL, packet_length=4, flit_width=16)


@pytest.mark.parametrize(
    ("text", "operations", "machine"),
    [
        ("torus(4)", SMALL, {"packet_length": 4, "flit_width": 16}),
        ("hdn(torus(3), [[0]])", ALL, {"packet_length": 4, "flit_width": 16}),
        ("hsn(2, cube(2))", ALL, {}),
        ("mesh(3)", ("exscan", "barrier"), {"packet_length": 2, "channel_latency": "1"}),
    ],
)
def test_any_order_while_hosts_pause(text: str, operations: tuple[str, ...], machine: dict[str, int]) -> None:
    joint, rng = bench(text, operations, **machine), random.Random(text)
    assert isinstance(joint, JointBench)
    for _ in range(12):
        case = draw_case(joint, 32, rng)
        assert joint.run_case(case).verdict.passed, case
    case = draw_case(joint, 12, rng)
    assert joint.run_case(replace(case, resets=(100, 251, 7))).verdict.passed


def test_each_fault_is_seen(small: CollectiveBench) -> None:
    case = CollectiveCase(["gather", "scan", "scan"])
    assert small.run_case(case, keep=True).verdict.passed
    folder = small.build.run_folder(small.name)
    results, sends = ([" ".join(row) for row in log_rows(folder / name)] for name in ("results.log", "sends.log"))

    def faults(results: list[str], sends: list[str]) -> list[tuple[int, int, bool]]:
        (folder / "results.log").write_text("\n".join(results))
        (folder / "sends.log").write_text("\n".join(sends))
        found = small.check(case, folder).operations
        return [(one.lost, one.wrong, one.send_mismatches > 0) for one in found]

    right = (0, 0, False)
    assert faults(results, sends) == [right] * 3
    *whose, word = results[-1].split()
    assert faults([*results[:-1], f"{' '.join(whose)} {int(word, 16) ^ 1 << 16:x}"], sends)[2] == (0, 1, False)
    place, node, cycle, word = sends[-1].split()
    kind, parity = (
        engines_of(small.machine).parts[1].endpoint_format.header_positions[name]["offset"]
        for name in ("kind", "parity")
    )
    assert place == "2"
    for bit in (kind, parity):
        assert faults(results, [*sends[:-1], f"{place} {node} {cycle} {int(word, 16) ^ 1 << bit:x}"])[2] == (0, 0, True)
    assert faults(results, [*sends[:-1], f"0 {node} {cycle} {word}"])[0] == (0, 0, True)


def changed(whole: CollectiveBench, pattern: str, becomes: str) -> CollectiveBench:
    """Return the bench of a fabric with other engines."""
    file = whole.fabric.endpoints.file
    text, count = re.subn(pattern, becomes, whole.fabric.files[file], count=1)
    assert count == 1
    return JointBench(replace(whole.fabric, files={**whole.fabric.files, file: text}))


@pytest.mark.parametrize("operation", ["allreduce", "scan"])
def test_an_operation_takes_as_long_as_on_an_engine_of_its_own(small: CollectiveBench, operation: str) -> None:
    alone = bench("torus(4)", (operation,), packet_length=4, flit_width=16)
    assert not isinstance(alone, JointBench)
    both = small.measure(operation), alone.measure(operation)
    assert [one["delivered"] for one in both] == [True, True]
    assert both[0]["cycles"] == both[1]["cycles"]


def is_right(joint: CollectiveBench, case: CollectiveCase) -> bool:
    """Tell whether a case ends, and as it must."""
    try:
        return joint.run_case(case).verdict.passed
    except ToolError:
        return False


def test_packets_that_go_astray_are_seen(small: CollectiveBench) -> None:
    """Where all packets go to the part that moves messages, whatever they say."""
    case = CollectiveCase(["allreduce", "scan", "gather", "scan"])
    assert is_right(small, case)
    assert not is_right(changed(small, r"(assign \\splitter.kind  =) [^;]*;", r"\1 1'h0;"), case)
