// A DMA: it copies bytes from an address to another, 128 at a time, by bursts of AXI4. All three are multiples of 128.
// Registers: 0x0 source, 0x4 destination, 0x8 bytes: a write begins, and it reads what is left; 0xc bit 0: an error came.
module dma (
    input aclk,
    input aresetn,

    // Registers, AXI4-Lite.
    input [11:0] s_awaddr,
    input s_awvalid,
    output s_awready,
    input [31:0] s_wdata,
    input s_wvalid,
    output s_wready,
    output logic s_bvalid,
    input s_bready,
    input [11:0] s_araddr,
    input s_arvalid,
    output s_arready,
    output logic [31:0] s_rdata,
    output logic s_rvalid,
    input s_rready,

    // What it copies, AXI4.
    output [31:0] m_awaddr,
    output m_awvalid,
    input m_awready,
    output [63:0] m_wdata,
    output m_wlast,
    output m_wvalid,
    input m_wready,
    input [1:0] m_bresp,
    input m_bvalid,
    output m_bready,
    output [31:0] m_araddr,
    output m_arvalid,
    input m_arready,
    input [63:0] m_rdata,
    input [1:0] m_rresp,
    input m_rlast,
    input m_rvalid,
    output m_rready
);
    typedef enum logic [2:0] {IDLE, ASK, READ, SEND, WRITE, ANSWER} state_t;

    state_t state;
    logic [31:0] registers[4];  // source, destination, bytes, error
    logic [63:0] beats[16];
    logic [3:0] beat;

    assign s_awready = s_awvalid && s_wvalid && !s_bvalid && state == IDLE;
    assign s_wready = s_awready;
    assign s_arready = !s_rvalid;
    assign m_araddr = registers[0];
    assign m_arvalid = state == ASK;
    assign m_rready = state == READ;
    assign m_awaddr = registers[1];
    assign m_awvalid = state == SEND;
    assign m_wdata = beats[beat];
    assign m_wlast = beat == 15;
    assign m_wvalid = state == WRITE;
    assign m_bready = state == ANSWER;

    always_ff @(posedge aclk) begin
        if (s_bready) s_bvalid <= 0;
        if (s_rready) s_rvalid <= 0;
        if (s_arvalid && s_arready) begin
            s_rvalid <= 1;
            s_rdata <= registers[s_araddr[3:2]];
        end
        if (s_awready) begin
            s_bvalid <= 1;
            registers[s_awaddr[3:2]] <= s_wdata;
            if (s_awaddr[3:2] == 2 && s_wdata != 0) state <= ASK;
        end
        if (m_arvalid && m_arready) state <= READ;
        if (m_rvalid && m_rready) begin
            beats[beat] <= m_rdata;
            beat <= beat + 1;
            if (m_rresp != 0) registers[3] <= 1;
            if (m_rlast) state <= SEND;
        end
        if (m_awvalid && m_awready) state <= WRITE;
        if (m_wvalid && m_wready) begin
            beat <= beat + 1;
            if (m_wlast) state <= ANSWER;
        end
        if (m_bvalid && m_bready) begin
            if (m_bresp != 0) registers[3] <= 1;
            registers[0] <= registers[0] + 128;
            registers[1] <= registers[1] + 128;
            registers[2] <= registers[2] - 128;
            state <= registers[2] == 128 ? IDLE : ASK;
        end
        if (!aresetn) begin
            state <= IDLE;
            beat <= 0;
            s_bvalid <= 0;
            s_rvalid <= 0;
            registers[3] <= 0;
        end
    end
endmodule
