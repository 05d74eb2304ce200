"""The test bench around a fabric with collective engines, in SystemVerilog: a host at every node, and logs.

A host offers its node the operations of a case one after the other, each after a pause of its own, or as soon as the
one before has been taken, and its messages then, or before; it takes results. Hosts of odd nodes may stall. All that is
accepted is written to logs, results with how many flits they had; no Python runs in a cycle. Of engines whose packets
have headers of two lengths, the headers in the log are of the longer one, and results of fewer data flits stand in the
most significant bits.
"""

from hdnhw.endpoints.collective.format_engines import engines_of
from hdnhw.verilog.fabric import EmittedFabric
from hdnhw.verilog.verilog import ADVANCE

FLITS, MOST_OPERATIONS = 1 << 23, 64
"""Most data flits of all messages of a case, and most operations."""

_BENCH = """// Bench of {top}: {nodes} nodes, packets of {length} flits of {width} bits.
module bench (
  input wire clk /* verilator public_flat_rw */,
  input wire rst /* verilator public_flat_rw */,
  output reg finished /* verilator public_flat_rw */
);
  localparam integer NODES = {nodes};
  localparam integer LENGTH = {length};
  localparam integer HEADERS = {headers};
  localparam integer DATA = {data};
  localparam integer WIDTH = {width};
  localparam integer ADDRESS = {address};
  localparam integer OPERATION = {operation};
  localparam integer RESULT = {result};
  localparam integer FLITS = {flits};
  localparam integer MOST = {most};

  reg [WIDTH-1:0] flits [0:FLITS-1];
  reg [31:0] operations [0:MOST*NODES-1];
  reg [31:0] first [0:MOST*NODES];
  reg [31:0] pause [0:MOST*NODES-1];
  reg [31:0] seeds [0:NODES-1];
  integer count, limit, stall, ahead, early, total, results, sends, events;

  reg operation_valid [0:NODES-1];
  wire operation_ready [0:NODES-1];
  reg [31:0] operation_payload [0:NODES-1];
  reg message_valid [0:NODES-1];
  wire message_ready [0:NODES-1];
  reg [WIDTH-1:0] message_payload [0:NODES-1];
  wire result_valid [0:NODES-1];
  reg result_ready [0:NODES-1];
  wire [RESULT-1:0] result_payload [0:NODES-1];
  wire done [0:NODES-1];
  wire [15:0] dropped [0:NODES-1];
  wire inject_valid [0:NODES-1];
  wire inject_ready [0:NODES-1];
  wire [WIDTH-1:0] inject_payload [0:NODES-1];

  {top} dut (
    .clk(clk),
    .rst(rst){connections}
  );
{probes}

  reg [31:0] cycle, left;
  reg [31:0] current [0:NODES-1];
  reg [31:0] waits [0:NODES-1];
  reg [31:0] offered [0:NODES-1];
  reg [31:0] pointer [0:NODES-1];
  reg [31:0] position [0:NODES-1];
  reg [31:0] state [0:NODES-1];
  reg was_done [0:NODES-1];
  reg [31:0] taken [0:NODES-1];
  reg [LENGTH*WIDTH-1:0] header [0:NODES-1];
  reg [DATA*WIDTH-1:0] collected [0:NODES-1];
  reg [31:0] came [0:NODES-1];
  integer n;
  reg [31:0] word;
  reg asks, offers;  // what is not valid is junk

{advance}
  initial begin
    if (!$value$plusargs("count=%d", count)) $finish;
    if (!$value$plusargs("limit=%d", limit)) $finish;
    if (!$value$plusargs("stall=%d", stall)) $finish;
    if (!$value$plusargs("ahead=%d", ahead)) $finish;
    if (!$value$plusargs("early=%d", early)) $finish;
    if (!$value$plusargs("total=%d", total)) $finish;
    $readmemh("flits.hex", flits, 0, total - 1);
    $readmemh("operations.hex", operations, 0, count * NODES - 1);
    $readmemh("first.hex", first, 0, count * NODES);
    $readmemh("pause.hex", pause, 0, count * NODES - 1);
    $readmemh("seeds.hex", seeds, 0, NODES - 1);
    results = $fopen("results.log", "w");
    sends = $fopen("sends.log", "w");
    events = $fopen("events.log", "w");
    finished = 0;
  end

  always @(posedge clk) begin
    if (rst) begin
      cycle <= 0;
      left <= NODES;
      $fwrite(results, "reset\\n");
      $fwrite(sends, "reset\\n");
      $fwrite(events, "reset\\n");
      for (n = 0; n < NODES; n = n + 1) begin
        current[n] = 0;
        waits[n] = pause[n];
        offered[n] = 0;
        pointer[n] = first[n];
        position[n] = 0;
        came[n] = 0;
        state[n] = seeds[n];
        was_done[n] = 0;
        taken[n] = 0;
        operation_valid[n] <= 0;
        message_valid[n] <= 0;
        result_ready[n] <= 0;
      end
    end else begin
      cycle <= cycle + 1;
      word = left;
      for (n = 0; n < NODES; n = n + 1) begin
        state[n] = advance(state[n]);
        if (operation_valid[n] && operation_ready[n]) begin
          $fwrite(events, "asked %0d %0d %0d\\n", taken[n], n, cycle);
          taken[n] = taken[n] + 1;
        end
        if (message_valid[n] && message_ready[n]) begin
          pointer[n] = pointer[n] + 1;
          if (pointer[n] == first[offered[n] * NODES + n + 1])
            $fwrite(events, "loaded %0d %0d %0d\\n", offered[n], n, cycle);
        end
        if (offered[n] < count && (early != 0 || offered[n] < current[n])
          && pointer[n] == first[offered[n] * NODES + n + 1]) begin
          offered[n] = offered[n] + 1;
          pointer[n] = first[offered[n] * NODES + n];
        end
        if (result_valid[n] && result_ready[n]) begin
          if (DATA == 1) collected[n] = result_payload[n][WIDTH-1:0];
          else collected[n] = {{result_payload[n][WIDTH-1:0], collected[n][DATA*WIDTH-1:WIDTH % (DATA*WIDTH)]}};
          came[n] = came[n] + 1;
          if (result_payload[n][RESULT-1]) begin
            $fwrite(results, "%0d %0d %0d %0d %0d %h\\n", current[n], n,
              result_payload[n][WIDTH +: ADDRESS], {part}, came[n], collected[n]);
            came[n] = 0;
          end
        end
        if (inject_valid[n] && inject_ready[n]) begin
          header[n][position[n] * WIDTH +: WIDTH] = inject_payload[n];
          position[n] = position[n] + 1;
          if (position[n] == HEADERS)
            $fwrite(sends, "%0d %0d %0d %h\\n", current[n], n, cycle, header[n][HEADERS*WIDTH-1:0]);
          if (position[n] == LENGTH) position[n] = 0;
        end
        if (done[n] && !was_done[n]) $fwrite(events, "done %0d %0d %0d\\n", current[n], n, cycle);
        if (!done[n] && was_done[n]) begin
          current[n] = current[n] + 1;
          if (current[n] == count) word = word - 1;
          else waits[n] = pause[current[n] * NODES + n];
        end
        was_done[n] = done[n];
        if (taken[n] == current[n] && waits[n] != 0) waits[n] = waits[n] - 1;
        asks = taken[n] < count && (taken[n] == current[n] || ahead != 0) && waits[n] == 0;
        operation_valid[n] <= asks;
        operation_payload[n] <= asks ? operations[taken[n] * NODES + n] : state[n];
        offers = offered[n] < count && (offered[n] < taken[n] || early != 0)
          && pointer[n] < first[offered[n] * NODES + n + 1]
          && ((message_valid[n] && !message_ready[n]) || (n % 2 == 0 || {{24'b0, state[n][7:0]}} >= stall));
        message_valid[n] <= offers;
        message_payload[n] <= offers ? flits[pointer[n]] : state[n];
        result_ready[n] <= n % 2 == 0 || {{24'b0, state[n][15:8]}} >= stall;
      end
      left <= word;
      if (!finished && (word == 0 || cycle + 1 >= limit)) begin
        finished <= 1;
        $fwrite(events, "end %0d 0 %0d\\n", word, cycle);
        $fflush(results);
        $fflush(sends);
        $fflush(events);
      end
    end
  end
endmodule
"""


