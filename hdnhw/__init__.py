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
    RelaySpec,
    SpecError,
    ccc,
    complete,
    crossed_cube,
    cube,
    dualcube,
    folded_cube,
    folded_hsn,
    ghc,
    hcn,
    hcn3,
    hdn,
    hfn,
    hsn,
    mesh,
    parse,
    petersen,
    product,
    rdn,
    reduced_cube,
    star,
    torus,
)

__all__ = [
    "AxiStreamSpec",
    "CollectiveSpec",
    "FabricSpec",
    "RelaySpec",
    "SpecError",
    "ccc",
    "complete",
    "crossed_cube",
    "cube",
    "dualcube",
    "folded_cube",
    "folded_hsn",
    "ghc",
    "hcn",
    "hcn3",
    "hdn",
    "hfn",
    "hsn",
    "mesh",
    "parse",
    "petersen",
    "product",
    "rdn",
    "reduced_cube",
    "star",
    "torus",
]
