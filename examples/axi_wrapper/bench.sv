// Clock and reset for the design in top.sv, and a look at every frame that comes out of it.
module bench;
    localparam integer FRAMES = 45;

    bit aclk = 1'b0;
    bit aresetn = 1'b0;
    bit m_axis_tready = 1'b0;
    wire [31:0] m_axis_tdata;
    wire [3:0] m_axis_tkeep, m_axis_tid, m_axis_tuser;
    wire m_axis_tlast, m_axis_tvalid;

    int frames = 0;
    int word = 0;
    int expected[16];

    always #5 aclk = !aclk;

    initial begin
        repeat (3) @(negedge aclk);
        aresetn = 1'b1;
        repeat (20000) @(negedge aclk) m_axis_tready = $urandom_range(3) != 0;
        $fatal(1, "only %0d frames came", frames);
    end

    // A frame is the number of its source, and three samples, each one more than the one before.
    always @(posedge aclk) begin
        if (aresetn && m_axis_tvalid && m_axis_tready) begin
            if (m_axis_tkeep != 4'b1111 || m_axis_tuser != m_axis_tid || m_axis_tlast != (word == 3))
                $fatal(1, "frame %0d, word %0d: not as it was sent", frames, word);
            if (m_axis_tdata != (word == 0 ? 32'(m_axis_tid) : expected[m_axis_tid]))
                $fatal(1, "frame %0d, word %0d: %0d of node %0d", frames, word, m_axis_tdata, m_axis_tid);
            expected[m_axis_tid] <= expected[m_axis_tid] + 1;
            word <= m_axis_tlast ? 0 : word + 1;
            if (m_axis_tlast) frames <= frames + 1;
            if (frames == FRAMES - 1 && m_axis_tlast) begin
                $display("%0d frames from 15 nodes, each as sent", FRAMES);
                $finish;
            end
        end
    end

    top dut (
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
        .s_axil_rready(1'b0),
        .*
    );
endmodule
