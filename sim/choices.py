"""What a user chooses from, by itself: the command line knows it without loading the benches."""

__all__ = ["SIMULATORS", "TESTS"]

SIMULATORS = ("verilator", "icarus")

TESTS = ("hops", "random", "exchange")
"""The tests that run unless one is asked for."""