def _connections(nodes: int) -> str:
    sides = (
        ("operation", "payload valid ready"),
        ("message", "payload valid ready"),
        ("result", "payload valid ready"),
    )
    lines = [
        f".{side}_{node}_{name}({side}_{name}[{node}]"
        + ("[OPERATION-1:0])" if (side, name) == ("operation", "payload") else ")")
        for node in range(nodes)
        for side, names in sides
        for name in names.split()
    ]
    lines += [f".{name}_{node}({name}[{node}])" for node in range(nodes) for name in ("done", "dropped")]
    return "".join(f",\n    {line}" for line in lines)


def collective_harness_text(fabric: EmittedFabric) -> str:
    """Return the bench of an emitted fabric with collective engines."""
    machine, nodes = fabric.machine, fabric.machine.network.num_nodes
    ports = fabric.manifest["endpoints"]["ports"]
    part = ports["result_N_payload"]["fields"].get("part")
    formats = [part.endpoint_format for part in engines_of(machine).parts]
    probes = [
        f"  assign inject_{name}[{node}] = dut.fabric_inject_{node}_{name};"
        for node in range(nodes)
        for name in ("valid", "ready", "payload")
    ]
    return _BENCH.format(
        top=fabric.top,
        nodes=nodes,
        length=machine.timing.packet_length,
        headers=max(each.header_flits for each in formats),
        data=max(each.payload_flits for each in formats),
        width=machine.spec.flit_width,
        address=machine.address.width,
        operation=ports["operation_N_payload"]["width"],
        result=ports["result_N_payload"]["width"],
        part=f"result_payload[n][{part['offset']} +: {part['width']}]" if part else "0",
        flits=FLITS,
        most=MOST_OPERATIONS,
        advance=ADVANCE,
        connections=_connections(nodes),
        probes="\n".join(probes),
    )
