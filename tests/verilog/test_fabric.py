"""The manifest against the text and the definitions it explains, and files that are written all or not at all."""

import hashlib
import json
import os
import re
from dataclasses import replace

import numpy as np
import pytest

from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.machine.flit import FlitFormat
from hdnhw.machine.timing import SlotTiming
from hdnhw.model.engines import REFERENCE
from hdnhw.model.fabric import FabricModel
from hdnhw.rules.plan import plan
from hdnhw.support.errors import SpecError
from hdnhw.traffic.packets import Traffic
from hdnhw.verilog import fabric as fabric_module
from hdnhw.verilog.fabric import check_place, emit_fabric, write_fabric
from tests.specs import fabric_spec


def test_manifest_is_the_file(fabric):
    assert json.loads(fabric.files["manifest.json"]) == json.loads(json.dumps(fabric.manifest))
    assert list(fabric.files) == ["fabric.sv", "fabric.core", "manifest.json"]
    assert fabric.manifest["files"] == ["fabric.sv", "fabric.core"]


def test_manifest_names_the_machine(machine, fabric):
    manifest, made = fabric.manifest, fabric.machine.plan
    assert manifest["spec"] == str(machine.network)
    assert (manifest["top"], manifest["modes"], manifest["routers"]) == ("fabric", made.modes, made.network.num_nodes)
    names = [port.name for port in made.network.ports]
    assert manifest["num_vcs_of_port"] == dict(zip(names, made.num_vcs, strict=True))
    assert manifest["num_vcs"] == max(made.num_vcs)
    assert (manifest["packet_length"], manifest["flit_width"]) == (machine.packet_length, machine.flit_width)
    timing = SlotTiming(machine.packet_length)
    assert manifest["buffers"] == (machine.buffers or timing.buffers_of(manifest["num_vcs"], timing.buffer_slots))
    assert list(manifest["buffers_per_vc_of_port"]) == names
    for name, slots in manifest["buffers_per_vc_of_port"].items():
        share = manifest["buffers"] // manifest["num_vcs_of_port"][name]
        assert slots == max(1, share) if share & (share - 1) == 0 else slots <= share < 2 * slots
    modules = re.findall(r"^module ([^\s(]+)", fabric.files["fabric.sv"], re.MULTILINE)
    assert modules == [*manifest["router_modules"], manifest["ejection_module"], manifest["fabric"]]


def test_digest_is_that_of_the_file(fabric, tmp_path):
    write_fabric(fabric, tmp_path)
    digest = hashlib.sha256((tmp_path / "fabric.sv").read_bytes()).hexdigest()
    assert json.loads((tmp_path / "manifest.json").read_text())["digest"] == f"sha256:{digest}"


def test_proof_summary(fabric):
    proof, own = fabric.manifest["proof"], plan(fabric.machine.plan.network.spec, fabric.machine.plan.modes).proof
    assert (proof["channels"], proof["edges"], proof["acyclic"]) == (own.channels, own.edges, True)
    assert re.match(rf"{own.channels} virtual channels, {own.edges} dependencies: acyclic", proof["summary"])


def test_manifest_names_every_port_of_the_top_level(fabric):
    manifest = fabric.manifest
    body = fabric.files["fabric.sv"].split("\nmodule fabric(")[1]
    found = re.findall(r"^  (input|output) (?:\[(\d+):0\] )?(\w+);$", body, re.MULTILINE)
    declared = {name: (direction, int(top or 0) + 1) for direction, top, name in found}
    named = {}
    for pattern, port in manifest["ports"].items():
        nodes = range(manifest["routers"]) if re.search(r"\bN\b|_N\b|_N_", pattern) else [None]
        for node in nodes:
            named[re.sub(r"(?<=_)N(?=_|$)", str(node), pattern)] = (port["direction"], port["width"])
    assert declared == named
    options = 2 * manifest["dead_pins"] + 2 * manifest["crc"]
    assert len(declared) == 2 + (7 + options) * manifest["routers"]


def test_bit_fields_of_ejection(machine, fabric):
    port, width = fabric.manifest["ports"]["eject_N_payload"], machine.flit_width
    assert port["fields"] == {"data": {"offset": 0, "width": width}, "last": {"offset": width, "width": 1}}
    assert sum(field["width"] for field in port["fields"].values()) == port["width"]


