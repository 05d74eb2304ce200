"""A monitor under endpoints of each kind: its port, and its words at the end of a run."""

import re
from pathlib import Path

import pytest

from hdnhw.endpoints import declared
from hdnhw.endpoints.axi4.bench import MemoryBench
from hdnhw.fpga.tools import ToolError
from hdnhw.machine.monitor import WORD_BYTES, MonitorMap, words_of
from hdnhw.networks.parse import parse
from hdnhw.sim.compare import count_unbalanced
from hdnhw.spec import FabricSpec
from hdnhw.support.errors import SpecError
from hdnhw.support.manifest import top_ports
from hdnhw.verilog.fabric import emit_fabric

SIGNALS = [
    *("awaddr", "awprot", "awvalid", "awready", "wdata", "wstrb", "wvalid", "wready", "bresp", "bvalid", "bready"),
    *("araddr", "arprot", "arvalid", "arready", "rdata", "rresp", "rvalid", "rready"),
]
"""Of AXI4-Lite, as the specification has them."""


def spec(kind=None, **sizes):
    endpoints = declared("spec")[kind]() if kind else None
    return FabricSpec(network=parse("cube(2)"), monitor=True, endpoints=endpoints, **sizes)


@pytest.mark.parametrize("kind", [None, *declared("spec")])
def test_every_top_level_leads_to_the_monitor(kind):
    fabric = emit_fabric(spec(kind), node_clocks=kind in (None, "axi4"), wrapper=True)
    text = "".join(fabric.verilog.values())
    around = ["fabric", *(part.top for part in (fabric.endpoints, fabric.clocks) if part is not None)]
    for inside, top in zip(["fabric_monitor", *around], around, strict=False):
        (module,) = re.findall(rf"^module {top}\(.*?^endmodule", text, re.DOTALL | re.MULTILINE)
        (instance,) = re.findall(rf"^  {inside} .*?;$", module, re.DOTALL | re.MULTILINE)
        joined = dict(re.findall(r"\.(\w+)\(\s*(\S+?)\s*\)", instance))
        stem = "axi__" if top == "fabric" else "monitor_"
        assert [joined.get(stem + name) for name in SIGNALS] == [f"monitor_{name}" for name in SIGNALS], (top, joined)
    ports = [name for name in top_ports(fabric.manifest) if name.startswith("monitor_")]
    assert ports == [f"monitor_{name}" for name in SIGNALS]
    assert ".monitor_araddr(monitor_araddr)" in fabric.files[fabric.manifest["wrappers"]["packed"]["file"]]


def test_a_monitor_does_not_go_with_chips():
    from hdnhw.spec.chips import ChipOptions

    with pytest.raises(SpecError, match="chips does not go with monitor: its chain goes through one chip"):
        emit_fabric(spec("axi4"), cut=ChipOptions(chips="dim0=2"))


def test_packets_of_bursts_are_counted_as_come_and_gone():
    bench = MemoryBench(emit_fabric(spec("axi4")))
    run = bench.run_case(bench.make_case(bursts=60, seed=1), keep=True)
    assert run.verdict.passed
    words = list(map(int, Path(bench.build.run_folder("axi4"), "words").read_text().split()))
    assert count_unbalanced(words, bench.machine) == 0
    own, machine = MonitorMap.of(bench.machine), bench.machine
    stride = own.stride // WORD_BYTES
    swapped = [*words[:stride], *words[2 * stride : 3 * stride], *words[stride : 2 * stride], *words[3 * stride :]]
    assert count_unbalanced(swapped, machine) > 0
    for number, word in enumerate(words_of(machine, machine.plan.shape_of(1))):
        place = own.address(1, number) // WORD_BYTES
        changed = [*words[:place], words[place] + 1, *words[place + 1 :]]
        assert (count_unbalanced(changed, machine) > 0) == (word.kind != "stalled")
    assert count_unbalanced([words[0]] + [0] * (len(words) - 1), machine) == own.nodes


def test_a_run_whose_counts_are_lost_fails(monkeypatch):
    bench = MemoryBench(emit_fabric(spec("axi4")))
    monkeypatch.setattr("hdnhw.sim.runner.count_unbalanced", lambda *_: 3)
    with pytest.raises(ToolError, match="monitors of 3 routers have lost count"):
        bench.run_case(bench.make_case(bursts=20, seed=1))
