"""Words of degree: what they ask for, and what half or twice of it turns."""

import pytest

from hdnhw.claims import words
from hdnhw.claims.claim import Case, Finding, Verdict


def cases(*nodes, wrong=()):
    return [Case(network="n", nodes=size, published="p", computed="c", holds=size not in wrong) for size in nodes]


def test_half_and_twice_of_a_limit_turn_a_verdict():
    tried = []

    def judged(limit):
        tried.append(limit)
        return Finding(computed="c", verdict=Verdict.HOLDS if limit >= 2 else Verdict.FALSE)

    found = words.by_word("much", judged)
    assert (found.verdict, found.word, found.turned) == (Verdict.HOLDS, "much", "false with 1")
    assert sorted(tried) == [1, 2, 4]
    assert words.by_word("much", lambda _: Finding(computed="c", verdict=Verdict.FALSE)).turned is None


@pytest.mark.parametrize(
    ("share", "verdict", "turned"),
    [
        ((3, 6), Verdict.FALSE, "holds with 0.5"),
        ((4, 6), Verdict.HOLDS, "false with 2"),
        ((5, 6), Verdict.HOLDS, None),
        ((2, 6), Verdict.FALSE, None),
    ],
)
def test_most_is_more_often_than_not(share, verdict, turned):
    found = words.by_share(*share, computed="c")
    assert (found.verdict, found.turned) == (verdict, turned)


@pytest.mark.parametrize(
    ("quotients", "verdict"),
    [
        ((1, 4), Verdict.HOLDS),
        ((1, 4.1), Verdict.FALSE),
        ((0.25, 1), Verdict.HOLDS),
        ((0.24, 0.5), Verdict.FALSE),
        ((0.5, 2.1), Verdict.FALSE),
    ],
)
def test_an_order_is_within_a_factor_and_does_not_drift(quotients, verdict):
    found = words.by_order(cases(1, 2), [{"x": value} for value in quotients])
    assert found.verdict == verdict


def test_an_order_does_not_mend_what_is_wrong_otherwise():
    assert words.by_order(cases(1, 2, wrong=[2]), [{"x": 1}, {"x": 1}]).verdict == Verdict.FALSE


def test_which_rates_an_order_tells_apart():
    """Over 16 times as much, the power 1.5 is off by 16^0.5 = 4."""
    assert words.grown("f", [2, 8, 32]) == "f grows 16-fold, and a power of it above 1.5 or below 0.5 would not pass"
    assert words.grown("f", [1, 2]) == "f grows 2-fold, and a power of it above 3 would not pass"


@pytest.mark.parametrize(
    ("wrong", "verdict"), [((), Verdict.HOLDS), ((1, 2), Verdict.PARTLY), ((2,), Verdict.FALSE), ((3,), Verdict.FALSE)]
)
def test_what_holds_from_a_size_on(wrong, verdict):
    found = words.judge_from_size(cases(1, 2, 3, wrong=wrong))
    assert found.verdict == verdict
    assert (verdict == Verdict.PARTLY) == ("there are 3 nodes or more" in found.computed)
