"""Interconnects of the PULP platform on the bench of :mod:`bench.rtl.axi_rates`: a crossbar and a mesh."""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import isqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from bench.rtl.axi_rates import AxiRates, BurstTiming, Load, Lone, read_timings, told
from hdnhw.fpga.synth import synthesize_other
from hdnhw.fpga.yosys import run_yosys
from hdnhw.sim.simulator import BUILD_ARGUMENTS, Build, control_text
from hdnhw.support.errors import SpecError

PHASES = 8
"""Bursts measured of each kind; nothing has slots here, so that all take as long."""

DATA_BYTES = 8
ID_BITS, MEMORY_BITS, OUTSTANDING = 4, 16, 16
"""Bits of the IDs of a manager and of the addresses of a memory; bursts under way at most at a port of the crossbar."""

CHANNELS = {
    "aw": ("addr len size burst id", "lock cache prot qos region atop user"),
    "ar": ("addr len size burst id", "lock cache prot qos region user"),
    "w": ("data strb last", "user"),
    "b": ("resp id", "user"),
    "r": ("data resp last id", "user"),
}
"""Of each channel, the fields that the bench drives or reads, and the others, which are 0."""

WIDTHS = {"addr": 32, "len": 8, "size": 3, "burst": 2, "data": 8 * DATA_BYTES, "strb": DATA_BYTES, "last": 1, "resp": 2}
BACK = ("b", "r")


@dataclass(frozen=True)
class Peer(ABC):
    """An interconnect with as many ports for memories as for managers.

    Parameters
    ----------
    ports : int
    folders : dict of str to Path
        Name of a library -> its folder.

    Attributes
    ----------
    packages : tuple of str
        Files that Verilator reads first, each behind the name of its library.
    reaches_own : bool
        Whether a manager reaches the memory of its number.
    """

    ports: int
    folders: dict[str, Path]

    packages: ClassVar[tuple[str, ...]] = ("common_cells/src/cf_math_pkg.sv", "axi/src/axi_pkg.sv")
    reaches_own: ClassVar[bool] = True

    def measure(self, case: Sequence[Load | Lone]) -> list[BurstTiming]:
        """See :meth:`AxiRates.measure`."""
        includes = (f"+incdir+{path}" for path in self._folders("include", "hw/include"))
        libraries = (each for path in self._folders("src", "hw") for each in ("-y", str(path)))
        arguments = (*BUILD_ARGUMENTS, "-Wno-lint", "-Wno-fatal", "--no-assert", *includes, *libraries)
        control = control_text([], *(f'public_flat_rw -module "peer" -var "{name}"' for name in ("a*", "?_axi_*")))
        build = Build("axi_peer", {"bench.vlt": control, **self.files()}, "peer", arguments=arguments)
        build.make()
        folder = build.clear_run_folder()
        asked = told(list(range(self.ports)), memory_bits=MEMORY_BITS, width=DATA_BYTES, phases=PHASES, case=case)
        (folder / "case.json").write_text(json.dumps(asked))
        build.run(AxiRates.module, folder)
        return read_timings(case, folder).of(folder)

    def synthesize(self) -> dict[str, Any]:
        """See :func:`hdnhw.fpga.synth.synthesize_other`; Yosys reads it by slang."""
        options = [f"-I {path}" for path in self._folders("include", "hw/include")]
        options += [f"-y {path}" for path in self._folders("src", "hw")]
        with TemporaryDirectory() as name:
            work, files = Path(name), self.files()
            for file, text in files.items():
                (work / file).write_text(text)
            read = f"read_slang --top peer {' '.join(options)} --libext .sv --ignore-assertions {' '.join(files)}"
            after = ("hierarchy -top peer", "proc", "flatten", "opt_clean", "bwmuxmap", "write_verilog -noattr peer.v")
            run_yosys("\n".join([read, *after]), cwd=work)
            return synthesize_other((work / "peer.v").read_text(), "peer")

    def _folders(self, *names: str) -> list[Path]:
        """Return those of the libraries' folders with some names that there are."""
        found = (path.absolute() / name for path in self.folders.values() for name in names)
        return [path for path in found if path.is_dir()]

    def files(self) -> dict[str, str]:
        """Return the packages and the top level; Verilator finds the rest by the names of modules."""
        found = {}
        for package in self.packages:
            folder, _, rest = package.partition("/")
            try:
                found[Path(rest).name] = (self.folders[folder] / rest).read_text()
            except OSError:
                raise SpecError(f"--{folder.replace('_', '-')} must be a folder with {rest}") from None
        return {**found, "peer.sv": self.text()}

    @property
    @abstractmethod
    def memory_id_bits(self) -> int:
        """Bits of an ID at a memory."""

    @property
    @abstractmethod
    def types(self) -> str:
        """The types of ports, in_ for managers and out_ for memories, and rule_t of an address."""

    @property
    @abstractmethod
    def inside(self) -> str:
        """What is between the ports, whose structs are in_req, in_rsp, out_req and out_rsp; Rules has the addresses."""

    def place(self, number: int) -> str:
        """Return what a rule has of a memory."""
        return str(number)

    def text(self) -> str:
        """Return the top level, with the ports that the bench drives."""
        sides = (("s_axi", "in", ID_BITS), ("m_axi", "out", self.memory_id_bits))
        ports, wires = [], []
        for (stem, side, id_bits), number, channel in product(sides, range(self.ports), CHANNELS):
            fields, rest = CHANNELS[channel]
            asks = (stem == "s_axi") != (channel in BACK)
            port, structs = f"{stem}_{number}_{channel}", (f"{side}_req[{number}]", f"{side}_rsp[{number}]")
            inward, outward = structs[::-1] if channel in BACK else structs
            led = [(field, WIDTHS.get(field, id_bits), f"{inward}.{channel}.{field}", asks) for field in fields.split()]
            led.append(("valid", 1, f"{inward}.{channel}_valid", asks))
            led.append(("ready", 1, f"{outward}.{channel}_ready", not asks))
            for field, width, wire, is_input in led:
                ports.append(f"{'input' if is_input else 'output'} logic [{width - 1}:0] {port}{field}")
                wires.append((wire, f"{port}{field}") if is_input else (f"{port}{field}", wire))
            wires += [(f"{inward}.{channel}.{field}", "'0") for field in rest.split() if asks]
        size, many = 1 << MEMORY_BITS, f"[{self.ports - 1}:0]"
        rules = ", ".join(
            f"'{{idx: {self.place(number)}, start_addr: {number * size}, end_addr: {(number + 1) * size}}}"
            for number in reversed(range(self.ports))
        )
        inputs = ",\n  ".join(ports)
        assigned = "\n".join(f"  assign {one} = {other};" for one, other in wires)
        return f"""{self.types}
module peer (
  input logic aclk, input logic aresetn,
  {inputs}
);
  localparam rule_t {many} Rules = '{{{rules}}};
  in_req_t {many} in_req;
  in_rsp_t {many} in_rsp;
  out_req_t {many} out_req;
  out_rsp_t {many} out_rsp;
{assigned}
{self.inside}
endmodule
"""


