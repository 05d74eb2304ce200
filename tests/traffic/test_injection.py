"""Injection processes: rates, bursts, and windows that join without a seam."""

from dataclasses import asdict

import numpy as np
import pytest

from hdnhw.core.traffic import CoreTraffic, Target, key_of
from hdnhw.support.errors import SpecError
from hdnhw.traffic.injection import parse_injection
from tests.conftest import each

SENDERS = 200


def created(text, *, rate, message_flits=1, windows=(4000, 1, 7, 4000), seed=1, senders=SENDERS):
    """Return whether each sender got a packet in each cycle, shape (cycles, senders)."""
    process = parse_injection(text, rate=rate, message_flits=message_flits)
    nodes = {"nodes": senders, "sender": np.arange(senders), "size": senders, "target": Target.BLOCK}
    core = CoreTraffic(**nodes, **asdict(process), key=key_of(seed))
    parts = []
    for cycles in windows:
        cycle, sender = core.window(cycles)[:2]
        assert (np.diff(cycle) >= 0).all()
        table = np.zeros((cycles, senders), int)
        np.add.at(table, (cycle, sender), 1)
        parts.append(table)
    table = np.concatenate(parts)
    assert table.max(initial=0) <= 1
    return table.astype(bool)


@pytest.mark.parametrize("text", ["bernoulli", "on_off(10)", "on_off(1)", "on_off(40, 0.9)"])
@pytest.mark.parametrize(("rate", "message_flits"), [(0.02, 1), (0.3, 1), (0.8, 8)])
def test_rate_in_flits(text, rate, message_flits):
    table = created(text, rate=rate, message_flits=message_flits)
    # A burst of 40 cycles leaves 1.6 million node-cycles with some 20 thousand independent ones at least.
    assert table.mean() * message_flits == pytest.approx(rate, rel=0.12 if "on_off" in text else 0.05)


@pytest.mark.parametrize(
    ("text", "rate", "share"), [("bernoulli", 0, 0), ("bernoulli", 1, 1), ("on_off(5)", 0, 0), ("on_off(5)", 1, 1)]
)
def test_never_and_always(text, rate, share):
    assert created(text, rate=rate).mean() == share


def test_bernoulli_forgets():
    table = created("bernoulli", rate=0.3)
    assert table[1:][table[:-1]].mean() == pytest.approx(0.3, abs=0.01)


def test_bursts_last_as_long_as_said():
    """Runs of cycles with a packet are bursts, or some with no silence between them; none ends as a window does."""
    table = created("on_off(20)", rate=0.2, windows=(500,) * 16)
    starts = table[1:] & ~table[:-1]
    length = table.sum() / starts.sum()
    assert length == pytest.approx(20 * 81 / 80, rel=0.1)
    goes_on = table[1:][table[:-1]]
    assert goes_on.mean() == pytest.approx(1 - 80 / 81 / 20, abs=0.01)
    seams = np.arange(500, 8000, 500)
    assert (table[seams] == table[seams - 1]).mean() > 0.9


@pytest.mark.parametrize("text", ["on_off(20, 0.5)", "on_off(1, 0.5)", "on_off(2, 0.3)"])
def test_bursts_are_as_frequent_in_the_first_cycles_as_ever(text):
    first = created(text, rate=0.1, windows=(5,), senders=100_000).mean(axis=1)
    assert first == pytest.approx(np.full(5, 0.1), abs=4 * (0.1 / 100_000) ** 0.5)


def test_the_same_seed_gives_the_same_packets():
    assert (created("on_off(9)", rate=0.1) == created("on_off(9)", rate=0.1)).all()
    assert (created("on_off(9)", rate=0.1) != created("on_off(9)", rate=0.1, seed=2)).any()


@each(
    ("text", "rate", "said"),
    [
        ("poisson", 0.1, r"^injection must be one of bernoulli, on_off, not 'poisson'$"),
        ("on_off", 0.1, r"^injection on_off takes \(burst, peak\), at least 1 of them, not 0 arguments$"),
        ("on_off(0)", 0.1, "^on_off burst must be at least 1 cycle, not 0$"),
        ("on_off(5, 0.05)", 0.1, "^on_off peak must be at least the rate 0.1 and at most 1 flit per cycle, not 0.05$"),
        ("on_off(5, 2)", 0.1, "not 2$"),
        ("bernoulli", 1.5, "^rate must be 0 to 1 flits per node per cycle, not 1.5$"),
        ("bernoulli", -0.1, "not -0.1$"),
        ("bernoulli", float("nan"), "not nan$"),
    ],
)
def test_processes_that_cannot_be(text, rate, said):
    with pytest.raises(SpecError, match=said):
        parse_injection(text, rate=rate, message_flits=1)
