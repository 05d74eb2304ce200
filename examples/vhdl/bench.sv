// Clock and reset for the design in chip.vhd, and a look at what it has received.
module bench;
    bit aclk = 1'b0;
    bit aresetn = 1'b0;
    wire [3:0] good, bad;

    always #5 aclk = !aclk;

    initial begin
        repeat (3) @(negedge aclk);
        aresetn = 1'b1;
        repeat (500) @(negedge aclk);
        if (good != 4'hf || bad != 4'h0) $fatal(1, "frames received: good %b, bad %b", good, bad);
        $display("4 frames from 4 nodes, each as sent");
        $finish;
    end

    chip dut (.*);
endmodule
