"""Hierarchical dual-net networks on chip: from a one-line spec to verified Verilog."""
