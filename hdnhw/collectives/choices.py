"""What a user chooses from, by itself: the command line knows it without loading schedules."""

from hdnhw.spec import INTEGERS

ALGORITHMS = ("ascend", "descend", "round-trip", "sort", "prefix", "convolution", "matrix")
"""Of a hypercube, for :func:`hdnhw.collectives.ascend.run_algorithm`."""

SWAPS = ("paper", "lazy")
"""When it swaps back: after each level, or when another digit is needed."""

EMBEDDINGS = ("cube", "cycle")
"""Ways to place the nodes of a guest network, see :mod:`hdnhw.collectives.embedding`."""

SPLITS = ("destination", "source", "sum", "first")
"""What a message takes for its base digits in SN^j where the papers leave them open: those of where it is to go, those
that it has, their sum, digit by digit, or zeros: to the letter, as one node of a super-node then gets all of msg_q."""

NUMBERS = (*INTEGERS, "float32")
"""What a word that is combined is."""

ROOTED = ("broadcast", "multicast", "scatter", "gather", "reduce")
"""Collective operations with one node that is the only source, or the only destination."""

COMBINING = ("reduce", "reducescatter", "allreduce", "scan", "exscan")
"""Collective operations that combine contributions."""

COLLECTIVES = ("broadcast", "multicast", "scatter", "allgather", "gather", *COMBINING)
"""Collective operations but the total exchange."""

BASELINES = ("ring", "doubling")
"""Algorithms of an all-reduce whose messages are routed (:mod:`hdnhw.collectives.baselines`)."""
