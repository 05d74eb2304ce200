"""The test bench around a fabric, in SystemVerilog: sources, sinks and recorders; no Python runs in a cycle.

Sources read their packets from files and sinks pause as :class:`hdnhw.traffic.packets.Terminals` says; every head flit
that is accepted and every packet that comes out is written to a log, and every packet that enters a channel if asked.
Cocotb resets, waits and reads counters.
"""

import re
from collections.abc import Mapping
from typing import Any

from hdnhw.machine.machine import Machine
from hdnhw.rtl.channel import channel_name
from hdnhw.rtl.router import incoming
from hdnhw.verilog.fabric import EmittedFabric
from hdnhw.verilog.verilog import ADVANCE

FABRIC_INSTANCE = "fabric"
"""Of the fabric within a top level with endpoints."""

CAPACITY = 1 << 18
"""Most packets of a case."""

_BENCH = """// Bench of {top}: {nodes} nodes, packets of {length} flits of {width} bits.
module bench #(
  parameter integer CAPACITY = {capacity}
) (
  input wire clk /* verilator public_flat_rw */,
  input wire rst /* verilator public_flat_rw */,
  output reg finished /* verilator public_flat_rw */,
  output reg [31:0] cycle /* verilator public_flat_rw */,
  output reg [31:0] ejected /* verilator public_flat_rw */,
  output reg [31:0] dropped_total /* verilator public_flat_rw */{monitor_ports}
);
  localparam integer NODES = {nodes};
  localparam integer CHANNELS = {channels};
  localparam integer LENGTH = {length};
  localparam integer WIDTH = {width};
{held}
  reg [WIDTH-1:0] flits [0:CAPACITY*LENGTH-1];
  reg [31:0] earliest [0:CAPACITY-1];
  reg [31:0] first [0:NODES];
  reg [31:0] seeds [0:NODES-1];
  integer packets, expected, limit, gap, stall, hold, watch, log, heads, hops;

  reg [WIDTH-1:0] inject_data [0:NODES-1];
  reg inject_valid [0:NODES-1];
  wire inject_ready [0:NODES-1];
  wire [WIDTH:0] eject_payload [0:NODES-1];
  wire eject_valid [0:NODES-1];
  reg eject_ready [0:NODES-1];
  wire [15:0] dropped [0:NODES-1];
{paused_wires}{dead_wires}{check_wires}{flip_wires}{count_wires}
  wire [WIDTH-1:0] channel_data [0:CHANNELS-1];
  wire channel_valid [0:CHANNELS-1];
  wire [7:0] channel_vc [0:CHANNELS-1];
  reg [7:0] flit_vc [0:CHANNELS-1];
  wire [31:0] channel_node [0:CHANNELS-1];
  wire [31:0] channel_port [0:CHANNELS-1];
  wire [31:0] channel_phase [0:CHANNELS-1];

  {top} dut (
    .clk(clk),
    .rst(rst){connections}
  );
{channel_wires}

  reg [31:0] pointer [0:NODES-1];
  reg [31:0] position [0:NODES-1];
  reg [31:0] state [0:NODES-1];
  reg [LENGTH*WIDTH-1:0] collected [0:NODES-1];
  integer n, c;
  reg [31:0] next, count, drops;
  reg offered;

{advance}
  initial begin
{dump}    if (!$value$plusargs("packets=%d", packets)) $finish;
    if (!$value$plusargs("expected=%d", expected)) $finish;
    if (!$value$plusargs("limit=%d", limit)) $finish;
    if (!$value$plusargs("gap=%d", gap)) $finish;
    if (!$value$plusargs("stall=%d", stall)) $finish;
    if (!$value$plusargs("hold=%d", hold)) $finish;
    if (!$value$plusargs("watch=%d", watch)) $finish;
    $readmemh("flits.hex", flits, 0, packets * LENGTH - 1);
    $readmemh("earliest.hex", earliest, 0, packets - 1);
    $readmemh("first.hex", first, 0, NODES);
    $readmemh("seeds.hex", seeds, 0, NODES - 1);
{dead_read}{flip_read}    log = $fopen("ejections.log", "w");
    heads = $fopen("heads.log", "w");
    hops = $fopen("hops.log", "w");
    finished = 0;
  end

  always @(posedge clk) begin
    if (held) begin
      cycle <= 0;
      ejected <= 0;
      finished <= 0;
      dropped_total <= 0;
      $fwrite(log, "reset\\n");
      $fwrite(heads, "reset\\n");
      if (watch != 0) $fwrite(hops, "reset\\n");
    end else begin
      cycle <= cycle + 1;
      count = ejected;
      drops = 0;
      for (n = 0; n < NODES; n = n + 1) begin
        drops = drops + {{16'b0, dropped[n]}}{paused}{lost}{bad};
        if (eject_valid[n] && eject_ready[n]) begin
          if (LENGTH == 1) collected[n] = eject_payload[n][WIDTH-1:0];
          else collected[n] = {{eject_payload[n][WIDTH-1:0], collected[n][LENGTH*WIDTH-1:WIDTH % (LENGTH*WIDTH)]}};
          if (eject_payload[n][WIDTH]) begin
            $fwrite(log, "%0d %0d %h\\n", n, cycle, collected[n]);
            count = count + 1;
          end
        end
      end
      ejected <= count;
      dropped_total <= drops;
      if (!finished && (count + drops >= expected || cycle + 1 >= limit)) begin
        finished <= 1;
        $fflush(log);
        $fflush(heads);
        $fflush(hops);
{write_counts}{write_checks}      end
      if (watch != 0)
        for (c = 0; c < CHANNELS; c = c + 1)
          if (channel_valid[c] && cycle % LENGTH == channel_phase[c])
            $fwrite(hops, "%0d %0d %0d %0d %h\\n",
              cycle, channel_node[c], channel_port[c], flit_vc[c], channel_data[c]);
      for (c = 0; c < CHANNELS; c = c + 1) flit_vc[c] <= channel_vc[c];  // it comes a cycle ahead of the flits
    end
  end

  // What a source offers and whether a sink is ready in the next cycle; the first of these after reset is cycle 0.
  always @(posedge clk) begin
    for (n = 0; n < NODES; n = n + 1) begin
      offered = 0;
      if (held) begin
        pointer[n] = first[n];
        position[n] = 0;
        state[n] = seeds[n];
        next = 0;
      end else begin
        next = cycle + 1;
        state[n] = advance(state[n]);
        if (inject_valid[n]) begin
          if (inject_ready[n]) begin
            if (position[n] == 0) $fwrite(heads, "%0d %0d\\n", pointer[n], cycle);
            position[n] = position[n] + 1;
            if (position[n] == LENGTH) begin
              position[n] = 0;
              pointer[n] = pointer[n] + 1;
            end
          end else offered = 1;
        end
      end
      inject_valid[n] <= pointer[n] < first[n+1] && earliest[pointer[n]] <= next
        && (offered{goes_on} || {{24'b0, state[n][7:0]}} >= gap);
      inject_data[n] <= flits[pointer[n] * LENGTH + position[n]];
      eject_ready[n] <= next >= hold && {{24'b0, state[n][15:8]}} >= stall;
    end
  end
endmodule
"""


