"""Hierarchical swapped networks and the networks that are special cases of them."""

from typing import TYPE_CHECKING

from hdnhw.circuits.swapped_rule import swapped_step
from hdnhw.networks.build import build
from hdnhw.networks.families.dualnets import rdn
from hdnhw.networks.families.folded_cube import folded_cube
from hdnhw.networks.families.swapped_switches import SwitchedSwappedNet
from hdnhw.spec import DualCube, NetworkSpec, SwappedNet, cube
from hdnhw.spec.checks import check_digits, check_level_count, dimension, integer
from hdnhw.support.errors import SpecError
from hdnhw.topology.family import Family
from hdnhw.topology.swapped import SwappedNetwork

if TYPE_CHECKING:
    from hdnhw.topology.places import Block


def hsn(
    levels: int, nucleus: NetworkSpec, *, diameter_links: bool = False, top: int | None = None
) -> SwappedNet | SwitchedSwappedNet:
    """Make HSN(l, G), with diameter links, or with the top digit over a divisor of the size of G.

    Dual-cube F_r is written as the nucleus that it is, RDN((r-1)-cube, 1): nodes are numbered by their digits.

    Raises
    ------
    SpecError
        If `top` is not a divisor of the size of `nucleus`, both options are asked for, or one over a nucleus with
        nodes without a terminal.
    """
    count = integer(levels, "hsn level count", 2)
    check_level_count("hsn", count)
    if not isinstance(nucleus, NetworkSpec):
        raise SpecError(f"hsn nucleus must be a network, for example cube(3), not {nucleus!r}")
    if isinstance(nucleus, DualCube):
        nucleus = rdn(nucleus.base, 1) if nucleus.super_nodes else nucleus.base
    if not isinstance(diameter_links, bool):
        raise SpecError(f"hsn diameter_links must be True or False, not {diameter_links!r}")
    network = build(nucleus)
    if network.num_terminals < network.num_nodes:
        if diameter_links or top is not None:
            raise SpecError(
                f"hsn top and diameter_links must be over a nucleus with a terminal at each node, not {nucleus}"
            )
        return SwitchedSwappedNet(count, nucleus)
    size = network.num_nodes
    values = size if top is None else integer(top, "hsn top", 2)
    if size % values:
        raise SpecError(f"hsn top must be a divisor of {size}, the nodes of {nucleus}, not {values}")
    text = f"hsn({count}, {nucleus}"
    if values != size:
        text += f", top={values}"
        if diameter_links:
            raise SpecError("hsn top must be the size of the nucleus where there are diameter links")
    elif diameter_links:
        text += ", diameter_links=True"
    return checked_swapped(SwappedNet(count, nucleus, values, diameter_links, False, f"{text})"))


def checked_swapped(spec: SwappedNet) -> SwappedNet:
    """Return a spec if its addresses are not too wide."""
    radices = build(spec.nucleus).radices
    check_digits(spec.text, [spec.top, *radices * (spec.levels - 1)])
    return spec


def hcn(n: int) -> SwappedNet:
    """Make the hierarchical cubic network HCN(n, n): HSN(2, Q_n) with diameter links."""
    size = dimension("hcn", n, 1)
    return checked_swapped(SwappedNet(2, cube(size), 2**size, True, False, f"hcn({size})"))


def hcn3(n: int) -> SwappedNet:
    """Make the three-level hierarchical cubic network 3-HCN: HSN(3, Q_n) with diameter links."""
    size = dimension("hcn3", n, 1)
    return checked_swapped(SwappedNet(3, cube(size), 2**size, True, False, f"hcn3({size})"))


def folded_hsn(levels: int, k: int) -> SwappedNet:
    """Make the folded HSN(l, Q_k): HSN(l, Q_k) with an edge from every node to its complement."""
    count = integer(levels, "folded_hsn level count", 2)
    check_level_count("folded_hsn", count)
    size = dimension("folded_hsn", k, 1)
    return checked_swapped(SwappedNet(count, cube(size), 2**size, False, True, f"folded_hsn({count}, {size})"))


def hfn(n: int) -> SwappedNet:
    """Make the hierarchical folded-hypercube network HFN(n, n): HSN(2, FQ_n)."""
    size = dimension("hfn", n, 2)
    return checked_swapped(SwappedNet(2, folded_cube(size), 2**size, False, False, f"hfn({size})"))


def _network(spec: SwappedNet) -> SwappedNetwork:
    """Return the swapped network over the network of its nucleus."""
    return SwappedNetwork(spec, build(spec.nucleus))


def layout(network: SwappedNetwork) -> "Block":
    """Return nuclei that stand as the nodes of a nucleus do, level by level."""
    from hdnhw.topology.places import layout as layout_of
    from hdnhw.topology.places import nested, ring, straight

    nucleus, top = straight(layout_of(network.nucleus)), network.spec.top
    block = nucleus
    for _ in range(network.spec.levels - 2):
        block = nested(nucleus, block)
    return nested(nucleus if top == network.nucleus.num_nodes else ring(range(top)), block)


FAMILY = Family(
    makers=(hsn, hcn, hfn, hcn3, folded_hsn), spec=SwappedNet, network=_network, step=swapped_step, layout=layout
)
