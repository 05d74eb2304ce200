"""What terminals see of the model: latency, rate, conservation, stalls, drops, and a fabric that must hang."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from hdnhw.machine.timing import SlotTiming
from hdnhw.rules.plan import plan
from hdnhw.spec import QUEUEINGS
from hdnhw.traffic.packets import Terminals, Traffic, terminal_seeds


@cache
def plan_of(text, modes=None):
    return plan(text, modes)


def traffic_of(made, packets):
    """Make traffic of (source, destination node, earliest cycle)."""
    own = [[] for _ in range(made.network.num_nodes)]
    for src, dst, earliest in packets:
        own[src].append((made.address.of_node(dst), earliest))
    return Traffic.from_lists(own)


def uniform(made, count, *, seed=1, spread=0):
    """Make random traffic of `count` packets per node: (traffic, source of each packet, destination of each)."""
    n = made.network.num_nodes
    rng = np.random.default_rng(seed)
    destinations = rng.integers(0, n, (n, count))
    earliest = np.sort(rng.integers(0, spread + 1, (n, count)), axis=1)
    rows = [(src, int(destinations[src, i]), int(earliest[src, i])) for src in range(n) for i in range(count)]
    return traffic_of(made, rows), np.repeat(np.arange(n), count), destinations.ravel()


def check_delivery(made, timing, result, src, dst):
    """Every packet came out once, at its node, in its flow's order, and no sooner than an empty fabric allows."""
    count = len(src)
    assert sorted(result.packet) == list(range(count))
    assert np.array_equal(result.node, dst[result.packet])
    assert (np.diff(result.cycle) >= 0).all()
    flow = (src * made.network.num_nodes + dst)[result.packet]
    by_flow = np.argsort(flow, kind="stable")
    same_flow = np.diff(flow[by_flow]) == 0
    assert same_flow.any()
    assert (np.diff(result.packet[by_flow])[same_flow] > 0).all()
    for node in range(made.network.num_nodes):
        assert (np.diff(result.cycle[result.node == node]) >= timing.packet_length).all()
        assert (np.diff(result.head_cycle[src == node]) >= timing.packet_length).all()
    hops = [len(made.rule.route(int(one), int(other))) for one, other in zip(src, dst, strict=True)]
    for packet, cycle in zip(result.packet, result.cycle, strict=True):
        head = int(result.head_cycle[packet])
        assert cycle - head >= timing.zero_load_latency(hops[packet], head % timing.packet_length)
    assert result.flit_hops == sum(hops) * timing.packet_length
    assert result.cycles == result.cycle[-1] + 1
    assert not result.dropped.any()


@pytest.mark.parametrize("length", [8, 10, 16])
@pytest.mark.parametrize("source", [1, 5])
def test_zero_load_latency_of_packets_that_cut_through(model_on, length, source):
    """From a node of either color to one of each distance, in each phase: L/2 cycles per hop."""
    made = plan_of("rdn(cube(2), 1)")
    model = model_on(made, packet_length=length, switching="cut-through")
    far = {}
    for dst in range(made.network.num_nodes):
        far.setdefault(len(made.rule.route(source, dst)), dst)
    assert max(far) > 4
    ahead = length // 2 * (len(made.rule.route(0, source)) % 2)
    for hops, dst in far.items():
        for cycle in range(3 * length, 4 * length):
            result = model.run(traffic_of(made, [(source, dst, cycle)]), max_cycles=1000)
            assert result.head_cycle.tolist() == [cycle]
            assert (result.node.tolist(), result.packet.tolist()) == ([dst], [0])
            # The phase in which tails are accepted; the first flit is read when the slot ends. A route takes three.
            update = length // 2 + 3 * (length >= 16)
            wait = (update - (cycle + ahead + length - 1)) % length
            read = cycle + length - 1 + wait + length - update
            assert result.cycle.tolist() == [read + hops * length // 2 + 3 + length - 1]


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 7, 8, 9])
@pytest.mark.parametrize(("text", "crc"), [("rdn(cube(2), 1)", False), ("mesh(4)", False), ("mesh(4)", True)])
def test_zero_load_latency(model_on, text, crc, length):
    made = plan_of(text)
    model = model_on(made, packet_length=length, crc=crc)
    far = {}
    for dst in range(made.network.num_nodes):
        far.setdefault(len(made.rule.route(1, dst)), dst)
    assert max(far) > 1
    for hops, dst in far.items():
        for cycle in range(3 * length, 4 * length):
            result = model.run(traffic_of(made, [(1, dst, cycle)]), max_cycles=1000)
            assert result.head_cycle.tolist() == [cycle]
            assert (result.node.tolist(), result.packet.tolist()) == ([dst], [0])
            assert result.cycle[0] - cycle == model.timing.zero_load_latency(hops, cycle % length)
            assert result.flit_hops == hops * length


