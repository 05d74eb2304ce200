# Ports of fabric against its clock, after fabric.sdc: what is outside has 2 ns of the period on either side.
set_input_delay -clock clk -max 2.0 [get_ports {rst}]
set_input_delay -clock clk -min 0.0 [get_ports {rst}]
set_input_delay -clock clk -max 2.0 [get_ports {inject__*__valid inject__*__payload* eject__*__ready}]
set_input_delay -clock clk -min 0.0 [get_ports {inject__*__valid inject__*__payload* eject__*__ready}]
set_output_delay -clock clk -max 2.0 [get_ports {inject__*__ready eject__*__valid eject__*__payload* dropped__*}]
set_output_delay -clock clk -min 0.0 [get_ports {inject__*__ready eject__*__valid eject__*__payload* dropped__*}]
