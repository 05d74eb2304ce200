"""All claims of the disjoint-path paper."""

from hdnhw.papers.claim import Claim
from hdnhw.papers.disjoint_fans import CLAIMS as FANS
from hdnhw.papers.disjoint_faults import CLAIMS as FAULTS
from hdnhw.papers.disjoint_networks import CLAIMS as NETWORKS
from hdnhw.papers.disjoint_paths import CLAIMS as PATHS

__all__ = ["CLAIMS"]

CLAIMS: tuple[Claim, ...] = (*NETWORKS, *FANS, *PATHS, *FAULTS)
"""In the order of the paper."""
