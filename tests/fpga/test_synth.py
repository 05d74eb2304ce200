"""Synthesis and place-and-route: real runs of the smallest router, the cache, and names in netlists."""

import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from hdnhw.cli import main
from hdnhw.endpoints.axi4.spec import AxiMemorySpec
from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.fpga import synth
from hdnhw.fpga.family import FAMILIES, PLACED_FAMILIES
from hdnhw.fpga.harness import INSTANCE, UNIT, WRAPPER, Port, parallel_wrapper, ports_of, serial_wrapper, unit_text
from hdnhw.fpga.nextpnr import critical_path, fmax_of
from hdnhw.fpga.spec import SynthSpec
from hdnhw.fpga.stages import signal_of, stage_of
from hdnhw.fpga.synth import synthesize
from hdnhw.fpga.tools import ToolError, run_tool
from hdnhw.fpga.yosys import run_yosys
from hdnhw.machine.machine import make_machine
from hdnhw.rtl.router import Router
from hdnhw.support.errors import SpecError
from hdnhw.verilog.fabric import emit_fabric
from hdnhw.verilog.verilog import module_text
from tests.conftest import each
from tests.specs import fabric_spec

SMALLEST = fabric_spec("hdn(cube(1), [[]])", packet_length=2, flit_width=8, buffers=4)
KEYS = """spec unit family device speed modes packet_length flit_width buffers num_vcs ports luts lut_inputs ff ram
    ram_cells tools seconds digest cached"""
PLACED_KEYS = """comb_sites comb_sites_of_device fmax_mhz fmax_best_mhz fmax_of_seed seeds critical_stage critical_path
    critical_path_seed frequency untimed"""
