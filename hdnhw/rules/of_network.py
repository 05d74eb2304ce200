"""The rule of a network: table-free where its family knows one, a table otherwise."""

from typing import TYPE_CHECKING

from hdnhw.rules.hop import HopRule, hop_rule
from hdnhw.spec import family_of
from hdnhw.topology.network import Network

if TYPE_CHECKING:
    from hdnhw.rules.table import TableRule

__all__ = ["rule_of"]


def rule_of(network: Network, modes: str | None = None, lanes: int = 1) -> "HopRule | TableRule":
    """Return the rule of a network; see :func:`hdnhw.rules.hop.hop_rule` and :func:`hdnhw.rules.table.table_rule`."""
    if family_of(network.spec).step is None:
        from hdnhw.rules.table import table_rule  # needs numpy, which a table-free route does without

        return table_rule(network, modes, lanes)
    return hop_rule(network, modes, lanes)
