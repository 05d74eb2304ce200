"""A network on several chips: packets over links whose clocks differ, whose bits turn over, and that are cut."""

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hdnhw.rtl.chip import states_of
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.sim.runner import Bench
from hdnhw.support.errors import SpecError
from hdnhw.verilog.chips import EmittedChips
from hdnhw.verilog.fabric import EmittedFabric
from hdnhw.verilog.verilog import ADVANCE

SOURCE, SEQUENCE = 16, 32
"""Bits of a packet behind its destination that say where it is from, and which of its source to that node it is."""

PERIOD_NS = 10_000
"""Of the clock of a chip, near enough: a period in whole ns is near any ratio."""

CLOCKS = {
    "equal": lambda chips: [PERIOD_NS] * chips,
    "near": lambda chips: [PERIOD_NS + 2 * (7 * chip % 31 - 15) for chip in range(chips)],
    "far": lambda chips: [PERIOD_NS * (3, 5)[chip % 2] // 3 for chip in range(chips)],
}
"""Kinds of clocks -> the period of each chip's, in ns: one for all; within 300 ppm of each other; 3 to 5."""

MOST = 2**32 - 1

SYSTEM_TESTS = ("random", "exchange")
"""Where packets go: to drawn nodes, or from each node to all others in turn."""

SYSTEM_SUMMARY = (
    "{packets} packets in {cycles} cycles, {damaged} frames damaged, {resent} sent again, {cuts} cuts: {lost} lost, "
    "{doubled} doubled, {disordered} out of order, {changed} changed"
)
"""What is said of a verdict, with its fields in braces."""

CUTS = 3

RESET_CYCLES = 30
"""Of a chip: at least 16 of the slowest clock."""

NODE_COUNTS = ("sent", "came", "stranded", "doubled", "disordered", "changed")
"""What is counted at a node, 32 bits each."""

DIED = "died"
"""What the routers count, 16 bits each, of packets on their way to a channel when it died."""

STREAMS, PARTS = ("inject", "eject"), ("valid", "ready", "payload")

_NODE = """// What stands at a node: a source of packets, and a sink that knows what each must look like.
module bench_node #(
  parameter integer NODE = 0
) (
  input wire clk,
  input wire rst,
  input wire [31:0] packets,
  input wire exchange, // each node in turn, not drawn ones
  input wire [7:0] gap, // of 256 cycles, in which a source begins no packet, and a sink takes no flit
  output wire inject_valid,
  input wire inject_ready,
  output wire [{width}-1:0] inject_payload,
  input wire eject_valid,
  output wire eject_ready,
  input wire [{width}:0] eject_payload,
  output reg [31:0] sent,
  output reg [31:0] came,
  output reg [31:0] stranded,
  output reg [31:0] doubled,
  output reg [31:0] disordered,
  output reg [31:0] changed
);
  localparam integer NODES = {nodes};
  localparam integer LENGTH = {length};
  localparam integer WIDTH = {width};
  localparam integer ADDRESS = {address_width};
  localparam integer BITS = WIDTH * LENGTH;

{advance}
  function [ADDRESS-1:0] address(input [31:0] node);
    case (node)
{addresses}
      default: address = 0;
    endcase
  endfunction

  // The packet that one node sends another one as the sequence-th.
  function [BITS-1:0] packet(input [31:0] source, input [31:0] dest, input [31:0] sequence_);
    reg [31:0] hash;
    begin
      hash = advance((sequence_ + 1) * 32'd2654435761 ^ source << 16 ^ dest + 1);
      packet = {{{{BITS / 32 + 1{{hash}}}}, sequence_, source[{source}-1:0], address(dest)}};
    end
  endfunction

  reg [31:0] numbers [0:NODES-1], expected [0:NODES-1];
  reg [31:0] draw, dest, flit, taken;
  reg [BITS-1:0] leaving, coming;
  reg busy, takes;
  integer node;

  initial begin
    draw = 32'd2463534242 ^ (NODE + 1) * 32'd2654435761;
    {{busy, takes, sent, came, stranded, doubled, disordered, changed, flit, taken}} = 0;
    for (node = 0; node < NODES; node = node + 1) {{numbers[node], expected[node]}} = 0;
  end

  assign inject_valid = busy;
  assign inject_payload = leaving[WIDTH-1:0];
  assign eject_ready = takes;

  wire [31:0] next = exchange ? (NODE + 1 + sent) % NODES : draw[31:8] % NODES;
  wire [BITS+WIDTH-1:0] joined = {{eject_payload[WIDTH-1:0], coming}};
  wire [BITS-1:0] image = joined[BITS+WIDTH-1:WIDTH];
  wire [31:0] from = image[ADDRESS +: {source}] % NODES;
  wire [31:0] number = image[ADDRESS + {source} +: 32];

  always @(posedge clk) begin
    draw <= advance(draw);
    takes <= draw[7:0] >= gap;
    if (rst) begin
      busy <= 0;
      taken <= 0;
      flit <= 0;
    end else begin
      if (busy && inject_ready) begin
        leaving <= leaving >> WIDTH;
        flit <= flit + 1;
        if (flit == LENGTH - 1) busy <= 0;
      end
      if (!busy && sent < packets && draw[15:8] >= gap) begin
        busy <= 1;
        flit <= 0;
        leaving <= packet(NODE, next, numbers[next]);
        numbers[next] <= numbers[next] + 1;
        sent <= sent + 1;
      end
      if (eject_valid && eject_ready) begin
        coming <= image;
        taken <= taken + 1;
        if (eject_payload[WIDTH]) begin
          taken <= 0;
          came <= came + 1;
          if ({can_die} && image[ADDRESS-1:0] != address(NODE)) stranded <= stranded + 1;
          else if (taken != LENGTH - 1 || image != packet(from, NODE, number)) changed <= changed + 1;
          else if (number < expected[from]) doubled <= doubled + 1;
          else begin
            if (number != expected[from]) disordered <= disordered + 1;
            expected[from] <= number + 1;
          end
        end
      end
    end
  end
endmodule
"""

Case = dict[str, Any]
"""See :meth:`SystemBench.make_case`."""


@dataclass(frozen=True)
class SystemVerdict:
    """What a run showed.

    Attributes
    ----------
    packets : int
        Packets that were sent.
    lost, doubled, disordered, changed : int
        Packets that did not come; that came again; that came before one that was sent sooner; that came wrong. If
        channels can die, `disordered` are those behind one that did not come so far.
    stranded, died : int
        Packets that came out before a dead channel; that were on their way to it when it died.
    damaged, resent : int
        Frames that came damaged, and that were sent again, over all links, each up to 65,535.
    cuts : int
        Cables cut, and joined again.
    cycles : int
        Of the first chip.
    """

    packets: int
    lost: int
    doubled: int
    disordered: int
    changed: int
    damaged: int
    resent: int
    cuts: int
    cycles: int
    stranded: int = 0
    died: int = 0

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.lost or self.doubled or self.disordered or self.changed)


