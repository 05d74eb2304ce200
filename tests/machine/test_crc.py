"""The check bits of flits against long division, and the errors that they see."""

import binascii
import random

import pytest

from hdnhw.machine.crc import check_of, check_sets, check_width
from tests.conftest import each

GENERATORS = {8: 0x107, 16: 0x11021}


def divided(value, generator):
    """Return the remainder of one polynomial by another, bit by bit."""
    while value.bit_length() >= generator.bit_length():
        value ^= generator << value.bit_length() - generator.bit_length()
    return value


def remainders(bits, width):
    """Return the remainder of every power of x that a flit with its check bits has."""
    return [divided(1 << place, GENERATORS[width]) for place in range(bits + width)]


@each("width", [1, 2, 7, 8, 17, 32, 64, 119, 120, 128, 333, 1024])
def test_check_bits_are_the_inverse_of_the_remainder(width):
    bits, rng = check_width(width), random.Random(width)
    mask = (1 << bits) - 1
    for flit in (0, 1, (1 << width) - 1, *(rng.getrandbits(width) for _ in range(30))):
        assert check_of(flit, width) == divided(flit << bits, GENERATORS[bits]) ^ mask
    assert all(0 <= place < width for own in check_sets(width) for place in own)


@each("width", [120, 128, 512, 1024])
def test_sixteen_bits_are_a_checksum_in_wide_use(width):
    flit = random.Random(width).getrandbits(width - width % 8)
    assert check_of(flit, width) == binascii.crc_hqx(flit.to_bytes(width // 8, "big"), 0) ^ 0xFFFF


@pytest.mark.parametrize(("width", "bits"), [(119, 8), (1024, 16)])
def test_three_wrong_bits_are_seen_in_the_longest_flit_and_so_in_shorter_ones(width, bits):
    """No one remainder is 0, no two are equal, and no two together are a third."""
    found = remainders(width, bits)
    assert check_width(width) == bits
    assert len(set(found)) == len(found)
    assert 0 not in found
    every = set(found)
    assert not any(one ^ other in every for place, one in enumerate(found) for other in found[:place])


def test_eight_bits_do_not_see_all_pairs_in_longer_flits():
    found = remainders(120, 8)
    assert len(set(found)) < len(found)
    assert check_width(119) == 8 < check_width(120)


@each("width", [1, 8, 32, 119, 120, 1024])
def test_errors_within_as_many_wires_as_check_bits_are_seen(width):
    """No XOR of remainders side by side is 0: they are independent."""
    bits = check_width(width)
    found = remainders(width, bits)
    for start in range(len(found) - bits + 1):
        basis = []
        for remainder in found[start : start + bits]:
            for one in basis:
                remainder = min(remainder, remainder ^ one)
            assert remainder
            basis = sorted([*basis, remainder], reverse=True)


@each("width", [*range(1, 140), 255, 256, 1023, 1024])
def test_a_channel_that_stands_still_carries_no_good_flit(width):
    ones, all_checks = (1 << width) - 1, (1 << check_width(width)) - 1
    assert check_of(0, width) != 0
    assert check_of(ones, width) != all_checks


@pytest.mark.parametrize("width", [0, 32752])
def test_widths_are_checked(width):
    with pytest.raises(ValueError, match=f"flit width must be 1 to 32751 bits, not {width}"):
        check_width(width)
