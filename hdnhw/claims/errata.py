"""What is wrong in the papers, in a few words each: E1 to E17, as rows of :mod:`hdnhw.claims.catalogue` name them."""

ERRATA = {
    "E1": (
        "The number of nodes in closed form lacks an exponent: it is (2 n_0)^(2^k) / (2 prod s_i^(2^(k-i))), and "
        "as printed only right where s_i = 1 for all i < k. The recurrence N_i = 2 N_(i-1)^2 / s_i is right."
    ),
    "E2": (
        "Hierarchical dual-nets are not all node-symmetric: they are if, and only if, their super-nodes are nested, "
        "SN^i within SN^(i-1), see [result 3](../results/03-node-symmetry.md). And but for a few small "
        "ones they are not edge-symmetric."
    ),
    "E3": (
        "Algorithm 1 finds shortest paths for one level and for nested super-nodes. Elsewhere it finds longer "
        "ones, may visit a node twice, and may exceed the bound of Theorem 2, whose proof takes digits for done "
        "that change twice."
    ),
    "E4": (
        "The times of the total exchange are too short: the second crossing carries all n_k words, not half of "
        "them. Some times are below the sum of a node's distances, which no schedule can beat."
    ),
    "E5": (
        "The bisection of a recursive dual-net is less than ceil(N / 4) for two levels and more, and for many of "
        "one: a cut through the clusters of one class, with those of the other whole on either side, cuts no "
        "cross-edge."
    ),
    "E6": (
        "Algorithm 6 does not find disjoint paths as printed: in Case C paths go back over the cross-edge that "
        "they came by, and in Cases A and B it depends on choices that are not stated. With enough clusters, but too "
        "few super-nodes in the base network, and for a few pairs elsewhere, no choice helps: Theorem 3 is false. Some "
        "of the figures beside it are slips."
    ),
    "E7": (
        "Table 4 re-indexes by a serial number where the text moves digits; super-nodes would then not be products."
    ),
    "E8": (
        "The diameter of Theorem 1 is too large where SN^1 is all of B: then D_1 = D_0 + 1. Table 2 has a "
        "parenthesis in the wrong place, CCC(3) has diameter 6, and the halves of a torus need floors."
    ),
    "E9": ("The diameter of the quotient graph Q_(i-1) is not D_(i-1) - D(SN^i) where SN^i is not within SN^(i-1)."),
    "E10": (
        "A cycle of two nodes is counted as two edges, in degrees and cost ratios, but for one figure of the "
        "disjoint-path paper, which counts one."
    ),
    "E11": (
        "In Algorithms 1 and 2 for recursive dual-nets the wrong nodes send in the third stage, unless s_1 = s_2: "
        "the pseudo-code takes the cluster of s for that of s'. The prose is right."
    ),
    "E12": (
        "Slips in times of collective operations: Theorems 4 and 5 round a sum up by half, Theorem 6 by more, one "
        "sum of Table II has -8 for -1024, and 1 + 2 + 3 stands for 1 + 2 + 4. Table II leaves out nodes' own "
        "messages, unsaid."
    ),
    "E13": (
        "T_0 is used in two ways, with the length of a message and with the words of a step; a length m is missing. "
        "Beside it, section 4 says Algorithm 4 where Algorithm 2 is meant, and the conclusion recursive dual-net for "
        "HDN."
    ),
    "E14": (
        "Algorithm 2 of the total exchange does not say which node of a super-node gets a message; its time "
        "depends on it, and if one node gets them all it is far more than stated."
    ),
    "E15": (
        "The graph that the dual-construction makes of a symmetric one is not unique: it depends on how nodes are "
        "numbered, unless the graph is complete."
    ),
    "E16": (
        "Of hierarchical swapped networks: a slip in the printed path; HCN(2, 2), 3-HCN without diameter links "
        "and some folded networks are not below what they are said to be; degrees are of most nodes, not of all; "
        "Theorems 3.3 and 4.3 can be met with fewer steps; and with some nuclei diameter links shorten no "
        "diameter."
    ),
    "E17": (
        "Of the dual-cube: two nodes that differ in one bit need not be joined, eight links reach 32,768 nodes, "
        "the diameter and broadcast of F_1 are 1, the average distance is that of F_r, and HCN(2, 2) has the "
        "cube's diameter."
    ),
}
"""By number."""