DELAY = 4
"""Cycles of the sender that a wire takes."""


class SystemBench(Bench[Case, SystemVerdict]):
    """The chips of an emitted network with wires between them, under Verilator.

    Parameters
    ----------
    fabric : EmittedFabric
        On several chips.

    Raises
    ------
    SpecError
        If a packet has no room for what the bench knows it by.
    """

    name, module = "chips", "hdnhw.sim.chips_bench"

    def __init__(self, fabric: EmittedFabric) -> None:
        if fabric.chips is None:
            raise ValueError("system bench must have a network on several chips")
        self._chips: EmittedChips = fabric.chips
        flits, need = fabric.machine.flits, SOURCE + SEQUENCE
        room = flits.packet_length * fabric.machine.spec.flit_width - flits.address_width
        if room < need:
            raise SpecError(f"packets must have {need} bits or more behind their destination, not {room}")
        super().__init__(fabric)

    def sources(self) -> tuple[str, dict[str, str], list[str]]:
        """See :meth:`Bench.sources`."""
        files = {**self.fabric.checked, self._chips.system_file: self._chips.system_text, "bench.sv": self._text()}
        return "bench", files, ['public_flat_rw -module "bench" -var "*"']

    def _text(self) -> str:
        """Return the top level: the system and what stands at its nodes."""
        machine, chips = self.machine, self._chips.chips
        nodes, spec, flits = machine.network.num_nodes, machine.spec, machine.flits
        addresses = [
            f"      {node}: address = {flits.address_width}'d{machine.address.of_node(node)};" for node in range(nodes)
        ]
        node_text = _NODE.format(
            nodes=nodes,
            length=spec.packet_length,
            width=spec.flit_width,
            address_width=flits.address_width,
            addresses="\n".join(addresses),
            advance=ADVANCE,
            source=SOURCE,
            can_die=int(spec.dead_pins),
        )
        states = states_of(machine)
        count = chips.num_chips
        clocks = ("clk", "rst", *["wire_clk"] * self._chips.has_pins)
        inputs = [f"{name}_{chip}" for chip in range(count) for name in clocks]
        lines = [
            "module bench (",
            *(f"  input wire {name}," for name in inputs),
            f"  input wire [{len(self._chips.cables) - 1}:0] cut,",
            "  input wire [31:0] errors,",
            "  input wire [31:0] packets,",
            "  input wire exchange,",
            "  input wire [7:0] gap,",
            *(f"  output wire [{32 * nodes - 1}:0] {name}," for name in NODE_COUNTS),
            *(f"  output wire [{bits * len(chips.links) * count - 1}:0] {name}," for name, bits in states.items()),
            f"  output wire [{DROPPED_WIDTH * nodes - 1}:0] {DIED}",
            ");",
            *([] if spec.dead_pins else [f"  assign {DIED} = 0;"]),
        ]
        pins = [f".{name}({name})" for name in (*inputs, "errors", "cut")]
        for chip, places in enumerate(chips.nodes.tolist()):
            for name, bits in states.items():
                width = bits * len(chips.links)
                pins.append(f".link_{name}_{chip}({name}[{width * chip} +: {width}])")
            for node in places:
                lines += self._node_lines(node, chip)
                pins += [f".{name}_{node}_{part}({name}_{node}_{part})" for name in STREAMS for part in PARTS]
                pins += [f".{name}_{node}({self._joined(name, node)})" for name in self._others]
        lines += [
            f"  {self._chips.system} #(.DELAY({DELAY})) system (",
            ",\n".join(f"    {pin}" for pin in pins),
            "  );",
        ]
        return "\n".join([node_text, *lines, "endmodule", ""])

    @property
    def _others(self) -> list[str]:
        """Ports of nodes that are no streams."""
        return [name[:-2] for name in self.fabric.manifest["ports"] if name.endswith("_N")]

    def _joined(self, name: str, node: int) -> str:
        """Return what such a port is joined to."""
        joined = {"lost": f"{DIED}[{DROPPED_WIDTH * node} +: {DROPPED_WIDTH}]"}
        joined["dead"] = f"{len(self.machine.network.ports) + 1}'d0"
        return joined.get(name, "")

    def _node_lines(self, node: int, chip: int) -> list[str]:
        """Return the text of what stands at a node."""
        width = self.machine.spec.flit_width
        names = {"inject": width, "eject": width + 1}
        streams = [f"{name}_{node}_{part}" for name in STREAMS for part in PARTS]
        return [
            f"  wire {', '.join(one for one in streams if not one.endswith('payload'))};",
            *(f"  wire [{bits - 1}:0] {name}_{node}_payload;" for name, bits in names.items()),
            f"  bench_node #(.NODE({node})) node_{node} (",
            f"    .clk(clk_{chip}), .rst(rst_{chip}), .packets(packets), .exchange(exchange), .gap(gap),",
            *(f"    .{one.replace(f'_{node}_', '_')}({one})," for one in streams),
            ",\n".join(f"    .{name}({name}[{32 * node} +: 32])" for name in NODE_COUNTS),
            "  );",
        ]

    @property
    def num_chips(self) -> int:
        """Chips."""
        return self._chips.chips.num_chips

    def make_case(self, test: str, *, packets: int, clocks: str, rate: float, seed: int, cuts: int = CUTS) -> Case:
        """Make a case.

        Parameters
        ----------
        test : str
            One of :data:`SYSTEM_TESTS`: whether nodes send to drawn ones, or to all others in turn.
        packets : int
            In all, or a few more: each node sends as many.
        clocks : str
            One of :data:`CLOCKS`.
        rate : float
            How often a bit on a wire is turned over.
        seed : int
        cuts : int
            How often a cable is cut for a while, one after the other.
        """
        draws, chips, cables = random.Random(seed), self.num_chips, len(self._chips.cables)
        periods = CLOCKS[clocks](chips)
        slowest = max(periods)
        return {
            "test": test,
            "clocks": clocks,
            "periods": periods,
            "wires": [slowest + 2 * (chip % 3) for chip in range(chips)] if self._chips.has_pins else [],
            "resets": [RESET_CYCLES + (draws.randrange(100) if clocks != "equal" else 0) for _ in range(chips)],
            "packets": -(-packets // self.machine.network.num_nodes),
            "exchange": test == "exchange",
            "counts": dict.fromkeys(NODE_COUNTS, 32) | states_of(self.machine) | {DIED: DROPPED_WIDTH},
            "gap": 32,
            "errors": min(MOST, round(rate * (self._chips.cut.link_width + 1) * 2**32)),
            "cuts": [
                (draws.randrange(500, 4000), draws.randrange(cables), draws.choice((1, 50, 3000, 12_000)))
                for _ in range(cuts)
            ],
        }

    def test_name(self, case: Case) -> str:
        """See :meth:`Bench.test_name`."""
        return f"{case['test']}-{case['clocks']}"

    def write(self, case: Case, folder: Path) -> dict[str, Any]:
        """See :meth:`Bench.write`."""
        (folder / "case.json").write_text(json.dumps(case))
        return {}

    def has_ended(self, folder: Path) -> bool:
        """See :meth:`Bench.has_ended`."""
        return (folder / "result.json").exists()

    def check(self, case: Case, folder: Path) -> SystemVerdict:
        """See :meth:`Bench.check`."""
        result = json.loads((folder / "result.json").read_text())
        due = case["packets"] * self.machine.network.num_nodes
        counts = {name: sum(result[name]) for name in case["counts"]}
        assert counts["sent"] <= due
        lost = due - counts["came"] - counts[DIED] + counts["doubled"]
        counted = ("doubled", "disordered", "changed", "damaged", "resent", "stranded", DIED)
        wrong = {name: counts[name] for name in counted}
        return SystemVerdict(due, lost, **wrong, cuts=len(case["cuts"]), cycles=result["cycles"])
