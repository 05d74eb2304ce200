"""Steps among the packets of a load."""

import numpy as np
import pytest

from hdnhw.collectives.baselines import baseline_of
from hdnhw.collectives.exchange import exchange_schedule
from hdnhw.collectives.executor import execute
from hdnhw.collectives.spread import allgather_schedule, broadcast_schedule
from hdnhw.measurement.background import BusyFabric
from hdnhw.measurement.collective import Among, measure_baseline, measure_steps
from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.loaded import LoadedFabric
from hdnhw.measurement.replay import replay
from hdnhw.model.fabric import model_of
from hdnhw.networks.build import build
from hdnhw.spec.load import LEAST_RATE
from hdnhw.support.errors import SpecError
from hdnhw.traffic.trace import make_trace
from tests.specs import fabric_spec

MACHINES = [
    ("torus(4, 4)", {"buffers": 4}),
    ("hdn(cube(2), [[0]])", {"channel_latency": "2"}),
    ("mesh(3, 3)", {"packet_length": 1, "buffers": 2}),
    ("cube(3)", {"buffers": 2, "switching": "cut-through"}),
]


@pytest.mark.parametrize("words", [1, 17])
@pytest.mark.parametrize(("text", "machine"), MACHINES)
def test_among_next_to_nothing_an_operation_takes_what_it_does_alone(text, machine, words):
    fabric, network = fabric_spec(text, **machine), build(text)
    among = Among(LoadSpec(rate=LEAST_RATE), repeats=2)
    for schedule in (broadcast_schedule(network), allgather_schedule(network), exchange_schedule(network, "paper")):
        row = measure_steps(fabric, execute(schedule), words=words, among=among)
        assert row["busy_cycles"] == {"mean": row["cycles"], "runs": 2 * [row["cycles"]]}
        assert (row["slowdown"], row["background"]["during"]) == (1, None)
    row = measure_baseline(fabric, baseline_of("ring", network), words=words, among=among)
    assert row["busy_cycles"]["runs"] == 2 * [row["cycles"]]


@pytest.mark.parametrize(("text", "machine"), MACHINES)
def test_a_replay_of_all_messages_ends_each_step_in_the_same_cycle(text, machine, monkeypatch):
    """The messages of the load and of the steps, written down, are those of a trace whose cycles are all known."""
    model, network = model_of(fabric_spec(text, **machine)), build(text)
    length, load, of_steps, stops = model.timing.packet_length, LoadSpec(rate=0.2, seed=7), [], []
    among = LoadedFabric.among

    def noted_among(self, others, stop):
        ends = [np.flatnonzero(model.address == address)[0] for address in others.destination]
        stops.append(stop)
        of_steps.append(np.array([others.cycle, others.node, ends]).reshape(3, -1))
        return among(self, others, stop)

    monkeypatch.setattr(LoadedFabric, "among", noted_among)
    busy = BusyFabric(model, load)
    random, ends, number = np.random.default_rng(1), [], network.num_nodes
    for _ in range(12):
        source, destination = random.integers(number, size=(2, 3 * number))
        before = len(of_steps)
        cycles = busy.step(source, destination, random.integers(1, 4 * length, size=len(source)))
        ends.append(int(of_steps[before][0, 0]) + cycles)
    begin, stop = busy.begin, stops[-1]
    alone, during = busy.latencies()

    steps, messages = np.concatenate(of_steps, axis=1), load.on(network, length).window(stops[-1])
    columns = np.concatenate([steps, [messages.cycle, messages.source, messages.destination]], axis=1)
    order = np.argsort(columns[0], kind="stable")
    cycle, source, destination = columns[:, order]
    flits = np.full(len(cycle), length)
    trace = {"cycle": cycle, "source": source, "destination": destination, "flits": flits}
    run = replay(model, make_trace("text", trace, nodes=number, place=str))
    of_step = order < steps.shape[1]
    arrived = [run.tail[of_step & (cycle == first)].max() + 1 for first in np.unique(steps[0])]
    assert arrived == ends
    latency = run.tail - cycle
    meanwhile = ~of_step & (cycle >= begin) & (cycle < stop)
    assert meanwhile.sum() > 100
    assert during == round(float(latency[meanwhile].mean()), 2)
    assert alone < during


def test_the_load_goes_on_from_step_to_step():
    """What waits at the sources is there when the next step begins: steps of no message wait for none."""
    model = model_of(fabric_spec("cube(3)"))
    busy = BusyFabric(model, LoadSpec(rate=0.3))
    nothing = np.empty(0, np.int64)
    assert busy.step(nothing, nothing, nothing) == 0
    one, other = (busy.step(np.array([0]), np.array([7]), np.array([1])) for _ in range(2))
    assert min(one, other) >= model.timing.zero_load_latency(3)


def test_another_seed_is_another_run_and_the_same_seed_the_same():
    fabric, counted = fabric_spec("torus(4, 4)", buffers=4), execute(allgather_schedule(build("torus(4, 4)")))
    first, again, other = (
        measure_steps(fabric, counted, words=8, among=Among(LoadSpec(rate=0.3, seed=seed))) for seed in (1, 1, 2)
    )
    assert first == again
    assert first["busy_cycles"] != other["busy_cycles"]
    assert first["slowdown"] > 1.1


def test_a_load_without_a_steady_state_is_refused():
    with pytest.raises(SpecError, match=r"^background must be less than torus\(4, 4\) carries, not 1 flits per node"):
        BusyFabric(model_of(fabric_spec("torus(4, 4)")), LoadSpec(rate=1))


@pytest.mark.parametrize("repeats", [0, 10_001])
def test_repeats_are_limited(repeats):
    with pytest.raises(SpecError, match=rf"^repeats must be 1 to 10000, not {repeats}$"):
        Among(LoadSpec(), repeats)
