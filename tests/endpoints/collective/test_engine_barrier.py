"""Barriers of a whole network: nobody is released before all have entered, and then all are at once."""

import pytest
from amaranth.hdl import Cat, ClockDomain, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hdnhw.collectives.barrier import barrier_cycles, barrier_rounds
from hdnhw.endpoints.collective.engine_barrier import Barrier, signal_pin
from hdnhw.networks.build import build

PATH = "mesh(4)"
SMALL = ["hdn(cube(1), [[]])", "hsn(2, cube(1))", PATH, "star(3)"]
NETWORKS = [*SMALL, "rdn(cube(2), 1)", "torus(4, 4)"]


class Barriers(wiring.Component):
    """A part of a barrier at each node; `stuck` is (node, port) of an input that is 1 whatever comes."""

    def __init__(self, text, *, registers=0, rounds=None, stuck=None):
        self.network, self.registers, self.stuck = build(text), registers, stuck
        self.rounds = rounds or barrier_rounds(self.network)
        super().__init__({"enter": In(self.network.num_nodes), "released": Out(self.network.num_nodes)})

    def elaborate(self, _):
        m, network = Module(), self.network
        ports = [port.name for port in network.ports]
        parts = [Barrier(ports, self.rounds, self.registers) for _ in range(network.num_nodes)]
        for node, part in enumerate(parts):
            m.submodules[f"node_{node}"] = part
            near = network.neighbors(node)
            m.d.comb += part.enter.eq(self.enter[node])
            for port in ports:
                comes = 1 if port not in near or (node, port) == self.stuck else parts[near[port]].signal
                m.d.comb += getattr(part, signal_pin(port)).eq(comes)
        m.d.comb += self.released.eq(Cat(part.released for part in parts))
        return m


class Host:
    """Enters barriers, each after so many cycles, and keeps the cycles in which it entered and was released."""

    def __init__(self, pauses):
        self.pauses, self.entered, self.left = iter(pauses), [], []
        self.wait = next(self.pauses)

    @property
    def has_ended(self):
        return self.wait is None and len(self.left) == len(self.entered)

    def enters(self, cycle):
        if self.wait is None or len(self.left) < len(self.entered):
            return False
        self.wait -= 1
        if self.wait >= 0:
            return False
        self.entered.append(cycle)
        self.wait = next(self.pauses, None)
        return True


def run(simulate, dut, pauses, resets=()):
    """Return the hosts of barriers that each node enters after pauses of its own.

    All begin anew after each of `resets`, in cycles; those that are returned have not been disturbed.
    """
    domain, last = ClockDomain("sync"), []

    async def bench(ctx):
        for cycles in (*resets, None):
            hosts, cycle = [Host(of_node) for of_node in pauses], 0
            while cycle != cycles and not all(host.has_ended for host in hosts):
                ctx.set(dut.enter, sum(host.enters(cycle) << node for node, host in enumerate(hosts)))
                *_, released = await ctx.tick().sample(dut.released)
                for node, host in enumerate(hosts):
                    if released >> node & 1:
                        host.left.append(cycle)
                cycle += 1
            ctx.set(dut.enter, 0)
            ctx.set(domain.rst, 1)
            await ctx.tick()
            ctx.set(domain.rst, 0)
        last.extend(hosts)

    simulate(dut, bench, domain=domain)
    return last


def check(dut, hosts):
    """Check each barrier; a node tells its user in the cycle after that of `released`."""
    cycles = barrier_cycles(barrier_rounds(dut.network), dut.registers) - 1
    entries = zip(*(host.entered for host in hosts), strict=True)
    assert [host.left for host in hosts] == [[max(entered) + cycles for entered in entries]] * len(hosts)


@pytest.mark.parametrize("text", NETWORKS)
def test_all_leave_together_when_the_last_has_entered(simulate, text):
    for registers in (0, 2):
        dut = Barriers(text, registers=registers)
        count = dut.network.num_nodes
        check(dut, run(simulate, dut, [[0, node, 40 * (node == count - 1), 7 * node % 5, 0] for node in range(count)]))


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_random_times_of_entry_and_resets(simulate, data):
    dut = Barriers(data.draw(st.sampled_from(SMALL)), registers=data.draw(st.integers(0, 1)))
    times = st.lists(st.integers(0, 30), min_size=3, max_size=3)
    pauses = [data.draw(times) for _ in range(dut.network.num_nodes)]
    check(dut, run(simulate, dut, pauses, data.draw(st.lists(st.integers(1, 40), max_size=2))))


@pytest.mark.parametrize(("text", "node", "port"), [(PATH, 2, "dim0_plus"), ("mesh(2, 2)", 0, "dim1")])
def test_a_wire_that_is_stuck_is_seen(simulate, text, node, port):
    """The last to enter is behind the wire, and its neighbor there would hear of it too late by other ways."""
    dut = Barriers(text, stuck=(node, port))
    late = dut.network.neighbors(node)[port]
    hosts = run(simulate, dut, [[30 * (one == late)] for one in range(dut.network.num_nodes)])
    assert hosts[node].left < hosts[late].entered
    with pytest.raises(AssertionError):
        check(dut, hosts)


def test_one_round_less_than_the_diameter_is_too_few(simulate):
    dut = Barriers(PATH, rounds=2)
    hosts = run(simulate, dut, [[30 * (node == 3)] for node in range(4)])
    assert hosts[0].left < hosts[3].entered < hosts[1].left
    with pytest.raises(AssertionError):
        check(dut, hosts)
