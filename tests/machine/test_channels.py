"""Channels of any length: how many registers each gets, and when packets come over it."""

import numpy as np
import pytest

from hdnhw.machine.machine import make_machine
from hdnhw.model.engines import COMPILED, REFERENCE
from hdnhw.model.fabric import FabricModel
from hdnhw.topology.metrics import neighbor_table
from hdnhw.traffic.packets import Traffic
from tests.conftest import each
from tests.specs import fabric_spec

NETWORKS = (
    "rdn(cube(1), 1)",
    "hdn(cube(1), [[], [0]])",
    "torus(4, 3)",
    "torus(6)",
    "mesh(2, 3)",
    "petersen()",
    "ccc(3)",
)


def machine_of(text, **options):
    return make_machine(fabric_spec(text, **options))


def latencies(network, seed):
    """Draw a latency for each type of channels, and say it."""
    rng = np.random.default_rng(seed)
    latency = rng.choice([1, 1, 2, 3, 5, 9, 30], len(network.ports))
    for number, port in enumerate(network.ports):
        latency[port.opposite] = latency[number]
    return latency, ",".join(f"{port.name}={own}" for port, own in zip(network.ports, latency, strict=True))


@each("text", NETWORKS)
@each("length", [1, 2, 3, 4, 8, 9, 16])
@each("seed", range(3))
def test_both_ends_of_every_channel_agree_on_its_phase(text, length, seed):
    latency, said = latencies(machine_of(text).network, seed)
    made = machine_of(text, packet_length=length, channel_latency=said)
    channels, table = made.channels, neighbor_table(made.network)
    ahead = np.array([made.ahead(node) for node in range(len(table))])
    for node, port in np.argwhere(table >= 0):
        apart = channels.stages[port] + ahead[table[node, port]] - ahead[node]
        assert apart % length == 0
        assert 1 + channels.registers + channels.stages[port] >= latency[port]


