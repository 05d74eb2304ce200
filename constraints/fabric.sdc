# Clock of fabric: 10 ns, 100 MHz. rst is synchronous to it, active high; it has no false path.
create_clock -name clk -period 10.000 [get_ports {clk}]
