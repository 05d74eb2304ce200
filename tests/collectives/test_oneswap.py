"""Times of data that cross one swap: rules that any must keep, and how few steps they take."""

from collections import Counter

import pytest

from hdnhw.collectives.oneswap import one_swap_times

SIZES = [(levels, size) for levels in range(2, 7) for size in range(levels + 1, 20)]


@pytest.mark.parametrize(("levels", "size"), [(2, 3), (2, 9), (3, 4), (3, 7), (4, 8), (5, 6)])
def test_each_port_and_swap_has_one_thing_to_do_at_a_time(levels, size):
    times = one_swap_times(levels, size)
    for port in range(1, size):
        rows = range(2, levels + 1)
        busy = [levels, *(times.first(level, port) for level in rows), *(times.last(level, port) for level in rows)]
        assert max(Counter(busy).values()) == 1
        assert 1 <= min(busy) <= max(busy) <= times.steps
    assert sorted(times.swaps) == [(level, ahead) for level in range(2, levels + 1) for ahead in range(1, size)]
    for (level, ahead), order in times.swaps.items():
        assert len(set(order)) == size
        for shift, step in enumerate(order):
            assert times.first(level, shift) < step < times.last(level, (ahead - shift) % size)


def test_steps_are_the_load_of_a_swap_or_a_port_or_one_more():
    more = [key for key in SIZES if one_swap_times(*key).steps > max(key[1], 2 * key[0] - 1)]
    assert {one_swap_times(*key).steps - max(key[1], 2 * key[0] - 1) for key in more} == {1}
    assert len(more) < len(SIZES) / 4
    assert all(levels > 3 and size < 3 * levels - 2 for levels, size in more)


@pytest.mark.parametrize(("levels", "size"), [(3, 3), (1, 4), (5, 4)])
def test_what_is_refused(levels, size):
    with pytest.raises(ValueError, match=rf"^levels must be 2 to {size - 1}, not {levels}$"):
        one_swap_times(levels, size)