@pytest.mark.parametrize("gap", [0, 64])
@pytest.mark.parametrize(
    ("length", "options"), [(2, {}), (4, {}), (5, {}), (8, {}), (8, {"switching": "cut-through"}), (9, {})]
)
def test_zero_load_latency_of_gapless_packets(model_on, length, options, gap):
    """The head waits for its phase, whether sources may pause before it or not; latency counts from the offer."""
    made = plan_of("rdn(cube(2), 1)")
    model = model_on(made, packet_length=length, gapless_packets=True, **options)
    timing = model.timing
    for source, dst in ((1, 30), (5, 5), (0, 31)):
        hops = len(made.rule.route(source, dst))
        ahead = model.machine.ahead(source)
        for cycle in range(3 * length, 4 * length):
            result = model.run(
                traffic_of(made, [(source, dst, cycle)]), Terminals(source_gap=gap, seed=3), max_cycles=1000
            )
            head = int(result.head_cycle[0])
            assert (head + ahead) % length == timing.injection_phase
            assert result.node.tolist() == [dst]
            assert result.cycle[0] - head == timing.zero_load_latency(hops, timing.injection_phase)
            if not gap:
                assert result.cycle[0] - cycle == timing.zero_load_latency(hops, (cycle + ahead) % length)


def test_a_source_of_gapless_packets_keeps_its_channel_busy(model_on):
    made = plan_of("mesh(4)")
    model = model_on(made, packet_length=8, gapless_packets=True)
    result = model.run(traffic_of(made, [(0, 3, 0)] * 50), max_cycles=1000)
    assert np.diff(result.head_cycle).tolist() == [8] * 49
    assert np.diff(result.cycle).tolist() == [8] * 49


CROWDED = [
    ("mesh(3, 3)", None, 1, 1),
    ("torus(5, 2)", None, 2, 2),
    ("rdn(cube(2), 1)", None, 4, 1),
    ("rdn(torus(3), 1)", "O", 3, None),
    ("hdn(cube(2), [[0, 1], [0]])", None, 1, None),
    ("hdn(cube(1), [[], [0]])", "ff", 8, 4),
]


@pytest.mark.parametrize("queueing", QUEUEINGS)
@pytest.mark.parametrize(("text", "modes", "length", "buffers"), CROWDED)
@pytest.mark.parametrize(
    "terminals", [Terminals(), Terminals(source_gap=60, sink_stall=140, seed=5)], ids=["", "stalls"]
)
def test_conservation(model_on, text, modes, length, buffers, terminals, queueing):
    made = plan_of(text, modes)
    traffic, src, dst = uniform(made, 8, spread=20)
    model = model_on(made, packet_length=length, buffers=buffers, queueing=queueing)
    check_delivery(made, model.timing, model.run(traffic, terminals, max_cycles=100_000), src, dst)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 8, 9])
@pytest.mark.parametrize(("text", "classes"), [("mesh(4, 4)", 1), ("rdn(cube(2), 1)", 2)])
def test_one_flow_sustains_one_flit_a_cycle(model_on, text, classes, length):
    made = plan_of(text)
    assert made.max_vcs == classes
    buffers = None if classes == 1 else classes * SlotTiming(length).full_rate_buffers
    for dst in (0, 1, 3, made.network.num_nodes - 1):
        traffic = traffic_of(made, [(0, dst, 0)] * 60)
        result = model_on(made, packet_length=length, buffers=buffers).run(traffic, max_cycles=10_000)
        assert np.diff(result.cycle).tolist() == [length] * 59
        assert np.diff(result.head_cycle)[1:].tolist() == [length] * 58  # the first tail waits for its phase


@pytest.mark.parametrize("length", [3, 4, 7, 8, 9])
@pytest.mark.parametrize(("buffers", "slots"), [(None, 1), (2, 2)])
def test_one_class_of_two_has_all_of_the_rate_by_default_and_half_with_one_buffer(model_on, length, buffers, slots):
    made = plan_of("rdn(cube(2), 1)")
    model = model_on(made, packet_length=length, buffers=buffers)
    result = model.run(traffic_of(made, [(0, 31, 0)] * 60), max_cycles=10_000)
    assert np.diff(result.cycle)[10:].tolist() == [slots * length] * 49


