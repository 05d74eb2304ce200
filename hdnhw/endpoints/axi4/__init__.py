"""AXI4 endpoints of a fabric: managers on one side, memories on the other."""
