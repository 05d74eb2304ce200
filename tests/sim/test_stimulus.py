"""Cases: the packets of a load as its options say."""

from dataclasses import replace

import numpy as np
import pytest

from hdnhw.machine.machine import Machine
from hdnhw.measurement.load import LoadSpec
from hdnhw.model.fabric import FabricModel
from hdnhw.rules.plan import RoutingPlan, plan
from hdnhw.sim import stimulus
from hdnhw.sim.stimulus import Case, load_case, make_case
from hdnhw.spec import FabricSpec
from hdnhw.support.errors import SpecError
from hdnhw.traffic.packets import Terminals

LOAD = LoadSpec(pattern="complement", rate=0.2, cycles=20_000)


@pytest.fixture(scope="module")
def made() -> RoutingPlan:
    return plan("rdn(cube(1), 1)")


def case_of(made: RoutingPlan, load: LoadSpec, length: int = 4, **pauses: int) -> Case:
    spec = FabricSpec(network=made.network.spec, packet_length=length, flit_width=16, buffers=2)
    return load_case(FabricModel(Machine(spec, made)), load, Terminals(**pauses))


def test_packets_are_those_of_the_load(made):
    case = case_of(made, LOAD)
    traffic = case.traffic
    assert traffic.num_packets * 4 / (8 * 20_000) == pytest.approx(0.2, rel=0.05)
    assert np.diff(traffic.first).tolist() == pytest.approx([1000] * 8, rel=0.15)
    for node in range(8):
        own = slice(traffic.first[node], traffic.first[node + 1])
        assert (case.destination[own] == 7 - node).all()
        assert (np.diff(traffic.earliest[own]) > 0).all()
    assert 0 <= traffic.earliest.min() < 100
    assert 19_900 < traffic.earliest.max() < 20_000
    assert len(case.expected.packet) == traffic.num_packets
    assert case.expected.cycles < case.limit


def test_a_seed_makes_the_same_packets_and_another_one_others(made):
    loads = [LOAD, LOAD, replace(LOAD, seed=2)]
    one, same, other = (case_of(made, load).traffic.earliest.tolist() for load in loads)
    assert one == same
    assert one != other


def test_messages_become_packets_of_one_cycle(made):
    case = case_of(made, replace(LOAD, lengths="12"))
    assert case.traffic.num_packets % 3 == 0
    thirds = case.traffic.earliest.reshape(-1, 3)
    assert (thirds == thirds[:, :1]).all()
    assert case.traffic.num_packets * 4 / (8 * 20_000) == pytest.approx(0.2, rel=0.1)


def test_the_model_waits_for_packets_created_late_and_for_terminals_that_pause(made):
    late = case_of(made, replace(LOAD, rate=0.0005, cycles=200_000), 1, source_gap=192, sink_stall=192)
    assert 0 < late.traffic.num_packets < 1000 < 100_000 < late.traffic.earliest.max()
    assert len(late.expected.packet) == late.traffic.num_packets


def test_a_silent_node_sends_nothing(made):
    traffic = case_of(made, replace(LOAD, pattern="shuffle")).traffic
    sent = np.diff(traffic.first)
    assert sent[[0, 7]].tolist() == [0, 0]
    assert (sent[1:7] > 0).all()


def test_a_load_without_packets_or_with_too_many_is_refused(made, monkeypatch):
    with pytest.raises(SpecError, match="load must create a message in its cycles; at rate 1e-06 it has none in 20"):
        case_of(made, replace(LOAD, rate=1e-6, cycles=20))
    monkeypatch.setattr(stimulus, "CAPACITY", 1000)
    with pytest.raises(SpecError, match=r"a case must have at most 1000 packets, not \d+"):
        case_of(made, LOAD)


def test_an_exchange_has_a_timetable_if_no_channel_is_narrow(made):
    spec = FabricSpec(network=made.network.spec, packet_length=4)
    wide, narrow = (
        make_case("exchange", FabricModel(Machine(each, made)))
        for each in (spec, replace(spec, channel_width="cross1=16"))
    )
    assert len(wide.expected.packet) == len(narrow.expected.packet) == 8 * 7
    assert wide.traffic.earliest.max() > 0 == narrow.traffic.earliest.max()
