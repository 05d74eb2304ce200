"""Block RAM: how much packet buffers take, what is chosen where there is too little, and its output registers."""

import json
import re
from collections.abc import Callable, Iterable

import pytest

from hdnhw.fpga import synth
from hdnhw.fpga.block_ram import block_rams, choose_ram, use_output_registers
from hdnhw.fpga.family import DEVICES, FAMILIES, BlockRam
from hdnhw.fpga.spec import SynthSpec
from hdnhw.machine.machine import Machine, make_machine
from hdnhw.networks.parse import parse
from hdnhw.rtl.router import Router
from hdnhw.spec import FabricSpec
from hdnhw.support.errors import SpecError
from hdnhw.verilog.verilog import module_text
from tests.specs import fabric_spec

ECP5, ICE40 = DEVICES["LFE5U-85F"], DEVICES["iCE40HX8K"]
SPEC = fabric_spec("hdn(cube(2), [[0]])", packet_length=8, flit_width=32, buffers=4)
MEMORY = re.compile(r"reg \[(\d+):0\] \S*(?:flits|counts) *\[(\d+):0\]")


def counted(machine: Machine, kind: BlockRam) -> list[int]:
    """Return the block RAMs of a router of each shape, from the memories in its Verilog."""
    texts = (module_text(Router(machine, shape), "router", flatten=True) for shape in machine.plan.shapes)
    memories = ([(int(last) + 1, int(high) + 1) for high, last in MEMORY.findall(text)] for text in texts)
    return [sum(kind.count(depth, width) for depth, width in own) for own in memories]


@pytest.mark.parametrize(
    ("kind", "depth", "width", "count"),
    [
        (ECP5, 32, 32, 1),
        (ECP5, 512, 36, 1),
        (ECP5, 512, 37, 2),
        (ECP5, 1024, 32, 2),
        (ECP5, 2048, 9, 1),
        (ECP5, 16384, 2, 2),
        (ICE40, 32, 8, 1),
        (ICE40, 256, 16, 1),
        (ICE40, 32, 33, 3),
        (ICE40, 2048, 9, 5),
    ],
)
def test_block_rams_of_a_memory(kind: BlockRam, depth: int, width: int, count: int):
    assert kind.count(depth, width) == count


def test_devices():
    assert {name: kind.available for name, kind in DEVICES.items()} == {
        "LFE5U-25F": 56,
        "LFE5U-85F": 208,
        "iCE40HX8K": 32,
        "LCMXO3LF-6900C": 26,
        "LIFCL-40": 84,
        "GW2A-18C": 46,
        "XC7A100T": 270,
        "5CSEBA6": 557,
    }
    assert {family.device for family in FAMILIES.values()} <= set(DEVICES)


@pytest.mark.parametrize(
    ("network", "options"),
    [
        ("hdn(cube(2), [[0]])", {}),
        ("rdn(cube(3), 1)", {"buffers": 8, "crc": True}),
        ("mesh(3, 4)", {"lanes": 2, "packet_length": 12, "flit_width": 40}),
        ("torus(5)", {"buffers": 128, "monitor": True}),
        ("torus(5)", {"buffers": 16, "packet_length": 64, "queueing": "voq"}),
    ],
)
@pytest.mark.parametrize("kind", [ECP5, ICE40], ids=["ecp5", "ice40"])
def test_block_rams_of_a_fabric(network: str, options: dict[str, object], kind: BlockRam):
    """They are those of the memories in the Verilog of each router."""
    machine = make_machine(FabricSpec(**{"network": parse(network), "packet_length": 8, "ram": "block"} | options))
    of_shape = dict(zip(machine.plan.shapes, counted(machine, kind), strict=True))
    fullest = of_shape[machine.plan.shapes[0]]
    assert fullest > 0
    assert [block_rams(machine, kind, routers=routers) for routers in (1, 3)] == [fullest, 3 * fullest]
    nodes = range(machine.network.num_nodes)
    assert block_rams(machine, kind) == sum(of_shape[machine.plan.shape_of(node)] for node in nodes)


