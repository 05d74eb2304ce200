// Clock and reset for the design of chips.py, bits that turn over on both lines, and a look at what was received.
module bench;
    bit clk = 1'b0;
    bit rst = 1'b1;
    bit [1:0] flip;
    wire [3:0] good, bad;
    wire [31:0] damaged;

    always #5 clk = !clk;
    always @(negedge clk) flip = {$urandom_range(255) == 0, $urandom_range(255) == 0};

    initial begin
        repeat (16) @(negedge clk);
        rst = 1'b0;
        repeat (20000) @(negedge clk);
        if (good != 4'hf || bad != 4'h0) $fatal(1, "words received: good %b, bad %b", good, bad);
        if (damaged[15:0] == 0 || damaged[31:16] == 0) $fatal(1, "no frame was damaged");
        $display("%0d and %0d frames came damaged, and were sent again", damaged[15:0], damaged[31:16]);
        $display("512 words from 4 nodes, each as sent");
        $finish;
    end

    pair dut (.*);
endmodule