PORTS = [Port("clk", 1, True), Port("a", 3, True), Port("b", 1, True), Port("x", 6, False), Port("address", 2, True)]
REGISTERS = re.compile(r"TRELLIS_FF|SB_DFF\w*|FD1P3\wX|DFF\w*|FD[RSCP]E|MISTRAL_FF")
TABLES = re.compile(r"(SB_)?LUT[1-6]|INV|MISTRAL_(ALUT[2-6]|ALUT_ARITH|NOT)")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Return a folder for results that the tests of this module share."""
    return tmp_path_factory.mktemp("synth")


@pytest.fixture(scope="module", params=FAMILIES)
def measured(request, root):
    """Return the smallest HDN router, measured on each family in turn."""
    spec = SynthSpec(fabric=SMALLEST, family=request.param, placements=1)
    return spec, synthesize(spec, root=root)


@pytest.fixture
def placed(measured):
    """Return those of the families of which place-and-route is on PyPI."""
    if measured[0].family not in PLACED_FAMILIES:
        pytest.skip("there is no place-and-route")
    return measured


@pytest.fixture
def no_tools(monkeypatch):
    """Make every run of a tool fail."""

    def refuse(*_, **__):
        raise AssertionError("a tool was run")

    monkeypatch.setattr(synth, "run_yosys", refuse)
    monkeypatch.setattr(synth, "run_tool", refuse)


def folder_of(result, root):
    return root / result["digest"].removeprefix("sha256:")


def cells_in_stat(log, module):
    """Return the number of cells of each type as Yosys prints it for a module, last."""
    text = log[log.rindex(f"=== {module} ===") :]
    text = text[: text.index("\n\n", text.index("cells"))]
    return {kind: int(count) for count, kind in re.findall(r"^\s+(\d+)\s+([A-Z]\w+)$", text, re.MULTILINE)}


def test_keys_and_figures(measured):
    spec, result = measured
    placement = FAMILIES[spec.family].placement
    assert set(KEYS.split()) <= set(result)
    assert (result["family"], result["unit"], result["ports"], result["num_vcs"]) == (spec.family, "router", 3, 2)
    assert set(result["tools"]) == {"yosys", "hdnhw"} | (set() if placement is None else {placement.tool})
    assert 100 < result["luts"] < 1000
    assert result["ff"] > 100
    assert json.loads(json.dumps(result)) == result
    if placement is None:
        assert not set(PLACED_KEYS.split()) & set(result)
        return
    assert set(PLACED_KEYS.split()) <= set(result)
    assert (result["seeds"], len(result["fmax_of_seed"])) == (1, 1)
    assert result["fmax_mhz"] == result["fmax_best_mhz"] == result["fmax_of_seed"][0]
    assert 20 < result["fmax_mhz"] < 600
    assert result["luts"] <= result["comb_sites"] < 1200


def test_cells_are_those_that_yosys_counts(measured, root):
    spec, result = measured
    log = (folder_of(result, root) / "yosys.log").read_text()
    family = FAMILIES[spec.family]
    for module, counted in ((UNIT, result), (WRAPPER, result["wrapper"])):
        cells = cells_in_stat(log, module)
        assert counted["luts"] == sum(count for kind, count in cells.items() if TABLES.fullmatch(kind))
        assert counted["ff"] == sum(count for kind, count in cells.items() if REGISTERS.fullmatch(kind))
    assert result["ram_cells"] == {shown: cells_in_stat(log, UNIT).get(kind, 0) for kind, shown in family.rams.items()}


def test_a_netlist_without_wrapper_has_as_many_cells(measured, root):
    """The unit alone as top, its address still constant: nothing of the wrapper is in the figures.

    ABC maps it a little otherwise with nothing around it, but on ECP5 and iCE40.
    """
    spec, result = measured
    work = folder_of(result, root)
    family = FAMILIES[spec.family]
    steps = family.script(UNIT, flat=spec.unit == "router")
    script = f"read_verilog -sv {work}/design.sv\n{steps}stat\n"
    cells = cells_in_stat(run_yosys(script), UNIT)
    alone = family.count(cells)
    assert {key: result[key] for key in ("ff", "ram_cells")} == {key: alone[key] for key in ("ff", "ram_cells")}
    assert result["luts"] == pytest.approx(alone["luts"], rel=0 if spec.family in {"ecp5", "ice40"} else 0.05)


def test_sites_are_what_the_cells_take(placed):
    _, result = placed
    if result["family"] == "ecp5":  # six for 16 x 4 bits of RAM, four of them for the bits; one drives a constant
        assert result["comb_sites"] - result["luts"] - 6 * result["ram_cells"]["TRELLIS_DPR16X4"] in {0, 1}
        assert result["wrapper"]["comb_sites"] == 0
    elif FAMILIES[result["family"]].placement.has_pads:  # those of the wrapper are its lookup tables
        assert result["wrapper"]["comb_sites"] == result["wrapper"]["luts"]
    else:
        assert max(result["luts"], result["ff"]) <= result["comb_sites"] <= result["luts"] + result["ff"]
        assert 0 < result["wrapper"]["comb_sites"] <= result["wrapper"]["luts"] + result["wrapper"]["ff"]


def test_wrapper_has_a_register_a_port_bit(measured):
    spec, result = measured
    machine = make_machine(spec.fabric)
    router = Router(machine, machine.plan.shapes[0])
    bits = Counter()
    for port in ports_of(module_text(router, "r", flatten=True), "r"):
        if port.name not in {"clk", "address"}:
            bits[port.is_input] += port.width
    steps = [bits[False]]
    while spec.family != "ecp5" and steps[-1] > 1:
        steps.append(-(-steps[-1] // 4))
    unused = bits[True] + sum(steps) - result["wrapper"]["ff"]
    assert 0 <= unused <= 20, "a constant output, such as the count of dropped packets, may need no register"


def test_critical_path_adds_up(placed):
    _, result = placed
    path = result["critical_path"]
    period = sum(step["routing_ns"] + step["logic_ns"] for step in path)
    assert 1000 / period == pytest.approx(result["fmax_mhz"], rel=2e-3)
    assert len(path) >= 3
    assert result["critical_stage"] == path[-1]["stage"]
    assert "other" not in {path[0]["stage"], path[-1]["stage"]}
    assert not any(step["signal"].startswith(INSTANCE) for step in path)


@pytest.mark.usefixtures("no_tools")
def test_second_call_runs_nothing(measured, root):
    spec, result = measured
    assert result["cached"] is False
    assert synthesize(spec, root=root) == result | {"cached": True}


def test_what_is_measured_names_the_folder(placed, root):
    spec, _ = placed
    others = [{"placements": 2}, {"address": "pins"}, {"address": "0"}, {"frequency": 50.0}]
    designs = [
        synth._design(SynthSpec(fabric=SMALLEST, family=spec.family, **({"placements": 1} | one))) for one in others
    ]
    digests = {design.digest for design in designs}
    assert len(digests) == len(others)
    assert not digests & {path.name for path in root.iterdir()}


def test_nothing_half_written(root, monkeypatch):
    spec = SynthSpec(fabric=SMALLEST, placements=1, address="1")
    before = set(root.iterdir())

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(synth, "run_tool", interrupt)
    with pytest.raises(KeyboardInterrupt):
        synthesize(spec, root=root)
    assert set(root.iterdir()) == before


def test_a_failed_tool_leaves_its_log(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(synth, "run_yosys", lambda *_, **__: (_ for _ in ()).throw(synth.YosysError("ERROR: no")))
    line = ["synth", "hdn(cube(1), [[]])", "--packet-length", "1", "--placements", "1"]
    assert main([*line, "--json"]) == 1
    out, err = capsys.readouterr()
    last = err.splitlines()[-1]
    assert last.startswith("hdnhw: yosys has failed: ERROR: no, see ")
    assert Path(last.split("see ")[1]).read_text() == "ERROR: no\n"
    assert json.loads(out)["error"] == last.removeprefix("hdnhw: ")
    assert [path.name.endswith(".failed") for path in Path("build/synth").iterdir()] == [True]


def test_a_unit_too_large_for_the_device(tmp_path, monkeypatch):
    """Without a run that takes a minute: the log of packing says that it does not fit."""
    said = "Info: \t         ICESTORM_LC:   19778/   7680   257%\n"
    monkeypatch.setattr(synth, "run_tool", lambda _, __, log: log.write_text(said))
    spec = SynthSpec(fabric=SMALLEST, family="ice40", placements=1)
    with pytest.raises(ToolError, match=r"needs 19778 ICESTORM_LC and iCE40HX8K has 7680, see .*\.failed/pack\.log"):
        synthesize(spec, root=tmp_path)


def test_nextpnr_fails_in_one_line(tmp_path):
    (tmp_path / "netlist.json").write_text("{}")
    with pytest.raises(ToolError, match=r"^nextpnr-ice40 has failed.*, see .*x\.log$"):
        run_tool("nextpnr-ice40", ["--hx8k", "--json", "netlist.json"], log=tmp_path / "x.log")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"family": "xc7", "frequency": 100.0},
            "frequency needs place-and-route: family must be one of ecp5, ice40, .* gowin",
        ),
        ({"unit": "endpoint"}, "unit='endpoint' needs endpoints"),
        ({"frequency": 0.0}, "frequency must be at least 0.001 and finite, not 0.0"),
        ({"unit": "fabric", "address": "0"}, "address belongs to a router"),
        ({"unit": "crossing", "address": "0"}, "address belongs to a router"),
    ],
)
def test_bad_options(options, said):
    with pytest.raises(SpecError, match=said):
        SynthSpec(fabric=SMALLEST, **options)


@pytest.mark.usefixtures("no_tools")
@pytest.mark.parametrize(
    "options", ["--placements 0", "--address 8", "--address 9.9/0", "--flit-width 2", "--frequency inf"]
)
def test_bad_input_is_one_line(options, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["synth", "hdn(cube(1), [[]])", *options.split()]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n"), err.startswith("hdnhw: ")) == ("", 1, True)
    assert list(tmp_path.iterdir()) == []


def test_text_shows_the_path_as_a_table(monkeypatch, capsys):
    steps = [{"signal": "at", "stage": "phase", "routing_ns": 0.0, "logic_ns": 0.5}]
    monkeypatch.setattr(synth, "synthesize", lambda *_, **__: {"spec": "x", "critical_path": steps})
    assert main(["synth", "hdn(cube(1), [[]])"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "spec           x",
        "critical_path",
        "  signal  stage  routing_ns  logic_ns",
        "  at      phase         0.0       0.5",
    ]


def test_the_address_is_of_the_fullest_router():
    mesh = SynthSpec(fabric=fabric_spec("mesh(3)"))
    assert synth._design(mesh).about["address"] == 1
    corner = SynthSpec(fabric=fabric_spec("mesh(3)"), address="0")
    assert (synth._design(corner).about["ports"], synth._design(mesh).about["ports"]) == (2, 3)
    assert "of(.address(address)" not in synth._design(mesh).text.replace("\n", "")


@pytest.mark.parametrize(
    ("endpoints", "module"),
    [
        (RelaySpec(), "fabric_relay_unit"),
        (AxiStreamSpec(), "fabric_axi_endpoint"),
        (CollectiveSpec(operations=("broadcast",)), "fabric_collective_engine"),
    ],
)
def test_an_endpoint_stands_alone_with_the_address_of_a_node(endpoints, module):
    fabric = fabric_spec("hdn(cube(1), [[]])", packet_length=4, endpoints=endpoints)
    design = synth._design(SynthSpec(fabric=fabric, unit="endpoint"))
    assert (design.about["routers"], design.about["address"]) == (0, 4)
    assert "--out-of-context" in design.place
    assert f"{module} " in design.text.split(f"module {UNIT}")[1]
    with pytest.raises(SpecError, match="endpoints go with unit='endpoint', fabric and crossing"):
        SynthSpec(fabric=fabric)


@pytest.mark.parametrize("endpoints", [AxiMemorySpec(), AxiStreamSpec(), RelaySpec()])
def test_a_fabric_is_measured_with_its_endpoints(endpoints):
    fabric = fabric_spec("cube(1)", endpoints=endpoints)
    design = synth._design(SynthSpec(fabric=fabric, unit="fabric"))
    assert (design.about["routers"], design.about["address"]) == (2, None)
    around = design.text.split("module around(")[1].split("endmodule")[0]
    assert re.search(r"\.a?clk\(clk\)", around)
    assert re.search(r"\.rst\(rst\)|\.aresetn\(~rst\)", around)
    assert f"{emit_fabric(fabric).top} of(" in around


def test_a_crossing_has_one_clock_when_it_is_measured():
    design = synth._design(SynthSpec(fabric=SMALLEST, unit="crossing"))
    assert (design.about["routers"], design.about["address"]) == (0, None)
    pins = design.text.split("module crossing(")[1].split("endmodule")[0]
    for side in ("fabric", "node"):
        assert f".{side}_clk(clk), .{side}_rst(rst)" in pins
    assert [port.name for port in ports_of(design.text, "crossing")[:2]] == ["clk", "rst"]


def test_a_fabric_keeps_all_its_routers_apart_from_the_wrapper():
    design = synth._design(SynthSpec(fabric=SMALLEST, unit="fabric"))
    assert (design.about["routers"], design.about["address"]) == (8, None)
    assert "--out-of-context" not in design.place
    assert design.text.count("fabric_router router_") == 8


@pytest.mark.parametrize(("family", "buffers"), [("ecp5", 1), ("ice40", 0)])
def test_a_reset_reaches_a_fabric_over_a_global_net(family, buffers, tmp_path):
    """A cell of the family's own does it on ECP5; nextpnr does it unasked on iCE40."""
    design = synth._design(SynthSpec(fabric=SMALLEST, unit="fabric", family=family))
    (tmp_path / "design.sv").write_text(design.text)
    script = f"read_verilog -sv design.sv\nread_verilog -lib +/ecp5/cells_bb.v\nhierarchy -check -top {WRAPPER}\n"
    listed = run_yosys(
        f"{script}select -list {WRAPPER}/t:DCCA %co:+[CLKO] {WRAPPER}/c:dut %ci:+[rst] %i\n", cwd=tmp_path
    )
    assert listed.split().count(f"{WRAPPER}/global_rst") == buffers


