"""Collective operations: which there are, and the numbers that they combine."""

MOVING = ("broadcast", "scatter", "allgather", "exchange")
"""Collective operations that move messages from where they are; what engines run if nothing is said."""


JOIN, MULTICAST = "join", "multicast"
"""Of the first one each node says whether it is a member of the group that the second one brings a message to."""


OPERATIONS = (*MOVING, "reduce", "reducescatter", "gather", "allreduce", JOIN, MULTICAST)
"""Collective operations that go by a schedule of messages."""


BARRIER = "barrier"
"""The operation that ends at no node before all have begun it."""


ENGINE_OPERATIONS = (*OPERATIONS, BARRIER)
"""What collective engines can do."""


REGISTER_OPERATIONS = ("allreduce-short", "scan", "exscan")
"""Collective operations on one packet of each node, in registers: the first is an all-reduce."""


OPERATORS = ("sum", "min", "max", "and", "or", "xor")
"""What makes one number of two."""


INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
"""Numbers that engines combine; sums wrap around, and ``min`` and ``max`` look at the sign of those that have one."""


MOST_MESSAGE_PACKETS = 256
"""Packets of a message of collective engines, at most."""


EXCHANGE_ORDERS = ("paper", "cluster-first")
"""Schedules of a total exchange: the papers' and the one of fewest words, see :mod:`hdnhw.collectives.exchange`."""
