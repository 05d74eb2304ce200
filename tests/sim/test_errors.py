"""Fabrics with check bits: equal to the model without errors, and what becomes of packets with them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hdnhw.machine.machine import make_machine
from hdnhw.model.fabric import FabricModel
from hdnhw.sim.errors import ErrorBench, ErrorCase, ErrorVerdict, draw_flips
from hdnhw.sim.harness import splice_flips
from hdnhw.sim.runner import Run
from hdnhw.sim.stimulus import make_case
from hdnhw.sim.streams import StreamBench
from hdnhw.support.errors import SpecError
from hdnhw.topology.faults import draw_faults
from hdnhw.topology.metrics import neighbor_table
from hdnhw.verilog.fabric import emit_fabric
from tests.specs import fabric_spec

Logs = tuple[Run[ErrorVerdict], Path, ErrorCase]

RATE, PACKETS = 1e-3, 3000


def bench_of(text: str, **sizes: int | str | bool) -> ErrorBench:
    return ErrorBench(emit_fabric(fabric_spec(text, crc=True, **sizes)))


@pytest.fixture(scope="module")
def bench() -> ErrorBench:
    """Return the only bench that most tests here need."""
    return bench_of("rdn(cube(1), 1)", packet_length=4)


def assert_passed(run: Run[ErrorVerdict]) -> None:
    verdict = run.verdict
    assert verdict.passed, verdict
    assert verdict.packets_hit > 100
    assert verdict.packets_hit >= verdict.detected >= verdict.dropped > 0.98 * verdict.packets_hit
    assert verdict.delivered + verdict.dropped == verdict.packets


def test_without_errors_the_fabric_is_the_model_in_every_cycle(bench: ErrorBench) -> None:
    streams = StreamBench(bench.fabric, flips=True)
    assert streams.build.folder == bench.build.folder
    for test in ("hops", "random", "exchange"):
        run = streams.run(test, packets=2000)
        assert run.verdict.passed, run.verdict


@pytest.fixture(scope="module")
def logs(bench: ErrorBench) -> Logs:
    """Return a run with errors, the folder with its logs, and the case."""
    case = bench.make_case(packets=PACKETS, rate=RATE)
    return bench.run_case(case, keep=True), bench.build.run_folder("errors"), case


def test_packets_with_errors_are_counted_and_dropped_and_all_others_delivered(
    logs: Logs,
) -> None:
    run, *_ = logs
    assert_passed(run)
    wires = 32 + 8
    assert run.verdict.errors_injected == pytest.approx((1 - (1 - RATE) ** wires) * run.verdict.flits, rel=0.2)


def test_a_schedule_without_errors_hits_nothing(bench: ErrorBench, logs: Logs) -> None:
    """The logs of a run with errors do not go with flips that hit nothing: every packet dropped is one lost."""
    run, folder, case = logs
    verdict = bench.check(ErrorCase(case.case, []), folder)
    assert (verdict.packets_hit, verdict.lost) == (0, run.verdict.dropped)
    assert not verdict.passed


def other(line: str, place: int) -> str:
    """Return a line of hexadecimal digits with one of them changed."""
    words = line.split()
    words[place] = words[place][:-1] + f"{int(words[place][-1], 16) ^ 1:x}"
    return " ".join(words)


TAMPERED: dict[str, tuple[str, Callable[[list[str]], list[str]]]] = {
    "a counter of bad packets": ("checks.log", lambda lines: [other(lines[0], 0), *lines[1:]]),
    "a counter of errors": ("checks.log", lambda lines: [other(lines[0], 1), *lines[1:]]),
    "a packet that is missing": ("ejections.log", lambda lines: [*lines[:50], *lines[51:]]),
    "a packet that comes twice": ("ejections.log", lambda lines: [*lines[:51], *lines[50:]]),
    "a wrong bit": ("ejections.log", lambda lines: [*lines[:50], other(lines[50], 2), *lines[51:]]),
    "another node": ("ejections.log", lambda lines: [*lines[:50], other(lines[50], 0), *lines[51:]]),
    "a packet that goes on with a wrong head flit": ("hops.log", lambda lines: [*lines, other(lines[-1], 4)]),
    "a packet on another channel": (
        "hops.log",
        lambda lines: [line if line == "reset" else other(line, 2) for line in lines],
    ),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_what_should_not_be_is_seen(bench: ErrorBench, logs: Logs, tmp_path: Path, what: str) -> None:
    (_, folder, case), copy = logs, tmp_path / "logs"
    shutil.copytree(folder, copy)
    assert bench.check(case, copy).passed
    name, tamper = TAMPERED[what]
    (copy / name).write_text("\n".join(tamper((copy / name).read_text().splitlines())) + "\n")
    assert not bench.check(case, copy).passed


def test_flips_are_drawn_wire_by_wire() -> None:
    sizes = {"channels": 5, "wires": 7, "cycles": 4000}
    flips = draw_flips(0.01, **sizes, rng=np.random.default_rng(3))
    assert flips == draw_flips(0.01, **sizes, rng=np.random.default_rng(3))
    assert len({(flip.cycle, flip.channel) for flip in flips}) == len(flips)
    assert all(1 <= flip.cycle <= 4000 for flip in flips)
    assert {flip.channel for flip in flips} == set(range(5))
    wires = np.zeros(7, np.int64)
    for flip in flips:
        wires += [flip.mask >> wire & 1 for wire in range(7)]
    assert (np.abs(wires - 200) < 60).all()


@pytest.mark.parametrize("rate", [0, 1, -0.5, float("nan")])
def test_rates_that_are_none(rate: float) -> None:
    with pytest.raises(SpecError, match="error_rate must be above 0 and below 1"):
        draw_flips(rate, channels=1, wires=1, cycles=1, rng=np.random.default_rng(1))


def test_numbers_of_packets_must_fit_into_head_flits() -> None:
    narrow = FabricModel(make_machine(fabric_spec("rdn(cube(1), 1)", flit_width=8, crc=True)))
    with pytest.raises(SpecError, match="flit width must be at least 11 for the errors test of 200 packets, not 8"):
        make_case("errors", narrow, packets=200)


def test_a_fabric_that_cannot_be_spliced_is_refused() -> None:
    with pytest.raises(ValueError, match="a fabric must have 2 pins to flip, not 0"):
        splice_flips("module fabric;", make_machine(fabric_spec("complete(2)")), [(0, 0, "dim0")])


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("hdn(cube(2), [[0]])", {"packet_length": 1, "queueing": "voq", "buffers": 8}),
        ("hdn(cube(2), [[0]])", {"packet_length": 8, "crossbar": "output"}),
        ("mesh(2, 3)", {"packet_length": 9, "buffers": 1, "flit_width": 130}),
        ("torus(5, 4)", {"packet_length": 2, "lanes": 2, "dead_pins": True}),
    ],
)
def test_other_fabrics(text: str, sizes: dict[str, int | str | bool]) -> None:
    fabric = bench_of(text, **sizes)
    assert_passed(fabric.run_case(fabric.make_case(packets=10_000, rate=RATE)))
    streams = StreamBench(fabric.fabric, flips=True)
    assert streams.run("hops").verdict.passed
    assert streams.run("random", packets=3000).verdict.passed
    if fabric.machine.spec.dead_pins:
        faults = draw_faults(neighbor_table(fabric.machine.network), np.random.default_rng(1), nodes=2, channels=3)
        assert streams.run("faults", packets=3000, faults=faults).verdict.passed
