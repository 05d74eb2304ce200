"""The emitted Verilog, as other tools read it, and its structure against the network."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

INSTANCE = re.compile(r"^  (\w+) (router|ejection)_(\d+) \(\n(.*?)\n  \);$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def source(fabric, tmp_path):
    """Return the file with the Verilog of a fabric."""
    path = tmp_path / "fabric.sv"
    path.write_text(fabric.files["fabric.sv"])
    return path


def test_tools_have_nothing_to_say(source, complaints):
    assert complaints([source], "fabric") == []


@pytest.mark.parametrize(
    ("right", "wrong", "complaint"),
    [
        (".address(1'h", ".address(9'h", r"verilator: %Warning-WIDTH"),
        ("always @(posedge", "always_ff @(posedge", r"slang: .*: error: variable '.*' driven by always_ff procedure"),
        ("  fabric_router router_1", "  fabric_route router_1", r"yosys: ERROR: Module `\\fabric_route'"),
    ],
)
def test_each_tool_sees_what_is_wrong(emitted, tmp_path, complaints, right, wrong, complaint):
    source, verilog = tmp_path / "fabric.sv", emitted("two nodes").files["fabric.sv"]
    assert right in verilog
    source.write_text(verilog.replace(right, wrong))
    assert any(re.match(complaint, line) for line in complaints([source], "fabric"))


def test_modules_are_one_a_router_shape_and_two_more(fabric):
    plan = fabric.machine.plan
    modules = re.findall(r"^module ([^\s(]+)", fabric.files["fabric.sv"], re.MULTILINE)
    assert modules == [*fabric.modules.routers, "fabric_ejection", "fabric"]
    assert len(modules) == len(plan.shapes) + 2 == len(set(modules))


def test_every_process_runs_at_time_0(fabric):
    text = fabric.files["fabric.sv"]
    assert "always_comb" in text
    assert re.search(r"always +@ *(\(\*\)|\*)", text) is None


def instances_of(fabric):
    """Return (kind, node) -> (module, pin -> wire)."""
    found = INSTANCE.findall(fabric.files["fabric.sv"])
    pins = re.compile(r"\.(\w+)\((.*)\)")
    result = {(kind, int(node)): (module, dict(pins.findall(body))) for module, kind, node, body in found}
    assert len(result) == len(found)
    return result


def test_every_node_is_instantiated_once_with_its_address(fabric):
    plan, instances = fabric.machine.plan, instances_of(fabric)
    nodes = range(plan.network.num_nodes)
    assert set(instances) == {(kind, node) for kind in ("router", "ejection") for node in nodes}
    names = fabric.modules.routers
    for node in nodes:
        module, pins = instances["router", node]
        assert module == names[plan.shapes.index(plan.shape_of(node))]
        width, value = pins["address"].split("'h")
        assert (int(width), int(value, 16)) == (plan.address.width, plan.address.of_node(node))
        assert instances["ejection", node][0] == "fabric_ejection"


def test_channels_join_neighbors(fabric):
    plan, instances = fabric.machine.plan, instances_of(fabric)
    used, local = [], ["valid", "data", "credit", *(["check"] if fabric.manifest["crc"] else [])]
    for node in range(plan.network.num_nodes):
        _, pins = instances["router", node]
        for index, port in enumerate(plan.network.ports):
            neighbor = plan.network.neighbors(node).get(port.name)
            opposite = plan.network.ports[port.opposite].name
            outputs = {pin: wire for pin, wire in pins.items() if pin.startswith(f"{port.name}_o__")}
            members = {*local, *(["vc"] if plan.num_vcs[index] > 1 else [])}
            assert set(outputs) == {f"{port.name}_o__{member}" for member in members if neighbor is not None}
            for pin, wire in outputs.items():
                assert instances["router", neighbor][1][pin.replace(f"{port.name}_o", f"{opposite}_i")] == wire
                used.append(wire)
        for member in local:
            assert pins[f"eject__{member}"] == instances["ejection", node][1][f"channel__{member}"]
            used.append(pins[f"eject__{member}"])
        for pin in ("inject__payload", "inject__valid", "inject__ready"):
            assert pins[pin] == pin.replace("__", f"_{node}_")
        for pin in ("eject__payload", "eject__valid", "eject__ready"):
            assert instances["ejection", node][1][pin] == pin.replace("__", f"_{node}_")
        assert pins["dropped"] == f"dropped_{node}"
    assert len(used) == len(set(used))


def test_counters_of_errors_are_side_by_side(emitted):
    """Of a line's ends, which have one port, the bits of the other one are 0."""
    fabric = emitted("check bits")
    instances, ports = instances_of(fabric), fabric.manifest["ports"]
    constants = dict(re.findall(r"^  assign (errors_\d\[\d+:\d+\]) = (.*);$", fabric.files["fabric.sv"], re.MULTILINE))
    fields = ports["errors_N"]["fields"]
    assert fields == {"dim0_plus": {"offset": 0, "width": 16}, "dim0_minus": {"offset": 16, "width": 16}}
    for node in range(3):
        pins = instances["router", node][1]
        for name, field in fields.items():
            bits = f"errors_{node}[{field['offset'] + 15}:{field['offset']}]"
            assert (pins[f"{name}_errors"] == bits) if f"{name}_errors" in pins else constants[bits] == "16'h0000"
        assert instances["ejection", node][1]["bad"] == f"bad_{node}"


def test_output_is_the_same_in_every_process(emitted, tmp_path):
    code = "import sys; from hdnhw.cli import main; sys.exit(main(sys.argv[1:]))"
    runs = []
    for seed in ("1", "2"):
        command = [sys.executable, "-c", code, "emit", "mesh(2, 3)", "--flit-width", "8", "-o", str(tmp_path / seed)]
        environment = os.environ | {"PYTHONHASHSEED": seed}
        runs.append(subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL))
    assert [run.wait() for run in runs] == [0, 0]
    written = [{path.name: path.read_text() for path in folder.iterdir()} for folder in tmp_path.iterdir()]
    assert len(written) == 2
    assert written[0] == written[1] == emitted("several shapes").files


def test_memories_of_packets_say_that_they_are_block_ram(emitted):
    """One at each input and at injection, and no other."""
    fabric = emitted("several shapes")
    text, made = fabric.files["fabric.sv"], fabric.machine.plan
    memory = r'\(\* no_rw_check = .*\*\)\n *\(\* ram_style = "block" \*\)\n *reg \[7:0\] \\(\S+)\.flits'
    inputs = [made.network.ports[port].name for shape in made.shapes for port in shape.ports]
    assert sorted(re.findall(memory, text)) == sorted(inputs + ["injection"] * len(made.shapes))
    assert text.count("no_rw_check") == text.count("ram_style") == len(inputs) + len(made.shapes)
    assert '"block"' not in emitted("two classes").files["fabric.sv"]


def test_no_path_and_no_date(fabric):
    for text in fabric.files.values():
        for word in ("/work", "/home", "/tmp", "/usr", str(Path.cwd()), ".py", "src ="):
            assert word not in text
        assert set(re.findall(r"\(\* *(\w+)", text)) <= {"ram_style", "no_rw_check"}
        assert re.search(r"\b(19|20)\d\d[-/.]\d\d?[-/.]\d\d?\b|\b\d\d:\d\d:\d\d\b", text) is None
