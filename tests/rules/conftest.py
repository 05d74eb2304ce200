"""A rule evaluated on all pairs of nodes at once."""

import numpy as np
import pytest

from hdnhw.rules.decision import VC_SHIFT
from hdnhw.topology import metrics

OPERATIONS = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "not": lambda a: 1 - a,
    "eq": lambda a, b: np.equal(a, b).astype(np.int8),
    "lt": lambda a, b: np.less(a, b).astype(np.int8),
    "submod": lambda a, b, n: (a - b) % n,
    "odd": lambda a: a & 1,
    "mux": lambda condition, one, zero: np.where(condition, one, zero),
}


def every_hop(rule):
    """Return (port, vc), each an integer matrix of shape (current node, destination); port -1 where it has arrived."""
    n = rule.network.num_nodes
    digits = [np.asarray(digit, dtype=np.int8) for digit in rule.network.decode(np.arange(n))]
    inputs = {f"cur{i}": digit[:, None] for i, digit in enumerate(digits)}
    inputs |= {f"dst{i}": digit[None, :] for i, digit in enumerate(digits)}
    values = rule.circuit.run([rule.arrived, *rule.take, *rule.vc], inputs.__getitem__, OPERATIONS)
    arrived, *bits = (np.broadcast_to(value, (n, n)) for value in values)
    take, vc = bits[: len(rule.take)], bits[len(rule.take) :]
    assert (sum(take, arrived) == 1).all(), "not exactly one port, or arrival, is taken"
    port = sum((index * taken for index, taken in enumerate(take)), -arrived)
    return port.astype(np.int64), sum(
        (bit.astype(np.int64) << weight for weight, bit in enumerate(vc)), np.zeros((n, n), int)
    )


@pytest.fixture(scope="session", name="every_hop")
def every_hop_fixture():
    return every_hop


def hops_of_pairs(made):
    """Return the hops between all pairs, by following the interpreted rule from node to node."""
    network, route = made.network, made.plain_route
    nodes = range(network.num_nodes)
    table, mask = metrics.neighbor_table(network).tolist(), (1 << VC_SHIFT) - 1
    address = [made.address.of_node(node) for node in nodes]

    def hops(src, dst):
        seen = 0
        while src != dst:
            src = table[src][route(address[src], address[dst]) & mask]
            assert src >= 0
            seen += 1
            assert seen <= network.num_nodes
        return seen

    return {(src, dst): hops(src, dst) for src in nodes for dst in nodes}


@pytest.fixture(name="lengths_of")
def lengths_of_fixture():
    return hops_of_pairs