def test_ports_are_read_from_the_text():
    text = "module a(x);\n  input x;\nendmodule\nmodule m(clk, d\n, q);\n  input clk;\n  wire clk;\n  input [7:0] d;\n"
    text += "  output q;\nendmodule\n"
    assert ports_of(text, "m") == [Port("clk", 1, True), Port("d", 8, True), Port("q", 1, False)]


@pytest.mark.parametrize(
    ("text", "said"),
    [("module m(a);\n  input a;\nendmodule", "must be one of the text"), ("module n(a);\nendmodule", "must all be")],
)
def test_ports_that_cannot_be_read(text, said):
    with pytest.raises(ValueError, match=said):
        ports_of(text, "n")


@pytest.mark.parametrize("wrapper", [parallel_wrapper, serial_wrapper])
def test_wrappers_hold_a_register_at_every_port(wrapper, tmp_path):
    inner = (
        "module m(clk, a, b, x, address);\n input clk; input [2:0] a; input b; output [5:0] x; input [1:0] address;\n"
    )
    inner += " assign x = {a, b, address};\nendmodule\n"
    unit, left = unit_text("m", PORTS, {"address": 2})
    assert [port.name for port in left] == ["clk", "a", "b", "x"]
    (tmp_path / "w.sv").write_text(inner + unit + wrapper(left))
    script = f"read_verilog -sv w.sv\nhierarchy -check -top {WRAPPER}\nproc\nopt -full\ncheck -assert\nstat -width\n"
    stat = run_yosys(script, cwd=tmp_path)
    stat = stat[stat.rindex(f"=== {WRAPPER} ===") :]
    registers = sum(int(n) * int(w) for n, w in re.findall(r"(\d+)\s+\$dff_(\d+)", stat[: stat.index("=== design")]))
    assert registers == (4 + 6 if wrapper is parallel_wrapper else 4 + 6 + 2 + 1)


