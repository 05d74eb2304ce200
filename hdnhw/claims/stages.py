"""Figures 2 and 3 of the HDN paper and figure 2 of the RDN paper: the stages of node 0, executed.

Their drawings are not in the texts that were checked, but the captions of their parts are.
"""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from hdnhw.claims.claim import Claim, Finding, Verdict
from hdnhw.claims.families import dual_net
from hdnhw.collectives.exchange import exchange_schedule
from hdnhw.collectives.executor import execute
from hdnhw.collectives.schedule import Schedule
from hdnhw.collectives.spread import broadcast_schedule
from hdnhw.topology.dualnet import DualNetwork

CAPTIONS = (True, False, True, False)
"""Of stages (a) to (d): whether messages go over the cross-edges of the highest level, or stay in the clusters."""

Row = Mapping[str, Any]


def _stages(network: DualNetwork, schedule: Schedule, nodes: list[int]) -> tuple[list[bool], list[Row]]:
    """Return of each stage whether it crosses at the highest level, and what the given nodes send, step by step."""
    sent, top = execute(schedule).sent, len(network.ports) - 1
    rows: list[Row] = []
    crosses = []
    for number, step in enumerate(sent):
        used = sorted({int(port) for port in step.any(axis=0).nonzero()[0]})
        assert (top in used) <= (used == [top]), "a step is over the highest cross-edges or in the clusters"
        crosses.append(used == [top])
        for node in nodes:
            for port in step[node].nonzero()[0]:
                neighbor = list(network.neighbors(node).values())[int(port)]
                rows.append(
                    {"step": number + 1, "port": network.ports[int(port)].name, "to": network.format_node(neighbor)}
                    | {"messages": int(step[node, port])}
                )
    return [kind for kind, _ in groupby(crosses)], rows


def _exchange(spec: str) -> Finding:
    network = dual_net(spec)
    stages, rows = _stages(network, exchange_schedule(network, "paper", split="sum"), [0])
    return Finding(
        computed=f"{len(stages)} stages; node 0 sends {sum(row['messages'] for row in rows)} messages",
        verdict=Verdict.HOLDS if tuple(stages) == CAPTIONS else Verdict.FALSE,
        table=rows,
    )


def exchange_of_one_level() -> Finding:
    """Run the total exchange of figure 2."""
    return _exchange("hdn(cube(2), [[0]])")


def exchange_of_two_levels() -> Finding:
    """Run the total exchange of figure 3."""
    return _exchange("hdn(cube(2), [[0], [0, 1]])")


def broadcast() -> Finding:
    """Run the broadcast of figure 2, and count who knows after each stage."""
    network = dual_net("rdn(cube(3), 1)")
    schedule = broadcast_schedule(network)
    stages, _ = _stages(network, schedule, [0])
    told, known, rows, top = execute(schedule).sent, 1, [], len(network.ports) - 1
    for crosses, group in groupby(told, key=lambda step: bool(step[:, top].any())):
        sends = sum(int(step.sum()) for step in group)
        known += sends
        rows.append({"stage": "cross-edge" if crosses else "in clusters", "messages": sends, "nodes that know": known})
    counts = [row["nodes that know"] for row in rows]
    right = tuple(stages) == CAPTIONS and counts == [2, 2 * 8, 4 * 8 - 2, 2 * 8 * 8]
    return Finding(
        computed=f"{', '.join(map(str, counts))} nodes know after the stages",
        verdict=Verdict.HOLDS if right else Verdict.FALSE,
        table=rows,
    )


_PARTS = "(a) via cross-edge, (b) total exchange in the cluster, (c) via cross-edge, (d) total exchange in the cluster"
_READING = "the drawing is not in the text that was checked; messages cross from the node with the sum of the digits N"

HDN_CLAIMS = (
    Claim("HDN", "Figure 2", "stages of node 0, HDN(2-cube, 1, {2})", _PARTS, exchange_of_one_level, None, _READING),
    Claim(
        "HDN", "Figure 3", "stages of node 0, HDN(2-cube, 2, {2, 4})", _PARTS, exchange_of_two_levels, None, _READING
    ),
)

RDN_CLAIMS = (
    Claim(
        "RDN",
        "Figure 2",
        "one-to-all broadcast in RDN^1 of the 3-cube",
        "(a) node 0 via cross-edge, (b) in its cluster and its neighbor's, (c) via cross-edges, (d) in all clusters",
        broadcast,
        None,
        "the drawing is not in the text that was checked; 2, 16, 30 and 128 nodes know then",
    ),
)
