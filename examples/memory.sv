// A memory with a port of AXI4, for simulation: a static one, or by its times a DRAM of eight banks with a row open in each.
// +NAME=FILE fills it. Two faults: +NAME_stuck=ADDRESS, the lowest bit of that byte reads 1, and +NAME_alias=MASK, lines of
// the address that are 0.
// `memory #(...) `MEMORY(NAME);` joins it to the block NAME of a system.
`define MEMORY(NAME) NAME ( \
        .aclk, .aresetn, \
        .awaddr(NAME``_awaddr), .awlen(NAME``_awlen), .awsize(NAME``_awsize), \
        .awburst(NAME``_awburst), .awvalid(NAME``_awvalid), .awready(NAME``_awready), \
        .wdata(NAME``_wdata), .wstrb(NAME``_wstrb), .wvalid(NAME``_wvalid), .wready(NAME``_wready), \
        .bvalid(NAME``_bvalid), .bready(NAME``_bready), \
        .araddr(NAME``_araddr), .arlen(NAME``_arlen), .arsize(NAME``_arsize), \
        .arburst(NAME``_arburst), .arvalid(NAME``_arvalid), .arready(NAME``_arready), \
        .rdata(NAME``_rdata), .rlast(NAME``_rlast), .rvalid(NAME``_rvalid), .rready(NAME``_rready)); \
    assign NAME``_bid = 0, NAME``_bresp = 0, NAME``_rid = 0, NAME``_rresp = 0

module memory #(
    parameter string NAME = "memory",
    parameter integer WIDTH = 32,
    parameter integer BYTES = 4096,
    parameter integer HIT = 0,  // cycles to the first beat, if its row is open
    parameter integer MISS = HIT,  // if another one is
    parameter integer ROW = 1024,  // bytes
    parameter integer PERIOD = 0,  // cycles from refresh to refresh, each of which takes MISS and closes all rows
    localparam integer LANES = WIDTH / 8,
    localparam integer BITS = $clog2(BYTES)
) (
    input aclk,
    input aresetn,
    input [31:0] awaddr,
    input [7:0] awlen,
    input [2:0] awsize,
    input [1:0] awburst,
    input awvalid,
    output awready,
    input [WIDTH-1:0] wdata,
    input [LANES-1:0] wstrb,
    input wvalid,
    output wready,
    output bvalid,
    input bready,
    input [31:0] araddr,
    input [7:0] arlen,
    input [2:0] arsize,
    input [1:0] arburst,
    input arvalid,
    output arready,
    output logic [WIDTH-1:0] rdata,
    output rlast,
    output rvalid,
    input rready
);
    typedef enum logic [1:0] {IDLE, READ, WRITE, ANSWER} state_t;

    logic [7:0] bytes[BYTES];
    state_t state;
    logic [BITS-1:0] address, place;
    logic [7:0] left;
    logic [2:0] size;
    logic moves, reads_first;
    integer open[8];
    integer pause, age;
    integer stuck = -1, alias_mask = 0;

    wire is_due = PERIOD != 0 && age >= PERIOD;
    wire is_free = state == IDLE && pause == 0 && !is_due;
    assign arready = is_free && (reads_first || !awvalid);
    assign awready = is_free && !(arready && arvalid);
    assign wready = state == WRITE && pause == 0;
    assign rvalid = state == READ && pause == 0;
    assign rlast = left == 0;
    assign bvalid = state == ANSWER;
    assign place = address & BITS'(-LANES) & ~BITS'(alias_mask);

    always_comb
        for (int lane = 0; lane < LANES; lane++)
            rdata[8*lane+:8] = bytes[place+BITS'(lane)] | 8'(integer'(place) + lane == stuck);

    function automatic void start(logic [BITS-1:0] to, logic [7:0] beats, logic [2:0] wide, logic is_fixed);
        automatic integer row = integer'(to) / ROW;
        address <= to;
        left <= beats;
        size <= wide;
        moves <= !is_fixed;
        pause <= open[row%8] == row ? HIT : MISS;
        open[row%8] <= row;
    endfunction

    always_ff @(posedge aclk) begin
        age <= age + 1;
        if (pause != 0) pause <= pause - 1;
        else if (is_due && state == IDLE) begin
            age <= 0;
            pause <= MISS;
            for (int bank = 0; bank < 8; bank++) open[bank] <= -1;
        end
        if (arvalid && arready) begin
            start(BITS'(araddr), arlen, arsize, arburst == 0);
            state <= READ;
            reads_first <= 0;
        end
        if (awvalid && awready) begin
            start(BITS'(awaddr), awlen, awsize, awburst == 0);
            state <= WRITE;
            reads_first <= 1;
        end
        if ((rvalid && rready) || (wvalid && wready)) begin
            left <= left - 1;
            if (moves) address <= (address & BITS'(-1 << size)) + BITS'(1 << size);
            if (left == 0) state <= state == READ ? IDLE : ANSWER;
        end
        if (bvalid && bready) state <= IDLE;
        if (wvalid && wready)
            for (int lane = 0; lane < LANES; lane++)
                if (wstrb[lane]) bytes[place+BITS'(lane)] <= wdata[8*lane+:8];
        if (!aresetn) begin
            state <= IDLE;
            pause <= 0;
            age <= 0;
            for (int bank = 0; bank < 8; bank++) open[bank] <= -1;
        end
    end

    initial begin
        automatic string file;
        automatic integer opened;
        void'($value$plusargs({NAME, "_stuck=%h"}, stuck));
        void'($value$plusargs({NAME, "_alias=%h"}, alias_mask));
        if ($value$plusargs({NAME, "=%s"}, file)) begin
            opened = $fopen(file, "rb");
            if (opened == 0 || $fread(bytes, opened) == 0) $fatal(1, "%s cannot be read", file);
        end
    end
endmodule
