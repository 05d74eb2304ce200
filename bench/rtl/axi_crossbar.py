"""The crossbar of the AXI library of the PULP platform, on the bench of :mod:`bench.rtl.axi_rates`."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from bench.rtl.axi_rates import AxiRates, BurstTiming, Load, Lone, read_timings, runs_told
from hdnhw.sim.simulator import BUILD_ARGUMENTS, Build, control_text
from hdnhw.support.errors import SpecError

PACKAGES = ("common_cells/src/cf_math_pkg.sv", "axi/src/axi_pkg.sv")

PHASES = 8
"""Bursts measured of each kind; the crossbar has no slots, so that all take as long."""

CHANNELS = {
    "aw": ("addr len size burst id", "lock cache prot qos region atop user"),
    "ar": ("addr len size burst id", "lock cache prot qos region user"),
    "w": ("data strb last", "user"),
    "b": ("resp id", "user"),
    "r": ("data resp last id", "user"),
}
"""Of each channel, the fields that the bench drives or reads, and the others, which are 0."""

WIDTHS = {"addr": 32, "len": 8, "size": 3, "burst": 2, "data": 32, "strb": 4, "last": 1, "resp": 2}
BACK = ("b", "r")

DATA_BYTES = WIDTHS["strb"]


@dataclass(frozen=True)
class Crossbar:
    """``axi_xbar`` with registers on the channels of addresses, as its documentation recommends.

    Parameters
    ----------
    managers, memories : int
    axi, common_cells : Path
        Folders of the two libraries.
    outstanding : int
        Bursts of a manager, and of a memory, under way at most.
    id_bits, memory_bits : int
        Of a manager's port, and of the addresses of a memory.
    """

    managers: int
    memories: int
    axi: Path
    common_cells: Path
    outstanding: int = 16
    id_bits: int = 4
    memory_bits: int = 16

    def measure(self, case: Sequence[Load | Lone]) -> list[BurstTiming]:
        """See :meth:`AxiRates.measure`."""
        includes = (f"+incdir+{path / 'include'}" for path in (self.axi, self.common_cells))
        libraries = (each for path in (self.axi, self.common_cells) for each in ("-y", str(path / "src")))
        arguments = (*BUILD_ARGUMENTS, "-Wno-lint", "-Wno-fatal", "--no-assert", *includes, *libraries)
        control = control_text([], 'public_flat_rw -module "crossbar" -var "*"')
        build = Build("axi_crossbar", {"bench.vlt": control, **self.files()}, "crossbar", arguments=arguments)
        build.make()
        folder = build.clear_run_folder()
        told = {
            "managers": self.managers,
            "addresses": list(range(self.memories)),
            "memory_bits": self.memory_bits,
            "bytes": DATA_BYTES,
            "phases": PHASES,
            "runs": runs_told(case),
        }
        (folder / "case.json").write_text(json.dumps(told))
        build.run(AxiRates.module, folder)
        return read_timings(case, folder).of(folder)

    def files(self) -> dict[str, str]:
        """Return the packages and the top level; Verilator finds the rest by the names of modules."""
        folders, found = {"axi": self.axi, "common_cells": self.common_cells}, {}
        for package in PACKAGES:
            folder, _, rest = package.partition("/")
            try:
                found[Path(rest).name] = (folders[folder] / rest).read_text()
            except OSError:
                raise SpecError(f"--{folder.replace('_', '-')} must be a folder with {rest}") from None
        return {**found, "crossbar.sv": self.text()}

    def text(self) -> str:
        """Return the top level, with the ports that the bench drives."""
        wide = self.id_bits + (self.managers - 1).bit_length()
        sides = (("s_axi", "in", self.managers, self.id_bits), ("m_axi", "out", self.memories, wide))
        ports, wires = [], []
        for stem, side, count, id_bits in sides:
            for number, (channel, (fields, rest)) in product(range(count), CHANNELS.items()):
                asks = (stem == "s_axi") != (channel in BACK)
                port, structs = f"{stem}_{number}_{channel}", (f"{side}_req[{number}]", f"{side}_rsp[{number}]")
                inward, outward = structs[::-1] if channel in BACK else structs
                led = [
                    (field, WIDTHS.get(field, id_bits), f"{inward}.{channel}.{field}", asks) for field in fields.split()
                ]
                led.append(("valid", 1, f"{inward}.{channel}_valid", asks))
                led.append(("ready", 1, f"{outward}.{channel}_ready", not asks))
                for field, width, wire, is_input in led:
                    ports.append(f"{'input' if is_input else 'output'} logic [{width - 1}:0] {port}{field}")
                    wires.append((wire, f"{port}{field}") if is_input else (f"{port}{field}", wire))
                wires += [(f"{inward}.{channel}.{field}", "'0") for field in rest.split() if asks]
        assigned = "\n".join(f"  assign {one} = {other};" for one, other in wires)
        size = 1 << self.memory_bits
        rules = ", ".join(
            f"'{{idx: {number}, start_addr: {number * size}, end_addr: {(number + 1) * size}}}"
            for number in reversed(range(self.memories))
        )
        inputs = ",\n  ".join(ports)
        return f"""`include "axi/typedef.svh"
module crossbar (
  input logic aclk, input logic aresetn,
  {inputs}
);
  `AXI_TYPEDEF_ALL(in, logic [31:0], logic [{self.id_bits - 1}:0], logic [31:0], logic [3:0], logic)
  `AXI_TYPEDEF_ALL(out, logic [31:0], logic [{wide - 1}:0], logic [31:0], logic [3:0], logic)
  localparam axi_pkg::xbar_cfg_t Cfg = '{{
    NoSlvPorts: {self.managers}, NoMstPorts: {self.memories},
    MaxMstTrans: {self.outstanding}, MaxSlvTrans: {self.outstanding},
    FallThrough: 0, LatencyMode: axi_pkg::CUT_ALL_AX, PipelineStages: 0,
    AxiIdWidthSlvPorts: {self.id_bits}, AxiIdUsedSlvPorts: {self.id_bits}, UniqueIds: 0,
    AxiAddrWidth: 32, AxiDataWidth: 32, NoAddrRules: {self.memories}}};
  localparam axi_pkg::xbar_rule_32_t [{self.memories - 1}:0] Rules = '{{{rules}}};
  in_req_t [{self.managers - 1}:0] in_req;
  in_resp_t [{self.managers - 1}:0] in_rsp;
  out_req_t [{self.memories - 1}:0] out_req;
  out_resp_t [{self.memories - 1}:0] out_rsp;
{assigned}
  axi_xbar #(
    .Cfg(Cfg), .ATOPs(0), .slv_aw_chan_t(in_aw_chan_t), .mst_aw_chan_t(out_aw_chan_t), .w_chan_t(in_w_chan_t),
    .slv_b_chan_t(in_b_chan_t), .mst_b_chan_t(out_b_chan_t), .slv_ar_chan_t(in_ar_chan_t),
    .mst_ar_chan_t(out_ar_chan_t), .slv_r_chan_t(in_r_chan_t), .mst_r_chan_t(out_r_chan_t), .slv_req_t(in_req_t),
    .slv_resp_t(in_resp_t), .mst_req_t(out_req_t), .mst_resp_t(out_resp_t), .rule_t(axi_pkg::xbar_rule_32_t)
  ) xbar (
    .clk_i(aclk), .rst_ni(aresetn), .test_i(1'b0), .slv_ports_req_i(in_req), .slv_ports_resp_o(in_rsp),
    .mst_ports_req_o(out_req), .mst_ports_resp_i(out_rsp), .addr_map_i(Rules),
    .en_default_mst_port_i('0), .default_mst_port_i('0)
  );
endmodule
"""
