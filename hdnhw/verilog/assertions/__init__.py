"""Assertions on emitted Verilog: modules that check its streams and channels, and what binds them to it."""
