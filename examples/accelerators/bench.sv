// Clock and reset for the system of soc.sv, until all words are written; what is in the second memory goes to +file=FILE.
module bench;
    bit aclk = 0, aresetn = 0;
    wire done;
    int cycles = 0;
    string file;

    always #5 aclk = !aclk;
    always @(posedge aclk) cycles++;

    initial begin
        repeat (16) @(negedge aclk);
        aresetn = 1;
        while (!done && cycles < 100000) @(negedge aclk);
        if (!done) $fatal(1, "%0d words are written", dut.written);
        if (!$value$plusargs("file=%s", file)) $fatal(1, "no +file");
        $writememh(file, dut.results.bytes);
        $display("%0d words written after %0d cycles", dut.written, cycles);
        $finish;
    end

    soc dut (.*);
endmodule
