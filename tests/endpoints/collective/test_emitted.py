"""The Verilog with collective engines, as other tools read it, and the manifest against it."""

import re

import pytest

from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.networks.build import build
from hdnhw.spec import OPERATIONS, OPERATORS
from hdnhw.support.errors import SpecError
from hdnhw.verilog.fabric import emit_fabric, write_fabric
from tests.specs import fabric_spec


def spec_of(text, *, operations=("broadcast", "exchange"), root=0, **sizes):
    about = {name: sizes.pop(name) for name in ("operators", "numbers", *MESSAGES) if name in sizes}
    engines = CollectiveSpec(operations=operations, root=root, **about)
    return fabric_spec(text, endpoints=engines, **sizes)


MESSAGES = ("message_packets", "variable_messages")


@pytest.fixture(scope="module")
def fabric():
    """Return a fabric with holes in its addresses and headers of three flits."""
    return emit_fabric(spec_of("hdn(torus(3), [[0]])", root=4, packet_length=5, flit_width=6, buffers=4))


def test_tools_have_nothing_to_say(fabric, complaints, tmp_path):
    sources = [path for path in write_fabric(fabric, tmp_path) if path.suffix == ".sv"]
    assert [path.name for path in sources] == ["fabric.sv", "fabric_collective.sv"]
    assert complaints(sources, "fabric_collective") == []


def test_tools_have_nothing_to_say_of_engines_that_combine(complaints, tmp_path):
    """Of packets of one data flit, which need a memory that gives what is being written, and several a message."""
    sizes = {"packet_length": 2, "flit_width": 32, "operators": OPERATORS, "numbers": "int16", "message_packets": 3}
    fabric = emit_fabric(spec_of("cube(2)", operations=OPERATIONS[4:], **sizes))
    sources = [path for path in write_fabric(fabric, tmp_path) if path.suffix == ".sv"]
    assert complaints(sources, "fabric_collective") == []
    endpoints = fabric.manifest["endpoints"]
    assert (endpoints["operators"], endpoints["numbers"]) == (list(OPERATORS), "int16")
    assert endpoints["ports"]["operation_N_payload"]["fields"]["operator"] == {"offset": 3, "width": 3}
    assert endpoints["ports"]["operation_N_payload"]["fields"]["member"] == {"offset": 6, "width": 1}
    assert endpoints["ports"]["operation_N_payload"]["width"] == 7
    assert endpoints["packet"]["header"]["member"]["width"] == 1
    assert endpoints["packet"]["header"]["operator"]["width"] == 3
    assert endpoints["packet"]["data_flits"] == 1
    # Four blocks of its own, of three packets, and none for those of others; four results in the end.
    assert endpoints["message_buffers"] == 4 * 3 + 2 * endpoints["window"]
    assert endpoints["message_packets"] == 3
    assert endpoints["packet"]["header"]["part"]["width"] == 2
    result = endpoints["ports"]["result_N_payload"]
    assert result["fields"]["part"] == {"offset": 32 + 2, "width": 2}
    assert result["fields"]["last"] == {"offset": result["width"] - 1, "width": 1}


def test_engines_of_variable_messages_differ_by_what_counts_their_packets(complaints, tmp_path):
    sizes = {"packet_length": 4, "message_packets": 5}
    equal, variable = (
        emit_fabric(spec_of("cube(2)", variable_messages=given, **sizes)).manifest["endpoints"]
        for given in (False, True)
    )
    assert variable.pop("variable_messages")
    meaning = "data flits of the node's own messages"
    assert equal["ports"]["message_N_payload"]["meaning"] == meaning
    about = variable["ports"]["message_N_payload"]
    assert about["meaning"] == f"{meaning}, in front of each one with how many packets it has"
    about["meaning"] = meaning
    assert all(equal.pop(name) != variable.pop(name) for name in ("digest", "options"))
    assert equal == variable, "headers and buffers too"
    fabric = emit_fabric(spec_of("cube(2)", variable_messages=True, flit_width=4, packet_length=8, message_packets=9))
    sources = [path for path in write_fabric(fabric, tmp_path) if path.suffix == ".sv"]
    assert complaints(sources, "fabric_collective") == []


