"""A fabric as an Amaranth component: inside a design it is the Verilog that is emitted, in every cycle."""

import re

import beside
import pytest
import readers
from amaranth.hdl import Module, Value
from amaranth.lib import wiring

from hdnhw.flow.harness import ports_of
from hdnhw.spec import AxiStreamSpec, FabricSpec, SpecError, parse
from hdnhw.verilog.component import fabric_component
from hdnhw.verilog.fabric import emit_fabric, write_fabric
from hdnhw.verilog.verilog import module_text


class Design(wiring.Component):
    """A user's design, which has nothing but a fabric."""

    def __init__(self, spec):
        self.fabric = fabric_component(spec)
        super().__init__(dict(self.fabric.signature.members.items()))

    def elaborate(self, _):
        m = Module()
        m.submodules.noc = self.fabric
        inner = self.fabric.signature.flatten(self.fabric)
        for (_, member, one), (_, _, other) in zip(self.signature.flatten(self), inner, strict=True):
            m.d.comb += Value.cast(other).eq(one) if member.flow == wiring.In else Value.cast(one).eq(other)
        return m


def pins_of(fabric):
    """Return the pins of the component, by those of the fabric, and what is joined to clock and reset."""
    ports = [port.name for port in ports_of(fabric.files[f"{fabric.top}.sv"], fabric.top)]
    if fabric.top == "fabric_axi4":
        return {port: [port] for port in ports if port not in {"aclk", "aresetn"}}, {"clk": "aclk", "rst": "!aresetn"}
    if fabric.top != "fabric_axi":
        return {port: [port] for port in ports}, {}
    pins, order = {}, ["data", "keep", "last", "dest", "id", "user"]
    fields = {port: order.index(name) for port in ports if (name := port.split("_t")[-1]) in order}
    for port in sorted(set(ports) - {"aclk", "aresetn"}, key=lambda port: fields.get(port, -1)):
        pin = re.sub(r"^([sm]_axis_\d+)_t(?:(valid|ready)|\w+)$", lambda at: f"{at[1]}_{at[2] or 'payload'}", port)
        pins.setdefault(pin, []).append(port)
    return pins, {"clk": "aclk", "rst": "!aresetn"}


@pytest.mark.parametrize(
    "variant",
    [name for name in readers.VARIANTS if not readers.has_clocks(name)],
)
def test_it_is_what_is_emitted(variant, tmp_path):
    spec = readers.VARIANTS[variant]
    fabric = emit_fabric(spec)
    write_fabric(fabric, tmp_path)
    (tmp_path / "chip.sv").write_text(module_text(Design(spec), "chip", flatten=False))
    moved, faults = beside.compare(fabric, [beside.Beside("chip", *pins_of(fabric))], ["chip.sv"], tmp_path)
    assert moved > 100
    assert faults == {"chip": 0}


@pytest.mark.parametrize(("src", "dst"), [(0, 0), (0, 7), (5, 2), (3, 4)])
def test_it_runs_in_the_simulator_of_amaranth(src, dst, simulate):
    """A packet comes out whole, after the cycles that the manifest tells."""
    fabric = fabric_component(FabricSpec(network=parse("hdn(cube(1), [[]])"), packet_length=4, flit_width=8))
    machine, taken, given = fabric.machine, [], []

    async def source(ctx):
        stream = fabric.inject[src]
        ctx.set(stream.valid, 1)
        for flit in (machine.address.of_node(dst), 1, 2, 3):
            ctx.set(stream.payload, flit)
            ready = 0
            while not ready:
                taken.append(len(taken))
                _, _, ready = await ctx.tick().sample(stream.ready)
        ctx.set(stream.valid, 0)

    async def sink(ctx):
        stream, cycle = fabric.eject[dst], 0
        ctx.set(stream.ready, 1)
        while len(given) < 4:
            _, _, valid, payload = await ctx.tick().sample(stream.valid, stream.payload)
            if valid:
                given.append((cycle, payload.data, payload.last))
            cycle += 1

    simulate(fabric, source, sink)
    hops = len(hops_to(machine, src, dst))
    assert [flit for _, *flit in given] == [[machine.address.of_node(dst), 0], [1, 0], [2, 0], [3, 1]]
    head = taken[-1] - 3
    assert given[-1][0] - head == machine.timing.zero_load_latency(hops, head % 4)


def hops_to(machine, src, dst):
    """Return the nodes on the way, the last one included."""
    way, network = [], machine.network
    while src != dst:
        port, _ = machine.plan.rule.next_hop(network.decode(src), network.decode(dst))
        src = network.neighbors(src)[network.ports[port].name]
        way.append(src)
    return way


def test_what_cannot_be_a_machine_is_refused():
    with pytest.raises(SpecError, match="flit width must be a multiple of 8 bits"):
        fabric_component(FabricSpec(network=parse("cube(1)"), flit_width=12, endpoints=AxiStreamSpec()))
