"""The Verilog with AXI endpoints, as other tools read it, and the manifest against it."""

import hashlib
import json
import os
import re
import subprocess
import sys
from functools import cache

import pytest

from hdnhw.endpoints.axi_stream.format import FrameFormat
from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.machine.flit import FlitFormat
from hdnhw.spec import FabricSpec
from hdnhw.support.errors import SpecError
from hdnhw.verilog.fabric import emit_fabric, write_fabric
from tests.specs import fabric_spec

FABRICS = {
    "two nodes": ("complete(2)", {"packet_length": 4}, {"max_frame": 16}),
    "holes": ("torus(5)", {"packet_length": 2, "flit_width": 64}, {"max_frame": 4096, "tuser_width": 9}),
    "bytes": ("rdn(cube(1), 1)", {"packet_length": 8, "flit_width": 8}, {"max_frame": 64}),
    "three bytes": ("mesh(2, 3)", {"packet_length": 5, "flit_width": 24}, {"max_frame": 128, "tuser_width": 17}),
    "long packets": ("complete(3)", {"packet_length": 65, "flit_width": 16}, {"max_frame": 16}),
}


def spec_of(name):
    text, sizes, endpoints = FABRICS[name]
    return fabric_spec(text, endpoints=AxiStreamSpec(**endpoints), **sizes)


@cache
def emitted(name):
    return emit_fabric(spec_of(name))


@pytest.fixture(params=FABRICS)
def fabric(request):
    """Return each fabric in turn."""
    return emitted(request.param)


@pytest.fixture
def sources(fabric, tmp_path):
    """Return the Verilog files of a fabric."""
    return [path for path in write_fabric(fabric, tmp_path) if path.suffix == ".sv"]


def test_tools_have_nothing_to_say(sources, complaints):
    assert complaints(sources, "fabric_axi") == []


def test_the_bare_fabric_is_the_same(fabric):
    spec = FabricSpec(
        network=fabric.machine.plan.network.spec,
        packet_length=fabric.manifest["packet_length"],
        flit_width=fabric.manifest["flit_width"],
    )
    bare = emit_fabric(spec)
    assert bare.files["fabric.sv"] == fabric.files["fabric.sv"]
    around = {"top": "fabric_axi", "files": ["fabric.sv", "fabric_axi.sv", "fabric.core"]}
    around["modules"] = [*bare.manifest["modules"], "fabric_axi_endpoint", "fabric_axi_registers", "fabric_axi"]
    assert bare.manifest | around == {key: value for key, value in fabric.manifest.items() if key != "endpoints"}


def test_manifest_is_the_file(fabric):
    assert list(fabric.files) == ["fabric.sv", "fabric_axi.sv", "fabric.core", "manifest.json"]
    assert fabric.manifest["files"] == ["fabric.sv", "fabric_axi.sv", "fabric.core"]
    assert json.loads(fabric.files["manifest.json"]) == json.loads(json.dumps(fabric.manifest))
    digest = hashlib.sha256(fabric.files["fabric_axi.sv"].encode()).hexdigest()
    assert fabric.manifest["endpoints"]["digest"] == f"sha256:{digest}"


def test_modules_are_three_and_endpoints_one_a_node(fabric):
    text, endpoints, nodes = fabric.files["fabric_axi.sv"], fabric.manifest["endpoints"], fabric.manifest["routers"]
    modules = re.findall(r"^module ([^\s(]+)", text, re.MULTILINE)
    assert modules == [endpoints["endpoint_module"], endpoints["registers_module"], fabric.manifest["top"]]
    found = re.findall(rf"^  {modules[0]} endpoint_(\d+) \(\n    \.address\((\d+)'h(\w+)\)", text, re.MULTILINE)
    address = fabric.machine.plan.address
    assert sorted((int(node), int(width), int(value, 16)) for node, width, value in found) == [
        (node, address.width, address.of_node(node)) for node in range(nodes)
    ]


def test_manifest_names_every_port_of_the_top_level(fabric):
    endpoints, nodes = fabric.manifest["endpoints"], range(fabric.manifest["routers"])
    body = fabric.files["fabric_axi.sv"].split("\nmodule fabric_axi(")[1]
    found = re.findall(r"^  (input|output) (?:\[(\d+):0\] )?(\w+);$", body, re.MULTILINE)
    declared = {name: (direction, int(top or 0) + 1) for direction, top, name in found}
    named = {
        pattern.replace("_N_", f"_{node}_"): (port["direction"], port["width"])
        for pattern, port in endpoints["ports"].items()
        for node in (nodes if "_N_" in pattern else nodes[:1])
    }
    assert declared == named
    assert len([name for name in declared if name.startswith("s_axil_")]) == 19
    assert declared["s_axil_araddr"] == ("input", endpoints["registers"]["address_width"])


@pytest.mark.parametrize("name", FABRICS)
def test_manifest_names_the_packet(name):
    spec, fabric = spec_of(name), emitted(name)
    flits = FlitFormat(spec.flit_width, fabric.machine.plan.address.width, spec.packet_length)
    frames, packet = FrameFormat(flits, spec.endpoints), fabric.manifest["endpoints"]["packet"]
    assert (packet["header_flits"], packet["data_flits"]) == (frames.header_flits, frames.payload_flits)
    assert packet["header"]["dst"] == {"offset": 0, "width": flits.address_width}
    end = 0
    for field, width in frames.header_fields.items():
        assert packet["header"][field] == {"offset": end, "width": width}
        end += width
    assert packet["kinds"] == {"first": 0, "body": 1, "grant": 2}


def test_registers_do_not_overlap():
    registers = emitted("two nodes").manifest["endpoints"]["registers"]
    assert sorted(registers["fabric"].values()) == list(range(0, 32, 4))
    assert sorted(registers["node"].values()) == list(range(0, 24, 4))
    assert registers["node_stride"] == 32
    assert registers["node_base"] + 8192 * registers["node_stride"] == 1 << registers["address_width"]


def test_output_is_the_same_in_every_process(tmp_path):
    code = "import sys; from hdnhw.cli import main; sys.exit(main(sys.argv[1:]))"
    sizes = ["--packet-length", "4", "--max-frame", "16", "--endpoints", "axi-stream"]
    command = [sys.executable, "-c", code, "emit", "complete(2)", *sizes, "-o", str(tmp_path)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"PYTHONHASHSEED": "7"})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == emitted("two nodes").files


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"flit_width": 12}, "flit_width must be a multiple of 8 bits for AXI4-Stream endpoints, not 12"),
        (
            {"packet_length": 2, "flit_width": 8},
            "packet_length must be at least 3 flits, not 2: the header of AXI4-Stream endpoints takes 2",
        ),
    ],
)
def test_what_does_not_fit(sizes, message):
    with pytest.raises(SpecError, match=f"^{message}$"):
        emit_fabric(fabric_spec("cube(2)", endpoints=AxiStreamSpec(), **sizes))
