// An accelerator: a word out for each word in, and a frame for each frame, at the beginning of which it forgets the last one.
module accelerator #(
    parameter string KIND = "scale"
) (
    input aclk,
    input aresetn,
    input [31:0] i_tdata,
    input i_tlast,
    input i_tvalid,
    output i_tready,
    output logic [31:0] o_tdata,
    output logic o_tlast,
    output logic o_tvalid,
    input o_tready
);
    logic [31:0] value, last_in, last_out;

    if (KIND == "scale") assign value = 3 * i_tdata + 1;
    if (KIND == "delta") assign value = i_tdata - last_in;
    if (KIND == "total") assign value = i_tdata + last_out;
    if (KIND == "peak") assign value = i_tdata > last_out ? i_tdata : last_out;
    assign i_tready = !o_tvalid || o_tready;

    always_ff @(posedge aclk) begin
        if (i_tready) o_tvalid <= i_tvalid;
        if (i_tready && i_tvalid) begin
            {o_tdata, o_tlast} <= {value, i_tlast};
            last_in <= i_tlast ? 0 : i_tdata;
            last_out <= i_tlast ? 0 : value;
        end
        if (!aresetn) {o_tvalid, last_in, last_out} <= 0;
    end
endmodule
