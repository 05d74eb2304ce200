"""Lengths of messages: shares drawn, packets counted flit by flit, and what cannot be."""

import numpy as np
import pytest

from hdnhw.support.errors import SpecError
from hdnhw.traffic.lengths import packets_of, parse_lengths
from tests.conftest import each


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("9", {9: 1}),
        (" fixed(9) ", {9: 1}),
        ("uniform(3, 6)", {3: 0.25, 4: 0.25, 5: 0.25, 6: 0.25}),
        ("uniform(2, 2)", {2: 1}),
        ("mix(1, 0.8, 9, 0.2)", {1: 0.8, 9: 0.2}),
        ("mix(1, 4, 9, 1)", {1: 0.8, 9: 0.2}),
        ("mix(5, 1)", {5: 1}),
        ("mix(1, 1, 2, 1, 1, 2)", {1: 0.75, 2: 0.25}),
    ],
)
def test_shares(text, shares):
    drawn = parse_lengths(text).draw(40_000, np.random.default_rng(1))
    assert drawn.dtype == np.int64
    values, counts = np.unique(drawn, return_counts=True)
    assert values.tolist() == sorted(shares)
    assert counts / 40_000 == pytest.approx([shares[value] for value in sorted(shares)], abs=0.015)


def segments(flits, packet_length):
    """Return how many packets are filled when flits are put into them one by one."""
    packets, room = 0, 0
    for _ in range(flits):
        if room == 0:
            packets, room = packets + 1, packet_length
        room -= 1
    return packets


@pytest.mark.parametrize("packet_length", [1, 2, 3, 8])
def test_packets_are_those_that_the_flits_fill(packet_length):
    flits = np.arange(1, 40)
    expected = [segments(count, packet_length) for count in range(1, 40)]
    assert packets_of(flits, packet_length).tolist() == expected
    assert parse_lengths("uniform(1, 39)").mean_packets(packet_length) == pytest.approx(np.mean(expected))


def test_a_seed_names_lengths():
    lengths = parse_lengths("uniform(1, 99)")
    one, same, other = (lengths.draw(50, np.random.default_rng(seed)).tolist() for seed in (1, 1, 2))
    assert one == same
    assert one != other


@each(
    ("text", "said"),
    [
        ("normal(3)", r"^lengths must be a number or one of fixed, uniform, mix, not 'normal\(3\)'$"),
        ("", "not ''$"),
        ("-1", "not '-1'$"),
        ("0", "^length of a message must be an integer of 1 to 1048576 flits, not 0$"),
        ("1048577", "not 1048577$"),
        ("uniform(1)", r"^lengths uniform takes \(least, most\), at least 2 of them, not 1 arguments$"),
        ("uniform(1, 2, 3)", "not 3 arguments$"),
        ("uniform(1, 2.5)", "^uniform most must be an integer, not 2.5$"),
        ("uniform(9, 1)", "^lengths uniform must go from the shorter to the longer, not from 9 to 1$"),
        ("mix()", r"^lengths mix takes \(length, share, length, share, ...\), not 0 arguments$"),
        ("mix(1, 0.5, 2)", "not 3 arguments$"),
        ("mix(1.5, 1)", "flits, not 1.5$"),
        ("mix(1, 0)", "^share of a length must be above 0, not 0$"),
        ("mix(1, 1e999)", "not inf$"),
        ("mix(1, 'a')", "^mix parts must be a number, not 'a'$"),
    ],
)
def test_lengths_that_cannot_be(text, said):
    with pytest.raises(SpecError, match=said):
        parse_lengths(text)
