"""The recursive routing of hierarchical swapped networks to the letter: a second reading of what the rule does."""

from hdnhw.rules.hop import hop_rule
from hdnhw.support.errors import SpecError
from hdnhw.topology.graph import Network
from hdnhw.topology.swapped import SwappedNetwork


def swapped_route(network: Network, src: int, dst: int) -> list[int]:
    """Return the route of the HSN paper's section 2.3 from `src` to `dst`.

    Where X_l = Y_l the packet stays in HSN(l - 1, G). Otherwise it goes within the nucleus to Y_l, over the level-l
    link to Y_l X_(l-1:2) X_l, and on in HSN(l - 1, G). Diameter links and complement links carry nothing.

    Parameters
    ----------
    network : Network
        An HSN whose top digit is any node of the nucleus.
    src, dst : int
        Node numbers.

    Returns
    -------
    list of int
        Node numbers visited, `src` first and `dst` last.

    Raises
    ------
    SpecError
        If the network is none.
    ValueError
        If `src` or `dst` is not a node number.

    References
    ----------
    .. [1] HSN paper (hsn), section 2.3; its printed path has X_1 for X_l after the link (docs/papers/errata.md, E16).
    """
    if not isinstance(network, SwappedNetwork) or network.spec.top != network.nucleus.num_nodes:
        raise SpecError(f"section 2.3 is for HSNs whose top digit is any node of the nucleus, not for {network.spec}")
    nucleus, rule = network.nucleus, hop_rule(network.nucleus)
    here, there = (_parts(network, node) for node in (src, dst))
    visited = [dict(here)]

    def go(target: int) -> None:
        for node in [*(node for node, _, _ in rule.route(here[1], target)), target][1:]:
            here[1] = node
            visited.append(dict(here))

    for level in range(network.spec.levels, 1, -1):
        if here[level] != there[level]:
            go(there[level])
            here[level], here[1] = here[1], here[level]
            visited.append(dict(here))
    go(there[1])
    return [_node(network, nucleus, parts) for parts in visited]


def _parts(network: SwappedNetwork, node: int) -> dict[int, int]:
    """Return X_1, ..., X_l as nodes of the nucleus."""
    digits = network.decode(network.check_node(node))
    return {level: int(network.nucleus.encode(digits[own.start : own.stop])) for level, own in network.places.items()}


def _node(network: SwappedNetwork, nucleus: Network, parts: dict[int, int]) -> int:
    digits = [digit for level in range(network.spec.levels, 0, -1) for digit in nucleus.decode(parts[level])]
    return int(network.encode(tuple(digits)))
