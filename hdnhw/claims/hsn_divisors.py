"""HSN paper, section 2.2: which results apply to HSNs whose top digit is over a divisor of M, executed."""

from collections.abc import Callable
from functools import lru_cache
from itertools import product

from hdnhw.claims.claim import Finding
from hdnhw.claims.hsn_nuclei import claim_of, diameter_of
from hdnhw.claims.words import by_share
from hdnhw.collectives.ascend import run_algorithm
from hdnhw.collectives.emulated import all_port_timetable, emulate, published_steps, step_timetable
from hdnhw.collectives.exchange import exchange_schedule
from hdnhw.collectives.executor import execute
from hdnhw.collectives.guest import guest_table, host_of
from hdnhw.networks.build import build
from hdnhw.spec import EXCHANGE_ORDERS
from hdnhw.support.errors import SpecError
from hdnhw.topology.swapped import SwappedNetwork

KINDS = {
    "cube": [f"cube({k})" for k in (2, 3, 4)],
    "complete": [f"complete({size})" for size in (4, 6, 8)],
    "mesh": ["mesh(4)", "mesh(6)", "mesh(3, 2)", "mesh(3, 4)", "mesh(2, 6)"],
    "ghc": ["ghc(3, 2)", "ghc(3, 4)", "ghc(2, 6)"],
    "folded_cube": ["folded_cube(2)", "folded_cube(3)", "folded_cube(4)"],
}
MOST = 300
"""Nodes of a network, at most."""

Check = Callable[[SwappedNetwork], bool]


@lru_cache(maxsize=1)
def _networks() -> dict[str, list[SwappedNetwork]]:
    """Return HSN(l, G) over every divisor of M but itself and 1, by the kind of G."""
    found: dict[str, list[SwappedNetwork]] = {kind: [] for kind in KINDS}
    for kind, texts in KINDS.items():
        for text, levels in product(texts, (2, 3, 4)):
            size = build(text).num_nodes
            tops = [top for top in range(2, size) if size % top == 0 and top * size ** (levels - 1) <= MOST]
            found[kind] += [_network(f"hsn({levels}, {text}, top={top})") for top in tops]
    return found


def _network(text: str) -> SwappedNetwork:
    network = build(text)
    assert isinstance(network, SwappedNetwork)
    return network


def _bound(network: SwappedNetwork) -> int:
    levels = network.spec.levels
    return diameter_of(network.nucleus) * levels + levels - 1


def _at_most(network: SwappedNetwork) -> bool:
    return diameter_of(network) <= _bound(network)


def _exactly(network: SwappedNetwork) -> bool:
    return diameter_of(network) == _bound(network)


def _transforms(network: SwappedNetwork) -> bool:
    """Return whether ascend and descend algorithms are right, with 2 (l - 1) exchange steps."""
    dimensions, exchanges = network.num_nodes.bit_length() - 1, 2 * (network.spec.levels - 1)
    runs = [run_algorithm(network, name) for name in ("ascend", "descend")]
    return all((run.verified, run.dimension_steps, run.exchange_steps) == (True, dimensions, exchanges) for run in runs)


def _three_steps(network: SwappedNetwork) -> bool:
    """Return whether the data of every dimension of the guest are moved in 3 steps.

    Of a complete block, s further and M_l - s back are one dimension and two ports: a node uses one of them.
    """
    try:
        host = host_of(network, "an emulation")
    except SpecError:
        return False
    ports, levels = len(host.nucleus.ports), host.spec.levels
    steps = [step_timetable(ports, link) for link in product(range(1, levels + 1), range(ports))]
    if "complete" in str(host.spec.nucleus):
        top, size = host.spec.top, host.nucleus.num_nodes
        pairs = [((levels, by - 1), (levels, size - top + by - 1)) for by in range(1, top)]
        assert all((guest_table(host, levels)[:, [one[1], other[1]]] >= 0).sum() == top for one, other in pairs)
        steps += [{**step_timetable(ports, one), **step_timetable(ports, other)} for one, other in pairs]
    return max(emulate(host, step).steps for step in steps) <= 3


def _all_ports(network: SwappedNetwork) -> bool:
    """Return whether the data of all dimensions are moved in no more steps than published."""
    try:
        host = host_of(network, "an emulation")
    except SpecError:
        return False
    published = published_steps(host)
    table = all_port_timetable(host.spec.levels, len(host.nucleus.ports))
    return published is not None and emulate(host, table).steps <= published


def _exchanges(network: SwappedNetwork) -> bool:
    """Return whether every message of a total exchange arrives, in both orders; the executor refuses others."""
    counted = [execute(exchange_schedule(network, order)) for order in EXCHANGE_ORDERS]
    return all(run.messages == network.num_nodes**2 for run in counted)


RESULTS: list[tuple[str, tuple[str, ...], Check]] = [
    ("equation 1: D_1 l + l - 1 hops at most", tuple(KINDS), _at_most),
    ("Theorem 2.1: diameter D_1 l + l - 1", tuple(KINDS), _exactly),
    ("Theorem 3.1: 2 (l - 1) exchange steps", ("cube",), _transforms),
    ("Theorem 3.2: 3 steps", ("cube",), _three_steps),
    ("Theorem 3.3: max(2 k + 1, l + 1) steps", ("cube",), _all_ports),
    ("section 3.3: total exchange", ("cube",), _exchanges),
    ("Theorem 4.2: 3 steps", ("complete",), _three_steps),
    ("Theorem 4.3: max(2 M + 1, l + 1) steps", ("complete",), _all_ports),
    ("Theorem 5.1: 3 steps", ("mesh",), _three_steps),
    ("Theorem 5.2: max(4 n + 1, l + 1) steps", ("mesh",), _all_ports),
    ("section 5.2: a hypercube's step in 3", ("folded_cube",), _three_steps),
    ("section 5.3: a generalized hypercube's step in 3", ("ghc",), _three_steps),
]


def results() -> Finding:
    """Execute the paper's results on HSNs over divisors, and count those that hold on all that they are about."""
    rows = []
    for name, kinds, check in RESULTS:
        networks = [network for kind in kinds for network in _networks()[kind]]
        wrong = [network for network in networks if not check(network)]
        least = min(wrong, key=lambda network: network.num_nodes, default=None)
        rows.append(
            {
                "result": name,
                "networks": len(networks),
                "applies on": len(networks) - len(wrong),
                "not on": "" if least is None else str(least.spec),
            }
        )
    full = [row for row in rows if not row["not on"]]
    some = ", ".join(f"{str(row['result']).split(':')[0]} on {row['applies on']} of {row['networks']}" for row in rows)
    computed = f"{len(full)} of {len(rows)} results on all networks: {some}"
    return by_share(len(full), len(rows), computed=computed, table=rows)


CLAIMS = (
    claim_of(
        "section 2.2",
        "results of the paper that apply to HSNs with the top digit over a divisor, without modification",
        "most",
        results,
        reading="of the 12 that the table names, each executed on all divisors of some nuclei, up to "
        f"{MOST} nodes; what X_l has of the guest is a block of the nucleus, X_Q being the same",
    ),
)
