"""Proofs about the composition of a fabric: every pin that is joined to something else is found."""

import random
import re
from dataclasses import replace

import pytest

from hdnhw.cli import main
from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.fpga.tools import ToolError
from hdnhw.proofs.wiring import prove_chip_wiring, prove_wiring
from hdnhw.spec.chips import ChipOptions
from hdnhw.verilog.fabric import emit_fabric
from tests.proofs.changed import changed
from tests.specs import fabric_spec

LINE = "hdn(cube(1), [[]])"


def rewired(fabric, node, pin, becomes):
    """Return a fabric in which a pin of a router is joined to something else."""
    text = fabric.files["fabric.sv"]
    start = text.index(f"router_{node} (")
    pattern = re.compile(rf"\.{pin}\(.*?\)(?=,|\n)")
    found = pattern.search(text, start)
    assert found is not None
    text = text[: found.start()] + f".{pin}({becomes})" + text[found.end() :]
    return replace(fabric, files={**fabric.files, "fabric.sv": text})


@pytest.fixture(scope="module")
def small():
    return emit_fabric(fabric_spec(LINE))


@pytest.mark.parametrize(
    "options",
    [
        {"endpoints": AxiStreamSpec()},
        {"channel_latency": "2", "crc": True, "dead_pins": True},
        {"switching": "cut-through", "gapless_packets": True},
    ],
)
def test_what_is_emitted_is_proved(options):
    finding = prove_wiring(emit_fabric(fabric_spec(LINE, **options)))
    assert (finding.answer, finding.why) == ("proved", "")
    assert finding.cases > 8 * 20


@pytest.mark.parametrize(
    ("pin", "becomes", "said"),
    [
        ("dim0_i__valid", "inject_0_valid", r"router_2.dim0_o__valid is not joined to router_3.dim0_i__valid"),
        ("inject__payload", "inject_2_payload", "router_3.inject__payload is not the port inject_3_payload"),
        ("rst", "1'h0", "router_3.rst is not the port rst"),
        ("dropped", "dropped_2", "router_3.dropped is not the port dropped_3"),
    ],
)
def test_another_wire_is_refuted(small, pin, becomes, said):
    finding = prove_wiring(rewired(small, 3, pin, becomes))
    assert finding.answer == "refuted"
    assert re.search(said, finding.why)


@pytest.fixture(scope="module")
def with_pins():
    return emit_fabric(fabric_spec(LINE, crc=True, dead_pins=True))


@pytest.mark.parametrize(
    ("pattern", "becomes", "said"),
    [
        (r"\.dead_i\(.*\)", ".dead_i(2'h0)", r"\.dead_i\[0\] is not whether"),
        (r"(assign or_\d+ = or_\d+) \| dead_2\[\d\];", r"\1;", "is not whether that channel is dead"),
        (r"(assign or_\d+ = or_\d+) \| (dead_2\[\d\];)", r"\1 & \2", r"is not whether|is a \$and"),
        (r"\.(dim0|cross1)_errors\((.*)\),\n(.*\n)*?    \.(dim0|cross1)_errors\((.*)\)", None, "errors_0 is not"),
    ],
)
def test_what_is_said_of_dead_channels_and_errors_is_that_of_the_ports(with_pins, pattern, becomes, said):
    def swap(found):
        return found[0].replace(found[2], "@").replace(found[5], found[2]).replace("@", found[5])

    text, count = re.subn(pattern, swap if becomes is None else becomes, with_pins.files["fabric.sv"], count=1)
    assert count == 1
    finding = prove_wiring(replace(with_pins, files={**with_pins.files, "fabric.sv": text}))
    assert finding.answer == "refuted"
    assert re.search(said, finding.why)


def test_a_port_that_is_gone_and_an_instance_of_nothing_are_refuted(with_pins):
    text = with_pins.files["fabric.sv"]
    for broken, said in (
        (re.sub(r"\bdead_2\b", "gone_2", text), "dead_2 is no port of 3 bits"),
        (re.sub(r"(module fabric\()([^;]*;)", r"\1more, \2\n  output more;", text), "port more is not known"),
        (re.sub(r"endmodule\n*\Z", "  nothing router_99 (.clk(clk));\nendmodule\n", text), "router_99 is a nothing"),
    ):
        finding = prove_wiring(replace(with_pins, files={**with_pins.files, "fabric.sv": broken}))
        assert finding.answer == "refuted"
        assert said in finding.why