def with_ram(ram: str, **options: object) -> FabricSpec:
    """Return the spec of 16 routers of four inputs each, two block RAMs an input on iCE40."""
    return FabricSpec(**{"network": SPEC.network, "packet_length": 8, "flit_width": 32, "ram": ram} | options)


def test_enough_block_ram():
    for spec in (with_ram("auto"), with_ram("block"), with_ram("distributed"), with_ram("auto", packet_length=2)):
        assert choose_ram(spec, ECP5) is spec
        assert choose_ram(spec, ICE40, routers=1) is spec or spec.ram == "distributed"
    assert block_rams(make_machine(with_ram("auto")), ECP5) <= ECP5.available


def test_auto_is_distributed_where_there_is_too_little():
    chosen = choose_ram(with_ram("auto"), ICE40)
    assert chosen == with_ram("distributed")
    assert not make_machine(chosen).is_block_ram
    few = with_ram("auto", packet_length=2)
    assert choose_ram(few, BlockRam(0, ICE40.shapes)) is few


def test_block_is_refused_where_there_is_too_little():
    needed = block_rams(make_machine(with_ram("block")), ICE40)
    assert needed == 16 * counted(make_machine(with_ram("block")), ICE40)[0] > 32
    with pytest.raises(SpecError) as raised:
        choose_ram(with_ram("block"), ICE40)
    said = f"ram block needs {needed} block RAMs, and the device has 32: use auto or distributed"
    assert str(raised.value) == said


@pytest.mark.parametrize(("unit", "ram"), [("router", "block"), ("fabric", "distributed")])
def test_a_design_is_of_the_ram_that_its_device_has(unit: str, ram: str):
    design = synth._design(SynthSpec(fabric=with_ram("auto"), family="ice40", unit=unit))
    assert design.about["ram"] == ram
    assert ("ram_style" in design.text) == (ram == "block")


Change = Callable[[dict[str, dict]], object]


def flip_flop(number: int) -> dict:
    """Return a flip-flop from net 10 + `number` to net 20 + `number`, clocked by net 2."""
    return {
        "type": "TRELLIS_FF",
        "parameters": {"CEMUX": "1 ", "CLKMUX": "CLK", "GSR": "DISABLED", "LSRMUX": "LSR", "REGSET": "RESET"},
        "port_directions": {"CLK": "input", "DI": "input", "LSR": "input", "Q": "output"},
        "connections": {"CLK": [2], "DI": [10 + number], "LSR": ["0"], "Q": [20 + number]},
    }


def module() -> dict:
    """Return a block RAM with two flip-flops behind it; pin DOB1 is not used."""
    outputs = {"DOA0": [10], "DOB0": [11], "DOB1": [12]}
    inputs = {"CLKA": [2], "CLKB": [2], "CEB": ["1"], "RSTB": ["0"], "OCEA": ["0"], "OCEB": ["1"], "ADB5": [3]}
    ram = {
        "type": "DP16KD",
        "parameters": {"CLKAMUX": "CLKA", "CLKBMUX": "CLKB", "REGMODE_A": "NOREG", "REGMODE_B": "NOREG"},
        "port_directions": dict.fromkeys(outputs, "output") | dict.fromkeys(inputs, "input"),
        "connections": outputs | inputs,
    }
    ports = {"clk": {"direction": "input", "bits": [2]}, "q": {"direction": "output", "bits": [20, 21]}}
    return {"ports": ports, "cells": {"ram": ram, "q_0": flip_flop(0), "q_1": flip_flop(1)}, "netnames": {}}


@pytest.fixture
def netlist(tmp_path):
    """Return a function that writes a netlist of modules and uses output registers: how many, and the modules."""

    def use(*modules: dict) -> tuple[int, list[dict]]:
        path = tmp_path / "netlist.json"
        content = {"modules": {str(number): own for number, own in enumerate(modules)}}
        path.write_text(json.dumps(content, indent=1))
        before = path.read_text()
        changed = use_output_registers(path)
        assert (path.read_text() == before) == (changed == 0)
        return changed, list(json.loads(path.read_text())["modules"].values())

    return use


