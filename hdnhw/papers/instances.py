"""Claims about a number of dual-nets: one case each."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hdnhw.papers.claim import Case
from hdnhw.spec import NetworkSpec, parse
from hdnhw.topology.dualnet import DualNetwork, dual_network
from hdnhw.topology.network import build

__all__ = ["cases_of", "dual_net", "plain_rows"]


def dual_net(spec: str | NetworkSpec) -> DualNetwork:
    """Return the product or dual-net of a spec."""
    return dual_network(build(parse(spec) if isinstance(spec, str) else spec), "a collective operation")


def cases_of(specs: Iterable[str], check: Callable[[DualNetwork], dict[str, Any]]) -> list[Case]:
    """Return a case for each network, with the members that `check` returns for it."""
    return [
        Case(network=spec, nodes=network.num_nodes, **check(network))
        for spec, network in ((spec, dual_net(spec)) for spec in specs)
    ]


def plain_rows(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, int | str]]:
    """Return the rows of a table with costs, fractions and lists as text."""
    return [{name: cell if isinstance(cell, int) else str(cell) for name, cell in row.items()} for row in rows]
