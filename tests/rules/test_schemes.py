"""Routing schemes: the plans of machines whose packets do not go by the rule alone, and who refuses them."""

from dataclasses import replace

import pytest

from hdnhw.networks.parse import parse
from hdnhw.rules.plan import SCHEMES
from hdnhw.rules.schemes import fabric_plan
from hdnhw.support.errors import SpecError


def test_modes_of_the_rule_stand_behind_a_colon():
    network = parse("hdn(cube(2), [[0]])")
    plain = fabric_plan(network, "f", 2)
    assert (plain.scheme, plain.first_vc, plain.modes) == ("", 0, "f")
    for scheme, first_vc in (("valiant", plain.max_vcs), ("ugal", plain.max_vcs), ("adaptive", 2)):
        made = fabric_plan(network, f"{scheme}:f", 2)
        assert (made.scheme, made.first_vc, made.modes) == (scheme, first_vc, f"{scheme}:f")
        assert made.num_vcs == tuple(first_vc + vcs for vcs in plain.num_vcs)
        assert made.rule.modes == "f"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_is_refused(scheme):
    with pytest.raises(SpecError, match=rf"^modes '{scheme}:' end with a colon"):
        fabric_plan("torus(5)", f"{scheme}:", 1)
    with pytest.raises(SpecError, match=r"^modes of .*, not 'x'"):
        fabric_plan("hdn(cube(2), [[0]])", f"{scheme}:x", 1)
    with pytest.raises(SpecError, match=rf"^modes '{scheme}' do not go with hardware: "):
        _ = fabric_plan("cube(2)", scheme, 1).circuit_rule


def test_sources_that_choose_have_the_channels_of_valiants_routing():
    valiant, ugal = (fabric_plan("torus(5)", scheme, 1) for scheme in ("valiant", "ugal"))
    assert ugal == replace(valiant, rule=ugal.rule, scheme="ugal")


@pytest.mark.parametrize(
    "command",
    [
        "simulate cube(3) --pattern exchange",
        "simulate cube(3) --faults 1,0",
        "simulate cube(3) --faults 1,0 --waypoints 1",
        "emit cube(3) -o there",
        "synth cube(3)",
        "prove cube(3)",
        "cosim cube(3)",
        "collective cube(3) --op allreduce --on model",
        "machines cube(3)",
    ],
)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_is_not_measured_under_a_load_refuses_it(run, command, scheme):
    status, _, said = run(f"{command} --modes {scheme}")
    assert status == 2
    assert f"modes '{scheme}' do not go with" in said