@each("text", NETWORKS[:2])
@each("length", [2, 4, 8, 16])
@each("cycles", [*range(1, 21), 64])
@each("buffers", [None, 2])
def test_a_channel_of_a_dual_net_is_rounded_up_to_half_a_slot(text, length, cycles, buffers):
    """Cross-edges alone: no other channel pays for them, but for the one register that costs no hop any time."""
    made = machine_of(text, packet_length=length, channel_latency=f"cross1={cycles}", buffers=buffers)
    channels = made.channels
    free = length > 8 or (length == 8 and not made.is_block_ram)
    least = min(-(-max(0, cycles - 1 - taken) // (length // 2)) * (length // 2) for taken in range(1 + free))
    assert channels.stages == (0, least, 0)[: len(channels.stages)]
    assert channels.registers <= free


def test_round_an_odd_ring_channels_take_whole_slots():
    even, odd = (machine_of(text, channel_latency="4") for text in ("torus(4, 4)", "torus(5, 4)"))
    assert (even.channels.stages, odd.channels.stages) == ((4,) * 4, (8, 8, 4, 4))
    assert even.channels.odd.sum() == 8
    assert machine_of("torus(5)", channel_latency="4", packet_length=9).channels.stages == (9, 9)


def test_channels_that_wait_for_each_other_may_be_half_a_slot_apart():
    """On a cycle of three kinds of channels two may have half a slot each where neither may have it alone."""
    ring = "graph([[0, 1], [1, 2], [2, 0]])"
    kinds = [port.name for port in machine_of(ring).network.ports]
    assert len(kinds) == 3
    alone = machine_of(ring, channel_latency=f"{kinds[0]}=4")
    both = machine_of(ring, channel_latency=f"{kinds[0]}=4,{kinds[1]}=4")
    assert (max(alone.channels.stages), max(both.channels.stages)) == (8, 4)


def test_what_is_said_of_channels():
    texts = ["dim*=3,cross1=9", {"dim*": 3, "cross1": 9}, "9,dim0=3,dim1=3", " dim0 = 3, dim1=3, cross1=9"]
    made = [machine_of("rdn(cube(2), 1)", channel_latency=text).channels.latency for text in texts]
    assert set(made) == {(3, 3, 9)}
    assert machine_of("rdn(cube(2), 1)", channel_latency=2).channels.latency == (2, 2, 2)
    assert machine_of("torus(4)", channel_latency="dim0_minus=7").channels.latency == (7, 7)
    assert machine_of("torus(4)", channel_latency="cross*=40,*=2").channels.latency == (2, 2)
    with pytest.raises(TypeError, match=r"^channel_latency must be an integer, a string or a mapping, not 2\.5$"):
        machine_of("cube(2)", channel_latency=2.5)


@each("engine", [REFERENCE, COMPILED])
@each(
    "options",
    [
        {},
        {"packet_length": 4},
        {"packet_length": 1},
        {"queueing": "voq"},
        {"gapless_packets": True},
        {"channel_width": "dim1=16,cross1=7"},
    ],
)
def test_a_packet_takes_the_sum_of_its_channels(engine, options):
    text, said = "rdn(cube(2), 1)", "dim0=3,dim1=11,cross1=30"
    made, plain = (machine_of(text, channel_latency=own, **options) for own in (said, "1"))
    network, length = made.network, made.timing.packet_length
    for source, target in ((0, 9), (3, 31), (17, 2)):
        packets = [[] for _ in range(network.num_nodes)]
        packets[source] = [(made.address.of_node(target), 20 * length)]
        run = FabricModel(made, engine=engine).run(Traffic.from_lists(packets), max_cycles=10_000)
        ports = [port for _, port, _ in made.plan.rule.route(source, target)]
        hops = sum(made.hop_cycles(port) for port in ports)
        phase = (run.head_cycle[0] + made.ahead(source)) % length
        assert run.cycle[0] - run.head_cycle[0] == made.timing.zero_load_latency(0, phase) + hops
        assert hops > len(ports) * plain.timing.hop_cycles


def test_a_long_channel_has_the_buffers_for_its_rate():
    """A virtual channel alone: its packets come as often as its buffers allow, and by default one after the other."""
    for cycles, length in ((1, 8), (5, 8), (20, 8), (40, 4), (6, 1)):
        made = machine_of("mesh(2)", packet_length=length, channel_latency=cycles)
        tails = stream(made)
        assert set(np.diff(tails[40:])) == {length}
        assert made.vc_rate == 1
        few = machine_of("mesh(2)", packet_length=length, channel_latency=cycles, buffers=2)
        apart = np.diff(stream(few)[41::2]).mean() / 2
        assert apart == pytest.approx(length / few.vc_rate)


@each("cycles", [1, 5, 20, 1024])
@each("length", [1, 8, 256])
def test_the_buffers_that_are_advised_give_the_full_rate(cycles, length):
    asked = {"packet_length": length, "channel_latency": f"dim1*={cycles}"}
    few = machine_of("torus(4, 4)", buffers=1, **asked)
    if few.full_rate_buffers > 256:
        assert "buffers=" not in few.buffer_note
        return
    assert machine_of("torus(4, 4)", buffers=few.full_rate_buffers, **asked).vc_rate == 1
    assert machine_of("torus(4, 4)", buffers=few.full_rate_buffers // 2, **asked).vc_rate < 1
    assert few.buffer_note.endswith(f"buffers={few.full_rate_buffers} gives it all")


@each("text", NETWORKS)
@each("length", [1, 2, 3, 4, 8, 9, 16])
@each("seed", range(3))
def test_packets_and_credits_of_narrow_channels_come_in_their_phases(text, length, seed):
    """What they take at least is counted by hand: the last piece of the tail, and the registers that it passes."""
    network, rng = machine_of(text).network, np.random.default_rng([seed, length])
    latency, said = latencies(network, seed)
    width = rng.choice([32, 31, 16, 8, 5, 1], len(network.ports))
    width[:] = [width[min(number, port.opposite)] for number, port in enumerate(network.ports)]
    narrow = ",".join(f"{port.name}={own}" for port, own in zip(network.ports, width, strict=True))
    made = machine_of(text, packet_length=length, channel_latency=said, channel_width=narrow)
    channels, table = made.channels, neighbor_table(made.network)
    ahead = np.array([made.ahead(node) for node in range(len(table))])
    for node, port in np.argwhere(table >= 0):
        apart = ahead[table[node, port]] - ahead[node]
        assert (channels.stages[port] + apart) % length == 0
        assert (channels.credit_stages[port] - apart) % length == 0
        pieces = next(cycles for cycles in range(1, 33) if cycles * width[port] >= 32)
        assert channels.intervals[port] == pieces
        assert made.channel_wires(port) == next(wires for wires in range(1, 33) if pieces * wires >= 32)
        last = pieces * length - (length - 1) - 1 + 4 if pieces > 1 else -channels.registers
        assert 0 <= channels.stages[port] - (last + latency[port] - 1) < 2 * length
        assert 0 <= channels.credit_stages[port] + channels.registers - (latency[port] - 1) < 2 * length


def test_channels_as_wide_as_a_flit_are_the_usual_ones():
    usual, wide = (machine_of("rdn(cube(1), 1)", channel_width=width, crc=True) for width in (None, 40))
    assert vars(usual.channels) | {"odd": 0} == vars(wide.channels) | {"odd": 0}
    assert not wide.is_narrow
    assert machine_of("rdn(cube(1), 1)", channel_width=32, crc=True).is_narrow


def test_a_narrow_channel_carries_a_packet_in_as_many_slots_as_a_flit_has_pieces():
    """One virtual channel alone has by default the buffers for it, and with fewer what is said of them."""
    for width, length, cycles in ((16, 8, 1), (11, 4, 1), (4, 8, 40), (16, 1, 9), (1, 3, 1)):
        asked = {"packet_length": length, "channel_latency": cycles, "channel_width": width}
        made, least = machine_of("mesh(2)", **asked), machine_of("mesh(2)", buffers=1, **asked)
        interval = -(-32 // width)
        assert set(np.diff(stream(made)[40:])) == {interval * length}
        assert made.vc_rate == 1
        if (buffers := made.vc_buffers(0)) > 4:  # fewer than those of block RAM are not asked for
            assert machine_of("mesh(2)", buffers=buffers // 2, **asked).vc_rate < 1
        assert np.diff(stream(least)[40:]) == pytest.approx(interval * length / least.vc_rate)


@each("said", ["1", "2", "dim0=3,cross1=11"])
@each("buffers", [None, 2])
def test_signals_of_a_barrier_are_as_late_as_the_longest_wires(said, buffers):
    """They are in no slot: half slots would only make them later."""
    made = machine_of("rdn(cube(1), 1)", channel_latency=said, buffers=buffers)
    assert 1 + made.signal_registers == max(made.channels.latency)


def stream(machine):
    """Return the cycles in which packets of one source come out at its neighbor."""
    target = machine.address.of_node(1)
    packets = [[(target, 0)] * 120, []]
    return FabricModel(machine).run(Traffic.from_lists(packets), max_cycles=1 << 20).cycle
