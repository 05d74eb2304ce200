"""RDN paper, section V: reduction and prefix sums in the pattern of Algorithm 3, with values that are moved.

Algorithm 3 gathers in the clusters, crosses, gathers what came, and crosses again. Here a node combines what it gets in
place of putting it together, and keeps what comes before it in the order of the IDs. What is combined are affine maps
modulo a prime, whose order matters, so that nothing can be combined in a wrong order unseen.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from hdnhw.claims.claim import Case, Claim, Finding, judge
from hdnhw.claims.families import compare, dual_net
from hdnhw.collectives.spread import allgather_schedule
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.metrics import neighbor_table

PRIME = 2**31 - 1

SPECS = ("cube(1), 1", "cube(2), 1", "cube(1), 2", "cube(3), 1", "cube(2), 2", "cube(1), 3", "cube(3), 2")

Maps = npt.NDArray[np.int64]
"""Row 0 and 1 of node i's map: x to row 0 times x plus row 1; shape (2, nodes)."""


def _after(first: Maps, second: Maps) -> Maps:
    """Return the maps that apply `first`, then `second`."""
    return np.stack([first[0] * second[0] % PRIME, (first[1] * second[0] + second[1]) % PRIME])


class _Nodes:
    """Nodes of an RDN on a cube: what they send goes over their own edges."""

    def __init__(self, network: DualNetwork) -> None:
        self.network, self.table = network, neighbor_table(network).astype(np.int64)
        self.digits = network.decode(np.arange(network.num_nodes))
        self.steps = 0

    def exchange(self, port: int, values: Maps) -> Maps:
        """Return what each node gets from its neighbor behind a port."""
        received: Maps = values[..., self.table[:, port]]
        return received

    def scan(self, level: int, own: Maps) -> tuple[Maps, Maps]:
        """Return what comes before each node in its dual-net of a level, and all of this, in the order of the IDs."""
        return self._base(own) if level == 0 else self._level(level, own)

    def _base(self, total: Maps) -> tuple[Maps, Maps]:
        before = np.stack([np.ones_like(total[0]), np.zeros_like(total[0])])
        for factor in reversed(range(len(self.network.factors))):
            received, is_upper = self.exchange(factor, total), self.digits[self.network.base_digits[factor]] == 1
            before = np.where(is_upper, _after(received, before), before)
            total = np.where(is_upper, _after(received, total), _after(total, received))
            self.steps += 1
        return before, total

    def _level(self, level: int, own: Maps) -> tuple[Maps, Maps]:
        cross, kind = len(self.network.factors) + level - 1, self.digits[self.network.levels[level - 1].class_digit]
        inside, cluster = self.scan(level - 1, own)
        clusters, other_class = self.scan(level - 1, self.exchange(cross, cluster))
        earlier, own_class = self.exchange(cross, np.stack([clusters, other_class]))
        before = _after(earlier, inside)
        self.steps += 2
        return (
            np.where(kind == 1, _after(other_class, before), before),
            np.where(kind == 1, _after(other_class, own_class), _after(own_class, other_class)),
        )


def _run(spec: str) -> tuple[DualNetwork, Maps, Maps, int, Maps]:
    """Return the network, what came before each node, all, and steps; and what should come after each node."""
    network = dual_net(f"rdn({spec})")
    own = np.random.default_rng(1).integers(1, PRIME, (2, network.num_nodes))
    nodes = _Nodes(network)
    before, total = nodes.scan(len(network.levels), own)
    a, b, right = 1, 0, []
    for slope, offset in own.T.tolist():
        a, b = a * slope % PRIME, (b * slope + offset) % PRIME
        right.append((a, b))
    return network, _after(before, own), total, nodes.steps, np.array(right).T


def _findings(*, prefixes: bool) -> Finding:
    cases: list[Case] = []
    rows = []
    for spec in SPECS:
        network, prefix, total, steps, right = _run(spec)
        wrong = int(((prefix != right) if prefixes else (total != right[:, -1:])).any(axis=0).sum())
        gathered = len(allgather_schedule(network, as_printed=True).steps)
        cases.append(compare(network, (0, gathered), (wrong, steps)))
        rows.append(
            {"network": str(network.spec), "nodes": network.num_nodes, "wrong": wrong}
            | {"steps": steps, "steps of all-to-all broadcast": gathered}
        )
    return replace(judge(cases), table=rows)


def reduction() -> Finding:
    """Combine the values of all nodes, and compare with doing so one by one."""
    return _findings(prefixes=False)


def prefix_sums() -> Finding:
    """Combine the values up to each node, and compare with doing so one by one."""
    return _findings(prefixes=True)


_claim = partial(
    Claim,
    "RDN",
    "section V",
    reading="in the steps of Algorithm 3, with one value a message, or two in the second crossing of prefix sums",
)


CLAIMS = (
    _claim("reduction in the pattern of all-to-all broadcast", "can be performed", reduction),
    _claim("prefix sums in the pattern of all-to-all broadcast", "can be performed", prefix_sums),
)