class Crossbar(Peer):
    """``axi_xbar`` with registers on the channels of addresses, as its documentation recommends."""

    @property
    def memory_id_bits(self) -> int:
        """See :class:`Peer`."""
        return ID_BITS + (self.ports - 1).bit_length()

    @property
    def types(self) -> str:
        """See :class:`Peer`."""
        both = "\n".join(
            f"`AXI_TYPEDEF_ALL_CT({side}, {side}_req_t, {side}_rsp_t, logic [31:0], logic [{bits - 1}:0], "
            f"logic [{8 * DATA_BYTES - 1}:0], logic [{DATA_BYTES - 1}:0], logic)"
            for side, bits in (("in", ID_BITS), ("out", self.memory_id_bits))
        )
        return f"""`include "axi/typedef.svh"
{both}
typedef axi_pkg::xbar_rule_32_t rule_t;"""

    @property
    def inside(self) -> str:
        """See :class:`Peer`."""
        return f"""  localparam axi_pkg::xbar_cfg_t Cfg = '{{
    NoSlvPorts: {self.ports}, NoMstPorts: {self.ports},
    MaxMstTrans: {OUTSTANDING}, MaxSlvTrans: {OUTSTANDING},
    FallThrough: 0, LatencyMode: axi_pkg::CUT_ALL_AX, PipelineStages: 0,
    AxiIdWidthSlvPorts: {ID_BITS}, AxiIdUsedSlvPorts: {ID_BITS}, UniqueIds: 0,
    AxiAddrWidth: 32, AxiDataWidth: {8 * DATA_BYTES}, NoAddrRules: {self.ports}}};
  axi_xbar #(
    .Cfg(Cfg), .ATOPs(0), .slv_aw_chan_t(in_aw_chan_t), .mst_aw_chan_t(out_aw_chan_t), .w_chan_t(in_w_chan_t),
    .slv_b_chan_t(in_b_chan_t), .mst_b_chan_t(out_b_chan_t), .slv_ar_chan_t(in_ar_chan_t),
    .mst_ar_chan_t(out_ar_chan_t), .slv_r_chan_t(in_r_chan_t), .mst_r_chan_t(out_r_chan_t), .slv_req_t(in_req_t),
    .slv_resp_t(in_rsp_t), .mst_req_t(out_req_t), .mst_resp_t(out_rsp_t), .rule_t(rule_t)
  ) xbar (
    .clk_i(aclk), .rst_ni(aresetn), .test_i(1'b0), .slv_ports_req_i(in_req), .slv_ports_resp_o(in_rsp),
    .mst_ports_req_o(out_req), .mst_ports_resp_i(out_rsp), .addr_map_i(Rules), .en_default_mst_port_i('0),
    .default_mst_port_i('0)
  );"""