def test_ports_of_a_fabric_stand_apart():
    """Two registers more behind each input, and behind each step but the first; a step joins four bits."""
    ports = [Port("clk", 1, True), Port("a", 3, True), Port("b", 1, True), Port("x", 200, False)]
    near, far = (serial_wrapper(ports, apart=apart) for apart in (0, 2))
    widths = [[int(high) + 1 for high in re.findall(r"reg \[(\d+):0\]", text)] for text in (near, far)]
    assert widths == [[4, 200, 50, 13, 4, 1], [8, 200, 50, 50, 50, 13, 13, 13, 4, 4, 4, 1, 1, 1]]
    assert ".b(feed[5:5])" in far


@each(
    ("name", "signal", "stage"),
    [
        ("dut.of.allocator.order_0_4_TRELLIS_FF_Q", "allocator.order_0_4", "order"),
        ("dut.of.allocator.queue_order_3_0_1_SB_DFFESR_Q_E_SB_LUT4_O_LC", "allocator.queue_order_3_0_1", "order"),
        ("dut.of.allocator.vc_order_2_0_1", "allocator.vc_order_2_0_1", "order"),
        ("dut.of.allocator.ready_1_LUT4_Z", "allocator.ready_1", "vc allocation"),
        ("dut.of.allocator.choice_2[1]", "allocator.choice_2", "vc allocation"),
        ("dut.of.allocator.want_0_LUT4_D_Z_LUT4_Z_1", "allocator.want_0", "vc allocation"),
        (
            "dut.of.allocator.first_0_1_TRELLIS_FF_Q_DI_PFUMX_Z_BLUT_LUT4_Z",
            "allocator.first_0_1",
            "switch allocation",
        ),
        ("dut.of.allocator.next_idle_2[4]", "allocator.next_idle_2", "switch allocation"),
        ("dut.of.allocator.and_114_SB_LUT4_O_LC", "allocator.and_114", "switch allocation"),
        ("dut.of.allocator.order_0_4.next_LUT4_Z", "allocator.order_0_4.next", "order"),
        ("dut.of.cross1.flits_read_data_TRELLIS_FF_DI", "cross1.flits_read_data", "buffer read"),
        ("dut.of.cross1.push_TRELLIS_FF_Q", "cross1.push", "queue"),
        ("dut.of.allocator.queues_1__pop_TRELLIS_FF_Q", "allocator.queues_1__pop", "switch allocation"),
        ("dut.of.allocator.queues_1__way_0[0]", "allocator.queues_1__way_0", "route computation"),
        ("dut.of.allocator.credits_0_1.free_SB_DFFESS_Q_DFFLC", "allocator.credits_0_1.free", "credit"),
        ("dut.dim0_i__credit_SB_DFFSR_Q_DFFLC", "dim0_i__credit", "switch allocation"),
        ("dut.of.router_4.allocator.credits_0_1.give", "router_4.allocator.credits_0_1.give", "switch allocation"),
        ("near_dim0_o__credit[1]", "near_dim0_o__credit", "credit"),
        ("dut.of.gated_1_0_TRELLIS_FF_Q_7", "gated_1_0", "switch traversal"),
        ("dut.of.data_0_TRELLIS_FF_Q", "data_0", "switch traversal"),
        ("dut.of.router_12.valid_3_SB_DFFSR_Q_DFFLC", "router_12.valid_3", "switch traversal"),
        ("dut.of.dim0.route.gate", "dim0.route.gate", "route computation"),
        ("dut.of.cross1.decisions_0.out_TRELLIS_FF_Q", "cross1.decisions_0.out", "route computation"),
        ("dut.of.router_3.cross2.out_TRELLIS_FF_Q_3", "router_3.cross2.out", "route computation"),
        ("dut.of.cross1.decisions_0.valid_SB_LUT4_I1_LC", "cross1.decisions_0.valid", "queue"),
        ("dut.of.cross1.decisions_0.there_TRELLIS_FF_Q_2", "cross1.decisions_0.there", "queue"),
        ("dut.of.cross1.decisions_1.following_TRELLIS_FF_Q", "cross1.decisions_1.following", "queue"),
        ("dut.of.cross1.decisions_1.second_TRELLIS_FF_Q", "cross1.decisions_1.second", "route computation"),
        ("dut.of.dim0.flit_TRELLIS_FF_Q_12", "dim0.flit", "buffer read"),
        ("dut.of.dim0.flit_register_0_TRELLIS_FF_Q_12", "dim0.flit_register_0", "buffer read"),
        ("dut.of.dim0.reading_slot_TRELLIS_FF_Q", "dim0.reading_slot", "buffer read"),
        ("dut.of.dim0.slot_TRELLIS_FF_Q", "dim0.slot", "buffer write"),
        ("dut.of.router_3.dim0.vc_TRELLIS_FF_Q", "router_3.dim0.vc", "buffer write"),
        ("dut.of.dim1.flits[2]_SB_DFFE_Q_E_SB_LUT4_O_LC", "dim1.flits", "buffer write"),
        ("dut.of.injection.kept_TRELLIS_FF_Q", "injection.kept", "injection"),
        ("near_inject__payload_TRELLIS_FF_Q_3", "near_inject__payload", "injection"),
        ("near_dim0_i__data_TRELLIS_FF_Q_3", "near_dim0_i__data", "channel traversal"),
        ("dut.of.channel_5_dim0_data", "channel_5_dim0_data", "channel traversal"),
        ("dut.of.ejection_3.level_LUT4_A", "ejection_3.level", "ejection"),
        ("dut.of.at_TRELLIS_FF_Q_1", "at", "phase"),
        ("dut.of.idle_0_LUT4_A", "idle_0", "switch allocation"),
        ("feed_SB_DFF_Q_101_DFFLC", "feed", "wrapper"),
        ("step_2_SB_DFF_Q_DFFLC", "step_2", "wrapper"),
        ("$abc$123$x", "$abc$123$x", "other"),
    ],
)
def test_stage_of_names(name, signal, stage):
    assert (signal_of(name), stage_of(signal_of(name))) == (signal, stage)


