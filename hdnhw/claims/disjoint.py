"""All claims of the disjoint-path paper."""

from hdnhw.claims.claim import Claim
from hdnhw.claims.disjoint_fans import CLAIMS as FANS
from hdnhw.claims.disjoint_faults import CLAIMS as FAULTS
from hdnhw.claims.disjoint_networks import CLAIMS as NETWORKS
from hdnhw.claims.disjoint_paths import CLAIMS as PATHS
from hdnhw.claims.disjoint_paths import FUTURE

CLAIMS: tuple[Claim, ...] = (*NETWORKS, *FANS, *PATHS, *FAULTS, *FUTURE)
"""In the order of the paper."""
