"""RDN paper, section VII, and dual-cube paper, section 5: what embeddings and algorithms are left to be found."""

from collections.abc import Sequence
from functools import partial

from hdnhw.claims.claim import Case, Claim, Finding, judge
from hdnhw.collectives.ascend import run_algorithm
from hdnhw.collectives.choices import ALGORITHMS
from hdnhw.collectives.embedding import embed
from hdnhw.networks.build import build
from hdnhw.topology.dualnet import DualNetwork

RDNS = (
    "cube(1), 1",
    "cube(2), 1",
    "cube(3), 1",
    "cube(1), 2",
    "torus(3), 1",
    "torus(3, 3), 1",
    "complete(4), 1",
    "torus(5), 1",
    "torus(3), 2",
)
DUAL_CUBES = (2, 3, 4, 5)


def _embedded(texts: Sequence[str]) -> Finding:
    """Embed a ring of all nodes and, where there are 2^n, a hypercube."""
    cases, rows = [], []
    for text in texts:
        host = build(text)
        assert isinstance(host, DualNetwork), "it is over a product"
        guests = {f"torus({host.num_nodes})": 1}
        if all(factor.is_edge for factor in host.factors):
            guests[f"cube({host.num_nodes.bit_length() - 1})"] = 2 * len(host.levels) + 1
        for guest, most in guests.items():
            found = embed(host, build(guest))
            rows.append({"host": text, "guest": guest, "dilation": found.dilation, "congestion": found.congestion})
            cases.append(
                Case(
                    network=f"{guest} on {text}",
                    nodes=host.num_nodes,
                    published=f"dilation at most {most}",
                    computed=f"dilation {found.dilation}",
                    holds=found.dilation <= most,
                )
            )
    return judge(cases, of="embeddings", table=rows)


def on_rdns() -> Finding:
    """Embed rings and hypercubes into RDNs."""
    return _embedded([f"rdn({text})" for text in RDNS])


def on_dual_cubes() -> Finding:
    """Embed rings and hypercubes into dual-cubes."""
    return _embedded([f"dualcube({r})" for r in DUAL_CUBES])


def algorithms() -> Finding:
    """Run algorithms of a hypercube on dual-cubes."""
    cases, rows = [], []
    for r in DUAL_CUBES:
        network = build(f"dualcube({r})")
        runs = {name: run_algorithm(network, name) for name in ALGORITHMS}
        rows.append(
            {"network": f"F_{r}"} | {name: run.dimension_steps + run.exchange_steps for name, run in runs.items()}
        )
        cases += [
            Case(
                network=f"F_{r}, {name}",
                nodes=network.num_nodes,
                published="the result of the definition",
                computed="that" if run.verified else "another",
                holds=run.verified,
            )
            for name, run in runs.items()
        ]
    return judge(cases, of="runs", table=rows)


FOUND = (
    "rings of all nodes with dilation 1, and hypercubes of as many nodes with 2 k + 1 (docs/results/09-embeddings.md)"
)

_embeddings = partial(
    Claim,
    claim="embeddings of other topologies",
    published="future work, read as: there are some of small dilation",
    reading=FOUND,
)

RDN_CLAIMS = (_embeddings(paper="RDN", where="section VII", check=on_rdns),)

DUALCUBE_CLAIMS = (
    _embeddings(paper="DC", where="section 5", check=on_dual_cubes),
    Claim(
        paper="DC",
        where="section 5",
        claim="algorithms on dual-cubes",
        published="future work, read as: those of a hypercube run",
        check=algorithms,
        reading="transforms, sorting, convolution and matrix multiplication on random values; steps in the table",
    ),
)
