// A design on a fabric of 16 nodes with AXI4-Stream endpoints, to start from; docs/integration.md has the commands.
//
// Nodes 1 to 15 are sensors that report to node 0, whose frames come out of this module. The registers of the fabric are
// passed on, for a processor.

// A source of frames: every PERIOD cycles one of four words, its number and three of its count of cycles.
module sensor #(
    parameter [3:0] NUMBER = 4'd0,
    parameter [3:0] DESTINATION = 4'd0,
    parameter integer PERIOD = 1024
) (
    input  wire        aclk,
    input  wire        aresetn,
    output wire [31:0] m_axis_tdata,
    output wire        m_axis_tlast,
    output wire [ 3:0] m_axis_tdest,
    output wire [ 3:0] m_axis_tuser,
    output reg         m_axis_tvalid,
    input  wire        m_axis_tready
);
    reg [31:0] count;
    reg [31:0] sample;
    reg [ 1:0] word;

    assign m_axis_tdata = (word == 2'd0) ? {28'd0, NUMBER} : sample;
    assign m_axis_tlast = (word == 2'd3);
    assign m_axis_tdest = DESTINATION;
    assign m_axis_tuser = NUMBER;

    always @(posedge aclk) begin
        if (!aresetn) begin
            count <= 32'd0;
            sample <= 32'd0;
            word <= 2'd0;
            m_axis_tvalid <= 1'b0;
        end else begin
            count <= (count == PERIOD - 1) ? 32'd0 : count + 32'd1;
            if (m_axis_tvalid && m_axis_tready) begin
                word <= word + 2'd1;
                sample <= sample + 32'd1;
                if (m_axis_tlast) m_axis_tvalid <= 1'b0;
            end else if (count == PERIOD - 1) begin
                m_axis_tvalid <= 1'b1;
            end
        end
    end
endmodule

module top (
    input  wire        aclk,
    input  wire        aresetn,

    // Frames that have reached node 0.
    output wire [31:0] m_axis_tdata,
    output wire [ 3:0] m_axis_tkeep,
    output wire        m_axis_tlast,
    output wire [ 3:0] m_axis_tid,
    output wire [ 3:0] m_axis_tuser,
    output wire        m_axis_tvalid,
    input  wire        m_axis_tready,

    // Registers of the fabric.
    input  wire [18:0] s_axil_awaddr,
    input  wire [ 2:0] s_axil_awprot,
    input  wire        s_axil_awvalid,
    output wire        s_axil_awready,
    input  wire [31:0] s_axil_wdata,
    input  wire [ 3:0] s_axil_wstrb,
    input  wire        s_axil_wvalid,
    output wire        s_axil_wready,
    output wire [ 1:0] s_axil_bresp,
    output wire        s_axil_bvalid,
    input  wire        s_axil_bready,
    input  wire [18:0] s_axil_araddr,
    input  wire [ 2:0] s_axil_arprot,
    input  wire        s_axil_arvalid,
    output wire        s_axil_arready,
    output wire [31:0] s_axil_rdata,
    output wire [ 1:0] s_axil_rresp,
    output wire        s_axil_rvalid,
    input  wire        s_axil_rready
);
    `include "fabric_axi.svh"
    localparam integer NODES = FABRIC_AXI_NODES;

    logic [NODES-1:0][31:0] send_tdata, receive_tdata;
    logic [NODES-1:0][3:0] send_tdest, send_tuser, receive_tkeep, receive_tid, receive_tuser;
    logic [NODES-1:0] send_tlast, send_tvalid, send_tready, receive_tlast, receive_tvalid, receive_tready;

    // Node 0 sends nothing; the sensors would take any frame at once, and throw it away.
    assign send_tdata[0] = 32'd0;
    assign send_tdest[0] = 4'd0;
    assign send_tuser[0] = 4'd0;
    assign send_tlast[0] = 1'b0;
    assign send_tvalid[0] = 1'b0;

    assign m_axis_tdata = receive_tdata[0];
    assign m_axis_tkeep = receive_tkeep[0];
    assign m_axis_tlast = receive_tlast[0];
    assign m_axis_tid = receive_tid[0];
    assign m_axis_tuser = receive_tuser[0];
    assign m_axis_tvalid = receive_tvalid[0];
    assign receive_tready = {{(NODES - 1) {1'b1}}, m_axis_tready};

    wire unused = &{
        1'b0, send_tready[0], receive_tdata, receive_tkeep, receive_tlast, receive_tid, receive_tuser, receive_tvalid};

    genvar node;
    generate
        for (node = 1; node < NODES; node = node + 1) begin : sensors
            sensor #(
                .NUMBER(node[3:0]),
                .DESTINATION(FABRIC_AXI_ADDRESS_OF_NODE[3:0])
            ) source (
                .aclk(aclk),
                .aresetn(aresetn),
                .m_axis_tdata(send_tdata[node]),
                .m_axis_tlast(send_tlast[node]),
                .m_axis_tdest(send_tdest[node]),
                .m_axis_tuser(send_tuser[node]),
                .m_axis_tvalid(send_tvalid[node]),
                .m_axis_tready(send_tready[node])
            );
        end
    endgenerate

    fabric_axi_wrap fabric (
        .aclk(aclk),
        .aresetn(aresetn),
        .s_axis_tdata(send_tdata),
        .s_axis_tkeep({NODES{4'b1111}}),
        .s_axis_tlast(send_tlast),
        .s_axis_tdest(send_tdest),
        .s_axis_tuser(send_tuser),
        .s_axis_tvalid(send_tvalid),
        .s_axis_tready(send_tready),
        .m_axis_tdata(receive_tdata),
        .m_axis_tkeep(receive_tkeep),
        .m_axis_tlast(receive_tlast),
        .m_axis_tid(receive_tid),
        .m_axis_tuser(receive_tuser),
        .m_axis_tvalid(receive_tvalid),
        .m_axis_tready(receive_tready),
        .*
    );
endmodule
