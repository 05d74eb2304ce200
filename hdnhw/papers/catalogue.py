"""All claims, paper by paper."""

from hdnhw.papers.claim import Claim
from hdnhw.papers.disjoint import CLAIMS as DISJOINT
from hdnhw.papers.dualcube import CLAIMS as DUALCUBE
from hdnhw.papers.dualcube_routing import CLAIMS as DUALCUBE_ROUTING
from hdnhw.papers.hdn_exchange import CLAIMS as HDN_EXCHANGE
from hdnhw.papers.hdn_networks import CLAIMS as HDN_NETWORKS
from hdnhw.papers.hdn_routing import CLAIMS as HDN_ROUTING
from hdnhw.papers.hdn_symmetry import CLAIMS as HDN_SYMMETRY
from hdnhw.papers.hdn_tables import CLAIMS as HDN_TABLES
from hdnhw.papers.hsn import CLAIMS as HSN
from hdnhw.papers.rdn_collectives import CLAIMS as RDN_COLLECTIVES
from hdnhw.papers.rdn_comparison import CLAIMS as RDN_COMPARISON
from hdnhw.papers.rdn_networks import CLAIMS as RDN_NETWORKS

__all__ = ["CLAIMS", "NAMES", "PAPERS"]

PAPERS = {
    "HDN": "Hierarchical dual-net, total exchange",
    "RDN": "Recursive dual-net, collective communication",
    "DISJ": "Disjoint paths in the hierarchical dual-net",
    "HSN": "Hierarchical swapped networks",
    "DC": "Dual-cube",
}

CLAIMS: tuple[Claim, ...] = (
    *HDN_NETWORKS,
    *HDN_TABLES,
    *HDN_SYMMETRY,
    *HDN_ROUTING,
    *HDN_EXCHANGE,
    *RDN_NETWORKS,
    *RDN_COLLECTIVES,
    *RDN_COMPARISON,
    *DISJOINT,
    *HSN,
    *DUALCUBE,
    *DUALCUBE_ROUTING,
)
"""In the order of the papers."""

NAMES: tuple[str, ...] = tuple(
    f"{claim.paper}-{1 + sum(other.paper == claim.paper for other in CLAIMS[:place])}"
    for place, claim in enumerate(CLAIMS)
)
"""Of each claim: its paper, and which of the paper's claims it is, as ``HDN-1``."""
