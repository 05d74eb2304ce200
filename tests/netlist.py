"""Routers as they are mapped to ECP5 in the bench of cosim, and with the pass for block RAM broken; ten minutes.

The text of each router and ejection buffer is replaced by its netlist, made as `synth` makes it, output registers of
block RAMs included. It must be the model in every cycle. A netlist that a broken pass has made must not be.
"""

import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hdnhw.cli.options import Parser
from hdnhw.fpga.block_ram import use_output_registers
from hdnhw.fpga.family import FAMILIES
from hdnhw.fpga.yosys import run_yosys
from hdnhw.proofs.netlist import text_of
from hdnhw.sim.streams import StreamBench
from hdnhw.topology.faults import draw_faults
from hdnhw.topology.metrics import neighbor_table
from hdnhw.verilog.fabric import EmittedFabric, emit_fabric
from tests.specs import fabric_spec

MACHINES = (
    fabric_spec("hdn(cube(1), [[]])"),
    fabric_spec("torus(3)", crc=True, dead_pins=True),
    fabric_spec("rdn(cube(1), 1)", queueing="voq", buffers=8),
)
"""Two virtual channels; check bits and dead pins; virtual output queues. All have their packets in block RAM."""

_CONTROLS = "CEA OCEA CLKA WEA CSA2 CSA1 CSA0 RSTA CEB OCEB CLKB WEB CSB2 CSB1 CSB0 RSTB"

_PINS = {
    "input": [
        *_CONTROLS.split(),
        *(f"{side}{bit}" for side in ("DIA", "DIB") for bit in range(18)),
        *(f"{side}{bit}" for side in ("ADA", "ADB") for bit in range(14)),
    ],
    "output": [f"{side}{bit}" for side in ("DOA", "DOB") for bit in range(18)],
}

_PARAMETERS = """
DATA_WIDTH_A=18, DATA_WIDTH_B=18, REGMODE_A="NOREG", REGMODE_B="NOREG", RESETMODE="SYNC", WID=0, GSR="DISABLED",
ASYNC_RESET_RELEASE="SYNC", CSDECODE_A="0b000", CSDECODE_B="0b000", CLKAMUX="CLKA", CLKBMUX="CLKB", INIT_DATA="STATIC",
WRITEMODE_A="NORMAL", WRITEMODE_B="NORMAL"
"""


def _row(name: str, high: int, low: int = 0) -> str:
    """Return pins of a block RAM as a word."""
    return ", ".join(f"{name}{bit}" for bit in range(high, low - 1, -1))


BLOCK_RAM = f"""
module DP16KD({", ".join([*_PINS["input"], *_PINS["output"]])});
  parameter {_PARAMETERS.strip()};
  {"".join(f"parameter INITVAL_{place:02X} = 320'd0; " for place in range(64))}
  input {", ".join(_PINS["input"])};
  output {", ".join(_PINS["output"])};
  // 512 words of 36 bits, as FPGA-TN-02204 has them: A writes, with an enable for nine bits each, and B reads.
  reg [35:0] words [0:511];
  reg [35:0] read, kept;
  wire [35:0] written = {{ {_row("DIB", 17)}, {_row("DIA", 17)} }};
  wire [8:0] to = {{ {_row("ADA", 13, 5)} }}, from = {{ {_row("ADB", 13, 5)} }};
  wire [3:0] lanes = {{ {_row("ADA", 3)} }} & {{4{{CEA & WEA}}}};
  always @(posedge CLKA) begin
    if (lanes[0]) words[to][8:0] <= written[8:0];
    if (lanes[1]) words[to][17:9] <= written[17:9];
    if (lanes[2]) words[to][26:18] <= written[26:18];
    if (lanes[3]) words[to][35:27] <= written[35:27];
  end
  always @(posedge CLKB) begin
    if (CEB) read <= words[from];
    if (OCEA) kept[17:0] <= read[17:0];
    if (OCEB) kept[35:18] <= read[35:18];
  end
  assign {{ {_row("DOA", 17)} }} = REGMODE_A == "OUTREG" ? kept[17:0] : read[17:0];
  assign {{ {_row("DOB", 17)} }} = REGMODE_B == "OUTREG" ? kept[35:18] : read[35:18];
endmodule
"""
"""A block RAM of ECP5 as the pseudo dual port memory that Yosys makes of it, which is all that is used here."""

Pins = dict[str, list[Any]]