@pytest.mark.parametrize("ram", ["distributed", "block"])
@pytest.mark.parametrize(("dead_pins", "crc"), [(False, False), (True, True)])
def test_every_register_of_a_router_has_a_stage(dead_pins, crc, ram):
    check_stages(fabric_spec("rdn(torus(5), 1)", buffers=8, dead_pins=dead_pins, crc=crc, ram=ram))


@pytest.mark.parametrize(
    "options",
    [
        {"switching": "cut-through"},
        {"channel_latency": "2"},
        {"packet_length": 4},
        {"switching": "cut-through", "gapless_packets": True},
    ],
)
def test_every_register_of_other_routers_has_a_stage(options):
    check_stages(fabric_spec("rdn(cube(3), 1)", buffers=8, **options))


def check_stages(spec):
    """Each register that has a name has one by which its stage is known."""
    machine = make_machine(spec)
    text = module_text(Router(machine, machine.plan.shapes[0]), "r", flatten=True)
    clocked = re.findall(r"always @\(posedge [^)]*\)\s*(?:if [^;]*?else\s*)?(\\?[\w.]+)\s*<=", text)
    assert len(set(clocked)) > 50
    unnamed = re.compile(r"\bsignal(_\d+)?$")  # no name of its own in the component either
    assert {name for name in clocked if stage_of(signal_of(name)) == "other" and not unnamed.search(name)} == set()


