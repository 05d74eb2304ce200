"""The barrier of collective engines: rounds between neighbors over wires of their own, and the cycles that they take.

A node that enters tells all its neighbors by a signal of one cycle. In a round it waits for one signal from each of
them; then, unless the round was the last, it signals again. After round k all nodes within distance k have entered: as
many rounds as the diameter make a barrier. There is no root, no tree and no table, and no node needs its address.

References
----------
.. [1] B. Awerbuch: Complexity of network synchronization. Journal of the ACM 32(4), 804-823, 1985. The rounds are those
   of its synchronizer alpha.
"""

from hdnhw.topology.graph import Network
from hdnhw.topology.metrics import summarize_distances


def barrier_rounds(network: Network) -> int:
    """Return the rounds of a barrier: the diameter, found by search.

    Raises
    ------
    ValueError
        If the network is too large to be searched from every node.
    """
    diameter = summarize_distances(network).diameter
    if diameter is None:
        raise ValueError(f"network must be small enough to be searched from every node, not {network.spec}")
    return diameter


def signal_cycles(registers: int = 0) -> int:
    """Return the cycles of a hop of a signal: one register, and those that channels have as well."""
    return 1 + registers


def barrier_cycles(rounds: int, registers: int = 0) -> int:
    """Return the cycles from the one in which the last node enters to the one in which all nodes are released.

    It is a hop for each round, and the register that tells the node's user. With signals that take as long for a hop no
    barrier does with less: if the last to enter has a node at distance `rounds`, that is when this one can hear of it.

    Examples
    --------
    >>> barrier_cycles(4), barrier_cycles(4, registers=1)
    (5, 9)
    """
    return rounds * signal_cycles(registers) + 1
