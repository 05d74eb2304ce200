"""A record of packets against the ejections of a run of the same packets, and what no network can do."""

from itertools import pairwise

import numpy as np
import pytest

from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.record import record
from hdnhw.model.fabric import model_of
from hdnhw.rules.plan import plan
from hdnhw.support.errors import SpecError
from hdnhw.traffic.packets import Traffic
from tests.specs import fabric_spec

MACHINES = (
    ("rdn(cube(2), 1)", {}, 0.8),
    ("torus(5)", {"packet_length": 1, "buffers": 4}, 0.5),
    ("cube(3)", {"packet_length": 4, "queueing": "voq", "buffers": 2}, 0.9),
    ("mesh(3, 2)", {"gapless_packets": True, "crc": True, "channel_latency": "dim1=8"}, 0.4),
)


def recorded(spec, machine, rate, cycles=240):
    """Return the model and a record."""
    model = model_of(fabric_spec(spec, **machine))
    return model, record(model, LoadSpec(rate=rate, seed=5), cycles)


@pytest.mark.parametrize(("spec", "machine", "rate"), MACHINES)
def test_packets_come_out_where_and_when_they_do_in_a_run(spec, machine, rate):
    model, kept = recorded(spec, machine, rate)
    order = np.argsort(kept.source, kind="stable")
    first = np.searchsorted(kept.source[order], np.arange(model.plan.network.num_nodes + 1))
    traffic = Traffic(first, model.address[kept.destination[order]], kept.created[order])
    ran = model.run(traffic, max_cycles=kept.cycles)
    number = order[ran.packet]
    assert (kept.tail[number] == ran.cycle).all()
    assert (kept.destination[number] == ran.node).all()
    accepted = ran.head_cycle >= 0
    assert (kept.head[order][accepted] == ran.head_cycle[accepted]).all()
    taken = np.flatnonzero((kept.tail >= 0) & (kept.tail < kept.cycles))
    assert set(taken) == set(number)
    assert len(taken) > 20


@pytest.mark.parametrize(("spec", "machine", "rate"), MACHINES)
def test_a_channel_carries_one_packet_a_slot_and_hops_take_their_time(spec, machine, rate):
    model, kept = recorded(spec, machine, rate)
    routing, timing = plan(spec), model.timing
    used = set()
    for src, dst, ready, left, tail in zip(
        kept.source.tolist(), kept.destination.tolist(), kept.ready.tolist(), kept.left, kept.tail.tolist(), strict=True
    ):
        way = list(routing.rule.route(src, dst))
        assert len(left) <= len(way) + 1
        assert (tail >= 0) == (len(left) == len(way) + 1)
        assert all(slot >= ready >= 0 for slot in left[:1])
        assert all(later - slot >= timing.hop_slots for slot, later in pairwise(left))
        for slot, place in zip(left, [*((node, port) for node, port, _ in way), (dst, "terminal")], strict=False):
            assert (slot, place) not in used
            used.add((slot, place))
    assert len(used) > 100


@pytest.mark.parametrize(
    ("load", "machine", "message"),
    [
        ({"lengths": "16"}, {}, "messages of one packet"),
        ({}, {"switching": "cut-through"}, "switching=.cut-through. puts routers half a slot apart"),
        ({}, {"channel_latency": "4"}, "channel_latency=.4. puts routers half a slot apart"),
        ({}, {"channel_width": "16"}, "channel_width=.16. puts routers half a slot apart"),
        ({}, {"channel_width": "16", "packet_length": 4}, "a record has no queues of channels, .* with channel_width"),
    ],
)
def test_what_cannot_be_recorded(load, machine, message):
    model = model_of(fabric_spec("cube(2)", **machine))
    with pytest.raises(SpecError, match=message):
        record(model, LoadSpec(**load), 100)
