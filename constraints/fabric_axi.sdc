# Clock of fabric_axi: 10 ns, 100 MHz. aresetn is synchronous to it, active low; it has no false path.
create_clock -name aclk -period 10.000 [get_ports {aclk}]
