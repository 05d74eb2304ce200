"""The guest: the product of l copies of a nucleus that an HSN stands for, node by node.

A link of it is a port of the nucleus in one X_i. Where X_l is over a divisor M_l of M, the nodes of a nucleus are
numbered in blocks of M_l, X_1 = X_Q M_l + X_R, and X_l stands in the place of X_R after a swap, X_Q being what it was.
So the guest has in X_l the graph of a block, if all blocks are alike.

References
----------
.. [1] HSN paper, sections 2.2, 3.2, 4.2 and 5.1.
"""

import numpy as np
import numpy.typing as npt

from hdnhw.spec import Factor, NetworkSpec, Product, cube, product
from hdnhw.spec.products import complete, mesh, torus
from hdnhw.support.errors import SpecError
from hdnhw.topology.graph import Network
from hdnhw.topology.metrics import neighbor_table, table_distances
from hdnhw.topology.swapped import SwappedNetwork

Integers = npt.NDArray[np.int64]


def host_of(network: Network, what: str) -> SwappedNetwork:
    """Return `network` if it is an HSN, and over a divisor one whose X_l has links in the guest.

    Raises
    ------
    SpecError
        If it is not; `what` says what needs one.
    """
    if not isinstance(network, SwappedNetwork):
        raise SpecError(f"{what} is for HSNs without switches, not {network.spec}")
    if _block_table(network) is None:
        raise SpecError(
            f"{what} over {network.spec.top} top clusters needs a nucleus that falls into connected blocks of "
            f"{network.spec.top} nodes that follow each other, all alike; {network.spec.nucleus} does not"
        )
    return network


def guest_table(host: SwappedNetwork, level: int) -> Integers:
    """Return the value of X_i behind each port of the nucleus, -1 where the guest has none: shape (values, ports)."""
    table = _block_table(host) if level == host.spec.levels else neighbor_table(host.nucleus).astype(np.int64)
    assert table is not None, "host_of refuses such a network"
    return table


def _block_table(host: SwappedNetwork) -> Integers | None:
    """Return :func:`guest_table` of the top level, or None if blocks of the nucleus differ or are not connected."""
    table, top = neighbor_table(host.nucleus).astype(np.int64), host.spec.top
    block = np.arange(len(table))[:, None] // top
    blocks = np.where((table >= 0) & (table // top == block), table % top, -1).reshape(-1, top, table.shape[1])
    first: Integers = blocks[0]
    is_whole = (blocks == first).all() and (table_distances(first.astype(np.int32), 0) >= 0).all()
    return first if is_whole else None


def guest_of(host: SwappedNetwork) -> NetworkSpec | None:
    """Return the spec of the guest, or None where the nucleus is no product.

    Examples
    --------
    >>> from hdnhw.networks.build import build
    >>> [str(guest_of(build(f"hsn(2, {text})"))) for text in ("cube(3)", "cube(3), top=2", "torus(6), top=3")]
    ['cube(6)', 'cube(4)', 'product(mesh(3), torus(6))']
    """
    nucleus = host.spec.nucleus
    if not isinstance(nucleus, Product):
        return None
    lower = [nucleus] * (host.spec.levels - 1)
    parts = [*_block_factors(host, nucleus), *lower] if host.is_cut else [nucleus, *lower]
    factors = [factor for part in parts for factor in part.factors]
    return cube(len(factors)) if all(factor.is_edge for factor in factors) else product(*parts)


def _block_factors(host: SwappedNetwork, nucleus: Product) -> list[Product]:
    """Return the factors of a block: the last ones of the nucleus, the leading one cut."""
    radices = [host.radices[place] for place in host.places[host.spec.levels]]
    return [
        _first_nodes(factor, radix) for factor, radix in zip(nucleus.factors[-len(radices) :], radices, strict=True)
    ]


def _first_nodes(factor: Factor, count: int) -> Product:
    """Return the graph of so many nodes of a factor that follow each other."""
    if factor.kind == "complete":
        return complete(count)
    return torus(count) if factor.kind == "cycle" and count == factor.size else mesh(count)
