"""All claims, paper by paper."""

from hdnhw.papers.claim import Claim
from hdnhw.papers.hdn_exchange import CLAIMS as HDN_EXCHANGE
from hdnhw.papers.hdn_networks import CLAIMS as HDN_NETWORKS
from hdnhw.papers.rdn_collectives import CLAIMS as RDN_COLLECTIVES
from hdnhw.papers.rdn_comparison import CLAIMS as RDN_COMPARISON

__all__ = ["CLAIMS", "PAPERS"]

PAPERS = {
    "HDN": "Hierarchical dual-net, total exchange",
    "RDN": "Recursive dual-net, collective communication",
    "DISJ": "Disjoint paths in the hierarchical dual-net",
    "HSN": "Hierarchical swapped networks",
    "DC": "Dual-cube",
}

CLAIMS: tuple[Claim, ...] = (*HDN_NETWORKS, *HDN_EXCHANGE, *RDN_COLLECTIVES, *RDN_COMPARISON)
"""In the order of the papers."""
