"""Assignments against all permutations."""

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from hdnhw.multipath.assignment import cheapest_pairs


@given(st.integers(1, 4), st.data())
def test_no_permutation_is_cheaper(rows, data):
    columns = data.draw(st.integers(rows, 5))
    row = st.lists(st.integers(0, 9), min_size=columns, max_size=columns)
    costs = data.draw(st.lists(row, min_size=rows, max_size=rows))
    chosen = cheapest_pairs(costs)
    assert len(set(chosen)) == rows
    least = min(sum(map(list.__getitem__, costs, some)) for some in permutations(range(columns), rows))
    assert sum(map(list.__getitem__, costs, chosen)) == least


def test_nothing_to_pair():
    assert cheapest_pairs([]) == []