def _stay_out(_pins: Pins, options: dict[str, Any]) -> None:
    """Take registers away, and use none of the block RAM."""
    options["REGMODE_A"] = options["REGMODE_B"] = "NOREG"


def _wait(pins: Pins, _options: dict[str, Any]) -> None:
    """Never enable them."""
    pins["OCEA"] = pins["OCEB"] = ["0"]


def _turn(pins: Pins, _options: dict[str, Any]) -> None:
    """Let two of them change places."""
    pins["DOA0"], pins["DOA1"] = pins["DOA1"], pins["DOA0"]


BROKEN: Mapping[str, Callable[[Pins, dict[str, Any]], None]] = {
    "output registers left out": _stay_out,
    "output registers that keep what they have": _wait,
    "two outputs that change places": _turn,
}
"""How the pass for output registers of block RAMs may be wrong: each does this to a block RAM that it has changed."""


def mapped(fabric: EmittedFabric, broken: Callable[[Pins, dict[str, Any]], None] | None = None) -> EmittedFabric:
    """Return a fabric with the netlists of its routers and ejection buffers in place of their text."""
    text = fabric.text
    for module in (*fabric.modules.routers, fabric.modules.ejection):
        own = text_of(text, module)
        text = text.replace(own, _netlist(own, module, broken))
    return replace(fabric, files={**fabric.files, f"{fabric.modules.top}.sv": text})


def _netlist(text: str, module: str, broken: Callable[[Pins, dict[str, Any]], None] | None) -> str:
    """Return Verilog of a module mapped to ECP5, its cells as plain logic."""
    with tempfile.TemporaryDirectory() as folder:
        work, path = Path(folder), Path(folder) / "netlist.json"
        (work / "text.sv").write_text(text)
        (work / "ram.v").write_text(BLOCK_RAM)
        script = FAMILIES["ecp5"].script(module, flat=True)
        run_yosys(f"read_verilog -sv text.sv\n{script}write_json netlist.json\n", cwd=work)
        use_output_registers(path)
        if broken is not None:
            netlist = json.loads(path.read_text())
            for cell in netlist["modules"][module]["cells"].values():
                if cell["type"] == "DP16KD" and cell["parameters"]["REGMODE_A"] == "OUTREG":
                    broken(cell["connections"], cell["parameters"])
            path.write_text(json.dumps(netlist))
        cells = "delete =A:blackbox\nread_verilog -overwrite +/ecp5/cells_sim.v\nread_verilog -overwrite -sv ram.v\n"
        run_yosys(
            f"read_json netlist.json\n{cells}hierarchy -top {module}\nproc\nflatten -wb\nopt_clean\nmemory_collect\n"
            "write_verilog -noattr mapped.v\n",
            cwd=work,
        )
        return text_of((work / "mapped.v").read_text(), module)


def mismatches(fabric: EmittedFabric, packets: int, seed: int) -> int:
    """Return in how many packets, in random traffic, a fabric is not the model, lost ones and late ones included."""
    bench = StreamBench(fabric)
    faults = None
    if fabric.machine.spec.dead_pins:
        faults = draw_faults(neighbor_table(fabric.machine.network), np.random.default_rng(seed), nodes=0, channels=1)
    found = bench.run("random", packets=packets, seed=seed).verdict
    wrong = found.cycle_mismatches + found.lost + (not found.passed)
    if faults is not None:
        wrong += not bench.run("faults", packets=packets, seed=seed, faults=faults).verdict.passed
    return int(wrong)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare netlists with the model; return 1 if one differs, or a broken one does not."""
    parser = Parser(prog="tests/netlist.py", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="draws the packets (default 1)")
    parser.add_argument("--count", type=int, default=20_000, help="packets of each machine (default 20000)")
    options = parser.parse_args(arguments)
    passed = True
    for spec in MACHINES:
        fabric = emit_fabric(spec)
        wrong = mismatches(mapped(fabric), options.count, options.seed)
        passed &= wrong == 0
        print(f"{spec.network}: {options.count} packets, {wrong} other than in the model", flush=True)
        for name, how in BROKEN.items():
            seen = mismatches(mapped(fabric, how), 1000, options.seed) > 0
            passed &= seen
            print(f"  {name}: {'seen' if seen else 'NOT SEEN'}", flush=True)
    print(f"passed {str(passed).lower()}")
    return int(not passed)


if __name__ == "__main__":
    sys.exit(main())
