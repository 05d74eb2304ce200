"""Rules in the core, and as functions of Python, against their circuits on all pairs."""

import numpy as np
import pytest

from hdnhw.networks.build import build
from hdnhw.rules.compiled import core_rule, interpret_rule
from hdnhw.rules.decision import VC_SHIFT
from hdnhw.rules.hop import hop_rule
from hdnhw.topology.address import AddressLayout

RULES = [
    ("cube(1)", None),
    ("mesh(4, 3)", None),
    ("ghc(3, 5)", None),
    ("torus(5)", None),
    ("torus(6, 3)", None),
    ("product(mesh(2, 3), torus(4), complete(3))", None),
    ("dualcube(3)", None),
    ("rdn(torus(5), 1)", None),
    ("rdn(torus(6), 1)", "O"),
    ("hdn(ghc(3, 4), [[0]])", None),
    ("hdn(cube(2), [[0], [0, 1]])", None),
    ("hdn(cube(2), [[0, 1], [1]])", "Of"),
    ("hdn(torus(5), [[0], []])", "ff"),
    ("hdn(torus(6), [[0], [0]])", "OO"),
    ("hdn(cube(1), [[0], [0], [0]])", "fOf"),
]


@pytest.mark.parametrize(("text", "modes"), RULES)
def test_compiled_is_interpreted(text, modes, every_hop):
    network = build(text)
    rule = hop_rule(network, modes)
    addresses = AddressLayout(network).of_nodes
    found = core_rule(rule).decide(addresses[:, None], addresses)
    port, vc = every_hop(rule)
    arrived = port < 0
    assert np.array_equal(arrived, np.eye(network.num_nodes, dtype=bool))
    # On arrival the class must be 0 too: a router counts the credits of its ejection port in class 0 alone.
    assert np.array_equal(found, np.where(arrived, len(network.ports), port | vc << VC_SHIFT))


def test_compiled_is_next_hop():
    rule = hop_rule(build("hdn(torus(5), [[0], [0]])"))
    network, decide = rule.network, core_rule(rule).decide
    layout = AddressLayout(network)
    for src in range(network.num_nodes):
        for dst in range(0, network.num_nodes, 3):
            step = rule.next_hop(network.decode(src), network.decode(dst))
            found = int(decide(layout.of_node(src), layout.of_node(dst)))
            port = found & ((1 << VC_SHIFT) - 1)
            assert (None if port == len(network.ports) else (port, found >> VC_SHIFT)) == step


def test_wide_addresses_are_compiled_in_full():
    rule = hop_rule(build("product(mesh(1073741824), torus(1073741823))"))
    layout = AddressLayout(rule.network)
    route = interpret_rule(rule)
    assert layout.width == 60
    last = (1 << 30) - 1
    for cur, dst in [((last, 5), (0, 5)), ((0, 0), (last, 0)), ((7, last - 1), (7, 1)), ((7, 3), (7, last - 1))]:
        port, vc = rule.next_hop(cur, dst)
        assert route(layout.pack(cur), layout.pack(dst)) == port | vc << VC_SHIFT
