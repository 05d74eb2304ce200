"""Fabrics drawn at random: what is drawn, and that the check of them can fail."""

import shlex
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

from hdnhw.cli import own_commands
from hdnhw.cli.options import Parser
from hdnhw.library.cosimulation import CosimOptions
from hdnhw.library.options import fabric_of
from hdnhw.machine.machine import make_machine
from hdnhw.measurement.load import LoadSpec
from hdnhw.model.engines import REFERENCE
from hdnhw.model.fabric import FabricModel
from hdnhw.networks.build import build
from hdnhw.rules.plan import plan
from hdnhw.sim.simulator import Build
from hdnhw.sim.streams import StreamBench
from hdnhw.spec import FabricSpec
from hdnhw.spec.options import options_of
from hdnhw.topology.address import AddressLayout
from hdnhw.verilog.fabric import emit_fabric
from tests.soak import lockstep
from tests.soak.draw import KINDS, LENGTHS, RATES, command, draw_cases, draw_fabric
from tests.specs import fabric_spec

SMALL = fabric_spec("complete(2)", packet_length=2, buffers=2, flit_width=20)


def drawn(number, seed=1):
    rng = np.random.default_rng([seed, number])
    fabric = draw_fabric(number, rng)
    return fabric, draw_cases(fabric, rng)


@pytest.mark.parametrize("seed", [1, 2])
def test_twenty_fabrics_are_of_all_kinds_and_sizes(seed):
    fabrics = [drawn(number, seed)[0] for number in range(20)]
    networks = [build(fabric.network) for fabric in fabrics]
    names = {str(network.spec).split("(")[0] for network in networks}
    assert names >= {"rdn", "hdn", "dualcube", "mesh", "product", "cube", "complete"}
    assert {len(network.levels) for network in networks} == {0, 1, 2, 3}
    assert {network.is_nested for network in networks} == {True, False}
    assert all(4 <= network.num_nodes <= (256 if len(network.levels) == 3 else 128) for network in networks)
    assert sum(network.num_nodes > 64 for network in networks) <= 3
    assert set(LENGTHS) <= {fabric.packet_length for fabric in fabrics} <= {*LENGTHS, 10, 16}
    rare = {"ram", "switching"}  # some of their values for packets of eight flits and more alone
    for name, option in options_of(FabricSpec).items():
        if option.drawn and name not in rare:
            assert {getattr(fabric, name) for fabric in fabrics} == set(option.drawn)
    more = [*fabrics, *(drawn(number, seed)[0] for number in range(20, 60))]
    assert all({getattr(fabric, name) for fabric in more} == set(options_of(FabricSpec)[name].drawn) for name in rare)
    assert set("".join(fabric.modes or "" for fabric in fabrics)) == {"f", "O"}
    channels = [make_machine(fabric).channels for fabric in more]
    assert {each.registers for each in channels} == {0, 1}
    assert sum(len(set(each.stages)) > 1 for each in channels) >= 10 <= sum(each.odd.any() for each in channels)


def test_flits_of_drawn_fabrics_hold_an_address_and_some_no_more():
    fabrics = [drawn(number)[0] for number in range(20)]
    spare = [fabric.flit_width - AddressLayout(build(fabric.network)).width for fabric in fabrics]
    assert min(spare) == 0 < max(spare)


def test_a_network_with_too_long_addresses_is_drawn_again():
    """The fifth network that this seed draws for fabric 11 needs 61 address bits of 60 allowed."""
    fabric, _ = drawn(11, seed=65338904)
    assert len(build(fabric.network).levels) == 3


@pytest.mark.parametrize("number", range(5))
def test_drawn_modes_and_lanes_fit_the_levels(number):
    fabric, _ = drawn(number, seed=3)
    made = plan(fabric.network, fabric.modes, fabric.lanes)
    assert (made.modes, made.lanes) == (fabric.modes, fabric.lanes)


def test_what_is_drawn_depends_on_the_seed_and_the_number_alone():
    assert drawn(5) == drawn(5)
    assert drawn(5) != drawn(5, seed=2)
    assert drawn(5) != drawn(5 + len(KINDS))


def test_cases_range_from_nearly_idle_to_saturated_with_and_without_pauses():
    of_levels, paused = set(), set()
    for number in range(20):
        fabric, cases = drawn(number)
        tests = ["random", "exchange", *["load"] * len(RATES), *["faults"] * fabric.dead_pins]
        assert [case.test for case in cases] == tests
        loads = [case.load for case in cases[2:6]]
        assert [least <= load.rate <= most for load, (least, most) in zip(loads, RATES, strict=True)] == [True] * 4
        if build(fabric.network).levels:
            of_levels |= {load.pattern.split("(")[0] for load in loads[1::2]}
        paused |= {(case.terminals.source_gap > 0, case.terminals.sink_stall > 0) for case in cases[2:6]}
    assert of_levels == {"cluster", "inter_class"}
    assert paused == {(False, False), (True, False), (False, True), (True, True)}


@pytest.mark.parametrize("number", range(6))
def test_the_command_of_a_case_means_the_same(number):
    commands = Parser()
    own_commands()["cosim"](commands.add_subparsers())
    fabric, cases = drawn(number)
    for case in cases:
        options = commands.parse_args(shlex.split(command(fabric, case))[1:], Namespace(command=""))
        words = own_commands()["cosim"].asked(options)
        asked = CosimOptions(**{name: words.pop(name) for name in options_of(CosimOptions) if name in words})
        assert fabric_of(options.spec, None, words) == fabric
        assert (asked.test, asked.seed, asked.faults) == (case.test, case.seed, case.faults)
        assert asked.resets == (",".join(map(str, case.resets)) or None)
        assert bool(case.resets) == (case.test == "random")
        if case.load is not None:
            assert LoadSpec(**{name: getattr(asked, name) for name in options_of(LoadSpec)}) == case.load
            pauses = (asked.source_gap, asked.sink_stall, asked.seed)
            assert pauses == (case.terminals.source_gap, case.terminals.sink_stall, case.terminals.seed)


