"""Hierarchical swapped networks and the networks that are special cases of them."""

from dataclasses import dataclass

from hdnhw.spec.network import NetworkSpec


@dataclass(frozen=True, repr=False)
class SwappedNet(NetworkSpec):
    """HSN(l, G): the hierarchical swapped network (HSN paper, section 2).

    Attributes
    ----------
    levels : int
        l, at least 2.
    nucleus : NetworkSpec
        G, of M nodes, each with a terminal.
    top : int
        Values of digit X_l: M, or a divisor of it (section 2.2).
    diameter_links : bool
        Whether leaders are linked to the opposite ones (section 2.1).
    complement_links : bool
        Whether every node is linked to its complement (folded HSN, section 5.2).
    text : str
        The canonical spec string.
    """

    levels: int
    nucleus: NetworkSpec
    top: int
    diameter_links: bool
    complement_links: bool
    text: str