_HELD = """
  // The reset as routers have it.
  reg [{late}-1:0] resets = -1;
  wire [{late}:0] held_row = {{resets, rst}};
  wire held = held_row[{late}];
  always @(posedge clk) resets <= held_row[{late}-1:0];
"""

_DEAD_WIRES = """  reg [{width}-1:0] dead [0:NODES-1];
  reg [{width}-1:0] dead_now [0:NODES-1];
  wire [15:0] lost [0:NODES-1];
  integer dies, revives, d;

  always @(posedge clk)
    for (d = 0; d < NODES; d = d + 1)
      dead_now[d] <= held ? (dies == 0 ? dead[d] : 0) : cycle >= dies && cycle < revives ? dead[d] : 0;
"""

_DEAD_READ = """    $readmemh("dead.hex", dead, 0, NODES - 1);
    if (!$value$plusargs("dies=%d", dies)) $finish;
    if (!$value$plusargs("revives=%d", revives)) $finish;
"""


_COUNT_WIRES = """  wire [{width}-1:0] counts [0:NODES-1];
  integer tally;
"""

_WRITE_COUNTS = """        tally = $fopen("counts.log", "w");
        for (n = 0; n < NODES; n = n + 1) $fwrite(tally, "%h\\n", counts[n]);
        $fclose(tally);
"""

