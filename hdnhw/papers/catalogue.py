"""All claims, paper by paper."""

from hdnhw.papers.claim import Claim
from hdnhw.papers.hdn_networks import CLAIMS as HDN_NETWORKS
from hdnhw.papers.hsn import CLAIMS as HSN

__all__ = ["CLAIMS", "PAPERS"]

PAPERS = {
    "HDN": "Hierarchical dual-net, total exchange",
    "RDN": "Recursive dual-net, collective communication",
    "DISJ": "Disjoint paths in the hierarchical dual-net",
    "HSN": "Hierarchical swapped networks",
    "DC": "Dual-cube",
}

CLAIMS: tuple[Claim, ...] = (*HDN_NETWORKS, *HSN)
"""In the order of the papers."""
