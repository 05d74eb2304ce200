// Frames of 16 words go from one memory through four accelerators, in turns, to another memory, over the fabric of system.toml.
`define ACCELERATOR(NAME, WHAT) \
    accelerator #(.KIND(WHAT)) NAME ( \
        .aclk, .aresetn, \
        .i_tdata(NAME``_in_tdata), .i_tlast(NAME``_in_tlast), .i_tvalid(NAME``_in_tvalid), .i_tready(NAME``_in_tready), \
        .o_tdata(NAME``_out_tdata), .o_tlast(NAME``_out_tlast), .o_tvalid(NAME``_out_tvalid), .o_tready(NAME``_out_tready)); \
    assign NAME``_out_tkeep = 4'hf

module soc #(
    parameter integer FRAMES = 64
) (
    input aclk,
    input aresetn,
    output done
);
    `include "noc_system_wires.svh"
    localparam integer SINK[4] = '{SCALE_IN_TDEST, DELTA_IN_TDEST, TOTAL_IN_TDEST, PEAK_IN_TDEST};
    localparam integer SOURCE[4] = '{SCALE_OUT_TID, DELTA_OUT_TID, TOTAL_OUT_TID, PEAK_OUT_TID};

    noc_system fabric (.*);
    memory #(.NAME("samples"), .HIT(6), .MISS(16), .PERIOD(780)) `MEMORY(samples);
    memory #(.NAME("results"), .HIT(6), .MISS(16), .PERIOD(780)) `MEMORY(results);
    `ACCELERATOR(scale, "scale");
    `ACCELERATOR(delta, "delta");
    `ACCELERATOR(total, "total");
    `ACCELERATOR(peak, "peak");

    // Of what is not used.
    assign {reader_arid, reader_arcache, reader_arprot, reader_arqos, reader_bready} = 0;
    assign {reader_awid, reader_awaddr, reader_awlen, reader_awsize, reader_awburst} = 0;
    assign {reader_awcache, reader_awprot, reader_awqos, reader_awvalid} = 0;
    assign {reader_wdata, reader_wstrb, reader_wlast, reader_wvalid} = 0;
    assign {writer_awid, writer_awcache, writer_awprot, writer_awqos, writer_rready} = 0;
    assign {writer_arid, writer_araddr, writer_arlen, writer_arsize, writer_arburst} = 0;
    assign {writer_arcache, writer_arprot, writer_arqos, writer_arvalid} = 0;

    // A burst of reads is a frame, and the next one is asked for when it is over.
    logic [31:0] frame;
    logic is_asked;
    assign reader_araddr = 64 * frame;
    assign {reader_arlen, reader_arsize, reader_arburst} = {8'd15, 3'd2, 2'd1};
    assign reader_arvalid = !is_asked && frame < FRAMES;
    assign {feed_tdata, feed_tlast, feed_tvalid, reader_rready} = {reader_rdata, reader_rlast, reader_rvalid, feed_tready};
    assign {feed_tkeep, feed_tdest} = {4'hf, 3'(SINK[frame[1:0]])};
    always_ff @(posedge aclk) begin
        if (reader_arvalid && reader_arready) is_asked <= 1;
        if (reader_rvalid && reader_rready && reader_rlast) begin
            is_asked <= 0;
            frame <= frame + 1;
        end
        if (!aresetn) {frame, is_asked} <= 0;
    end

    // A word is a write, behind those of the same accelerator: frames of several may be mixed here.
    logic [7:0] words[4];
    logic [1:0] from;
    logic has_place, has_data;
    integer written;
    always_comb begin
        from = 0;
        for (int one = 0; one < 4; one++) if (gather_tid == SOURCE[one]) from = 2'(one);
    end
    assign writer_awaddr = 32'h1_0000 + 1024 * from + 4 * words[from];
    assign {writer_awlen, writer_awsize, writer_awburst} = {8'd0, 3'd2, 2'd1};
    assign {writer_wdata, writer_wstrb, writer_wlast} = {gather_tdata, gather_tkeep, 1'b1};
    assign writer_awvalid = gather_tvalid && !has_place;
    assign writer_wvalid = gather_tvalid && !has_data;
    assign gather_tready = (has_place || writer_awready) && (has_data || writer_wready);
    assign writer_bready = 1;
    assign done = written == 16 * FRAMES;
    always_ff @(posedge aclk) begin
        has_place <= gather_tvalid && !gather_tready && (has_place || writer_awready);
        has_data <= gather_tvalid && !gather_tready && (has_data || writer_wready);
        if (gather_tvalid && gather_tready) words[from] <= words[from] + 1;
        if (writer_bvalid) written <= written + 1;
        if (!aresetn) begin
            {has_place, has_data, written} <= 0;
            for (int one = 0; one < 4; one++) words[one] <= 0;
        end
    end
endmodule
