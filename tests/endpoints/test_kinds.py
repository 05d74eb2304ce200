"""A kind of endpoints is a folder: with one more there are its options, hardware, manifest, test and proofs."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KIND = {
    "__init__": '"""Masks."""',
    "spec": """
from dataclasses import dataclass
from typing import ClassVar

from hdnhw.spec.endpoints import EndpointSpec
from hdnhw.spec.options import Size, option


@dataclass(frozen=True, kw_only=True)
class BitMaskSpec(EndpointSpec):
    kind: ClassVar[str] = "bit-mask"
    title: ClassVar[str] = "masks"
    test: ClassVar[str] = "masks"

    mask: int = option(1, Size, "what is turned over in each flit that comes out", metavar="M", least=0, most=255)


SPEC = BitMaskSpec
""",
    "mask": """
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.channel import ejection_signature, injection_signature
from hdnhw.rtl.terminal import EndpointFabric


class Mask(wiring.Component):
    def __init__(self, machine):
        self.machine, width = machine, machine.spec.flit_width
        inject, eject = injection_signature(flit_width=width), ejection_signature(flit_width=width)
        streams = {"send": In(inject), "inject": Out(inject), "eject": In(eject), "take": Out(eject)}
        super().__init__({"address": In(machine.address.width), **streams})

    def elaborate(self, platform):
        m, flit, taken, there = Module(), self.eject.payload, self.take.payload, self.take.valid
        wiring.connect(m, wiring.flipped(self.send), wiring.flipped(self.inject))
        m.d.comb += self.eject.ready.eq(~there | self.take.ready)
        with m.If(self.eject.ready):
            m.d.sync += [there.eq(self.eject.valid), taken.last.eq(flit.last)]
            m.d.sync += taken.data.eq(flit.data ^ self.machine.spec.endpoints.mask)
        return m


class MaskFabric(EndpointFabric):
    def _members(self):
        nodes, width = self.machine.network.num_nodes, self.machine.spec.flit_width
        inject, eject = injection_signature(flit_width=width), ejection_signature(flit_width=width)
        return {"inject": In(inject).array(nodes), "eject": Out(eject).array(nodes)}

    def elaborate(self, platform):
        m = Module()
        self._elaborate_nodes(m, "mask", lambda node: {"send": self.inject[node], "take": self.eject[node]}, {})
        return m
""",
    "emitted": """
from hdnhw.endpoints.bit_mask.mask import Mask, MaskFabric
from hdnhw.verilog.endpoint import EmittedEndpoints


class EmittedMasks(EmittedEndpoints):
    suffix, unit_suffix, has_streams = "_masks", "_unit", True

    def unit(self):
        return Mask(self.machine)

    def around(self, parts):
        return MaskFabric(self.machine, parts)

    def entry(self):
        ports = {name: port for name, port in self.fabric_ports.items() if name != "dropped_N"}
        return {"mask_module": self.modules.unit, "ports": ports}


EMITTED = EmittedMasks
""",
    "bench": """
import json
from dataclasses import dataclass

from hdnhw.endpoints.bit_mask.spec import BitMaskSpec
from hdnhw.sim.runner import TopLevelBench


@dataclass(frozen=True)
class MaskVerdict:
    flits: int
    wrong: int

    @property
    def passed(self):
        return self.wrong == 0


class MaskBench(TopLevelBench):
    name, module, kind = "masks", "hdnhw.endpoints.bit_mask.bench_cocotb", BitMaskSpec
    summary = "{flits} flits: {wrong} wrong"

    def asked_case(self, asked):
        length, head = self.machine.spec.packet_length, self.machine.address.of_node(1)
        return [head if flit % length == 0 else flit for flit in range(length * asked.packets)]

    def check(self, case, folder):
        came, mask = json.loads((folder / "result.json").read_text()), self.machine.spec.endpoints.mask
        wrong = sum(one ^ mask != other for one, other in zip(case, came, strict=True))
        return MaskVerdict(len(case), wrong)


BENCH = MaskBench
""",
    "bench_cocotb": """
import json
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge

LIMIT = 1000


