"""Cocotb benches on the emitted Verilog, and their runner."""
