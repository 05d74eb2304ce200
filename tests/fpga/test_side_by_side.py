"""Machines side by side: which can be built, what each gives, and which are on the front."""

import json
from dataclasses import replace
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdnhw.fpga import side_by_side
from hdnhw.fpga.side_by_side import Measured, buildable, default_options, front, measure_machines, usual_machines
from hdnhw.fpga.spec import SynthSpec
from hdnhw.fpga.synth import synthesize
from hdnhw.fpga.tools import TooLargeError, ToolError
from hdnhw.machine.machine import make_machine
from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec
from hdnhw.spec.options import Choice, options_of
from hdnhw.support.errors import SpecError
from hdnhw.support.processes import Processes
from tests.specs import fabric_spec

ONE_WORKER = partial(Processes, 1)
NETWORK = parse("cube(2)")


def found(asked, *, network=NETWORK, packet_bits=256, family="ecp5"):
    return buildable(network, asked, packet_bits=packet_bits, family=family)


def shape(machine):
    return machine.spec.packet_length, machine.spec.flit_width


def figures(sites, block_rams, mhz, saturation):
    return Measured(
        machine=make_machine(FabricSpec(network=NETWORK)),
        sites=sites,
        block_rams=block_rams,
        fmax_mhz=mhz,
        fmax_of_seed=(mhz,),
        saturation_throughput=saturation,
        saturation_bound=None,
    )


@pytest.fixture
def no_tools(monkeypatch):
    """Let synthesis tell figures that follow from the machine, without a tool; return what was asked for."""
    asked = []

    def synthesize(spec, *, say, **_):
        asked.append(spec)
        say("yosys ...")
        size = spec.fabric.packet_length * 10
        rams = {"TRELLIS_DPR16X4": 1, "DP16KD": 5}
        return {"family": "ecp5", "comb_sites": size, "ram_cells": rams, "fmax_mhz": 200.0, "fmax_of_seed": [200.0]}

    monkeypatch.setattr(side_by_side, "synthesize", synthesize)
    return asked


def test_the_usual_machines_begin_with_the_default_and_have_every_choice():
    usual = usual_machines()
    assert usual[0] == {}
    assert 8 <= len(found(usual, network=parse("rdn(cube(1), 1)"))[0]) <= len(usual) <= 16
    for name, option in options_of(FabricSpec).items():
        if isinstance(option, Choice):
            assert {one.get(name, option.choices[0]) for one in usual} == set(option.choices)
    assert [one for one in usual if one.get("gapless_packets")] == [
        {"switching": "cut-through", "gapless_packets": True},
        {"packet_length": 4, "gapless_packets": True},
    ]


def test_all_packets_have_the_same_bits_and_each_machine_is_there_once():
    built, left_out = found(usual_machines())
    assert left_out == []
    assert {shape(machine) for machine in built} == {(8, 32), (4, 64), (2, 128)}
    options = [machine.options() for machine in built]
    assert all(one not in options[:place] for place, one in enumerate(options))
    assert options[0] == default_options(NETWORK, "ecp5") == make_machine(FabricSpec(network=NETWORK)).options()


@pytest.mark.parametrize(
    ("options", "shaped"),
    [
        ({}, (8, 16)),
        ({"packet_length": 2}, (2, 64)),
        ({"flit_width": 32}, (4, 32)),
        ({"packet_length": 16, "flit_width": 8}, (16, 8)),
    ],
)
def test_the_shape_follows_from_what_is_given_of_it(options, shaped):
    assert [shape(machine) for machine in found([options], packet_bits=128)[0]] == [shaped]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"packet_length": 3}, "3 flits of 85 bits are no packet of 256 bits"),
        ({"packet_length": 4, "flit_width": 32}, "4 flits of 32 bits are no packet of 256 bits"),
        ({"packet_length": 0}, "packet_length must be 1 to 256 flits, not 0"),
        ({"flit_width": 0}, "flit_width must be 1 to 1024 bits, not 0"),
        ({"packet_length": 128}, "flit_width must be at least the network's 5 address bits, not 2"),
        ({"packet_length": 4, "ram": "block"}, "ram block needs packets of 8 flits or more, not 4"),
        ({"buffers": 3}, "buffers must be a power of two from 1 to 256 packets per port, not 3"),
    ],
)
def test_what_cannot_be_built_is_left_out_with_its_reason(options, why):
    network = parse("rdn(cube(2), 1)")
    built, left_out = found([options, {}], network=network)
    assert left_out[0].why.startswith(why)
    assert [machine.spec.packet_length for machine in built] == [8]
    assert (left_out[0].options, left_out[0].failed) == (options, False)
    with pytest.raises(SpecError) as error:
        found([options], network=network)
    assert str(error.value) == left_out[0].why


