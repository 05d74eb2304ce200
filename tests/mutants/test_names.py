"""Faults in names: each kind is drawn, changes the circuit, and is refuted."""

import random

import pytest

from hdnhw.verilog.fabric import emit_fabric
from tests.mutants.names import KINDS, MACHINES, name_faults, prove_text
from tests.mutants.proofs import with_text


@pytest.fixture(scope="module")
def fabric():
    return emit_fabric(MACHINES[1])


@pytest.fixture(scope="module")
def faults(fabric):
    return [*name_faults(fabric.files["fabric.sv"], len(KINDS), random.Random(1))]


def test_each_kind_is_drawn_and_changes_the_text(fabric, faults):
    assert [fault.kind for fault in faults] == [*KINDS]
    assert len({fault.text for fault in faults} | {fabric.files["fabric.sv"]}) == len(KINDS) + 1


@pytest.mark.parametrize(
    "kind", ["falling edge", "other clock", "second driver", "directive", "pins turned", "pin open"]
)
def test_what_needs_no_search_is_refuted(fabric, faults, kind):
    text = next(fault.text for fault in faults if fault.kind == kind)
    assert prove_text(with_text(fabric, text), seconds=1)[0] == "refuted"
