"""Verilog and its manifest."""
