// Assertions on TOP and a trace of its packets, for simulators: read this file behind its Verilog.
// Each rule counts from the end of the first reset on, but for resets. +TOP_trace=FILE writes the packets.
/* verilator lint_off BLKSEQ */
package TOP_check;
  int file = 0;
endpackage

// A packet that has passed whole: resets seen, cycles of head and tail since then, virtual channel, flits, where.
module TOP_check_trace #(
  parameter int LENGTH = 1, parameter int WIDTH = 1
) (
  input logic clk, input logic off, input logic moves, input int position, input int vc, input logic [WIDTH-1:0] data
);
  string name;
  int resets = 0;
  longint cycle = 0, head = 0;
  logic was_off = 1'b0;
  logic [LENGTH*WIDTH-1:0] flits = '0;

  initial
    if (TOP_check::file == 0 && $value$plusargs("TOP_trace=%s", name)) begin
      TOP_check::file = $fopen(name, "w");
      if (TOP_check::file == 0) $fatal(1, "%s cannot be written", name);
      $fwrite(TOP_check::file, "hdnhw_trace\n");
    end

  always @(posedge clk) begin
    was_off <= off;
    cycle <= off ? 0 : cycle + 1;
    if (off && !was_off) resets <= resets + 1;
    if (!off && moves) begin
      flits[position*WIDTH +: WIDTH] = data;
      if (position == 0) head = cycle;
      if (position == LENGTH - 1 && TOP_check::file != 0)
        $fwrite(TOP_check::file, "%0d %0d %0d %0d %h %m\n", resets, head, cycle, vc, flits);
    end
  end
endmodule

