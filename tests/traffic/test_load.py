"""A load: its messages against what was asked for, and against its definition, looked up number by number."""

import math
from dataclasses import astuple
from fractions import Fraction

import numpy as np
import pytest

from hdnhw.core.traffic import key_of
from hdnhw.networks.build import build
from hdnhw.support.errors import SpecError
from hdnhw.traffic.load import Load
from tests.conftest import each

NETWORK = build("torus(4, 4)")


def load_of(*, packet_length=4, **options):
    given = {"pattern": "uniform", "injection": "bernoulli", "lengths": None, "rate": 0.3, "seed": 1}
    return Load(NETWORK, packet_length, **given | options)


@pytest.mark.parametrize(
    ("lengths", "sizes"), [(None, {4: 1}), ("3", {3: 1}), ("9", {9: 3}), ("mix(1, 1, 9, 1)", {1: 1, 9: 3})]
)
def test_messages_are_what_was_asked_for(lengths, sizes):
    load = load_of(lengths=lengths, pattern="transpose")
    messages = load.window(20_000)
    assert load.most_packets == max(sizes.values())
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


def philox(counter, key):
    """Return the block of Philox4x32-10, four words of 32 bits."""
    x, k = list(counter), list(key)
    for _ in range(10):
        high, low = divmod(0xD2511F53 * x[0], 1 << 32)
        upper, lower = divmod(0xCD9E8D57 * x[2], 1 << 32)
        x = [upper ^ x[1] ^ k[0], lower, high ^ x[3] ^ k[1], low]
        k = [(k[0] + 0x9E3779B9) % (1 << 32), (k[1] + 0xBB67AE85) % (1 << 32)]
    return x


