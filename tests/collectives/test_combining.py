"""Operators, and results beside sums made by hand; what a wrong order of a schedule does to them."""

from dataclasses import replace

import numpy as np
import pytest

from hdnhw.collectives import combining
from hdnhw.collectives.choices import NUMBERS
from hdnhw.collectives.combining import combine, combine_and_gather, combine_registers
from hdnhw.collectives.executor import ScheduleError
from hdnhw.collectives.operations import allreduce_phases, operation_schedule
from hdnhw.collectives.operators import operator_of
from hdnhw.collectives.prefix import allreduce_schedule, scan_schedule
from hdnhw.networks.build import build
from hdnhw.spec import OPERATORS
from hdnhw.support.errors import SpecError

RDN = build("rdn(cube(2), 1)")
TORUS = build("torus(5, 2)")


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("numbers", NUMBERS)
def test_the_identity_changes_nothing(name, numbers):
    if numbers == "float32" and name in ("and", "or", "xor"):
        with pytest.raises(SpecError, match="operator of float32 must be one of sum, min, max, not"):
            operator_of(name, numbers)
        return
    operator = operator_of(name, numbers)
    words = operator.random(np.random.default_rng(1), (50,))
    assert (operator.combine(words, operator.identity) == words).all()
    assert operator.combine(words, operator.identity).dtype == numbers


def test_a_sum_of_integers_is_modulo_their_width():
    operator = operator_of("sum", "uint8")
    assert operator.combine_all(np.array([[200], [100]], np.uint8)).tolist() == [44]


def test_unknown_operators_and_numbers():
    with pytest.raises(SpecError, match="operator must be one of sum, min, max, and, or, xor, not 'mean'"):
        operator_of("mean", "int8")
    with pytest.raises(SpecError, match=r"numbers must be one of .*, not 'int7'"):
        operator_of("sum", "int7")


@pytest.mark.parametrize("network", [RDN, TORUS], ids=["rdn", "torus"])
@pytest.mark.parametrize(
    ("name", "numbers"), [("sum", "int8"), ("min", "uint16"), ("xor", "int64"), ("sum", "float32")]
)
def test_results_are_right(network, name, numbers):
    operator = operator_of(name, numbers)
    for all_port in (False, True):
        schedule = operation_schedule(network, "reducescatter", all_port=all_port)
        assert combine(schedule, operator, words=3, all_port=all_port).wrong == 0
        phases = allreduce_phases(network, all_port=all_port)
        whole = combine_and_gather(phases, operator, all_port=all_port)
        assert (whole.wrong, whole.nodes_agree) == (0, True)
        assert whole.execution.startups == len(phases.steps)
    assert combine(operation_schedule(network, "reduce", root=3), operator).wrong == 0
    for schedule in (allreduce_schedule(network), scan_schedule(network), scan_schedule(network, exclusive=True)):
        assert combine_registers(schedule, operator, words=2).wrong == 0


def test_all_nodes_have_the_same_bits_of_a_float32_sum_where_partners_add_the_same():
    operator = operator_of("sum", "float32")
    assert combine_registers(allreduce_schedule(RDN), operator, words=50).nodes_agree is True
    assert combine_registers(allreduce_schedule(TORUS), operator, words=50).nodes_agree is False


def test_an_update_left_out_is_counted_as_wrong():
    schedule = allreduce_schedule(RDN)
    first = replace(schedule.steps[0], updates=())
    lost = combine_registers(replace(schedule, steps=(first, *schedule.steps[1:])), operator_of("sum", "int32"))
    assert lost.wrong == RDN.num_nodes
    scan = scan_schedule(RDN)
    last = replace(scan.steps[-1], updates=())
    assert combine_registers(replace(scan, steps=(*scan.steps[:-1], last)), operator_of("sum", "float32")).wrong > 0


def test_contributions_that_are_combined_otherwise_are_counted_as_wrong(monkeypatch):
    operator = operator_of("sum", "int32")

    def observed(*_, observe, **__):
        moved = np.array([[step, node, 0] for step, node in enumerate(range(1, 31))])
        observe(0, moved)

    monkeypatch.setattr(combining, "execute", observed)
    assert combine(operation_schedule(RDN, "reduce"), operator, words=2).wrong == 2


def test_a_reduce_scatter_in_another_order_is_refused():
    schedule = operation_schedule(RDN, "reducescatter")
    with pytest.raises(ScheduleError, match="gets a contribution for a result that it has given away"):
        combine(replace(schedule, steps=schedule.steps[::-1]), operator_of("sum", "int32"))