def test_reports_are_read():
    clock = "posedge clk"
    part = [
        {"type": "clk-to-q", "delay": 0.5, "to": {"cell": "dut.of.at_TRELLIS_FF_Q"}},
        {"type": "routing", "delay": 1.0, "to": {"cell": "dut.of.data_0_LUT4_Z"}},
        {"type": "logic", "delay": 0.2, "to": {"cell": "dut.of.data_0_LUT4_Z"}},
        {"type": "routing", "delay": 0.3, "to": {"cell": "dut.of.data_0_TRELLIS_FF_Q"}},
        {"type": "setup", "delay": 0, "to": {"cell": "dut.of.data_0_TRELLIS_FF_Q"}},
    ]
    longer = {"from": "<async>", "to": clock, "path": [*part, *part]}
    report = {"critical_paths": [longer, {"from": clock, "to": clock, "path": part}]}
    path = critical_path(report)
    assert [(step["signal"], step["routing_ns"], step["logic_ns"]) for step in path] == [
        ("at", 0.0, 0.5),
        ("data_0", 1.0, 0.2),
        ("data_0", 0.3, 0.0),
    ]
    assert critical_path({"critical_paths": [longer]}) == []
    assert fmax_of({"fmax": {"a": {"achieved": 200.0}, "b": {"achieved": 100}}}) == 100.0


def test_a_tool_that_is_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("nothing to run"))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(ToolError, match="nextpnr-ecp5 is not installed"):
        run_tool("nextpnr-ecp5", [], log=tmp_path / "log")