_CHECK_WIRES = """  wire [{width}-1:0] errors [0:NODES-1];
  wire [15:0] bad [0:NODES-1];
  integer checks;
"""

_WRITE_CHECKS = """        checks = $fopen("checks.log", "w");
        for (n = 0; n < NODES; n = n + 1) $fwrite(checks, "%0d %h\\n", bad[n], errors[n]);
        $fclose(checks);
"""

FLIP_WIRES = """  reg [{width}-1:0] flips [0:{places}-1];
  reg [{width}-1:0] flip_mask;
  reg [31:0] flip_cycle, flip_channel;
  integer flip_file, f;

  always @(posedge clk) begin
    for (f = 0; f < {places}; f = f + 1) flips[f] <= 0;
    if (!{reset})
      while (flip_cycle == cycle + 1) begin
        flips[flip_channel] <= flip_mask;
        if ($fscanf(flip_file, "%d %d %h\\n", flip_cycle, flip_channel, flip_mask) != 3) flip_cycle = -1;
      end
  end
"""

FLIP_READ = """    flip_file = $fopen("flips.txt", "r");
    if ($fscanf(flip_file, "%d %d %h\\n", flip_cycle, flip_channel, flip_mask) != 3) flip_cycle = -1;
"""
"""Reads them from ``flips.txt``: cycle, place and mask of each, by cycle."""

MONITOR_PINS = [f"monitor_{name}" for name in ("araddr", "arvalid", "arready", "rdata", "rresp", "rvalid", "rready")]
"""Those of a monitor that a bench joins: of a read."""

_DUMP = """    $dumpfile("dump.vcd");
    $dumpvars(3, bench);
"""

Channels = list[tuple[int, int, str]]
"""Node, port index and port name of every channel."""


def _connections(fabric: EmittedFabric) -> str:
    machine, lines = fabric.machine, list[str]()
    for node in range(machine.network.num_nodes):
        lines += [
            f".inject_{node}_payload(inject_data[{node}])",
            f".inject_{node}_valid(inject_valid[{node}])",
            f".inject_{node}_ready(inject_ready[{node}])",
            f".eject_{node}_payload(eject_payload[{node}])",
            f".eject_{node}_valid(eject_valid[{node}])",
            f".eject_{node}_ready(eject_ready[{node}])",
            f".dropped_{node}(dropped[{node}])",
        ]
        if machine.spec.gapless_packets:
            lines.append(f".paused_{node}(paused[{node}])")
        if machine.spec.dead_pins:
            lines += [f".dead_{node}(dead_now[{node}])", f".lost_{node}(lost[{node}])"]
        if machine.spec.crc:
            lines += [f".errors_{node}(errors[{node}])", f".bad_{node}(bad[{node}])"]
        if machine.spec.endpoints is not None:
            lines.append(f".counts_{node}(counts[{node}])")
    if machine.spec.monitor:
        ports = {name: port for name, port in fabric.manifest["ports"].items() if name.startswith("monitor_")}
        lines += [f".{name}({name})" for name in MONITOR_PINS]
        idle = [name for name, port in ports.items() if port["direction"] == "input" and name not in MONITOR_PINS]
        lines += [f".{name}({ports[name]['width']}'d0)" for name in idle]
        lines += [f".{name}()" for name in ports if name not in (*MONITOR_PINS, *idle)]
    return "".join(f",\n    {line}" for line in lines)


def _monitor_ports(ports: Mapping[str, Any]) -> str:
    """Return the ports of the bench by which cocotb reads the fabric's monitor."""
    lines = [
        f"  {ports[name]['direction']} wire [{ports[name]['width'] - 1}:0] {name} /* verilator public_flat_rw */"
        for name in MONITOR_PINS
    ]
    return "".join(f",\n{line}" for line in lines)


