"""What a user chooses from, by itself: the command line knows it without loading schedules."""

__all__ = ["ALGORITHMS", "SPLITS", "SWAPS"]

ALGORITHMS = ("ascend", "descend", "round-trip", "sort", "convolution", "matrix")
"""Of a hypercube, for :func:`hdnhw.collective.ascend.run_algorithm`."""

SWAPS = ("paper", "lazy")
"""When it swaps back: after each level, or when another digit is needed."""

SPLITS = ("destination", "source", "sum", "first")
"""What a message takes for its base digits in SN^j where the papers leave them open: those of where it is to go, those
that it has, their sum, digit by digit, or zeros: to the letter, as one node of a super-node then gets all of msg_q."""