@cocotb.test()
async def flits(dut):
    due, came = json.loads(Path("case.json").read_text()), []
    dut.rst.value, dut.inject_0_valid.value, dut.eject_1_ready.value = 1, 0, 1
    Clock(dut.clk, 10, "ns").start(start_high=False)
    for _ in range(2):
        await RisingEdge(dut.clk)
    dut.rst.value, sent = 0, 0
    for _ in range(LIMIT):
        dut.inject_0_valid.value = sent < len(due)
        dut.inject_0_payload.value = due[min(sent, len(due) - 1)]
        await ReadOnly()
        sent += bool(dut.inject_0_valid.value) and bool(dut.inject_0_ready.value)
        if dut.eject_1_valid.value:
            came.append(int(dut.eject_1_payload.value) & (1 << 32) - 1)
        if len(came) == len(due):
            break
        await RisingEdge(dut.clk)
    Path("result.json").write_text(json.dumps(came))
""",
}
RUN = """
import sys
sys.path[:0] = {!r}
import hdnhw.cli
assert hdnhw.__file__.startswith({!r})
{}
"""
HELP = """
for name in ("emit", "prove", "synth"):
    try:
        hdnhw.cli.main([name, "--help"])
    except SystemExit:
        pass
"""
PYTHON = """
from pathlib import Path
from hdnhw.endpoints.bit_mask.mask import MaskFabric
from hdnhw.verilog.component import fabric_component
from hdnhw.verilog.folder import read_fabric
assert read_fabric(Path("out")).machine.spec.endpoints == hdnhw.BitMaskSpec(mask=6)
spec = hdnhw.FabricSpec(network=hdnhw.parse("cube(1)"), endpoints=hdnhw.BitMaskSpec(mask=2))
component = fabric_component(spec)
component._MustUse__silence = True
assert type(component) is MaskFabric and "BitMaskSpec" in dir(hdnhw)
"""


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Return a function that runs a program where the sources have one folder more, and returns what it prints."""
    for name in ("hdnhw", "sim", "boards"):
        shutil.copytree(ROOT / name, tmp_path / name)
    folder = tmp_path / "hdnhw" / "endpoints" / "bit_mask"
    folder.mkdir()
    for name, source in KIND.items():
        (folder / f"{name}.py").write_text(source.lstrip())
    packages = [path for path in sys.path if path.endswith("site-packages")]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", ":".join([str(tmp_path), *packages]))

    def run(program):
        code = RUN.format([str(tmp_path), *packages], str(tmp_path), program)  # -S: the sources installed are others
        done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def command(line):
    return f"import shlex; sys.exit(hdnhw.cli.main(shlex.split({line!r})))"


def test_a_kind_in_one_folder(tree, tmp_path):
    told = tree(HELP)
    assert told.count("{axi-stream,axi4,bit-mask,collective,exchange,relay}") == 6  # in the usage, too
    assert told.count("masks:\n  --mask M") == 3
    tree(command("emit 'cube(1)' -o out --endpoints bit-mask --mask 6"))
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    endpoints = manifest["endpoints"]
    assert (manifest["top"], endpoints["type"], endpoints["options"]) == ("fabric_masks", "bit-mask", {"mask": 6})
    assert {"fabric_masks", "fabric_masks_unit"} <= set(manifest["modules"])
    text = (tmp_path / "out" / "fabric_masks.sv").read_text()
    assert text.count("fabric_masks_unit mask_") == 2
    tree(PYTHON)


def test_the_bench_of_a_kind_is_a_test_of_cosim(tree):
    found = json.loads(tree(command("cosim 'cube(1)' --test masks --mask 6 --packets 3 --json")))
    assert {name: found[name] for name in ("test", "flits", "wrong", "passed")} == {
        "test": "masks",
        "flits": 24,
        "wrong": 0,
        "passed": True,
    }


def test_streams_of_a_kind_are_proved(tree):
    findings = json.loads(tree(command("prove 'cube(1)' --endpoints bit-mask --json")))["findings"]
    own = [(row["property"], row["part"], row["answer"]) for row in findings if row["module"] == "fabric_masks_unit"]
    assert own == [("streams", "inject", "proved"), ("streams", "take", "proved")]