class Mesh(Peer):
    """A square mesh of FlooNoC with a manager and a memory at each node, as FlooGen makes it of its axi_mesh_xy.yml.

    Node n is in column n // side and row n % side. Its routers do not lead back to the port a packet comes from.
    """

    packages = (*Peer.packages, "floonoc/hw/floo_pkg.sv")
    reaches_own = False
    memory_id_bits = 2

    def place(self, number: int) -> str:
        """See :class:`Peer`."""
        x, y = divmod(number, isqrt(self.ports))
        return f"'{{x: {x}, y: {y}, port_id: 0}}"

    @property
    def types(self) -> str:
        """See :class:`Peer`."""
        bits = (isqrt(self.ports) - 1).bit_length()
        return f"""`include "axi/typedef.svh"
`include "floo_noc/typedef.svh"
import floo_pkg::*;
localparam axi_cfg_t AxiCfg = '{{
  AddrWidth: 48, DataWidth: {8 * DATA_BYTES}, UserWidth: 1, InIdWidth: {ID_BITS}, OutIdWidth: {self.memory_id_bits}}};
localparam route_cfg_t RouteCfg = '{{
  RouteAlgo: XYRouting, UseIdTable: 1, XYAddrOffsetX: 0, XYAddrOffsetY: 0, IdAddrOffset: 0, NumSamRules: {self.ports},
  NumRoutes: 0, CollectiveCfg: CollectiveDefaultCfg}};
typedef struct packed {{logic [{bits - 1}:0] x; logic [{bits - 1}:0] y; logic port_id;}} id_t;
typedef struct packed {{id_t idx; logic [47:0] start_addr; logic [47:0] end_addr;}} rule_t;
`FLOO_TYPEDEF_AXI_FROM_CFG(axi, AxiCfg)
typedef axi_in_req_t in_req_t;
typedef axi_in_rsp_t in_rsp_t;
typedef axi_out_req_t out_req_t;
typedef axi_out_rsp_t out_rsp_t;
`FLOO_TYPEDEF_HDR_T(hdr_t, id_t, id_t, axi_ch_e, logic)
`FLOO_TYPEDEF_AXI_CHAN_ALL(axi, req, rsp, axi_in, AxiCfg, hdr_t)
`FLOO_TYPEDEF_AXI_LINK_ALL(req, rsp, req, rsp)"""

    @property
    def inside(self) -> str:
        """See :class:`Peer`."""
        side = isqrt(self.ports)
        links = []
        for number in range(self.ports):
            x, y = divmod(number, side)
            # North, East, South, West: whether there is a neighbor, and its number.
            around = (
                (y + 1 < side, number + 1),
                (x + 1 < side, number + side),
                (y > 0, number - 1),
                (x > 0, number - side),
            )
            for port, (is_there, other) in enumerate(around):
                for kind in ("req", "rsp"):
                    source = f"{kind}_o[{other}][{(port + 2) % 4}]" if is_there else "'0"
                    links.append(f"  assign {kind}_i[{number}][{port}] = {source};")
        joined = "\n".join(links)
        return f"""  floo_req_t [4:0] req_i [{self.ports}], req_o [{self.ports}];
  floo_rsp_t [4:0] rsp_i [{self.ports}], rsp_o [{self.ports}];
{joined}
  for (genvar n = 0; n < {self.ports}; n++) begin : node
    floo_axi_chimney #(
      .AxiCfg(AxiCfg), .ChimneyCfg(ChimneyDefaultCfg), .RouteCfg(RouteCfg), .id_t(id_t), .hdr_t(hdr_t),
      .sam_rule_t(rule_t), .Sam(Rules), .axi_in_req_t(in_req_t), .axi_in_rsp_t(in_rsp_t), .axi_out_req_t(out_req_t),
      .axi_out_rsp_t(out_rsp_t), .floo_req_t(floo_req_t), .floo_rsp_t(floo_rsp_t)
    ) chimney (
      .clk_i(aclk), .rst_ni(aresetn), .test_enable_i(1'b0), .sram_cfg_i('0), .axi_in_req_i(in_req[n]),
      .axi_in_rsp_o(in_rsp[n]), .axi_out_req_o(out_req[n]), .axi_out_rsp_i(out_rsp[n]), .id_i(Rules[n].idx),
      .route_table_i('0), .floo_req_o(req_i[n][Eject]), .floo_rsp_o(rsp_i[n][Eject]), .floo_req_i(req_o[n][Eject]),
      .floo_rsp_i(rsp_o[n][Eject])
    );
    floo_axi_router #(
      .AxiCfg(AxiCfg), .RouteAlgo(XYRouting), .NumRoutes(5), .InFifoDepth(2), .OutFifoDepth(2), .id_t(id_t),
      .hdr_t(hdr_t), .floo_req_t(floo_req_t), .floo_rsp_t(floo_rsp_t)
    ) router (
      .clk_i(aclk), .rst_ni(aresetn), .test_enable_i(1'b0), .id_i(Rules[n].idx), .id_route_map_i('0),
      .floo_req_i(req_i[n]), .floo_rsp_i(rsp_i[n]), .floo_req_o(req_o[n]), .floo_rsp_o(rsp_o[n])
    );
  end"""
