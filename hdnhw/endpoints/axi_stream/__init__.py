"""AXI4-Stream endpoints of a fabric, their registers, and the top level that joins them."""
