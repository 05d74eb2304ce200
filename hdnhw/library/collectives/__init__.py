"""Collective operations: their schedules counted, run on the model, or by engines in the emitted Verilog."""