def test_manifest_is_the_file(fabric):
    endpoints, text = fabric.manifest["endpoints"], fabric.files["fabric_collective.sv"]
    assert re.findall(r"^module ([^\s(]+)", text, re.MULTILINE) == ["fabric_collective_engine", "fabric_collective"]
    top = text[text.index("module fabric_collective(") :]
    declared = dict.fromkeys(["clk", "rst"], 1)
    for width, name in re.findall(r"^  (?:input|output) (?:wire|reg)? ?(?:\[(\d+):0\])? ?\\?(\w+)", top, re.MULTILINE):
        declared[name] = int(width or 0) + 1
    due = {}
    for name, port in endpoints["ports"].items():
        due |= {re.sub("_N", f"_{node}", name): port["width"] for node in range(6)}
    assert declared == due
    assert endpoints["operations"] == ["broadcast", "exchange"]
    assert endpoints["roots"] == {"broadcast": 4, "exchange": None}
    header = endpoints["packet"]["header"]
    assert header["dst"] == {"offset": 0, "width": 3}
    assert endpoints["packet"]["header_flits"] == 3
    assert "message_packets" not in endpoints, "a message is a packet"
    # Of six messages two come in each step on a ring, perhaps before two have gone.
    assert endpoints["message_buffers"] == 6 + 2 + 3 * endpoints["window"]


def test_where_a_host_says_that_its_node_is_a_member(fabric):
    """Without operators above the operation; engines that have no groups have no place for it."""
    payload = emit_fabric(spec_of("cube(2)", operations=("exchange", "join"))).manifest["endpoints"]["ports"]
    fields = {"operation": {"offset": 0, "width": 2}, "member": {"offset": 2, "width": 1}}
    assert (payload["operation_N_payload"]["fields"], payload["operation_N_payload"]["width"]) == (fields, 3)
    assert "fields" not in fabric.manifest["endpoints"]["ports"]["operation_N_payload"]
    assert "member" not in fabric.manifest["endpoints"]["packet"]["header"]


def test_engines_are_one_module_for_all_nodes(fabric):
    text = fabric.files["fabric_collective.sv"]
    assert len(re.findall(r"^  fabric_collective_engine ", text, re.MULTILINE)) == 6


def test_a_barrier_adds_wires_beside_the_links_and_nothing_else_changes(fabric):
    spec = spec_of("mesh(2, 3)", operations=("broadcast", "barrier"), packet_length=2, flit_width=48)
    with_barrier, network = emit_fabric(spec), build(spec.network)
    entry, text = with_barrier.manifest["endpoints"], with_barrier.files["fabric_collective.sv"]
    assert entry["operations"] == ["broadcast", "barrier"]
    assert entry["barrier"] == {"rounds": 3, "cycles": 4}
    assert "barrier" not in fabric.manifest["endpoints"]
    engines = dict(re.findall(r"^  fabric_collective_engine engine_(\d+) \((.*?)\);", text, re.MULTILINE | re.DOTALL))
    wires = {int(node): dict(re.findall(r"\.(\w*signal)\((\S+)\)", pins)) for node, pins in engines.items()}
    assert len(wires) == 6
    for node, pins in wires.items():
        near = network.neighbors(node)
        due = {
            f"{port.name}_signal": wires[near[port.name]]["signal"] if port.name in near else "1'h1"
            for port in network.ports
        }
        assert pins == due | {"signal": pins["signal"]}
    assert len({pins["signal"] for pins in wires.values()}) == 6


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("cube(2)", {"root": 4}, "root must be 0 to 3 on cube(2), not 4"),
        ("cube(2)", {"operations": ["barrier"]}, "operations must have one that sends packets beside barrier: "),
        (
            "cube(2)",
            {"operations": ("frobnicate",)},
            "operations must be one of broadcast, scatter, allgather, exchange,",
        ),
        ("cube(2)", {"message_packets": 0}, "message_packets must be 1 to 256 packets, not 0"),
        (
            "cube(2)",
            {"operations": ("scan",), "message_packets": 2},
            "message_packets must be 1 for allreduce-short, scan, exscan, not 2: a vector is one packet",
        ),
        (
            "cube(2)",
            {"operations": ("scan", "exscan"), "variable_messages": True},
            "variable_messages must be left out for allreduce-short, scan, exscan: a vector is one packet there",
        ),
        (
            "cube(2)",
            {"message_packets": 8, "variable_messages": True, "flit_width": 3, "packet_length": 8},
            "flit_width must be at least 4 bits, which say how many of 8 packets a message has, not 3",
        ),
        ("cube(2)", {"operators": ()}, "operators must be one of sum, min, max, and, or, xor, not ()"),
        ("cube(2)", {"numbers": "float32"}, "numbers must be one of int8, int16, int32, int64, uint8,"),
        (
            "cube(2)",
            {"operations": ("reduce",), "numbers": "int64"},
            "flit_width must be a multiple of 64 bits for int64, not 32",
        ),
        ("cube(2)", {"flit_width": 4, "packet_length": 3}, "packet_length must be at least 4 flits, not 3: the header"),
    ],
)
def test_what_cannot_be(text, options, message):
    with pytest.raises(SpecError, match=f"^{re.escape(message)}"):
        emit_fabric(spec_of(text, **options))
