"""Latency by flow, beside the histogram of all messages and the hops of each pair."""

import csv

import numpy as np
import pytest

from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.measure import measure
from hdnhw.model.fabric import model_of
from hdnhw.model.flows import MOST_FLOW_NODES, Flows
from hdnhw.support.errors import SpecError
from tests.specs import fabric_spec


@pytest.mark.parametrize("lengths", [None, "uniform(1, 9)"])
def test_flows_add_up_to_the_histogram(lengths):
    model = model_of(fabric_spec("torus(3, 3)", packet_length=4))
    flows = Flows(9)
    measured = measure(model, LoadSpec(rate=0.2, cycles=4000, lengths=lengths), flows=flows)
    latency = measured.packet_latency
    messages, total, most = flows.counts
    assert messages.sum() == measured.delivered == latency.sum()
    assert total.sum() == latency @ np.arange(len(latency))
    assert most.max() == np.flatnonzero(latency)[-1]
    assert not messages.reshape(9, 9).diagonal().any()
    assert (messages.reshape(9, 9) + np.eye(9, dtype=int) > 0).all()


def test_lone_messages_take_what_their_hops_take():
    model = model_of(fabric_spec("cube(3)"))
    flows = Flows(8)
    measure(model, LoadSpec(rate=0.001, cycles=1_000_000, warmup=0), flows=flows)
    messages, total, _ = flows.counts
    mean = (total / np.maximum(messages, 1)).reshape(8, 8)
    for hops in (1, 2, 3):
        pairs = [(one, other) for one in range(8) for other in range(8) if (one ^ other).bit_count() == hops]
        own = [mean[pair] for pair in pairs]
        assert np.mean(own) == pytest.approx(8 * hops + 22 + 3.5, abs=0.5)


def test_a_file_has_a_row_for_each_flow(run, tmp_path):
    status, _, _ = run(f"simulate 'cube(2)' --pattern complement --cycles 2000 --flows {tmp_path}/flows.csv --json")
    assert status == 0
    with (tmp_path / "flows.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(int(row["source"]), int(row["destination"])) for row in rows] == [(0, 3), (1, 2), (2, 1), (3, 0)]
    assert all(float(row["mean"]) <= float(row["max"]) for row in rows)
    assert all(int(row["messages"]) > 0 for row in rows)


def test_what_cannot_be_is_refused(run, tmp_path):
    for options, said in (
        (f"--flows {tmp_path}/flows.txt", "flows must be a file, one of .parquet, .csv"),
        (f"--seeds 2 --flows {tmp_path}/flows.csv", "--flows must be of one run: with --seeds there are several"),
        (f"--pattern exchange --flows {tmp_path}/flows.csv", "does not go with --flows"),
    ):
        status, out, err = run(f"simulate 'cube(2)' {options}")
        assert (status, out) == (2, "")
        assert said in err
    with pytest.raises(SpecError, match=r"^flows are told apart on at most 2048 nodes, not 2049$"):
        Flows(MOST_FLOW_NODES + 1)
