"""Relays in the emitted Verilog: every packet, counter and cycle against the model, around what is dead."""

from dataclasses import replace

import numpy as np
import pytest

from hdnhw.endpoints.relay.bench import RelayBench
from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.support.errors import SpecError
from hdnhw.topology.faults import draw_faults
from hdnhw.topology.metrics import neighbor_table
from hdnhw.verilog.fabric import emit_fabric
from tests.specs import fabric_spec


def bench(
    text: str,
    *,
    waypoints: int = 1,
    relay_buffers: int = 4,
    relay_queues: int = 4,
    timeout: int = 1 << 16,
    **sizes: int | str,
) -> RelayBench:
    """Return the bench of a fabric with relays; builds are kept between test runs."""
    relays = RelaySpec(waypoints=waypoints, relay_buffers=relay_buffers, relay_queues=relay_queues, timeout=timeout)
    spec = fabric_spec(text, endpoints=relays, dead_pins=True, **sizes)
    return RelayBench(emit_fabric(spec))


@pytest.mark.parametrize(
    ("text", "sizes", "faults"),
    [
        ("hdn(cube(1), [[]])", {"packet_length": 3, "waypoints": 2, "relay_buffers": 2}, (0, 3)),
        ("hdn(cube(2), [[0]])", {"waypoints": 2}, (2, 4)),
        ("hdn(cube(2), [[0]])", {"waypoints": 2, "relay_queues": 2}, (2, 4)),
        ("hdn(cube(2), [[0]])", {"relay_queues": 1, "channel_latency": "cross1=5"}, (2, 4)),
        ("torus(3, 4)", {"packet_length": 1, "flit_width": 48, "relay_buffers": 1}, (2, 4)),
        (
            "hsn(2, cube(2))",
            {"packet_length": 5, "waypoints": 3, "queueing": "voq", "buffers": 4, "flit_width": 40},
            (1, 5),
        ),
    ],
)
def test_relays_deliver_what_can_be_and_account_for_the_rest(
    text: str, sizes: dict[str, int | str], faults: tuple[int, int]
) -> None:
    fabric = bench(text, **sizes)
    table = neighbor_table(fabric.machine.network)
    for seed in (1, 2):
        dead = draw_faults(table, np.random.default_rng(seed), nodes=faults[0], channels=faults[1])
        verdict = fabric.run_case(fabric.make_case(dead, packets=600, seed=seed)).verdict
        assert verdict.passed, verdict
        assert verdict.by_waypoints > 10
        assert verdict.delivered == verdict.deliverable > verdict.packets // 2
        assert verdict.accounted == verdict.packets - verdict.delivered > 0


def test_packets_go_by_waypoints_that_they_do_not_need_and_begin_anew_after_resets() -> None:
    fabric = bench("hdn(cube(1), [[]])", packet_length=3, waypoints=2, relay_buffers=2)
    nobody = draw_faults(neighbor_table(fabric.machine.network), np.random.default_rng(1))
    case = fabric.make_case(nobody, packets=600, seed=1, wander=True)
    for resets in ((), (50, 151, 1)):
        verdict = fabric.run_case(replace(case, resets=resets)).verdict
        assert verdict.passed, verdict
        assert verdict.by_waypoints == verdict.delivered == verdict.packets == 600


def test_death_and_return_in_traffic_leave_nothing_stuck_or_unaccounted() -> None:
    """Requests, grants and packets by waypoints vanish for a while; what is lost is counted, and all goes on."""
    fabric = bench("hdn(cube(1), [[]])", packet_length=3, waypoints=2, relay_buffers=2, timeout=4096)
    table = neighbor_table(fabric.machine.network)
    nobody = draw_faults(table, np.random.default_rng(1))
    case = fabric.make_case(nobody, packets=2400, seed=3)
    rng = np.random.default_rng(4)
    address = [fabric.machine.address.of_node(node) for node in range(fabric.machine.network.num_nodes)]
    stops = [(*rng.choice(address, 2).tolist(), way[-1])[rng.integers(3) :] for way in case.sends.stops]
    case = replace(case, sends=replace(case.sends, stops=stops), faults=draw_faults(table, rng, nodes=1, channels=4))
    verdict = fabric.run_case(replace(case, dead_cycles=(700, 2100), limit=60_000)).verdict
    assert verdict.wrong == 0
    assert 10 < verdict.accounted < 1200
    # The counter of what routers dropped as its channel died has requests and grants in it as well.
    assert verdict.packets <= verdict.delivered + verdict.accounted <= verdict.packets + 20
    assert verdict.notices > 10
    assert 4096 < verdict.cycles < 50_000


def test_packets_that_cannot_be_told_apart_are_refused() -> None:
    fabric = bench("hdn(cube(1), [[]])", packet_length=1, flit_width=16)
    nobody = draw_faults(neighbor_table(fabric.machine.network), np.random.default_rng(1))
    with pytest.raises(SpecError, match="packets must be at most 16 for this bench, not 600"):
        fabric.make_case(nobody, packets=600, seed=1)