@pytest.mark.parametrize("length", [1, 2, 3, 8])
@pytest.mark.parametrize(("text", "lanes"), [("mesh(4, 4)", 1), ("rdn(cube(2), 1)", 1), ("rdn(cube(2), 1)", 2)])
def test_one_flow_has_the_rate_that_the_machine_says(model_on, length, text, lanes):
    """And all of it with the packet buffers that it asks for."""
    made, full = plan(text, lanes=lanes), []
    traffic = traffic_of(made, [(0, made.network.num_nodes - 1, 0)] * 120)
    for buffers in (1, 2, 4, 8, 16, 32):
        model = model_on(made, packet_length=length, buffers=buffers)
        cycle, machine = model.run(traffic, max_cycles=20_000).cycle, model.machine
        rate = 80 * length / (cycle[-1] - cycle[39])
        assert rate == pytest.approx(machine.vc_rate, rel=0.03)
        assert (machine.buffer_note is None) == (rate > 0.52)
        full += [buffers] * int(rate > 0.99)
        if machine.buffer_note:
            said = re.findall(r"sustains (\d+) %.*buffers=(\d+) gives it all", machine.buffer_note)
            enough = int(said[0][1])
            assert int(said[0][0]) == pytest.approx(100 * rate, abs=2)
    assert enough == full[0]


@pytest.mark.parametrize("length", [1, 2, 3, 4, 8])
def test_fewer_buffers_do_not(model_on, length):
    made = plan_of("rdn(cube(2), 1)")
    traffic = traffic_of(made, [(0, 31, 0)] * 60)
    model = model_on(made, packet_length=length, buffers=SlotTiming(length).full_rate_buffers // 2)
    result = model.run(traffic, max_cycles=10_000)
    assert result.packet.tolist() == list(range(60))
    assert np.diff(result.cycle)[30:].mean() > length


@pytest.mark.parametrize("length", [1, 4])
def test_a_sink_that_is_never_ready_stops_everything_and_loses_nothing(model_on, length):
    made = plan_of("rdn(cube(2), 1)")
    traffic, src, dst = uniform(made, 40)
    model = model_on(made, packet_length=length, buffers=2)
    shorter, longer = (model.run(traffic, Terminals(sink_stall=256), max_cycles=limit) for limit in (1000, 3000))
    assert (len(longer.packet), longer.cycles) == (0, 3000)
    accepted = shorter.head_cycle >= 0
    assert 32 * 2 <= accepted.sum() < len(src)
    assert np.array_equal(longer.head_cycle, shorter.head_cycle)
    assert longer.flit_hops == shorter.flit_hops
    released = model.run(traffic, Terminals(sink_hold=1000), max_cycles=100_000)
    assert np.array_equal(released.head_cycle[accepted], shorter.head_cycle[accepted])
    assert released.cycle[0] >= 1000
    check_delivery(made, model.timing, released, src, dst)


def test_impossible_destinations_are_dropped_and_counted(model_on):
    made = plan_of("rdn(torus(3), 1)")
    layout = made.address
    holes = [address for address in range(1 << layout.width) if not layout.is_node(address)]
    rng = np.random.default_rng(2)
    own, expected, dropped = [], [], []
    for node in range(made.network.num_nodes):
        bad = rng.choice(holes, node % 4).tolist()
        good = [layout.of_node(int(dst)) for dst in rng.integers(0, made.network.num_nodes, 6)]
        mixed = [good[0], *rng.permutation([*bad, *good[1:-1]]).tolist(), good[-1]]
        expected += [layout.is_node(address) for address in mixed]
        dropped.append(len(bad))
        own.append([(address, 0) for address in mixed])
    traffic = Traffic.from_lists(own)
    model = model_on(made, packet_length=4)
    result = model.run(traffic, Terminals(sink_stall=100), max_cycles=10_000)
    assert result.dropped.tolist() == dropped
    assert sorted(result.packet) == np.flatnonzero(expected).tolist()
    assert layout.of_node(result.node).tolist() == traffic.destination[result.packet].tolist()
    assert (result.head_cycle >= 0).all()


def columns(result):
    return [getattr(result, name) for name in ("packet", "node", "cycle", "head_cycle", "dropped")]


def test_runs_repeat_and_seeds_differ(model_on):
    made = plan_of("rdn(cube(2), 1)")
    traffic, _, _ = uniform(made, 20)
    model = model_on(made, packet_length=4)
    one, same, other = (
        model.run(traffic, Terminals(source_gap=50, sink_stall=50, seed=seed), max_cycles=10_000) for seed in (3, 3, 4)
    )
    assert all(np.array_equal(a, b) for a, b in zip(columns(one), columns(same), strict=True))
    assert (one.cycles, one.flit_hops) == (same.cycles, same.flit_hops)
    assert not np.array_equal(one.cycle, other.cycle)
    again = model_on(made, packet_length=4).run(traffic, max_cycles=10_000)
    assert np.array_equal(again.cycle, model.run(traffic, Terminals(seed=9), max_cycles=10_000).cycle)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 7, 8, 9])
