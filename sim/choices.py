"""What a user chooses from, by itself: the command line knows it without loading the benches."""

SIMULATORS = ("verilator", "icarus")

TESTS = ("hops", "random", "exchange")
"""The tests that run unless one is asked for."""

ALL_TESTS = (*TESTS, "load", "faults", "errors", "rig", "axi", "axi4")
"""The tests that there are."""