@pytest.mark.parametrize(
    ("counter", "key", "block"),
    [
        ([0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_random_numbers_are_those_of_random123(counter, key, block):
    assert philox(counter, key) == [int(word, 16) for word in block.split()]


def looked_up(node, cycles, *, seed, probability, lengths, target, burst=None, share=1.0):
    """Return the messages of a node by their definition: (cycle, source, destination, flits) of each."""
    key = divmod(key_of(seed), 1 << 32)[::-1]

    def words(number, stream):
        a, b, c, d = philox([number, 0, node, stream], key)
        return a | b << 32, c | d << 32

    def unit(word):
        return (word >> 11) / 2**53

    def failures(word, success):
        return 0 if success == 1 else int(math.log(1 - unit(word)) / math.log1p(-success))

    bursts = [(0, cycles)] if burst is None else []  # the first cycle of each, and the one behind it
    if burst is not None:
        silence = burst * (1 - share) / share
        cycle, is_on, period = 0, unit(words(0, 2)[1]) < share, 0
        while cycle < cycles:
            word = words(period, 2)[0]
            own = 1 + failures(word, 1 / burst) if is_on else (not period) + failures(word, 1 / (1 + silence))
            if is_on:
                bursts.append((cycle, cycle + own))
            cycle, is_on, period = cycle + own, not is_on, period + 1
    of_bursts = [cycle for first, end in bursts for cycle in range(first, end)]
    found, number, place = [], 0, -1
    while True:
        gap, word = words(number, 0)
        place += 1 + failures(gap, probability)
        if place >= len(of_bursts) or of_bursts[place] >= cycles:
            return found
        size, chance = words(number, 1)
        flits = lengths[0] if len(lengths) == 1 else lengths[int(unit(size) * len(lengths))]
        if (end := target(node, word, unit(chance))) is not None:
            found.append((of_bursts[place], node, end, flits))
        number += 1


def other_node(node, word, _):
    drawn = word * 15 >> 64
    return drawn + (drawn >= node)


TARGETS = {
    "uniform": other_node,
    "transpose": lambda node, *_: node % 4 * 4 + node // 4,
    "hotspot(0.3, 5)": lambda node, word, chance: 5 if chance < 0.3 and node != 5 else other_node(node, word, chance),
    "hotspot(0.3, 5, 2)": lambda node, word, chance: (
        (2 if chance < 0.15 else 5) if chance < 0.3 and node not in (2, 5) else other_node(node, word, chance)
    ),
    "next_group(4)": lambda node, word, _: (node // 4 + 1) % 4 * 4 + (word * 4 >> 64),
}


@pytest.mark.parametrize("pattern", TARGETS)
@pytest.mark.parametrize(
    ("injection", "rate", "burst", "share", "peak"),
    [("bernoulli", 0.3, None, 1, 0.3), ("bernoulli", 0.01, None, 1, 0.01), ("on_off(30, 0.5)", 0.1, 30, 0.2, 0.5)],
)
def test_messages_are_those_of_the_definition(pattern, injection, rate, burst, share, peak):
    """Whatever the windows, some of which have fewer messages than cycles."""
    load = load_of(pattern=pattern, injection=injection, rate=rate, lengths="uniform(1, 4)", seed=(7, 1))
    found, cycle = [], 0
    for cycles in (0, 1, 63, 64, 1, 1871):
        messages = load.window(cycles)
        columns = messages.cycle + cycle, messages.source, messages.destination, messages.flits
        found += zip(*(column.tolist() for column in columns), strict=True)
        cycle += cycles
    given = {"seed": (7, 1), "probability": peak / 4, "lengths": [1, 2, 3, 4], "target": TARGETS[pattern]}
    wanted = [
        one for node in load.senders.tolist() for one in looked_up(node, cycle, **given, burst=burst, share=share)
    ]
    assert found == sorted(wanted)
    assert len(found) > 20


INTEGERS = np.random.default_rng(1).integers(0, 4, (16, 16)) * (1 - np.eye(16, dtype=int))
INTEGERS[7] = 0
CLASSES = """
[[phase]]
cycles = 50
class = [{pattern = "rates.csv", share = 2, lengths = 3}, {pattern = "transpose", lengths = "mix(9, 1, 20, 3)"}]
[[phase]]
cycles = 20
class = [{pattern = "complement", share = 0.5}]
[[phase]]
cycles = 7
class = []
"""


def permuted(target):
    return [[(1, target(node), 4)] if target(node) != node else [] for node in range(16)]


def of_class(row, share, sizes):
    """Return (messages, destination, flits) of each node, of packets of 4 flits."""
    packets = sum(part * Fraction(-(-flits // 4)) for flits, part in sizes)
    most = max(sum(weight for weight, *_ in each) for each in row)
    return [
        [(share * weight * part / packets / most, end, flits) for flits, part in sizes for weight, end, _ in each]
        for each in row
    ]


@each("injection", ["bernoulli", "on_off(30, 0.5)"])
@each("kind", ["matrix", "classes"])
def test_messages_of_data_are_those_of_the_definition(kind, injection, tmp_path):
    rows = [[(Fraction(int(rate)), end, 4) for end, rate in enumerate(row) if rate] for row in INTEGERS]
    whole, pattern, period = [(4, Fraction(1))], INTEGERS, [(1, of_class(rows, 1, [(4, Fraction(1))]))]
    if kind == "classes":
        np.savetxt(tmp_path / "rates.csv", INTEGERS, "%d", ",")
        pattern = tmp_path / "c.toml"
        pattern.write_text(CLASSES)
        own = of_class(rows, 2, [(3, Fraction(1))])
        other = of_class(permuted(TARGETS["transpose"]), 1, [(9, Fraction(1, 4)), (20, Fraction(3, 4))])
        both = [one + two for one, two in zip(own, other, strict=True)]
        last = of_class(permuted(lambda node: 15 - node), Fraction(1, 2), whole)
        period = [(50, both), (20, last), (7, [[] for _ in range(16)])]
    phases = [phase for cycles, phase in period for _ in range(cycles)]
    sent = [sum(weight * -(-flits // 4) for weight, _, flits in each) for phase in phases for each in phase]
    most = max(sum(weight for weight, *_ in each) for phase in phases for each in phase)
    probability = Fraction(3, 10) / 4 * most / max(sent)
    given = {"seed": 7, "probability": float(probability), "lengths": [0], "target": lambda _, word, __: word}
    if injection != "bernoulli":
        given |= {"probability": float(probability / Fraction(3, 10) / 2), "burst": 30, "share": 0.6}
    wanted = []
    for cycle, node, word, _ in (one for own in range(16) for one in looked_up(own, 2000, **given)):
        left = Fraction(word >> 11, 1 << 53) * most
        for weight, end, flits in phases[cycle % len(phases)][node]:
            if 0 <= left < weight:
                wanted.append((cycle, node, end, flits))
            left -= weight
    load = load_of(pattern=pattern, injection=injection, seed=7)
    assert set(load.senders.tolist()) == {node for phase in phases for node in range(16) if phase[node]}
    assert load.most_packets == (5 if kind == "classes" else 1)
    messages = load.window(2000)
    columns = messages.cycle, messages.source, messages.destination, messages.flits
    assert [*zip(*(column.tolist() for column in columns), strict=True)] == sorted(wanted)
    assert len(wanted) > 300


@pytest.mark.parametrize("wrong", [{"pattern": "nowhere"}, {"injection": "never"}, {"lengths": "0"}, {"rate": 1.1}])
def test_loads_that_cannot_be(wrong):
    with pytest.raises(SpecError):
        load_of(**wrong)
