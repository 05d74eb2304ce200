"""Proofs about the emitted Verilog: what holds for the text itself, by whatever generator it was written."""
