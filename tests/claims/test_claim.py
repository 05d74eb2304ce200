"""Verdicts from cases."""

import pytest

from hdnhw.claims.claim import Case, Verdict, judge


def case(nodes, holds, *, corrected=False, condition=None):
    return Case(
        network=f"cube({nodes})",
        nodes=nodes,
        published="p",
        computed="c",
        holds=holds,
        corrected=corrected,
        condition=condition,
    )


def test_a_claim_that_holds():
    found = judge([case(3, True), case(1, True)])
    assert (found.verdict, found.computed) == (Verdict.HOLDS, "holds on all 2 networks")
    assert found.counterexample is None


def test_the_smallest_counterexample():
    found = judge([case(9, False), case(4, False), case(1, True)], of="pairs")
    assert (found.verdict, found.computed) == (Verdict.FALSE, "holds on 1 of 3 pairs")
    assert found.counterexample == "cube(4): p published, c computed"


@pytest.mark.parametrize(("last", "expected"), [(True, "true of all"), (False, None)])
def test_a_correction_must_hold_in_every_case(last, expected):
    cases = [case(4, False, corrected=True), case(1, True, corrected=last)]
    assert judge(cases, corrected="true of all").corrected == expected


@pytest.mark.parametrize(("met", "expected"), [(False, Verdict.PARTLY), (True, Verdict.FALSE)])
def test_a_condition_must_part_the_cases(met, expected):
    cases = [case(4, False, condition=met), case(1, True, condition=True)]
    assert judge(cases, condition="it is small").verdict == expected


@pytest.mark.parametrize(("last", "expected"), [(True, Verdict.MISPRINT), (False, Verdict.FALSE)])
def test_a_misprint_is_right_elsewhere_in_every_case(last, expected):
    cases = [case(4, False, corrected=True), case(1, True, corrected=last)]
    found = judge(cases, corrected="true of all", elsewhere="section 2")
    assert (found.verdict, found.elsewhere) == (expected, "section 2" if last else None)


def test_the_table_is_handed_on():
    table = [{"row": 1}]
    assert judge([case(1, True)], table=table).table == judge([case(1, False)], table=table).table == table
