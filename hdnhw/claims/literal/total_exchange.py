"""Algorithms 1 and 2 of the RDN paper run to the letter: a witness of what is printed; no schedule is made from it.

Messages are moved one by one, by the ids of the paper alone: node (type, cluster, node) of level k has the number
``(type * n_(k-1) + cluster) * n_(k-1) + node``, and its partner is (1 - type, node, cluster). A node that is told to
send what it does not hold sends nothing. ``getmessage`` is read as: has got something from the partner just before.

References
----------
.. [1] RDN paper (rdn-collectives), section IV, Algorithms 1 and 2; docs/papers/errata.md, E11.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple


class Ident(NamedTuple):
    """What the paper calls typeID, clusterID and nodeID."""

    type: int
    cluster: int
    node: int

    @property
    def partner(self) -> "Ident":
        """The neighbor over the cross-edge."""
        return Ident(1 - self.type, self.node, self.cluster)


Rule = Callable[[Ident, Ident], bool]
"""Takes the ids of a node and of the source; says whether the node sends in the third stage."""


def ident_of(number: int, size: int) -> Ident:
    """Return the ids of a node of a network whose clusters have `size` nodes.

    Examples
    --------
    >>> ident_of(14, 3)
    Ident(type=1, cluster=1, node=2)
    """
    above, node = divmod(number, size)
    return Ident(*divmod(above, size), node)


def sizes_of(base: int, levels: int) -> list[int]:
    """Return n_0, ..., n_k of RDNs on a base network of so many nodes.

    Examples
    --------
    >>> sizes_of(8, 2)
    [8, 128, 32768]
    """
    sizes = [base]
    for _ in range(levels):
        sizes.append(2 * sizes[-1] ** 2)
    return sizes


def literal_broadcast(base: int, levels: int, source: int, *, right_senders: bool = False) -> list[int]:
    """Run Algorithm 1.

    Parameters
    ----------
    base : int
        Nodes of the base network, where a broadcast is taken to inform all.
    levels : int
    source : int
    right_senders : bool
        Whether those send in the third stage that the prose names, all of C(s) and C(s') but s and s'; as printed,
        those with "my_cluster_id = s_1 and my_node_id != s_2".

    Returns
    -------
    list of int
        How often each node got the message from another.
    """
    sizes = sizes_of(base, levels)
    got = [0] * sizes[-1]

    def senders(my: Ident, s: Ident) -> bool:
        if right_senders:
            return my not in (s, s.partner) and (my[:2] in (s[:2], s.partner[:2]))
        return my.cluster == s.cluster and my.node != s.node

    def run(level: int, first: int, at: int) -> None:
        """Broadcast from node `at` of the cluster of a level that begins with node `first`."""
        if level == 0:
            for node in set(range(base)) - {at}:
                got[first + node] += 1
            return
        size = sizes[level - 1]
        s = ident_of(at, size)
        holders = {at, _number(s.partner, size)}
        got[first + _number(s.partner, size)] += 1
        for node in sorted(holders):
            run(level - 1, first + node - node % size, node % size)
        holders |= {node for node in range(sizes[level]) if got[first + node]}
        for node, my in _told(sizes[level], size, s, senders):
            if node in holders:
                other = _number(my.partner, size)
                got[first + other] += 1
                run(level - 1, first + other - other % size, other % size)

    run(levels, 0, source)
    return got


def literal_scatter(
    base: int, levels: int, source: int, *, right_senders: bool = False, right_source: bool = False
) -> list[int]:
    """Run Algorithm 2.

    Parameters
    ----------
    base : int
        Nodes of the base network, where a scatter is taken to reach all.
    levels : int
    source : int
    right_senders : bool
        Whether those send in the third stage that the prose names, all of C(s) and C(s') but s'; as printed, those with
        "my_cluster_id = s_1 and my_id != s'".
    right_source : bool
        Whether the scatter in C(s') starts at s', whose nodeID is s_1; as printed, at the node with nodeID s_2.

    Returns
    -------
    list of int
        1 for every node that has its message in the end, else 0.
    """
    sizes = sizes_of(base, levels)

    def senders(my: Ident, s: Ident) -> bool:
        if right_senders:
            return my != s.partner and my[:2] in (s[:2], s.partner[:2])
        return my.cluster == s.cluster and my != s.partner

    def run(level: int, at: int, holder: int, parcels: Mapping[int, Any]) -> dict[int, Any]:
        """Scatter the parcels that `holder` has from node `at`; return who has which in the end."""
        if at != holder:
            return {holder: parcels[holder]} if holder in parcels else {}
        if level == 0:
            return dict(parcels)
        size = sizes[level - 1]
        s = ident_of(at, size)
        own, across = _by_cluster(parcels, s.type, size), _by_cluster(parcels, 1 - s.type, size)
        mine, partners = own.pop(s.cluster, {}), across.pop(s.node, {})
        inner = s.cluster if right_source else s.node
        here, there = run(level - 1, s.node, s.node, across), run(level - 1, inner, s.cluster, own)
        held = {_number(Ident(s.type, s.cluster, node), size): parcel for node, parcel in here.items()}
        held |= {_number(Ident(1 - s.type, s.node, node), size): parcel for node, parcel in there.items()}
        held[at] = partners
        begin = {at: mine}
        begin |= {
            _number(my.partner, size): held[node] for node, my in _told(sizes[level], size, s, senders) if node in held
        }
        return {
            node - node % size + end: parcel
            for node, some in begin.items()
            for end, parcel in run(level - 1, node % size, node % size, some).items()
        }

    arrived = run(levels, source, source, {node: node for node in range(sizes[-1])})
    return [int(arrived.get(node) == node) for node in range(sizes[-1])]


def _number(ident: Ident, size: int) -> int:
    return (ident.type * size + ident.cluster) * size + ident.node


def _told(nodes: int, size: int, source: Ident, senders: Rule) -> Iterator[tuple[int, Ident]]:
    """Yield (number, ids) of the nodes that have to send in the third stage."""
    for number in range(nodes):
        my = ident_of(number, size)
        if senders(my, source):
            yield number, my


def _by_cluster(parcels: Mapping[int, Any], type_: int, size: int) -> dict[int, dict[int, Any]]:
    """Return the parcels for clusters of a type: cluster -> node -> parcel."""
    result: dict[int, dict[int, Any]] = {}
    for number, parcel in parcels.items():
        ident = ident_of(number, size)
        if ident.type == type_:
            result.setdefault(ident.cluster, {})[ident.node] = parcel
    return result
