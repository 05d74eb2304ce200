"""Hierarchical dual-net networks on chip: from a one-line spec to verified Verilog.

Examples
--------
>>> import hdnhw
>>> hdnhw.rdn(hdnhw.cube(3), 1) == hdnhw.parse("rdn(cube(3), 1)")
True
"""

from hdnhw.spec import (
    AxiStreamSpec,
    CollectiveSpec,
    FabricSpec,
    SpecError,
    complete,
    cube,
    dualcube,
    ghc,
    hdn,
    mesh,
    parse,
    product,
    rdn,
    torus,
)

__all__ = [
    "AxiStreamSpec",
    "CollectiveSpec",
    "FabricSpec",
    "SpecError",
    "complete",
    "cube",
    "dualcube",
    "ghc",
    "hdn",
    "mesh",
    "parse",
    "product",
    "rdn",
    "torus",
]
