// Clock and reset for the system of soc.py, and a look at what its processors have read.
module bench;
    bit clk = 1'b0;
    bit rst = 1'b1;
    wire [7:0] good, bad;
    wire done;

    always #5 clk = !clk;

    initial begin
        repeat (3) @(negedge clk);
        rst = 1'b0;
        repeat (20000) if (!done) @(negedge clk);
        if (!done) $fatal(1, "words read so far: good %0d, bad %0d", good, bad);
        if (good != 8'd64 || bad != 8'd0) $fatal(1, "words read: good %0d, bad %0d", good, bad);
        $display("%0d words from 2 nodes, each as sent", good);
        $finish;
    end

    soc dut (.*);
endmodule
