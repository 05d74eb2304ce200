# Ports of fabric against its clock, after fabric.sdc: what is outside has 2 ns of the period on either side.
set_input_delay -clock clk -max 2.0 [get_ports {rst}]
set_input_delay -clock clk -min 0.0 [get_ports {rst}]
set_input_delay -clock clk -max 2.0 [get_ports {inject_*_valid inject_*_payload* eject_*_ready}]
set_input_delay -clock clk -min 0.0 [get_ports {inject_*_valid inject_*_payload* eject_*_ready}]
set_output_delay -clock clk -max 2.0 [get_ports {inject_*_ready eject_*_valid eject_*_payload* dropped_*}]
set_output_delay -clock clk -min 0.0 [get_ports {inject_*_ready eject_*_valid eject_*_payload* dropped_*}]