def splice_flips(text: str, machine: Machine, channels: Channels) -> str:
    """Return an emitted fabric with wires between its routers that the bench's ``flips`` turn over.

    Raises
    ------
    ValueError
        If the text does not join its routers as it should.
    """
    number_of = {channel_name(node, name): number for number, (node, _, name) in enumerate(channels)}
    width, wires = machine.spec.flit_width, machine.word_width
    bits = {"data": (width - 1, 0), "check": (wires - 1, width)}

    def flipped(pin: re.Match[str]) -> str:
        high, low = bits[pin[3]]
        return f".{pin[1]}({pin[2]}_{pin[3]} ^ bench.flips[{number_of[pin[2]]}][{high}:{low}])"

    # A long channel leads to registers by their pin `i`.
    names, ins = "|".join(number_of), "|".join(["i", *sorted({incoming(name) for _, _, name in channels})])
    spliced, count = re.subn(rf"\.((?:{ins})__(?:data|check))\(({names})_(data|check)\)", flipped, text)
    if count != 2 * len(channels):
        raise ValueError(f"a fabric must have {2 * len(channels)} pins to flip, not {count}")
    return spliced


def harness_text(fabric: EmittedFabric, channels: Channels, *, flips: bool = False, dump: bool = False) -> str:
    """Return the bench of an emitted fabric.

    Parameters
    ----------
    fabric : EmittedFabric
        Of bare streams, or with relays.
    channels : list of (int, int, str)
        Node, port index and port name of every channel.
    flips : bool
        Whether the fabric has been through :func:`splice_flips`.
    dump : bool
        Whether it writes ``dump.vcd``.
    """
    machine, manifest, relays = fabric.machine, fabric.manifest, fabric.manifest.get("endpoints")
    timing, inside = machine.timing, "dut." if relays is None else f"dut.{FABRIC_INSTANCE}."
    wires = []
    for number, (node, port, name) in enumerate(channels):
        prefix = f"{inside}{channel_name(node, name)}_"
        vc = f"{prefix}vc" if machine.plan.num_vcs[port] > 1 else "8'd0"
        wires += [
            f"  assign channel_data[{number}] = {prefix}data;",
            f"  assign channel_valid[{number}] = {prefix}valid;",
            f"  assign channel_vc[{number}] = {vc};",
            f"  assign channel_node[{number}] = {node};",
            f"  assign channel_port[{number}] = {port};",
            f"  assign channel_phase[{number}] = {machine.leaving_phase(node)};",
        ]
    can_die, crc, gapless = machine.spec.dead_pins, machine.spec.crc, machine.spec.gapless_packets
    return _BENCH.format(
        top=fabric.top,
        held=_HELD.format(late=late) if (late := machine.spec.reset_registers) else "  wire held = rst;\n",
        dump=_DUMP if dump else "",
        capacity=CAPACITY,
        nodes=machine.network.num_nodes,
        channels=len(channels),
        advance=ADVANCE,
        length=timing.packet_length,
        width=machine.spec.flit_width,
        connections=_connections(fabric),
        monitor_ports=_monitor_ports(manifest["ports"]) if machine.spec.monitor else "",
        count_wires="" if relays is None else _COUNT_WIRES.format(width=relays["ports"]["counts_N"]["width"]),
        write_counts="" if relays is None else _WRITE_COUNTS,
        paused_wires="  wire [15:0] paused [0:NODES-1];\n" if gapless else "",
        paused=" + {16'b0, paused[n]}" if gapless else "",
        goes_on=" || position[n] != 0" if gapless else "",
        dead_wires=_DEAD_WIRES.format(width=manifest["ports"]["dead_N"]["width"]) if can_die else "",
        lost=" + {16'b0, lost[n]}" if can_die else "",
        dead_read=_DEAD_READ if can_die else "",
        check_wires=_CHECK_WIRES.format(width=manifest["ports"]["errors_N"]["width"]) if crc else "",
        bad=" + {16'b0, bad[n]}" if crc else "",
        write_checks=_WRITE_CHECKS if crc else "",
        flip_wires=FLIP_WIRES.format(width=machine.word_width, places=len(channels), reset="held") if flips else "",
        flip_read=FLIP_READ if flips else "",
        channel_wires="\n".join(wires),
    )
