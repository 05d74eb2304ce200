"""A load: its messages against what was asked for, and the same again from the same seed."""

from dataclasses import astuple

import numpy as np
import pytest

from hdnhw.spec import SpecError, parse
from hdnhw.topology.network import build
from hdnhw.traffic.load import Load

NETWORK = build(parse("torus(4, 4)"))


def load_of(*, packet_length=4, **options):
    given = {"pattern": "uniform", "injection": "bernoulli", "lengths": None, "rate": 0.3, "seed": 1}
    return Load(NETWORK, packet_length, **given | options)


@pytest.mark.parametrize(
    ("lengths", "sizes", "one_packet"),
    [(None, {4: 1}, True), ("3", {3: 1}, True), ("9", {9: 3}, False), ("mix(1, 1, 9, 1)", {1: 1, 9: 3}, False)],
)
def test_messages_are_what_was_asked_for(lengths, sizes, one_packet):
    load = load_of(lengths=lengths, pattern="transpose")
    messages = load.window(20_000)
    assert load.one_packet == one_packet
    assert set(load.senders.tolist()) == set(messages.source.tolist()) == set(range(16)) - {0, 5, 10, 15}
    assert np.array_equal(messages.destination, messages.source % 4 * 4 + messages.source // 4)
    assert {*zip(messages.flits.tolist(), messages.packets.tolist(), strict=True)} == set(sizes.items())
    assert np.array_equal(messages.cycle, np.sort(messages.cycle))
    assert 0 <= messages.cycle[0] <= messages.cycle[-1] < 20_000
    assert messages.packets.sum() * 4 / (12 * 20_000) == pytest.approx(0.3, rel=0.05)


@pytest.mark.parametrize("injection", ["bernoulli", "on_off(30)"])
def test_a_seed_names_the_messages(injection):
    one, same, other = (load_of(injection=injection, lengths="uniform(1, 9)", seed=seed) for seed in (3, 3, 4))
    for cycles in (100, 7, 300):
        windows = [astuple(load.window(cycles)) for load in (one, same, other)]
        assert all(np.array_equal(*columns) for columns in zip(*windows[:2], strict=True))
        assert not all(np.array_equal(*columns) for columns in zip(windows[0], windows[2], strict=True))


@pytest.mark.parametrize("wrong", [{"pattern": "nowhere"}, {"injection": "never"}, {"lengths": "0"}, {"rate": 1.1}])
def test_loads_that_cannot_be(wrong):
    with pytest.raises(SpecError):
        load_of(**wrong)