def test_a_device_with_too_few_block_rams():
    """A router of 39 ports with 64 bits would take 78 block RAMs of 16 bits of a device that has 32."""
    complete = parse("complete(39)")
    built, _ = found([{}, {"ram": "distributed"}], network=complete, family="ice40")
    assert [machine.is_block_ram for machine in built] == [False]
    assert default_options(complete, "ice40")["ram"] == "distributed"
    _, (left_out,) = found([{}, {"ram": "block"}], network=complete, family="ice40")
    assert left_out.why.startswith("ram block needs 78 block RAMs, and the device has 32")


def test_a_default_that_cannot_be_built():
    assert default_options(parse("cube(40)"), "ecp5") is None


def test_no_machine():
    with pytest.raises(SpecError, match=r"^there must be a machine to measure$"):
        found([])


def test_figures_follow_from_each_other():
    one = replace(figures(500, 5, 250.0, 0.5), saturation_bound=0.8)
    assert one.gbits_per_node == 0.5 * 32 * 0.25
    assert one.gbits_per_1000_sites == 8.0
    assert one.bound_share == 0.625
    assert replace(one, saturation_bound=2.0).bound_share == 0.5
    assert replace(one, saturation_bound=None).bound_share is None
    assert one.latency_ns(4) == 4 * one.latency_cycles(4)
    assert [later.latency_cycles(hops) - later.latency_cycles(hops - 1) for hops in (1, 2, 9) for later in [one]] == [
        8
    ] * 3


MACHINES = st.lists(
    st.builds(
        figures,
        st.integers(1, 3),
        st.integers(0, 1),
        st.sampled_from([100.0, 200.0, 300.0]),
        st.sampled_from([0.25, 0.5]),
    ),
    max_size=8,
)


@given(MACHINES)
def test_the_front_beats_all_others_and_none_of_it_is_beaten(measured):
    def beats(one, other):
        pairs = [
            (one.sites, other.sites),
            (one.block_rams, other.block_rams),
            (other.fmax_mhz, one.fmax_mhz),  # the cycles of all are the same
            (other.gbits_per_node, one.gbits_per_node),
        ]
        return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)

    best = front(measured, 4)
    for one in measured:
        assert any(beats(other, one) for other in measured) != any(one is other for other in best)


def measure(asked, root, **options):
    return measure_machines(found(asked, packet_bits=32)[0], ONE_WORKER, root=root, **options)


def test_machines_are_measured_and_the_model_runs_once(no_tools, tmp_path, monkeypatch):
    asked = [{}, {"crossbar": "output"}, {"packet_length": 4}]
    told = []
    measured, left_out = measure(asked, tmp_path, placements=2, progress=lambda what, share: told.append((what, share)))
    assert left_out == []
    assert [one.machine.spec.packet_length for one in measured] == [8, 8, 4]
    assert [(one.sites, one.block_rams, one.fmax_mhz) for one in measured] == [(n, 5, 200.0) for n in (80, 80, 40)]
    assert measured[0].saturation_throughput == measured[1].saturation_throughput
    assert 0.5 < measured[2].saturation_throughput <= 1
    assert [(spec.placements, spec.family, spec.unit) for spec in no_tools] == [(2, "ecp5", "router")] * 3
    assert ("1 of 3 machines: 8 x 4 bits; yosys ...", 1 / 3) in told
    points = [share for what, share in told if "points: cube(2)" in what]
    assert points
    assert all(0 <= one <= other <= 1 for one, other in pairwise(points))

    monkeypatch.setattr(Processes, "submit", None)
    assert [vars(one) for one in measure(asked[::-1], tmp_path)[0]] == [vars(one) for one in measured[::-1]]
    monkeypatch.setattr(side_by_side, "_model_digest", lambda: "another")
    with pytest.raises(TypeError):
        measure(asked, tmp_path)


