"""All claims, paper by paper."""

from typing import NamedTuple

from hdnhw.claims.claim import Claim
from hdnhw.claims.disjoint import CLAIMS as DISJOINT
from hdnhw.claims.dualcube import CLAIMS as DUALCUBE
from hdnhw.claims.dualcube_routing import CLAIMS as DUALCUBE_ROUTING
from hdnhw.claims.embeddings import DUALCUBE_CLAIMS as DUALCUBE_EMBEDDINGS
from hdnhw.claims.embeddings import RDN_CLAIMS as RDN_EMBEDDINGS
from hdnhw.claims.hdn_clusters import CLAIMS as HDN_CLUSTERS
from hdnhw.claims.hdn_exchange import CLAIMS as HDN_EXCHANGE
from hdnhw.claims.hdn_networks import CLAIMS as HDN_NETWORKS
from hdnhw.claims.hdn_routing import CLAIMS as HDN_ROUTING
from hdnhw.claims.hdn_symmetry import CLAIMS as HDN_SYMMETRY
from hdnhw.claims.hdn_tables import CLAIMS as HDN_TABLES
from hdnhw.claims.hsn import CLAIMS as HSN
from hdnhw.claims.rdn_bases import CLAIMS as RDN_BASES
from hdnhw.claims.rdn_collectives import CLAIMS as RDN_COLLECTIVES
from hdnhw.claims.rdn_comparison import CLAIMS as RDN_COMPARISON
from hdnhw.claims.rdn_networks import CLAIMS as RDN_NETWORKS
from hdnhw.claims.rdn_reduction import CLAIMS as RDN_REDUCTION
from hdnhw.claims.stages import HDN_CLAIMS as HDN_STAGES
from hdnhw.claims.stages import RDN_CLAIMS as RDN_STAGES


class Paper(NamedTuple):
    """What a paper is about, and where to find it."""

    subject: str
    citation: str


PAPERS = {
    "HDN": Paper(
        "Hierarchical dual-net, total exchange",
        "Yamin Li and Wanming Chu, on total exchange routing on hierarchical dual-nets, in proceedings with "
        "page 190. The text that was checked has neither title nor year. The network was introduced by Y. Li, "
        "S. Peng and W. Chu: Hierarchical Dual-Net: A Flexible Interconnection Network and its Routing "
        "Algorithm. International Journal of Networking and Computing 2(2), 234-250, 2012",
    ),
    "RDN": Paper(
        "Recursive dual-net, collective communication",
        "Yamin Li, Shietung Peng and Wanming Chu: Collective Communication in Recursive Dual-Net: An "
        "Interconnection Network for High-Performance Parallel Computer Systems of the Next Generation. Of "
        "2009 or later. The network was introduced by the same authors: Recursive Dual-Net: A New Universal "
        "Network for Supercomputers of the Next Generation. 9th International Conference on Algorithms and "
        "Architectures for Parallel Processing (ICA3PP), Taipei, 809-820, 2009",
    ),
    "DISJ": Paper(
        "Disjoint paths in the hierarchical dual-net",
        "Jun Arai and Yamin Li: Disjoint-Path Routing on Hierarchical Dual-Nets. International Journal of "
        "Networking and Computing, 2014",
    ),
    "HSN": Paper(
        "Hierarchical swapped networks",
        "Chi-Hsiang Yeh and Behrooz Parhami: Hierarchical Swapped Networks: Efficient Low-Degree Alternatives "
        "to Hypercubes and Generalized Hypercubes. International Symposium on Parallel Architectures, "
        "Algorithms and Networks (ISPAN), Beijing, 90-96, 1996",
    ),
    "DC": Paper(
        "Dual-cube",
        "Yamin Li and Shietung Peng: Dual-Cubes: A New Interconnection Network for High-Performance Computer "
        "Clusters. International Computer Symposium, Workshop on Computer Architecture, ChiaYi, 51-57, "
        "December 2000. The text that was checked has no title; this is how RDN cites the paper that "
        "introduced the dual-cube",
    ),
}

CLAIMS: tuple[Claim, ...] = (
    *HDN_NETWORKS,
    *HDN_TABLES,
    *HDN_SYMMETRY,
    *HDN_ROUTING,
    *HDN_EXCHANGE,
    *HDN_STAGES,
    *HDN_CLUSTERS,
    *RDN_NETWORKS,
    *RDN_COLLECTIVES,
    *RDN_REDUCTION,
    *RDN_COMPARISON,
    *RDN_STAGES,
    *RDN_BASES,
    *RDN_EMBEDDINGS,
    *DISJOINT,
    *HSN,
    *DUALCUBE,
    *DUALCUBE_ROUTING,
    *DUALCUBE_EMBEDDINGS,
)
"""In the order of the papers."""

NAMES: tuple[str, ...] = tuple(
    f"{claim.paper}-{1 + sum(other.paper == claim.paper for other in CLAIMS[:place])}"
    for place, claim in enumerate(CLAIMS)
)
"""Of each claim: its paper, and which of the paper's claims it is, as ``HDN-1``."""
