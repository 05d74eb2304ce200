// Clock and reset for the design in chip.sv, and a look at what it has counted.
module bench;
    bit aclk = 1'b0;
    bit aresetn = 1'b0;
    wire [2:0][7:0] good, bad;

    always #5 aclk = !aclk;

    initial begin
        repeat (3) @(negedge aclk);
        aresetn = 1'b1;
        repeat (500) @(negedge aclk);
        if (good != {3{8'd1}} || bad != '0) $fatal(1, "frames received: good %h, bad %h", good, bad);
        $display("3 frames from 3 nodes, each as sent");
        $finish;
    end

    chip dut (.*);
endmodule
