"""The rule of a network: table-free where its family knows one, a table otherwise."""

from typing import TYPE_CHECKING

from hdnhw.rules.hop import HopRule, hop_rule
from hdnhw.topology.graph import Network
from hdnhw.topology.recursive import RecursiveDualNetwork
from hdnhw.topology.swapped import SwappedNetwork

if TYPE_CHECKING:
    from hdnhw.rules.table import TableRule


def rule_of(network: Network, modes: str | None = None, lanes: int = 1) -> "HopRule | TableRule":
    """Return the rule of a network; see :func:`hdnhw.rules.hop.hop_rule` and :func:`hdnhw.rules.table.table_rule`."""
    if not _has_rule(network):
        from hdnhw.rules.table import table_rule  # needs numpy, which a table-free route does without

        return table_rule(network, modes, lanes)
    return hop_rule(network, modes, lanes)


def _has_rule(network: Network) -> bool:
    """Return whether a table-free rule is known: of a network over another one, if that has one."""
    if isinstance(network, SwappedNetwork):
        return network.top_digits and _has_rule(network.nucleus)
    if isinstance(network, RecursiveDualNetwork):
        return _has_rule(network.base)
    return network.family.step is not None
