"""Several seeds: confidence intervals, common random numbers, and differences in pairs."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
import scipy

from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.measure import measure
from hdnhw.measurement.results import ResultsFile
from hdnhw.measurement.seeds import differences, measure_seeds, seeds_row
from hdnhw.measurement.statistics import half_width
from hdnhw.measurement.sweep import Point, Sweep, measure_point
from hdnhw.model.fabric import model_of as model_of_spec
from hdnhw.support.errors import SpecError
from tests.measurement.test_sweep import Inline
from tests.specs import fabric_spec

LOAD = LoadSpec(rate=0.2, cycles=600)


def model_of(text, length=4):
    return model_of_spec(fabric_spec(text, packet_length=length))


def test_networks_of_as_many_nodes_get_the_same_messages():
    """Whatever their warm-up, and with longer packets where flits are narrower."""
    loads = [(text, 4, LOAD) for text in ("torus(4, 4)", "cube(4)")]
    loads += [("cube(4)", 7, replace(LOAD, rate=0.35)), ("torus(4, 4)", 4, replace(LOAD, warmup=10))]
    runs = [measure(model_of(text, length), load, common=True) for text, length, load in loads]
    assert len({run.messages for run in runs}) == len({run.created for run in runs}) == 1
    assert len({run.warmup for run in runs}) > 1
    others = [replace(LOAD, seed=2), replace(LOAD, rate=0.21), replace(LOAD, pattern="complement")]
    assert len({runs[0].messages, *(measure(model_of("cube(4)"), load, common=True).messages for load in others)}) == 4
    assert measure(model_of("cube(2)"), LOAD).messages == ""


def test_half_widths_are_those_of_scipy():
    drawn = np.random.default_rng(1).normal(5, 2, 1000)
    for count in (*range(2, 42), 1000):
        values = drawn[:count]
        low, high = scipy.stats.t.interval(0.95, count - 1, values.mean(), scipy.stats.sem(values))
        assert half_width(values) == pytest.approx((high - low) / 2, rel=1e-9), count
    assert half_width(drawn[:1]) == np.inf


def test_a_row_of_several_seeds_is_made_of_its_runs():
    runs = measure_seeds(model_of("torus(4)"), LOAD, 3)
    each = [measure(model_of("torus(4)"), replace(LOAD, seed=seed), common=True) for seed in (1, 2, 3)]
    assert [run.messages for run in runs] == [run.messages for run in each]
    row = seeds_row(runs)
    means = [run.packet_latency @ np.arange(len(run.packet_latency)) / run.packet_latency.sum() for run in each]
    assert row["latency_of_seed"] == pytest.approx(means, abs=5e-5)
    assert row["packet_latency"]["mean"] == pytest.approx(np.mean(means), abs=1e-4)
    width = scipy.stats.t.ppf(0.975, 2) * np.std(means, ddof=1) / sqrt(3)
    assert row["confidence_95"] == pytest.approx(width, abs=1e-3)
    assert row["delivered"] == sum(run.delivered for run in each)
    assert row["packet_latency"]["max"] == max(len(run.packet_latency) - 1 for run in each)
    assert row["accepted_rate"] == pytest.approx(np.mean([run.accepted_rate for run in each]), abs=1e-6)


def test_intervals_of_seeds_hold_the_mean_as_often_as_they_say():
    """Of 60 intervals of 4 seeds each, almost all hold what a long run finds; one in twenty need not."""
    model, load = model_of("complete(4)", 2), replace(LOAD, cycles=200, warmup=100, rate=0.3)
    runs = measure_seeds(model, load, 240)
    means = np.array(list(seeds_row(runs)["latency_of_seed"])).reshape(60, 4)
    held = [abs(own.mean() - means.mean()) <= half_width(own) for own in means]
    assert 51 <= sum(held) <= 60


def test_differences_are_in_pairs():
    fabrics = [fabric_spec(text, packet_length=4) for text in ("torus(4, 4)", "cube(4)", "cube(3)")]
    sweep = Sweep(fabrics, LOAD, rates=[0.1, 0.3], seeds=3, results=ResultsFile(None))
    curves = sweep.run(Inline)
    rows = differences(curves)
    assert [(row["spec"], row["than"], row["rate"]) for row in rows] == [
        (spec, "torus(4, 4)", rate) for spec in ("cube(4)", "cube(3)") for rate in (0.1, 0.3)
    ]
    assert [row["same_messages"] for row in rows] == [True, True, False, False]
    one, other = (curve["points"][1]["latency_of_seed"] for curve in curves[:2])
    test = scipy.stats.ttest_rel(other, one)
    interval = test.confidence_interval(0.95)
    assert rows[1]["packet_latency"] == pytest.approx(np.mean(other) - np.mean(one), abs=1e-4)
    assert rows[1]["confidence_95"] == pytest.approx((interval.high - interval.low) / 2, abs=1e-4)
    assert rows[1]["differs"] == (test.pvalue < 0.05)


def test_a_precision_is_of_one_seed():
    with pytest.raises(
        SpecError, match=r"^precision is for one seed: with several, more seeds make the interval narrower$"
    ):
        measure_seeds(model_of("torus(4)"), replace(LOAD, precision=0.1), 2)


def test_points_that_are_not_steady_are_not_compared():
    fabrics = [fabric_spec(text, packet_length=4) for text in ("torus(8)", "cube(3)")]
    curves = Sweep(fabrics, LOAD, rates=[0.1, 0.9], seeds=2, results=ResultsFile(None)).run(Inline)
    assert not curves[0]["points"][1]["steady"]
    assert [row["rate"] for row in differences(curves)] == [0.1]


def test_a_point_of_several_seeds_is_another_point():
    fabric = fabric_spec("cube(2)", packet_length=4)
    points = [Point(fabric=fabric, load=LOAD, seeds=seeds) for seeds in (1, 2)]
    assert points[0].key != points[1].key
    one, two = map(measure_point, points)
    assert {**one, **two}.keys() - one.keys() == {
        "seeds",
        "latency_of_seed",
        "accepted_rate_of_seed",
        "messages_of_seed",
    }


@pytest.mark.parametrize("seeds", [0, 1001])
def test_seeds_that_cannot_be(seeds):
    with pytest.raises(SpecError, match=f"^seeds must be 1 to 1000, not {seeds}$"):
        measure_seeds(model_of("cube(2)"), LOAD, seeds)