// A stream of any kind.
module TOP_check_stream #(
  parameter int WIDTH = 1
) (
  input logic clk, input logic rst, input logic valid, input logic ready, input logic [WIDTH-1:0] payload
);
  logic seen = 1'b0;
  wire off = !seen || rst !== 1'b0;
  always @(posedge clk) if (rst === 1'b1) seen <= 1'b1;

  valid_stays: assert property (@(posedge clk) disable iff (off) !off && valid && !ready |=> valid)
    else $error("valid falls before ready");
  payload_stable: assert property (
    @(posedge clk) disable iff (off) !off && valid && !ready |=> !valid || $stable(payload))
    else $error("the payload changes before ready");
endmodule

// A stream of packets, from a terminal or to it.
module TOP_check_packets #(
  parameter int LENGTH = 1, parameter int WIDTH = 1, parameter bit KNOWN = 0, parameter bit ENDS = 0,
  parameter bit GAPLESS = 0
) (
  input logic clk, input logic rst, input logic valid, input logic ready, input logic last, input logic known,
  input logic [WIDTH-1:0] data
);
  logic seen = 1'b0;
  wire off = !seen || rst !== 1'b0;
  int position = 0;
  wire moves = ready && (valid || (GAPLESS && position != 0));
  always @(posedge clk) begin
    if (rst === 1'b1) seen <= 1'b1;
    if (off) position <= 0;
    else if (moves) position <= position == LENGTH - 1 ? 0 : position + 1;
  end
  TOP_check_trace #(.LENGTH(LENGTH), .WIDTH(WIDTH)) trace (.*, .vc(0));

  if (KNOWN) begin : addressed
    destination: assert property (@(posedge clk) disable iff (off) valid && position == 0 |-> known)
      else $error("the destination of a head flit is wrong");
  end
  if (ENDS) begin : ends
    last_at_tail: assert property (@(posedge clk) disable iff (off) valid |-> last == (position == LENGTH - 1))
      else $error("last is not where the packet ends");
  end
  if (GAPLESS) begin : gapless
    no_gap: assert property (@(posedge clk) disable iff (off) position != 0 |-> valid)
      else $error("a packet has a gap");
  end
endmodule

// A channel, where it leaves a router or a bridge, or to an ejection buffer, of which a credit counts in every cycle.
module TOP_check_channel #(
  parameter int LENGTH = 1, parameter int WIDTH = 1, parameter int VCS = 1, parameter int VC_WIDTH = 1,
  parameter int BUFFERS = 1, parameter int HEAD = 0, parameter int CREDIT = -1, parameter bit KNOWN = 0
) (
  input logic clk, input logic rst, input logic valid, input logic known, input logic [WIDTH-1:0] data,
  input logic [VC_WIDTH-1:0] vc, input logic [VCS-1:0] credit
);
  logic seen = 1'b0;
  wire off = !seen || rst !== 1'b0;
  int position = 0, phase = 0, now = 0, of_packet = 0, since = LENGTH;
  int free[VCS];
  wire head = valid && position == 0;
  logic room;
  logic [VCS-1:0] credits, unowed;
  always_comb begin
    room = 1'b0;
    for (int v = 0; v < VCS; v++) begin
      credits[v] = credit[v] && (CREDIT < 0 || phase == CREDIT);
      unowed[v] = credits[v] && free[v] >= BUFFERS;
      if (now == v && free[v] > 0) room = 1'b1;
    end
  end
  always @(posedge clk) begin
    if (rst === 1'b1) seen <= 1'b1;
    now <= 32'(vc);  // it comes a cycle ahead of the flit
    phase <= off || phase == LENGTH - 1 ? 0 : phase + 1;
    position <= off || position == LENGTH - 1 || (!valid && position == 0) ? 0 : position + 1;
    since <= off ? LENGTH : credits != 0 ? 1 : since < LENGTH ? since + 1 : since;
    if (head) of_packet <= now;
    for (int v = 0; v < VCS; v++)
      if (off) free[v] <= BUFFERS;
      else free[v] <= free[v] + 32'(credits[v]) - 32'(head && now == v);
  end
  TOP_check_trace #(.LENGTH(LENGTH), .WIDTH(WIDTH)) trace (.*, .moves(valid), .vc(position == 0 ? now : of_packet));

  head_phase: assert property (@(posedge clk) disable iff (off) head |-> phase == HEAD)
    else $error("a packet begins in phase %0d, not %0d", phase, HEAD);
  no_gap: assert property (@(posedge clk) disable iff (off) position != 0 |-> valid)
    else $error("a packet stops after %0d flits", position);
  if (VCS > 1) begin : channels
    vc_exists: assert property (@(posedge clk) disable iff (off) head |-> now < VCS)
      else $error("there is no virtual channel %0d", now);
    vc_stays: assert property (@(posedge clk) disable iff (off) valid && position != 0 |-> now == of_packet)
      else $error("virtual channel %0d within a packet of %0d", now, of_packet);
  end
  credit_left: assert property (@(posedge clk) disable iff (off) head && now < VCS |-> room)
    else $error("a packet without a credit of virtual channel %0d", now);
  credit_owed: assert property (@(posedge clk) disable iff (off) unowed == 0)
    else $error("a credit for no packet, of virtual channels %b", unowed);
  if (CREDIT < 0) begin : ejects
    credit_pace: assert property (@(posedge clk) disable iff (off) credits != 0 |-> since >= LENGTH)
      else $error("a credit %0d cycles after another", since);
  end
  if (KNOWN) begin : addressed
    destination: assert property (@(posedge clk) disable iff (off) head |-> known)
      else $error("the destination of a head flit is wrong");
  end
endmodule

// Words to another chip: frames have a header, some packets and a check.
module TOP_check_words #(
  parameter int AROUND = 1, parameter int PACKET = 1, parameter int PACKETS = 1
) (
  input logic clk, input logic rst, input logic valid, input logic ready, input logic last
);
  logic seen = 1'b0;
  wire off = !seen || rst !== 1'b0;
  int words = 1;
  always @(posedge clk) begin
    if (rst === 1'b1) seen <= 1'b1;
    if (off || (valid && ready)) words <= off || last ? 1 : words + 1;
  end

  frame_words: assert property (@(posedge clk) disable iff (off)
    valid |-> words < AROUND + PACKET * PACKETS ? !last || (words >= AROUND && (words - AROUND) % PACKET == 0) : last)
    else $error("a frame of %0d words", words);
endmodule

// A stream of frames that come whole out of an endpoint.
module TOP_check_frames #(
  parameter int TAGS = 1, parameter int BYTES = 1, parameter int LONGEST = 1
) (
  input logic clk, input logic rst, input logic valid, input logic ready, input logic last,
  input logic [TAGS-1:0] tags, input logic [BYTES-1:0] keep
);
  logic seen = 1'b0;
  wire off = !seen || rst !== 1'b0;
  int transfers = 0;
  logic [TAGS-1:0] of_frame = '0;
  always @(posedge clk) begin
    if (rst === 1'b1) seen <= 1'b1;
    if (valid && ready) of_frame <= tags;
    if (off || (valid && ready)) transfers <= off || last ? 0 : transfers + 1;
  end

  tags_stay: assert property (@(posedge clk) disable iff (off) valid && transfers != 0 |-> tags == of_frame)
    else $error("TID or TUSER changes within a frame");
  keep_whole: assert property (@(posedge clk) disable iff (off) valid && !last |-> &keep)
    else $error("TKEEP leaves out bytes before the last transfer");
  frame_length: assert property (@(posedge clk) disable iff (off) valid && transfers >= LONGEST - 1 |-> last)
    else $error("a frame of more than %0d transfers", LONGEST);
endmodule

// A port of AXI4-Lite. No answer comes in the cycle of its request: AXI has no paths from inputs to outputs.
module TOP_check_lite (
  input logic clk, input logic rst, input logic awvalid, input logic awready, input logic wvalid, input logic wready,
  input logic bvalid, input logic bready, input logic [1:0] bresp, input logic arvalid, input logic arready,
  input logic rvalid, input logic rready, input logic [1:0] rresp
);
  logic seen = 1'b0;
  wire off = !seen || rst !== 1'b0;
  int addresses = 0, words = 0, reads = 0;
  always @(posedge clk) begin
    if (rst === 1'b1) seen <= 1'b1;
    addresses <= off ? 0 : addresses + 32'(awvalid && awready) - 32'(bvalid && bready);
    words <= off ? 0 : words + 32'(wvalid && wready) - 32'(bvalid && bready);
    reads <= off ? 0 : reads + 32'(arvalid && arready) - 32'(rvalid && rready);
  end

  b_asked: assert property (@(posedge clk) disable iff (off) bvalid |-> addresses > 0 && words > 0)
    else $error("an answer to no write");
  r_asked: assert property (@(posedge clk) disable iff (off) rvalid |-> reads > 0) else $error("an answer to no read");
  b_resp: assert property (@(posedge clk) disable iff (off) bvalid |-> bresp != 2'b01) else $error("EXOKAY in BRESP");
  r_resp: assert property (@(posedge clk) disable iff (off) rvalid |-> rresp != 2'b01) else $error("EXOKAY in RRESP");
endmodule

// A port of AXI4.
module TOP_check_axi4 #(
  parameter int ID = 1, parameter int ADDR = 12, parameter int BYTES = 1
) (
  input logic clk, input logic rst,
  input logic awvalid, input logic awready, input logic [ID-1:0] awid, input logic [ADDR-1:0] awaddr,
  input logic [7:0] awlen, input logic [2:0] awsize, input logic [1:0] awburst,
  input logic wvalid, input logic wready, input logic wlast,
  input logic bvalid, input logic bready, input logic [ID-1:0] bid, input logic [1:0] bresp,
  input logic arvalid, input logic arready, input logic [ID-1:0] arid, input logic [ADDR-1:0] araddr,
  input logic [7:0] arlen, input logic [2:0] arsize, input logic [1:0] arburst,
  input logic rvalid, input logic rready, input logic [ID-1:0] rid, input logic [1:0] rresp, input logic rlast
);
  logic seen = 1'b0;
  wire off = !seen || rst !== 1'b0;

  function automatic bit kind_legal(input [11:0] addr, input [7:0] len, input [2:0] size, input [1:0] burst);
    case (burst)
      2'b00: return len < 16;
      2'b01: return 1;
      2'b10: return (len == 1 || len == 3 || len == 7 || len == 15) && ((32'(addr) >> size) << size) == 32'(addr);
      default: return 0;
    endcase
  endfunction
  function automatic bit crosses(input [11:0] addr, input [7:0] len, input [2:0] size, input [1:0] burst);
    return burst == 2'b01 && ((32'(addr) >> size) << size) + ((32'(len) + 1) << size) > 4096;
  endfunction

  wire [ADDR+11:0] awplace = {12'd0, awaddr}, arplace = {12'd0, araddr};
  wire aw_kind = kind_legal(awplace[11:0], awlen, awsize, awburst);
  wire ar_kind = kind_legal(arplace[11:0], arlen, arsize, arburst);
  wire aw_crosses = crosses(awplace[11:0], awlen, awsize, awburst);
  wire ar_crosses = crosses(arplace[11:0], arlen, arsize, arburst);

  aw_burst: assert property (@(posedge clk) disable iff (off) awvalid |-> aw_kind)
    else $error("AWBURST %b of %0d beats", awburst, 32'(awlen) + 1);
  ar_burst: assert property (@(posedge clk) disable iff (off) arvalid |-> ar_kind)
    else $error("ARBURST %b of %0d beats", arburst, 32'(arlen) + 1);
  aw_size: assert property (@(posedge clk) disable iff (off) awvalid |-> (1 << awsize) <= BYTES)
    else $error("AWSIZE %0d", awsize);
  ar_size: assert property (@(posedge clk) disable iff (off) arvalid |-> (1 << arsize) <= BYTES)
    else $error("ARSIZE %0d", arsize);
  aw_page: assert property (@(posedge clk) disable iff (off) awvalid |-> !aw_crosses)
    else $error("a write crosses 4 KiB");
  ar_page: assert property (@(posedge clk) disable iff (off) arvalid |-> !ar_crosses)
    else $error("a read crosses 4 KiB");
  b_resp: assert property (@(posedge clk) disable iff (off) bvalid |-> bresp != 2'b01) else $error("EXOKAY in BRESP");
  r_resp: assert property (@(posedge clk) disable iff (off) rvalid |-> rresp != 2'b01) else $error("EXOKAY in RRESP");

  // Answers are held against what was asked for in cycles before: AXI has no paths from inputs to outputs.
  typedef struct packed {logic [ID-1:0] id; logic [7:0] len;} burst_t;
  burst_t reads[$], writes[$];  // without all data
  int ends[$];  // of data, beats behind the first, without an address
  int sent = 0, found;
  int got[2**ID], answers[2**ID];
  bit wrong;
  always @(posedge clk) begin
    if (rst === 1'b1) seen <= 1'b1;
    if (off) begin
      reads.delete();
      writes.delete();
      ends.delete();
      sent = 0;
      for (int id = 0; id < 2**ID; id++) begin
        got[id] = 0;
        answers[id] = 0;
      end
    end else begin
      if (bvalid) begin
        b_asked: assert (answers[bid] > 0) else $error("an answer to no write with ID %0d", bid);
        if (bready && answers[bid] > 0) answers[bid] = answers[bid] - 1;
      end
      if (rvalid) begin
        found = -1;
        for (int at = reads.size() - 1; at >= 0; at--) if (reads[at].id == rid) found = at;
        r_asked: assert (found >= 0) else $error("an answer to no read with ID %0d", rid);
        if (found >= 0) begin
          r_last: assert (rlast == (got[rid] == 32'(reads[found].len)))
            else $error("RLAST is %b with beat %0d of %0d", rlast, got[rid] + 1, 32'(reads[found].len) + 1);
          if (rready) begin
            got[rid] = rlast ? 0 : got[rid] + 1;
            if (rlast) reads.delete(found);
          end
        end
      end
      if (arvalid && arready) reads.push_back({arid, arlen});
      if (awvalid && awready) writes.push_back({awid, awlen});
      if (wvalid && wready) begin
        if (wlast) ends.push_back(sent);
        sent = wlast ? 0 : sent + 1;
      end
      wrong = 0;
      while (writes.size() > 0 && ends.size() > 0) begin
        wrong = wrong || ends[0] != 32'(writes[0].len);
        answers[writes[0].id] = answers[writes[0].id] + 1;
        void'(ends.pop_front());
        void'(writes.pop_front());
      end
      if (writes.size() > 0 && sent > 32'(writes[0].len)) wrong = 1;
      w_last: assert (!wrong) else $error("WLAST is not with the last beat of a burst");
    end
  end
endmodule
