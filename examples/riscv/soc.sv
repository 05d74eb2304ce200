// Two PicoRV32, a DMA, a ROM, a static memory and a DRAM on the fabric of system.toml, with a clock for all.
`define PROCESSOR(NAME, STACK) \
    picorv32_axi #(.STACKADDR(STACK), .ENABLE_COUNTERS(0)) NAME ( \
        .clk(aclk), .resetn(aresetn), .trap(NAME``_trap), \
        .mem_axi_awaddr(NAME``_awaddr), .mem_axi_awprot(NAME``_awprot), \
        .mem_axi_awvalid(NAME``_awvalid), .mem_axi_awready(NAME``_awready), \
        .mem_axi_wdata(NAME``_wdata), .mem_axi_wstrb(NAME``_wstrb), \
        .mem_axi_wvalid(NAME``_wvalid), .mem_axi_wready(NAME``_wready), \
        .mem_axi_bvalid(NAME``_bvalid), .mem_axi_bready(NAME``_bready), \
        .mem_axi_araddr(NAME``_araddr), .mem_axi_arprot(NAME``_arprot), \
        .mem_axi_arvalid(NAME``_arvalid), .mem_axi_arready(NAME``_arready), \
        .mem_axi_rdata(NAME``_rdata), .mem_axi_rvalid(NAME``_rvalid), .mem_axi_rready(NAME``_rready), \
        .irq(0), .pcpi_wr(0), .pcpi_rd(0), .pcpi_wait(0), .pcpi_ready(0))
module soc (
    input aclk,
    input aresetn,
    output cpu0_trap,
    output cpu1_trap
);
    `include "noc_system_wires.svh"
    noc_system fabric (.*);

    `PROCESSOR(cpu0, 32'h1000_1000);
    `PROCESSOR(cpu1, 32'h1000_0800);
    memory #(.NAME("rom")) `MEMORY(rom);
    memory #(.NAME("sram")) `MEMORY(sram);
    memory #(.NAME("dram"), .WIDTH(64), .BYTES(1 << 20), .HIT(6), .MISS(16), .PERIOD(780)) `MEMORY(dram);
    dma dma (
        .aclk,
        .aresetn,
        .s_awaddr(control_awaddr[11:0]),
        .s_awvalid(control_awvalid),
        .s_awready(control_awready),
        .s_wdata(control_wdata),
        .s_wvalid(control_wvalid),
        .s_wready(control_wready),
        .s_bvalid(control_bvalid),
        .s_bready(control_bready),
        .s_araddr(control_araddr[11:0]),
        .s_arvalid(control_arvalid),
        .s_arready(control_arready),
        .s_rdata(control_rdata),
        .s_rvalid(control_rvalid),
        .s_rready(control_rready),
        .m_awaddr(dma_awaddr),
        .m_awvalid(dma_awvalid),
        .m_awready(dma_awready),
        .m_wdata(dma_wdata),
        .m_wlast(dma_wlast),
        .m_wvalid(dma_wvalid),
        .m_wready(dma_wready),
        .m_bresp(dma_bresp),
        .m_bvalid(dma_bvalid),
        .m_bready(dma_bready),
        .m_araddr(dma_araddr),
        .m_arvalid(dma_arvalid),
        .m_arready(dma_arready),
        .m_rdata(dma_rdata),
        .m_rresp(dma_rresp),
        .m_rlast(dma_rlast),
        .m_rvalid(dma_rvalid),
        .m_rready(dma_rready)
    );
    assign control_bresp = 0, control_rresp = 0;
    assign {dma_awid, dma_awcache, dma_awprot, dma_awqos, dma_arid, dma_arcache, dma_arprot, dma_arqos} = 0;
    assign {dma_awlen, dma_awsize, dma_awburst, dma_wstrb} = {8'd15, 3'd3, 2'd1, 8'hff};
    assign {dma_arlen, dma_arsize, dma_arburst} = {8'd15, 3'd3, 2'd1};
endmodule
