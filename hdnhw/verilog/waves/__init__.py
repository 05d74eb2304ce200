"""Waveforms of emitted Verilog, told in packets."""