@pytest.fixture
def check(monkeypatch, capsys):
    """Return a function that runs the check on one fabric whose Verilog does what the model does, `late` cycles later.

    The first packet that comes out in a run is the one that is late.
    """

    def check(late, arguments=("--count", "1")):
        def run(_build: Build, _module: str, folder: Path, extra_env: dict[str, str], **_options: object) -> None:
            with np.load(folder / "case.npz") as case:
                words = [
                    sum(flit << 20 * place for place, flit in enumerate(packet)) for packet in case["flits"].tolist()
                ]
                cycles, begun = case["cycle"], case["head_cycle"].tolist()
                cycles[0] += late
                came_out = list(zip(case["node"].tolist(), cycles.tolist(), case["packet"].tolist(), strict=True))
                dropped = str(case["dropped"].sum())
            ejections = heads = ""
            for until in [*map(int, extra_env["HDNHW_RESETS"].split()), cycles.max() + 1]:
                ejections += "reset\n"
                ejections += "".join(
                    f"{node} {at} {words[packet]:010x}\n" for node, at, packet in came_out if at < until
                )
                heads += "reset\n" + "".join(f"{packet} {at}\n" for packet, at in enumerate(begun) if at < until)
            (folder / "ejections.log").write_text(ejections)
            (folder / "heads.log").write_text(heads)
            (folder / "dropped").write_text(dropped)

        monkeypatch.setattr(lockstep, "draw_fabric", lambda *_: SMALL)
        monkeypatch.setattr(Build, "make", lambda _: 0.0)
        monkeypatch.setattr(Build, "run", run)
        status = lockstep.main(arguments)
        return status, capsys.readouterr().out.splitlines()

    return check


def test_a_model_that_agrees_passes(check):
    status, lines = check(0)
    assert status == 0
    assert lines[2].split()[-3:-1] != ["0", "0"]
    assert lines[-2].startswith("1 fabrics, 6 cases, ")
    assert lines[-2].endswith(" cycles, 0 mismatches")
    assert lines[-1] == "passed true"


def test_one_packet_a_cycle_late_fails_and_the_command_that_repeats_it_is_shown(check):
    status, lines = check(1)
    assert status == 1
    assert sum("hdnhw cosim 'complete(2)'" in line for line in lines) == 6
    assert int(lines[-2].split()[-2]) >= 6  # one a case, and others before resets
    assert lines[-1] == "passed false"


def test_rounds_draw_more_cases_of_more_packets_for_a_fabric(check):
    few, many = (
        check(0, ["--count", "1", *more])[1][2].split() for more in ([], ["--rounds", "2", "--packets", "5000"])
    )
    assert (int(few[-5]), int(many[-5])) == (6, 6 + 3)  # later rounds have heavy traffic alone
    assert int(many[-4]) > 3 * int(few[-4])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--rounds", "0"], "seed must be at least 0, count and rounds at least 1, not 1, 20 and 0"),
        (["--packets", "0"], "packets must be from 1 to 196608, not 0"),
        (["--packets", "196609"], "packets must be from 1 to 196608, not 196609"),
        (["--hours", "0"], "hours must be above 0, not 0.0"),
    ],
)
def test_arguments_that_are_refused(arguments, said, capsys):
    with pytest.raises(SystemExit) as error:
        lockstep.main(arguments)
    assert error.value.code == 2
    assert said in capsys.readouterr().err


def test_no_fabric_but_the_first_begins_when_time_is_up(check):
    status, lines = check(0, ["--hours", "1e-9"])
    assert (status, lines[-3]) == (0, "time is up")
    assert lines[-2].startswith("1 fabrics, 6 cases, ")


def test_a_soak_goes_on_and_ends_at_the_first_mismatch(check):
    status, lines = check(0, ["--hours", "0.0001"])
    assert status == 0
    assert lines[0].startswith("0.0001 hours of fabrics drawn with seed 1; ")
    fabrics = int(lines[-2].split()[0])
    assert sum(line.endswith(" flits so far") for line in lines) == fabrics > 0
    status, lines = check(1, ["--hours", "1"])
    assert status == 1
    assert any("hdnhw cosim 'complete(2)'" in line and "--resets" in line for line in lines)
    assert lines[-2].startswith("1 fabrics, 6 cases, ")


def test_a_case_in_which_nothing_comes_out_is_no_proof():
    class Nothing:
        faults = packets = 0

    assert lockstep.count_faults(Nothing()) == 1


@pytest.mark.parametrize("arguments", [["--count", "0"], ["--seed", "-1"], ["--seed", "x"], ["--hours", "0"]])
def test_bad_options_are_refused_in_one_line(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        lockstep.main(arguments)
    assert end.value.code == 2
    error = capsys.readouterr().err
    assert arguments[0].strip("-") in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("number", [5, 9])
def test_the_verilog_is_the_reference(number, tmp_path):
    """A ring of two lanes that packets cut through, and a cube of virtual output queues."""
    fabric, cases = drawn(number, seed=3)
    bench = StreamBench(emit_fabric(fabric), root=tmp_path)
    bench.model = FabricModel(bench.machine, engine=REFERENCE)
    for case in cases:
        verdict = bench.run_case(lockstep.make_drawn_case(bench, case)).verdict
        assert lockstep.count_faults(verdict) == 0, verdict