def test_packet_format_packs_as_the_flit_format_does(fabric):
    manifest = fabric.manifest
    width, length, packet = manifest["flit_width"], manifest["packet_length"], manifest["packet"]
    flits = FlitFormat(width, fabric.machine.plan.address.width, length)
    payload, destination = (1 << packet["payload"]["width"]) * 5 // 7, fabric.machine.plan.address.of_node(1)
    word = payload << packet["payload"]["head_offset"] | destination << packet["destination"]["offset"]
    own = [word >> width * position & (1 << width) - 1 for position in range(packet["flits"])]
    assert own == flits.pack(destination, payload)
    assert packet["payload"]["head_offset"] + packet["payload"]["width"] == width * length
    assert packet["destination"]["flit"] == 0
    assert packet["destination"]["width"] == flits.address_width == packet["payload"]["head_offset"]


def test_node_numbering(fabric):
    address, network = fabric.manifest["address"], fabric.machine.plan.network
    assert [field["name"] for field in address["fields"]] == list(network.digit_names)
    assert sum(field["width"] for field in address["fields"]) == address["width"]
    packed = []
    for node in range(network.num_nodes):
        digits = zip(network.decode(node), address["fields"], strict=True)
        packed.append(sum(digit << field["offset"] for digit, field in digits))
    assert address["of_node"] == packed


def test_many_addresses_are_not_listed(monkeypatch):
    monkeypatch.setattr(fabric_module, "LISTED_ADDRESSES", 1)
    assert "of_node" not in emit_fabric(fabric_spec("complete(2)")).manifest["address"]


@pytest.mark.parametrize(("crossbar", "registers"), [("crosspoint", ["2_0", "2_1", "2_2"]), ("output", [])])
def test_registers_stand_where_the_crossbar_says(crossbar, registers):
    """Of a router of the 2-cube, only ejection has three inputs: fewer are always joined before a register."""
    made = emit_fabric(fabric_spec("cube(2)", crossbar=crossbar))
    assert re.findall(r"^  reg \[31:0\] gated_(\d+_\d+)\b", made.files["fabric.sv"], re.MULTILINE) == registers
    assert made.manifest["crossbar"] == crossbar


def test_queues_are_those_asked_for():
    for queueing, there in (("fifo", False), ("voq", True)):
        made = emit_fabric(fabric_spec("cube(2)", buffers=4, queueing=queueing))
        assert made.manifest["queueing"] == queueing
        assert ("turn_slot" in made.files["fabric.sv"]) == there


def test_latency_formula(machine, fabric):
    latency, timing = fabric.manifest["latency"], SlotTiming(machine.packet_length, crc=machine.crc)
    assert latency["hop_cycles"] == timing.hop_cycles
    for hops in (0, 1, 2, 7):
        for phase in range(machine.packet_length):
            value = eval(latency["zero_load"].replace("mod", "%"), {}, {"hops": hops, "phase": phase})
            assert value == timing.zero_load_latency(hops, phase)