def test_flip_flops_go_into_the_block_ram(netlist):
    changed, (after,) = netlist(module())
    assert changed == 1
    assert set(after["cells"]) == {"ram"}
    ram = after["cells"]["ram"]
    before = module()["cells"]["ram"]
    moved = {"DOA0": [20], "DOB0": [21], "OCEA": ["1"], "OCEB": ["1"]}
    assert ram["connections"] == before["connections"] | moved
    assert ram["parameters"] == before["parameters"] | {"REGMODE_A": "OUTREG", "REGMODE_B": "OUTREG"}
    assert after["ports"] == module()["ports"]


def test_flip_flops_with_one_enable_go_with_it_and_a_memory_may_read_now_and_then(netlist):
    own = module()
    _enables(own, {"q_0": 4, "q_1": 4})
    own["cells"]["ram"]["connections"]["CEB"] = [7]
    changed, (after,) = netlist(own)
    assert (changed, set(after["cells"])) == (1, {"ram"})
    pins = after["cells"]["ram"]["connections"]
    assert (pins["OCEA"], pins["OCEB"], pins["CEB"]) == ([4], [4], [7])
    assert (pins["DOA0"], pins["DOB0"]) == ([20], [21])


def test_a_second_time_changes_nothing(netlist):
    _, modules = netlist(module())
    assert netlist(*modules) == (0, modules)
    once_more = flip_flop(10) | {"connections": {"CLK": [2], "DI": [20], "LSR": ["0"], "Q": [30]}}
    modules[0]["cells"]["q_2"] = once_more
    modules[0]["ports"]["q"]["bits"] = [30, 21]
    assert netlist(*modules)[0] == 0


def _also_loads(bit: int) -> Change:
    return lambda own: own["cells"].update(
        lut={"type": "LUT4", "parameters": {}, "port_directions": {"A": "input"}, "connections": {"A": [bit]}}
    )


def _enables(own: dict, nets: dict[str, int], mux: str = "CE") -> None:
    for cell, net in nets.items():
        own["cells"][cell]["parameters"]["CEMUX"] = mux
        own["cells"][cell]["connections"]["CE"] = [net]


def _sets(cell: str, of: str, **values: object) -> Change:
    return lambda own: own["cells"][cell][of].update(values)


STAYS: Iterable[tuple[str, Change]] = [
    ("no flip-flop behind", lambda own: own["cells"].pop("q_1") and own["ports"]["q"].update(bits=[20, 11])),
    ("no load", lambda own: [own["cells"].pop(name) for name in ("q_0", "q_1")]),
    ("two loads", _also_loads(10)),
    ("an unused pin is used without flip-flop", _also_loads(12)),
    ("a load outside", lambda own: own["ports"]["q"]["bits"].append(11)),
    ("enable of one", lambda own: _enables(own, {"q_0": 4})),
    ("two enables", lambda own: _enables(own, {"q_0": 4, "q_1": 5})),
    ("inverted enables", lambda own: _enables(own, {"q_0": 4, "q_1": 4}, mux="INV")),
    ("reset", _sets("q_1", "connections", LSR=[5])),
    ("set at first", _sets("q_1", "parameters", REGSET="SET")),
    ("other clock", _sets("q_0", "connections", CLK=[6])),
    ("inverted clock", _sets("q_0", "parameters", CLKMUX="INV")),
    ("inverted clock of the RAM", _sets("ram", "parameters", CLKBMUX="INV")),
    ("other clock of the port that writes", _sets("ram", "connections", CLKA=[6])),
    ("is reset", _sets("ram", "connections", RSTB=[7])),
]


@pytest.mark.parametrize("change", [pytest.param(change, id=name) for name, change in STAYS])
def test_flip_flops_that_stay(netlist, change: Change):
    own = module()
    change(own)
    assert netlist(own) == (0, [own])
    assert netlist(own, module())[0] == 1


def test_a_netlist_without_block_ram(netlist):
    assert netlist() == (0, [])
    assert netlist({"ports": {}, "cells": {"q": flip_flop(0)}})[0] == 0