@pytest.mark.parametrize(("text", "buffers"), [("rdn(cube(2), 1)", None), ("torus(3, 2)", 1), ("mesh(3, 4)", 4)])
def test_terminals_by_the_slot_are_those_by_the_cycle(model_on, text, buffers, length):
    """A sink that is not ready in cycle 0, when nothing can have arrived, changes nothing but how it is simulated."""
    made = plan_of(text)
    holes = [address for address in range(1 << made.address.width) if not made.address.is_node(address)]
    rng = np.random.default_rng(length)
    own = [
        [
            (int(rng.choice(holes)) if holes and rng.random() < 0.2 else made.address.of_node(int(dst)), int(earliest))
            for dst, earliest in zip(
                rng.integers(0, made.network.num_nodes, 12), rng.integers(0, 40 * length, 12), strict=True
            )
        ]
        for _ in range(made.network.num_nodes)
    ]
    traffic, model = Traffic.from_lists(own), model_on(made, packet_length=length, buffers=buffers)
    full = model.run(traffic, max_cycles=100_000)
    assert len(full.packet) + full.dropped.sum() == traffic.num_packets
    for limit in (100_000, *rng.integers(0, full.cycles + 2, 40).tolist(), full.cycles - 1, full.cycles):
        by_slot = model.run(traffic, max_cycles=limit)
        by_cycle = model.run(traffic, Terminals(sink_hold=1), max_cycles=limit)
        assert all(np.array_equal(a, b) for a, b in zip(columns(by_slot), columns(by_cycle), strict=True))
        assert (by_slot.cycles, by_slot.flit_hops) == (by_cycle.cycles, by_cycle.flit_hops)


def random_words(state):
    """Yield the states of one terminal's xorshift generator, from cycle 0."""
    while True:
        yield state
        state ^= state << 13 & 0xFFFFFFFF
        state ^= state >> 17
        state ^= state << 5 & 0xFFFFFFFF


