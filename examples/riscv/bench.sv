// Clock and reset for the system of soc.sv, until both processors stop, and a look at what they have left in the mailbox.
module bench;
    bit aclk = 0, aresetn = 0;
    wire cpu0_trap, cpu1_trap;
    int cycles = 0;

    always #5 aclk = !aclk;
    always @(posedge aclk) cycles++;

    function automatic string mailbox(int hart);
        return {dut.sram.bytes[4*hart], dut.sram.bytes[4*hart+1], dut.sram.bytes[4*hart+2], dut.sram.bytes[4*hart+3]};
    endfunction

    initial begin
        repeat (16) @(negedge aclk);
        aresetn = 1;
        while (!(cpu0_trap && cpu1_trap) && cycles < 2000000) @(negedge aclk);
        $display("core 0: %s, core 1: %s, after %0d cycles", mailbox(0), mailbox(1), cycles);
        if (mailbox(0) != "PASS" || mailbox(1) != "PASS") $fatal(1, "the test of the memory has failed");
        $finish;
    end

    soc dut (.*);
endmodule