@pytest.mark.parametrize(
    "pattern",
    [
        r"\.dead_o\(.*\)",
        r"\.dead_i\(.*\)",
        r"\.dim0_errors\(.*\)",
        r"\.cross1_[io]__vc\(channel_\d_cross1_vc\)",
        r"\.lost\(lost_1\)",
        r"\.rst\(rst\)",
    ],
)
def test_a_pin_to_which_nothing_is_joined_is_refuted(with_pins, pattern):
    text, count = re.subn(pattern, lambda pin: f"{pin[0].partition('(')[0]}()", with_pins.files["fabric.sv"])
    assert count
    finding = prove_wiring(replace(with_pins, files={**with_pins.files, "fabric.sv": text}))
    assert finding.answer == "refuted"
    assert finding.why.startswith("nothing is joined to ")


def test_a_wire_that_neither_end_has_is_refuted(small):
    text = re.sub(
        r"^    \.cross1_[io]__vc\(channel_\d_cross1_vc\),\n", "", small.files["fabric.sv"], flags=re.MULTILINE
    )
    assert text != small.files["fabric.sv"]
    finding = prove_wiring(replace(small, files={**small.files, "fabric.sv": text}))
    assert (finding.answer, finding.why) == ("refuted", "router_0 has no pin cross1_o__vc")


def test_two_routers_that_change_places_are_refuted(small):
    text = small.files["fabric.sv"]
    swapped = re.sub(r"\brouter_([34]) \(", lambda found: f"router_{7 - int(found[1])} (", text)
    finding = prove_wiring(replace(small, files={**small.files, "fabric.sv": swapped}))
    assert finding.answer == "refuted"


def test_the_command_ends_with_1_if_something_is_refuted(small, monkeypatch, capsys):
    wrong = rewired(small, 3, "address", "3'h5")
    monkeypatch.setattr("hdnhw.verilog.fabric.emit_fabric", lambda _: wrong)
    assert main(["prove", LINE]) == 1
    out = capsys.readouterr().out
    assert re.search(r"^proved +false$", out, re.MULTILINE)
    assert "router_3.address is not 0x3" in out


def test_networks_too_large_are_refused_in_a_line(capsys):
    assert main(["prove", "cube(14)"]) == 2
    assert capsys.readouterr().err == ("hdnhw: a fabric must have at most 8192 routers; cube(14) has 16384\n")


@pytest.fixture(scope="module")
def on_chips():
    spec = fabric_spec("hdn(cube(2), [[0]])", crc=True, dead_pins=True)
    return emit_fabric(spec, cut=ChipOptions(chips="1"))


@pytest.mark.parametrize(
    ("text", "by", "options"),
    [
        ("torus(4, 4)", "dim0=2", {"channel_latency": "dim0*=5", "dead_pins": True}),
        ("dualcube(3)", "1", {"packet_length": 16, "switching": "cut-through", "reset_registers": 2}),
    ],
)
def test_a_chip_is_its_part_of_the_network(text, by, options):
    finding = prove_chip_wiring(emit_fabric(fabric_spec(text, **options), cut=ChipOptions(chips=by, link="parallel")))
    assert (finding.property, finding.answer, finding.why) == ("chips", "proved", "")
    assert finding.cases > 200


@pytest.mark.parametrize("seed", range(3))
def test_any_other_wire_of_a_chip_is_refuted(on_chips, seed):
    rng, name = random.Random(seed), on_chips.chips.file
    text = on_chips.files[name]
    top = text.index("module fabric_chip(")
    pins = list(re.finditer(r"\.(\w+)\((.+?)\)(?=,|\n)", text[top:]))
    assert prove_chip_wiring(on_chips).answer == "proved"
    for pin in rng.sample(pins, 8):
        other = rng.choice([one[2] for one in pins if one[2] != pin[2]])
        becomes = f"{text[: top + pin.start()]}.{pin[1]}({other}){text[top + pin.end() :]}"
        try:
            finding = prove_chip_wiring(replace(on_chips, files={**on_chips.files, name: becomes}))
        except ToolError:
            continue  # two that drive one wire
        assert finding.answer == "refuted", (pin[0], other)


@pytest.mark.parametrize(
    ("pattern", "becomes", "said"),
    [
        (r"\.monitor_i__data\(monitor_1_data\)", ".monitor_i__data(monitor_2_data)", "router_0.monitor_o__data is not"),
        (r"\.i__asks\(monitor_4_asks\)", ".i__asks(monitor_3_asks)", "router_3.monitor_o__asks is not joined"),
        (r"\.axi__rdata\(monitor_rdata\)", ".axi__rdata(monitor_wdata)", "monitor.axi__rdata is not the port"),
        (r"fabric_monitor monitor \(", "fabric_monitor other (", "no instance monitor of fabric_monitor"),
    ],
)
def test_a_monitor_that_is_joined_wrongly_is_refuted(monitored, pattern, becomes, said):
    assert prove_wiring(monitored).answer == "proved"
    finding = prove_wiring(changed(monitored, pattern, becomes))
    assert finding.answer == "refuted"
    assert said in finding.why


@pytest.fixture(scope="module")
def monitored():
    return emit_fabric(fabric_spec("cube(2)", monitor=True))