@pytest.mark.parametrize("length", [1, 2, 3, 8])
def test_when_sources_and_sinks_pause(model_on, length):
    """Replay node 2's generator: low byte below the gap, no flit is offered; next byte below the stall, none taken.

    A flit on offer stays until it is taken; a tail is taken in the update phase.
    """
    made, node = plan_of("cube(2)"), 2
    pauses = Terminals(source_gap=150, sink_stall=200, seed=77)
    model = model_on(made, packet_length=length, buffers=16)
    result = model.run(traffic_of(made, [(node, node, 10 * i) for i in range(12)]), pauses, max_cycles=5000)
    words = random_words(int(terminal_seeds(4, 77)[node]))
    heads, tails, accepted, taken, ready_from, held = [], [], 0, 0, [], False
    for cycle in range(result.cycles):
        word = next(words)
        if taken < len(ready_from) and ready_from[taken] <= cycle and word >> 8 & 255 >= 200:
            taken += 1
            if taken % length == 0:
                tails.append(cycle)
        if accepted < 12 * length and 10 * (accepted // length) <= cycle and (held or word & 255 >= 150):
            held = accepted % length == length - 1 and cycle % length != model.timing.update_phase
            accepted += not held
            if held:
                continue
            if accepted % length == 1 % length:
                heads.append(cycle)
            if accepted % length == 0:
                sample = next(c for c in range(cycle + 1, cycle + 9) if c % length == model.timing.sample_phase)
                start = (sample // length + 1) * length + model.timing.channel_cycles + 1
                ready_from += [start + flit for flit in range(length)]
    assert result.head_cycle.tolist() == heads
    assert result.cycle.tolist() == tails
    assert len(tails) == 12


def test_a_source_that_always_pauses_sends_nothing(model_on):
    made = plan_of("cube(2)")
    traffic, _, _ = uniform(made, 3)
    result = model_on(made, packet_length=2).run(traffic, Terminals(source_gap=256), max_cycles=500)
    assert (len(result.packet), result.cycles, result.flit_hops) == (0, 500, 0)
    assert (result.head_cycle == -1).all()


def test_no_packets_no_cycles(model_on):
    made = plan_of("cube(2)")
    result = model_on(made, packet_length=2).run(Traffic.from_lists([[]] * 4), max_cycles=500)
    assert (result.cycles, len(result.packet), result.dropped.tolist()) == (0, 0, [0, 0, 0, 0])


@pytest.mark.parametrize(("queueing", "each", "limit"), [("fifo", 30, 4000), ("voq", 300, 60_000)])
@pytest.mark.parametrize("length", [1, 4])
def test_a_broken_class_rule_hangs_and_the_proved_one_does_not(model_on, length, queueing, each, limit):
    """Negative control: one class on every channel. The proof refuses it (tests/rules/test_plan.py); it must hang."""
    made = plan_of("rdn(cube(3), 1)")
    rule = replace(made.rule, vc=(made.rule.circuit.constant(0),), num_vcs=(1, 1, 1, 1))
    broken = replace(made, rule=rule, num_vcs=rule.num_vcs)
    traffic, src, dst = uniform(made, each)
    stalls = Terminals(sink_stall=128)
    hung, later = (
        model_on(broken, packet_length=length, buffers=2, queueing=queueing).run(traffic, stalls, max_cycles=cycles)
        for cycles in (limit, 2 * limit)
    )
    assert len(hung.packet) < len(src)
    assert np.array_equal(hung.packet, later.packet)
    assert (hung.cycles, later.cycles) == (limit, 2 * limit)
    model = model_on(made, packet_length=length, buffers=2, queueing=queueing)
    proved = model.run(traffic, stalls, max_cycles=limit)
    assert sorted(proved.packet) == list(range(len(src)))
    assert np.array_equal(proved.node, dst[proved.packet])
    assert proved.cycles < limit // 4


def test_traffic_from_lists():
    traffic = Traffic.from_lists([[(5, 0), (6, 3)], [], [(7, 1)]])
    assert traffic.first.tolist() == [0, 2, 2, 3]
    assert (traffic.destination.tolist(), traffic.earliest.tolist()) == ([5, 6, 7], [0, 3, 1])
    assert traffic.num_packets == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"source_gap": -1}, "source_gap must be 0 to 256, not -1"),
        ({"sink_stall": 257}, "sink_stall must be 0 to 256, not 257"),
        ({"sink_hold": -1}, "sink_hold must be at least 0, not -1"),
    ],
)
def test_terminals_out_of_range(options, message):
    with pytest.raises(ValueError, match="must be") as caught:
        Terminals(**options)
    assert str(caught.value) == message


def test_no_generator_starts_at_0():
    for seed in (0, 1, 0x9E3779B9, 12345):
        states = terminal_seeds(5000, seed)
        assert (states > 0).all()
    assert len(set(terminal_seeds(100, 1).tolist())) == 100


def test_unknown_queueing(model_on):
    with pytest.raises(ValueError, match="queueing must be one of fifo, voq, not 'lifo'"):
        model_on(plan_of("mesh(2)"), packet_length=1, queueing="lifo")


@pytest.mark.parametrize("length", [1, 8])
def test_with_virtual_output_queues_more_comes_out_of_a_crowd_in_less_time(model_on, length):
    made = plan_of("rdn(cube(3), 1)")
    traffic, src, dst = uniform(made, 30)
    cycles = {}
    for queueing in QUEUEINGS:
        model = model_on(made, packet_length=length, buffers=8, queueing=queueing)
        result = model.run(traffic, max_cycles=100_000)
        check_delivery(made, model.timing, result, src, dst)
        cycles[queueing] = result.cycles
    assert cycles["voq"] <= cycles["fifo"] * (0.94 if length == 8 else 1)


def test_packets_between_two_nodes_keep_their_order_in_virtual_output_queues(model_on):
    made = plan_of("rdn(cube(2), 1)")
    traffic, src, dst = uniform(made, 400)
    model = model_on(made, packet_length=1, buffers=16, queueing="voq")
    came = model.run(traffic, max_cycles=100_000).packet
    assert len(came) == len(src)
    place = np.argsort(came)
    for pair in set(zip(src.tolist(), dst.tolist(), strict=True)):
        own = place[(src == pair[0]) & (dst == pair[1])]
        assert (np.diff(own) > 0).all()
