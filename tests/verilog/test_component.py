"""A fabric as an Amaranth component: inside a design it is the Verilog that is emitted, in every cycle."""

import pytest

from hdnhw.endpoints.axi4.spec import AxiMemorySpec
from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.spec.chips import ChipOptions
from hdnhw.support.errors import SpecError
from hdnhw.verilog.component import fabric_component
from hdnhw.verilog.fabric import write_fabric
from hdnhw.verilog.verilog import module_text
from tests.specs import fabric_spec
from tests.verilog import beside, frontends, readers


@pytest.mark.parametrize("variant", readers.VARIANTS)
def test_it_is_what_is_emitted(variant, tmp_path):
    clocks = readers.has_clocks(variant)
    fabric = readers.emitted(variant)
    write_fabric(fabric, tmp_path)
    design = frontends.Design(fabric_component(readers.VARIANTS[variant], node_clocks=clocks))
    (tmp_path / "chip.sv").write_text(module_text(design, "chip", flatten=False))
    moved, faults = beside.compare(
        fabric, [beside.Beside("chip", *frontends.pins_of(fabric.manifest))], ["chip.sv"], tmp_path
    )
    assert moved > 100
    assert faults == {"chip": 0}


@pytest.mark.parametrize(("src", "dst"), [(0, 0), (0, 7), (5, 2), (3, 4)])
def test_it_runs_in_the_simulator_of_amaranth(src, dst, simulate):
    """A packet comes out whole, after the cycles that the manifest tells."""
    fabric = fabric_component(fabric_spec("hdn(cube(1), [[]])", packet_length=4, flit_width=8))
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
    with pytest.raises(SpecError, match="flit_width must be a multiple of 8 bits"):
        fabric_component(fabric_spec("cube(1)", flit_width=12, endpoints=AxiStreamSpec()))
    cut = ChipOptions(chips="dim0=2", link="parallel")
    with pytest.raises(
        SpecError, match=r"^links over pins have clocks of their own: only link.*stream.* is a component$"
    ):
        fabric_component(fabric_spec("torus(4)"), cut=cut)
    with pytest.raises(SpecError, match=r"^AXI4 endpoints on chips are no component, but Verilog$"):
        fabric_component(fabric_spec("torus(4)", endpoints=AxiMemorySpec()), cut=cut)
