"""A total exchange by the generators of the emitted Verilog: packets and cycles of the model, and each fault seen."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hdnhw.endpoints.exchange.bench import ExchangeBench, ExchangeCase, ExchangeVerdict
from hdnhw.endpoints.exchange.format import GeneratorFormat
from hdnhw.endpoints.exchange.spec import ExchangeSpec
from hdnhw.machine.flit import FlitFormat
from hdnhw.measurement.collective import measure_network_exchange
from hdnhw.networks.build import build
from hdnhw.sim.errors import Flip
from hdnhw.sim.simulator import BUILD_ROOT
from hdnhw.verilog.fabric import emit_fabric
from tests.specs import fabric_spec


def run_of(text: str, *, at_once: bool = False, **sizes: int | str) -> tuple[int, int]:
    """Run an exchange twice; return the cycles of the first, and those of the model from reset."""
    spec = fabric_spec(text, endpoints=ExchangeSpec(at_once=at_once), **sizes)
    bench = ExchangeBench(emit_fabric(spec))
    verdict = bench.run_case(ExchangeCase(bench.waits)).verdict
    assert verdict.passed, verdict
    nodes = build(spec.network).num_nodes
    assert verdict.packets == 2 * nodes * (nodes - 1)
    return verdict.cycles[0], measure_network_exchange(spec, words=spec.packet_length, at_once=at_once)["cycles"]


@pytest.mark.parametrize(
    ("text", "at_once", "sizes"),
    [
        ("hdn(cube(2), [[0]])", True, {"packet_length": 3}),
        ("torus(3, 5)", False, {"packet_length": 1, "buffers": 16}),
        ("rdn(complete(3), 1)", False, {"packet_length": 4, "buffers": 4, "queueing": "voq"}),
        ("mesh(2, 3)", True, {"packet_length": 1, "flit_width": 9}),
        ("dualcube(3)", True, {"packet_length": 2}),
        ("rdn(cube(3), 1)", True, {"buffers": 4}),
        ("hdn(cube(2), [[0]])", True, {"packet_length": 4, "gapless_packets": True}),
        ("hdn(cube(2), [[0]])", False, {"gapless_packets": True}),
    ],
)
def test_cycles_are_those_of_the_model(text: str, at_once: bool, sizes: dict[str, int | str]) -> None:
    cycles, due = run_of(text, at_once=at_once, **sizes)
    assert cycles == due


@pytest.mark.parametrize(("text", "due"), [("hdn(cube(3), [[2]])", 699), ("rdn(cube(3), 1)", 1475)])
def test_cycles_by_the_timetable(text: str, due: int) -> None:
    """The bounds are 640 and 1408."""
    assert run_of(text, buffers=4) == (due, due)


@pytest.fixture(scope="module")
def small() -> ExchangeBench:
    """Return a bench that has run and keeps its files."""
    spec = fabric_spec("complete(3)", packet_length=2, flit_width=4, endpoints=ExchangeSpec())
    bench = ExchangeBench(emit_fabric(spec), root=BUILD_ROOT / f"a-path-of-many-{'letters-' * 20}")
    assert bench.run_case(ExchangeCase(bench.waits), keep=True).verdict.passed
    return bench


def verdict_of(bench: ExchangeBench, folder: Path, change: Callable[[Any], Any], name: str) -> ExchangeVerdict:
    """Return the verdict of the kept run with one of its files changed."""
    shutil.copytree(bench.build.run_folder(bench.name), folder, dirs_exist_ok=True)
    (folder / name).write_text(change((folder / name).read_text()))
    return bench.check(ExchangeCase(bench.waits), folder)


def test_a_small_exchange(small: ExchangeBench, tmp_path: Path) -> None:
    verdict = verdict_of(small, tmp_path, str, "result.json")
    row = measure_network_exchange(fabric_spec("complete(3)", packet_length=2, flit_width=4), words=2)
    assert verdict.passed
    assert (verdict.packets, verdict.cycles) == (12, (row["cycles"],) * 2)


def test_each_fault_is_seen(small: ExchangeBench, tmp_path: Path) -> None:
    def other(log: str, column: int, change: Callable[[int], int], base: int = 10) -> str:
        *lines, last = log.splitlines()
        fields = last.split()
        fields[column] = f"{change(int(fields[column], base)):{'d' if base == 10 else 'x'}}"
        return "\n".join([*lines, " ".join(fields)])

    for name, fault in (("heads.log", "head_mismatches"), ("tails.log", "cycle_mismatches")):
        for change in (
            lambda log: other(log, 0, lambda node: (node + 1) % 3),
            lambda log: other(log, 1, lambda cycle: cycle + 1),
            lambda log: other(log, 2, lambda word: word ^ 1, base=16),
        ):
            verdict = verdict_of(small, tmp_path, change, name)
            assert (getattr(verdict, fault), verdict.passed) == (2, False)
    flipped = verdict_of(small, tmp_path, lambda log: other(log, 2, lambda word: word ^ 1 << 7, base=16), "tails.log")
    assert flipped.wrong == 1
    short = verdict_of(small, tmp_path, lambda log: "\n".join(log.splitlines()[:-1]), "tails.log")
    assert (short.lost, short.cycle_mismatches, short.passed) == (1, 1, False)
    late = verdict_of(small, tmp_path, lambda log: other(log, 0, lambda cycle: cycle + 1), "offers.log")
    assert late.head_mismatches > 0
    for name, fault in (
        ("wrong", "wrong"),
        ("received", "cycle_mismatches"),
        ("done", "cycle_mismatches"),
        ("cycles", ""),
    ):
        counts = json.loads((small.build.run_folder(small.name) / "result.json").read_text())
        counts[1][name] += 1
        verdict = verdict_of(small, tmp_path, lambda _, counts=counts: json.dumps(counts), "result.json")
        assert (getattr(verdict, fault, 1), verdict.passed) == (1, False)


def test_words_turned_over_are_counted_as_wrong_and_runs_begin_anew_after_resets() -> None:
    spec = fabric_spec("complete(3)", packet_length=2, flit_width=4, endpoints=ExchangeSpec())
    bench = ExchangeBench(emit_fabric(spec), flips=True)
    case = ExchangeCase(
        (9, 18, 4), flips=tuple(Flip(cycle, cycle * 7 // 3 % 3, 1 << cycle % 4) for cycle in range(12, 120, 2))
    )
    run = bench.run_case(case, keep=True)
    assert run.verdict.passed, run.verdict
    assert bench.check(replace(case, flips=()), bench.build.run_folder(bench.name)).wrong == 6
    for verdict in (bench.run_case(ExchangeCase((cycles,), resets=(6, 7, cycles))).verdict for cycles in (3, 10)):
        assert verdict.passed, verdict


def test_a_packet_bit_by_bit() -> None:
    assert GeneratorFormat(FlitFormat(4, 2, 3), ExchangeSpec()).pack(0b01, 0b10) == [0b0110, 0b0011, 0b1001]
