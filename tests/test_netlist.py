"""A mapped router in the bench of cosim: equal to the model, unless the pass for block RAM is broken."""

import pytest

from hdnhw.verilog.fabric import emit_fabric
from tests.netlist import BROKEN, mapped, mismatches
from tests.specs import fabric_spec


@pytest.fixture(scope="module")
def fabric():
    return emit_fabric(fabric_spec("mesh(2)"))


def test_a_netlist_is_the_model_in_every_cycle(fabric):
    assert mismatches(mapped(fabric), 500, 1) == 0


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_pass_is_seen(fabric, how):
    assert mismatches(mapped(fabric, BROKEN[how]), 500, 1) > 0
