"""Engines drawn at random: the same for a seed, of all kinds, and what differs is told with its command."""

from types import SimpleNamespace

import numpy as np
import pytest

from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.networks.build import build
from hdnhw.spec import BARRIER, FabricSpec
from tests.soak import engine_soak
from tests.soak.engine_soak import Total, check_cases, draw_cases, draw_engines


@pytest.fixture
def specs(monkeypatch) -> list[FabricSpec]:
    """Return forty machines that are drawn, without their text."""
    monkeypatch.setattr(engine_soak, "emit_fabric", lambda spec: spec)
    return [draw_engines(np.random.default_rng([1, number])) for number in range(40)]


def test_all_kinds_of_engines_are_drawn(specs):
    endpoints = [spec.endpoints for spec in specs]
    assert all(isinstance(one, CollectiveSpec) for one in endpoints)
    assert {(one.in_registers, one.is_joint) for one in endpoints} == {(False, False), (True, False), (False, True)}
    assert any(BARRIER in one.operations for one in endpoints)
    assert all(2 <= build(spec.network).num_nodes <= 16 for spec in specs)
    assert draw_engines(np.random.default_rng([1, 7])) == specs[7]


def test_cases_are_of_what_the_engines_can_do():
    endpoints = CollectiveSpec(operations=("allreduce", "barrier"), operators=("min", "xor"))
    cases = draw_cases(endpoints, np.random.default_rng(1), 40)
    assert {name for case in cases for name in case.operations} == set(endpoints.operations)
    assert {name for case in cases for name in case.operators} == set(endpoints.operators)
    assert {(case.ahead, case.early) for case in cases} == {(False, False), (False, True), (True, False), (True, True)}
    assert any(case.resets for case in cases)


def test_what_differs_is_counted_and_its_command_is_printed(specs, monkeypatch, capsys):
    monkeypatch.setattr(
        engine_soak, "draw_engines", lambda _rng: SimpleNamespace(machine=SimpleNamespace(spec=specs[0]))
    )
    monkeypatch.setattr(engine_soak, "check_cases", lambda _fabric, cases: Total(len(cases), 100, 1))
    assert engine_soak.main(["--seed", "3", "--first", "5", "--count", "2"]) == 1
    said = capsys.readouterr().out
    assert "tests.soak.engine_soak --seed 3 --first 6 --count 1" in said
    assert "2 fabrics, 24 operations, 200 flits, 2 mismatches\npassed false" in said
    monkeypatch.setattr(engine_soak, "check_cases", lambda _fabric, cases: Total(len(cases), 100, 0))
    assert engine_soak.main(["--count", "1"]) == 0
    with pytest.raises(SystemExit, match="2"):
        engine_soak.main(["--hours", "0"])


def test_operations_on_drawn_engines_are_as_they_should_be():
    rng = np.random.default_rng([1, 2])
    fabric = draw_engines(rng)
    total = check_cases(fabric, draw_cases(fabric.machine.spec.endpoints, rng, 4))
    assert total.operations >= 4 * 32
    assert total.flits > 0
    assert total.mismatches == 0
