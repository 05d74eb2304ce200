"""Networks that tell channels between chips from others, beside those that they are made of."""

import numpy as np
import pytest

from bench.long_links import add_family, chip_of, cut_torus, dragonfly, leaving, on_ports
from hdnhw.collectives.exchange import exchange_schedule
from hdnhw.collectives.executor import execute
from hdnhw.networks import registry
from hdnhw.networks.build import build
from hdnhw.rules.plan import plan
from hdnhw.rules.statistics import routing_statistics


@pytest.fixture(autouse=True)
def families(monkeypatch):
    monkeypatch.setattr(registry, "families", registry.families)
    add_family()


def is_told(network, chips, kind):
    """Check that ports tell which channels leave a chip."""
    for node in range(network.num_nodes):
        for name, other in network.neighbors(node).items():
            assert name.startswith(kind) == (chips[node] != chips[other])


@pytest.mark.parametrize(
    ("sizes", "parts", "channels"), [((8, 8), (2, 2), 4 * 4), ((4, 8, 4), (2, 2, 2), 2 * (8 + 4 + 8))]
)
def test_a_torus_in_chips_is_the_torus(sizes, parts, channels):
    network, torus = build(cut_torus(sizes, parts)), build(f"torus({', '.join(map(str, sizes))})")
    for node in range(torus.num_nodes):
        assert sorted(network.neighbors(node).values()) == sorted(torus.neighbors(node).values())
    is_told(network, chip_of(network, 16), "link")
    assert leaving(network) == channels
    assert np.bincount(chip_of(network, 16)).tolist() == [16] * (torus.num_nodes // 16)
    assert routing_statistics(plan(network.spec)) == routing_statistics(plan(torus.spec))
    assert [network.port_count(port) for port in range(len(network.ports))] == [
        sum(bool(network.has_port(network.decode(node), port)) for node in range(network.num_nodes))
        for port in range(len(network.ports))
    ]
    counted = execute(exchange_schedule(torus))
    moved = on_ports(network, counted)
    assert moved.words_per_step == counted.words_per_step
    assert (moved.neighbors[moved.sent.any(axis=0)] >= 0).all()


def test_a_group_of_a_dragonfly_is_a_chip():
    network = build(dragonfly(4, 2))
    assert (network.num_nodes, str(network.spec)) == (36, "dragonfly(4, 2)")
    is_told(network, np.arange(36) // 4, "link")