def test_a_machine_of_which_a_tool_fails_is_left_out(no_tools, tmp_path, monkeypatch):
    told = side_by_side.synthesize
    errors = {8: ToolError("nextpnr-ecp5 has failed"), 2: TooLargeError("the unit needs 9 and x has 8")}

    def fail(spec, **options):
        if spec.fabric.packet_length in errors:
            raise errors[spec.fabric.packet_length]
        return told(spec, **options)

    monkeypatch.setattr(side_by_side, "synthesize", fail)
    measured, left_out = measure([{}, {"packet_length": 4}, {"packet_length": 2}], tmp_path)
    assert [one.machine.spec.packet_length for one in measured] == [4]
    assert [(one.options["packet_length"], one.why, one.failed) for one in left_out] == [
        (8, "nextpnr-ecp5 has failed", True),
        (2, "the unit needs 9 and x has 8", False),
    ]
    monkeypatch.setattr("hdnhw.measurement.sweep.Sweep.run", None)
    assert measure([{}], tmp_path)[0] == []
    assert len(no_tools) == 1


def test_what_is_wrong_is_refused_before_a_tool_runs(no_tools, tmp_path):
    with pytest.raises(SpecError, match=r"^placements must be 1 to 100, not 0$"):
        measure([{}], tmp_path, placements=0)
    assert (no_tools, list(tmp_path.iterdir())) == ([], [])


def test_figures_are_those_of_synth_and_sweep(run, tmp_path):
    """The smallest router, in earnest."""
    options = {"packet_length": 2, "buffers": 4, "flit_width": 8}
    network = parse("hdn(cube(1), [[]])")
    built, _ = buildable(network, [options], packet_bits=16, family="ecp5")
    measured, left_out = measure_machines(built, ONE_WORKER, placements=1, root=tmp_path)
    assert left_out == []
    (one,) = measured
    result = synthesize(SynthSpec(fabric=FabricSpec(network=network, **options), placements=1), root=tmp_path)
    assert result["cached"]
    assert (one.sites, one.block_rams, one.fmax_mhz) == (result["comb_sites"], 0, result["fmax_mhz"])
    status, out, _ = run(f"sweep '{network}' --packet-length 2 --buffers 4 --workers 1 --json")
    (row,) = json.loads(out)["saturation"]
    assert status == 0
    assert (one.saturation_throughput, one.saturation_bound) == (row["saturation_throughput"], row["saturation_bound"])


@pytest.mark.parametrize("length", [1, 2, 4, 8, 9])
@pytest.mark.parametrize(
    ("spec", "node", "hops", "said"),
    [
        ("torus(4, 4)", 10, 4, "1"),
        ("mesh(4)", 3, 3, "5"),
        ("rdn(cube(2), 1)", 1, 1, "1"),
        ("torus(4, 4)", 10, 4, "dim0*=3,dim1*=20"),  # two hops by each of the two types
    ],
)
def test_the_latency_is_that_of_lone_packets(run, tmp_path, spec, node, hops, said, length):
    """Packets that start in each phase of a slot, one after the other has come out, on the model."""
    starts = [phase + phase * 100 * length for phase in range(length)]
    (tmp_path / "lone.txt").write_text("".join(f"{cycle} 0 {node} {length}\n" for cycle in starts))
    status, out, _ = run(
        f"simulate '{spec}' --trace lone.txt --packet-length {length} --channel-latency '{said}' --json"
    )
    result = json.loads(out)
    assert (status, result["delivered"], result["mean_hops"]) == (0, length, hops)
    machine = make_machine(fabric_spec(spec, packet_length=length, flit_width=32, channel_latency=said))
    one = replace(figures(1, 0, 250.0, 0.5), machine=machine)
    assert one.latency_cycles(hops) == pytest.approx(result["network_latency"]["mean"], abs=1e-4)
    assert one.latency_ns(hops) == pytest.approx(4 * result["network_latency"]["mean"], abs=1e-3)
