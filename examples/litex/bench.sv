// Clock and reset for the design of chip.py, and a look at what it has received.
module bench;
    bit clk = 1'b0;
    bit rst = 1'b1;
    wire [3:0] good, bad;
    wire [31:0] identification;

    always #5 clk = !clk;

    initial begin
        repeat (3) @(negedge clk);
        rst = 1'b0;
        repeat (500) @(negedge clk);
        if (good != 4'hf || bad != 4'h0) $fatal(1, "frames received: good %b, bad %b", good, bad);
        if (identification != "HDNH") $fatal(1, "registers: %h", identification);
        $display("4 frames from 4 nodes, each as sent");
        $finish;
    end

    chip dut (.*);
endmodule
