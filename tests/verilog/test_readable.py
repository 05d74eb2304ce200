"""The text for readers has the logic of the one for tools, and its names."""

import re

import pytest

from hdnhw.cli import main
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.fpga.yosys import YosysError, run_yosys
from hdnhw.verilog.fabric import emit_fabric
from hdnhw.verilog.readable import readable
from tests.specs import fabric_spec

SMALL = {"packet_length": 2, "flit_width": 8, "buffers": 2}
MACHINES = {
    "one class": fabric_spec("cube(2)", **SMALL),
    "rings": fabric_spec("torus(5)", **SMALL),
    "checked": fabric_spec("hdn(cube(2), [[0]])", dead_pins=True, crc=True, **SMALL),
    "virtual output queues": fabric_spec("torus(3)", queueing="voq", **SMALL),
    "long slots": fabric_spec("rdn(cube(1), 1)"),
    "engines": fabric_spec("cube(2)", endpoints=CollectiveSpec(), packet_length=4, flit_width=32),
}

READ = """read_verilog -sv {file}
hierarchy -top {top}
proc
flatten
memory
opt_clean
techmap
dffunmap
opt_clean
rename {top} {name}
design -stash {name}
"""

COMPARE = """design -copy-from gold -as gold gold
design -copy-from gate -as gate gate
equiv_make gold gate equiv
hierarchy -top equiv
equiv_simple
equiv_status -assert
"""


def are_equal(one, other, top, folder):
    """Prove that registers and outputs of two texts take the same."""
    (folder / "one.sv").write_text(one)
    (folder / "other.sv").write_text(other)
    pairs = (("one.sv", "gold"), ("other.sv", "gate"))
    read = "".join(READ.format(file=file, top=top, name=name) for file, name in pairs)
    try:
        run_yosys(read + COMPARE, cwd=folder)
    except YosysError:
        return False
    return True


def registers(text):
    return set(re.findall(r"^  reg (?:\[\d+:0\] )?(\\?\S+?) ?[ ;]", text, re.MULTILINE))


@pytest.mark.parametrize("name", MACHINES)
def test_the_text_for_readers_has_the_same_logic(name, tmp_path):
    fabric = emit_fabric(MACHINES[name])
    text = "\n".join(fabric.verilog.values())
    shown = readable(text)
    assert shown.count("\n") < 0.7 * text.count("\n")
    assert registers(shown) == registers(text)
    for module in fabric.blocks:
        assert are_equal(text, shown, module, tmp_path), module


def test_another_gate_is_seen(tmp_path):
    fabric = emit_fabric(MACHINES["one class"])
    shown = readable(fabric.text)
    router = shown[: shown.index("endmodule")]
    places = [found.end() - 2 for found in re.finditer(r"  assign .* & ", router)]
    assert len(places) > 20
    for place in places[:: len(places) // 3]:
        changed = f"{shown[:place]}|{shown[place + 1 :]}"
        assert not are_equal(fabric.text, changed, fabric.modules.routers[0], tmp_path)


def test_it_stands_beside_the_text_for_tools(tmp_path):
    command = ["emit", "cube(2)", "--packet-length", "2", "--endpoints", "relay", "-o", str(tmp_path / "noc")]

    def files():
        return {path.name: path.read_text() for path in (tmp_path / "noc").iterdir()}

    assert main([*command, "--readable"]) == 0
    both = files()
    assert main(command) == 0, "without, the text of before goes"
    plain = files()
    shown = both.pop("fabric_readable.txt")
    assert both == plain
    assert shown == "\n".join(readable(plain[name]) for name in ("fabric.sv", "fabric_relay.sv"))
