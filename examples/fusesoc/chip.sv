// Three nodes on a ring: each sends one frame to the node after it, and the last to the first.
module chip (
    input wire aclk,
    input wire aresetn,
    // Frames that each node has received from the node before it, as they were sent; and others.
    output logic [2:0][7:0] good,
    output logic [2:0][7:0] bad
);
    `include "noc_axi.svh"
    localparam integer NODES = NOC_AXI_NODES;
    localparam integer WIDTH = NOC_AXI_ADDRESS_WIDTH;

    logic [NODES-1:0][31:0] send_tdata, receive_tdata;
    logic [NODES-1:0][WIDTH-1:0] send_tdest, receive_tid;
    logic [NODES-1:0][3:0] receive_tkeep;
    logic [NODES-1:0] send_tvalid, send_tready, receive_tlast, receive_tuser, receive_tvalid;

    genvar node;
    generate
        for (node = 0; node < NODES; node = node + 1) begin : nodes
            localparam integer NEXT = (node + 1) % NODES;
            localparam integer BEFORE = (node + NODES - 1) % NODES;
            logic sent;

            // A frame of one word, which is the node's number.
            assign send_tdata[node] = node;
            assign send_tdest[node] = NOC_AXI_ADDRESS_OF_NODE[NEXT*WIDTH+:WIDTH];
            assign send_tvalid[node] = !sent;

            always_ff @(posedge aclk) begin
                if (!aresetn) begin
                    sent <= 1'b0;
                    good[node] <= 8'd0;
                    bad[node] <= 8'd0;
                end else begin
                    if (send_tready[node]) sent <= 1'b1;
                    if (receive_tvalid[node]) begin
                        if (receive_tdata[node] == BEFORE && receive_tlast[node] && &receive_tkeep[node] && !receive_tuser[node]
                            && receive_tid[node] == NOC_AXI_ADDRESS_OF_NODE[BEFORE*WIDTH+:WIDTH])
                            good[node] <= good[node] + 8'd1;
                        else bad[node] <= bad[node] + 8'd1;
                    end
                end
            end
        end
    endgenerate

    noc_axi_wrap network (
        .aclk(aclk),
        .aresetn(aresetn),
        .s_axis_tdata(send_tdata),
        .s_axis_tkeep({NODES{4'b1111}}),
        .s_axis_tlast({NODES{1'b1}}),
        .s_axis_tdest(send_tdest),
        .s_axis_tuser({NODES{1'b0}}),
        .s_axis_tvalid(send_tvalid),
        .s_axis_tready(send_tready),
        .m_axis_tdata(receive_tdata),
        .m_axis_tkeep(receive_tkeep),
        .m_axis_tlast(receive_tlast),
        .m_axis_tid(receive_tid),
        .m_axis_tuser(receive_tuser),
        .m_axis_tvalid(receive_tvalid),
        .m_axis_tready({NODES{1'b1}}),
        .s_axil_awaddr(19'd0),
        .s_axil_awprot(3'd0),
        .s_axil_awvalid(1'b0),
        .s_axil_awready(),
        .s_axil_wdata(32'd0),
        .s_axil_wstrb(4'd0),
        .s_axil_wvalid(1'b0),
        .s_axil_wready(),
        .s_axil_bresp(),
        .s_axil_bvalid(),
        .s_axil_bready(1'b0),
        .s_axil_araddr(19'd0),
        .s_axil_arprot(3'd0),
        .s_axil_arvalid(1'b0),
        .s_axil_arready(),
        .s_axil_rdata(),
        .s_axil_rresp(),
        .s_axil_rvalid(),
        .s_axil_rready(1'b0)
    );
endmodule