def test_latency_formula_where_packets_cut_through():
    latency = emit_fabric(fabric_spec("cube(2)", switching="cut-through")).manifest["latency"]
    assert (latency["hop_cycles"], latency["odd"]) == (4, [1, 2])
    assert latency["zero_load"] == "4*hops + 21 + ((5 - phase) mod 8)"
    assert latency["phase"].startswith("cycles since reset, 4 more at the nodes listed under odd, modulo 8")
    assert "odd" not in emit_fabric(fabric_spec("cube(2)")).manifest["latency"]


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("rdn(cube(1), 1)", {"channel_latency": "cross1=21"}, "8*(dim0) + 28*(cross1) + 22 + ((4 - phase) mod 8)"),
        (
            "mesh(2, 3)",
            {"channel_latency": "dim0=9", "switching": "cut-through", "packet_length": 16},
            "16*(dim0) + 8*(",
        ),
        ("rdn(cube(1), 1)", {"channel_width": "cross1=8"}, "8*(dim0) + 36*(cross1) + 22 + ((4 - phase) mod 8)"),
    ],
)
def test_latency_formula_of_long_channels(text, options, said):
    """Against lone packets from all nodes to all, each in another phase, on the reference."""
    made = emit_fabric(fabric_spec(text, **options))
    latency, machine, network = made.manifest["latency"], made.machine, made.machine.network
    assert latency["zero_load"].startswith(said)
    names, length = [port.name for port in network.ports], machine.timing.packet_length
    for source, target in np.ndindex(network.num_nodes, network.num_nodes):
        packets = [[] for _ in range(network.num_nodes)]
        packets[source] = [(machine.address.of_node(target), 20 * length + 3 * target)]
        run = FabricModel(machine, engine=REFERENCE).run(Traffic.from_lists(packets), max_cycles=10_000)
        taken = [names[port] for _, port, _ in machine.plan.rule.route(source, target)]
        phase = (int(run.head_cycle[0]) + length // 2 * (source in latency["odd"])) % length
        values = {name: taken.count(name) for name in names} | {"phase": phase}
        assert eval(latency["zero_load"].replace("mod", "%"), {}, values) == run.cycle[0] - run.head_cycle[0]


def test_the_manifest_says_which_channels_are_narrow():
    made = emit_fabric(fabric_spec("rdn(cube(1), 1)", channel_width="cross1=24", crc=True))
    assert made.manifest["channel_width"] == "cross1=24"
    assert made.manifest["channel_wires_of_port"] == {"dim0": 40, "cross1": 20}  # 32 bits and 8 check bits
    assert made.manifest["flit_cycles_of_port"] == {"dim0": 1, "cross1": 2}
    assert made.manifest["channel_modules"] == ["fabric_channel"]
    assert "channel_wires_of_port" not in emit_fabric(fabric_spec("cube(2)")).manifest


def test_gapless_packets_are_in_the_manifest():
    manifest = emit_fabric(fabric_spec("cube(2)", gapless_packets=True)).manifest
    assert manifest["gapless_packets"] is True
    assert manifest["latency"]["zero_load"] == "8*hops + 16 + ((2 - phase) mod 8)"
    assert manifest["latency"]["phase"] == "cycles since reset, modulo 8, in which the head flit is offered"
    assert "in consecutive cycles" in manifest["ports"]["inject_N_payload"]["meaning"]
    assert manifest["ports"]["paused_N"]["width"] == 16
    plain = emit_fabric(fabric_spec("cube(2)")).manifest
    assert "paused_N" not in plain["ports"]
    assert "consecutive" not in plain["ports"]["inject_N_payload"]["meaning"]


def test_name_and_sizes_reach_the_text():
    spec = fabric_spec("complete(2)", packet_length=2, flit_width=17, buffers=4)
    named = emit_fabric(spec, top="noc_1")
    manifest, text = named.manifest, named.files["noc_1.sv"]
    assert list(named.files) == ["noc_1.sv", "noc_1.core", "manifest.json"]
    assert (manifest["top"], manifest["files"]) == ("noc_1", ["noc_1.sv", "noc_1.core"])
    assert (manifest["packet_length"], manifest["flit_width"], manifest["buffers"]) == (2, 17, 4)
    assert re.findall(r"^module ([^\s(]+)", text, re.MULTILINE) == ["noc_1_router", "noc_1_ejection", "noc_1"]
    assert re.search(r"\bfabric", text) is None
    assert manifest["core"].startswith("hdnhw:fabric:noc_1:")
    body = text.split("\nmodule noc_1(")[1]
    assert "  input [16:0] inject_0_payload;" in body
    assert "  output [17:0] eject_0_payload;" in body


@pytest.mark.parametrize("top", ["", "1st", "a b", "a-b", "a.b", "fabric\n", "café", "$x", "_a", "a_", "a__b", "_"])
def test_a_bad_module_name_is_refused(top):
    with pytest.raises(
        SpecError, match="module name must be letters, digits and single _ between them, a letter first, not"
    ):
        emit_fabric(fabric_spec("complete(2)"), top=top)


@pytest.mark.parametrize(
    ("top", "language"),
    [("module", "SystemVerilog"), ("always", "SystemVerilog"), ("entity", "VHDL"), ("Signal", "VHDL")],
)
def test_a_keyword_is_refused(top, language):
    with pytest.raises(SpecError, match=f"^module name must not be a keyword of {language} such as '{top}'$"):
        emit_fabric(fabric_spec("complete(2)"), top=top)


@pytest.mark.parametrize(("text", "width"), [("rdn(cube(1), 1)", 3), ("torus(5)", 3), ("rdn(cube(3), 1)", 7)])
def test_a_flit_must_hold_an_address(text, width):
    with pytest.raises(SpecError, match=rf"flit_width must be at least .*\b{width} address bits.*, not 2"):
        emit_fabric(fabric_spec(text, flit_width=2))


def test_too_many_routers_are_refused(monkeypatch):
    monkeypatch.setattr(fabric_module, "fabric_verilog", None)  # to elaborate them would take hours
    with pytest.raises(SpecError, match=r"at most 8192 routers; rdn\(cube\(3\), 2\) has 32768"):
        emit_fabric(fabric_spec("rdn(cube(3), 2)"))


def contents(folder):
    return {str(path.relative_to(folder)): path.is_dir() or path.read_text() for path in folder.rglob("*")}


def test_files_are_written_and_replace_earlier_ones(emitted, tmp_path):
    folder, small = tmp_path / "new" / "out", emitted("two nodes")
    files = [folder / name for name in ("fabric.sv", "fabric.core", "manifest.json")]
    assert write_fabric(emitted("holes"), folder) == files
    (folder / "notes").write_text("mine")
    assert write_fabric(small, folder) == files
    assert contents(folder) == {**small.files, "notes": "mine"}
    assert [path.name for path in folder.parent.iterdir()] == ["out"]


def test_files_of_an_earlier_fabric_are_gone(tmp_path):
    spec = fabric_spec("complete(2)")
    write_fabric(emit_fabric(replace(spec, endpoints=AxiStreamSpec())), tmp_path)
    (tmp_path / "fabric_mine.sv").write_text("mine")
    assert (tmp_path / "fabric_axi.sv").exists()
    plain = emit_fabric(spec)
    write_fabric(plain, tmp_path)
    assert contents(tmp_path) == {**plain.files, "fabric_mine.sv": "mine"}


def test_a_fabric_of_another_name_keeps_its_folder(emitted, tmp_path):
    fabric = emitted("two nodes")
    write_fabric(fabric, tmp_path)
    with pytest.raises(
        SpecError, match=r"^output must be a folder for one fabric: '.*' has 'fabric', and this is 'other'$"
    ):
        check_place(tmp_path, top="other")
    assert check_place(tmp_path, top="fabric") == {"fabric.sv", "fabric.core"}


@pytest.mark.parametrize("manifest", ["", "[]", "{}", '{"fabric": "fabric", "files": 3}'])
def test_a_manifest_of_something_else_is_replaced(emitted, tmp_path, manifest):
    (tmp_path / "manifest.json").write_text(manifest)
    fabric = emitted("two nodes")
    write_fabric(fabric, tmp_path)
    assert contents(tmp_path) == fabric.files


def test_a_manifest_cannot_reach_other_files(tmp_path):
    names = ["fabric_axi.sv", "../fabric.sv", "notes", "other.sv", "manifest.json"]
    (tmp_path / "manifest.json").write_text(json.dumps({"fabric": "fabric", "files": names}))
    assert check_place(tmp_path, top="fabric") == {"fabric_axi.sv"}


class FullDiskError(OSError):
    """What stops the writing of a file."""


def fail_at(monkeypatch, number):
    """Make the replacement with this number fail, counted from 0."""
    calls, replace = [], os.replace

    def failing(source, target):
        calls.append(target)
        if len(calls) == number + 1:
            raise FullDiskError
        replace(source, target)

    monkeypatch.setattr(os, "replace", failing)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_failure_leaves_nothing_behind(emitted, tmp_path, monkeypatch, number):
    fail_at(monkeypatch, number)
    with pytest.raises(FullDiskError):
        write_fabric(emitted("two nodes"), tmp_path / "out")
    assert contents(tmp_path) == {}


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_failure_leaves_earlier_files_as_they_were(emitted, tmp_path, monkeypatch, number):
    write_fabric(emitted("holes"), tmp_path / "out")
    before = contents(tmp_path)
    fail_at(monkeypatch, number)
    with pytest.raises(FullDiskError):
        write_fabric(emitted("two nodes"), tmp_path / "out")
    assert contents(tmp_path) == before
