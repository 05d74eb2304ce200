"""The self-test under Verilator, its serial line decoded: it passes on a sound fabric, and on no other."""

import re

import pytest

from hdnhw.boards.verilated import hear_self_test, self_test_sources
from hdnhw.model.fabric import FabricModel
from hdnhw.traffic.packets import Traffic
from hdnhw.verilog.fabric import EmittedFabric, emit_fabric
from tests.specs import fabric_spec

PACKETS = 20
FIRST_OFFER = 4
"""Cycles from the fabric's reset to the first flit of the total exchange."""

TRAFFIC = r"(\d+) packets sent, (\d+) received, (\d+) lost, (\d+) misrouted, (\d+) corrupted, (\d+) cycles"


def fabric_of(text: str, **sizes: int) -> EmittedFabric:
    return emit_fabric(fabric_spec(text, **sizes))


def counts_of(text: str, test: str) -> list[list[int]]:
    """Return the numbers of each line of a test."""
    return [list(map(int, found)) for found in re.findall(rf"^{test}: {TRAFFIC}$", text, re.MULTILINE)]


def model_cycles(fabric: EmittedFabric) -> int:
    """Return what the model says about a total exchange in the order of the terminals."""
    layout, network = fabric.machine.plan.address, fabric.machine.plan.network
    digits = [layout.unpack(layout.of_node(node)) for node in range(network.num_nodes)]
    radices = [field.radix for field in layout.fields]
    offsets = sorted(digits)[1:]
    own = [
        [
            (
                layout.pack([(here + step) % radix for here, step, radix in zip(at, offset, radices, strict=True)]),
                FIRST_OFFER,
            )
            for offset in offsets
        ]
        for at in digits
    ]
    model = FabricModel(fabric.machine)
    ejections = model.run(Traffic.from_lists(own), max_cycles=100_000)
    return int(ejections.cycle.max()) - FIRST_OFFER + 1


def assert_passed_twice(fabric: EmittedFabric, sources: dict[str, str]) -> None:
    """Run a self-test twice: it passes, in as many cycles as the model takes."""
    machine, nodes = fabric.machine.spec, fabric.manifest["routers"]
    said = hear_self_test(sources, runs=2)
    length, width = machine.packet_length, machine.flit_width
    lines = said.splitlines()
    for run, first in ((1, 0), (2, len(lines) // 2)):
        title = f"hdnhw self-test: {machine.network}, {nodes} routers, {length} flits of {width} bits, run {run}"
        assert lines[first] == title
    assert lines.count("PASS") == 2
    assert "FAIL" not in lines
    pairs, random = nodes * (nodes - 1), nodes * PACKETS
    assert counts_of(said, "total exchange") == [[pairs, pairs, 0, 0, 0, model_cycles(fabric)]] * 2
    randoms = counts_of(said, "random")
    assert [row[:5] for row in randoms] == [[random, random, 0, 0, 0]] * 2
    assert randoms[0][5] != randoms[1][5], "each run must send other packets"
    impossible = f"impossible addresses: {nodes} packets sent, {nodes} dropped, 0 received"
    assert lines.count(impossible) == (2 if fabric.machine.plan.address.has_holes else 0)


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("dualcube(2)", {"packet_length": 2, "flit_width": 8, "buffers": 1}),
        ("hdn(cube(1), [[]])", {"packet_length": 4, "flit_width": 16}),
        ("mesh(2, 3)", {"packet_length": 3, "flit_width": 7}),
    ],
)
def test_sound_fabric_passes_in_as_many_cycles_as_the_model(text: str, sizes: dict[str, int]) -> None:
    fabric = fabric_of(text, **sizes)
    assert_passed_twice(fabric, self_test_sources(fabric, packets=PACKETS))


FAULT = """  reg [1:0] fault;
  initial if (!$value$plusargs("fault=%d", fault)) fault = 2'd0;
"""
FLIPPED, BLOCKED, SWAPPED = 1, 2, 3


@pytest.fixture(scope="module")
def ring() -> EmittedFabric:
    """Return a ring of five nodes, whose addresses have holes."""
    return fabric_of("torus(5)", packet_length=2, flit_width=8, buffers=1)


@pytest.fixture(scope="module")
def faulty_ring(ring: EmittedFabric) -> dict[str, str]:
    """Return the self-test of the ring, in whose fabric a plusarg chooses a fault."""
    fabric = ring
    text, data, valid = fabric.files["fabric.sv"], "channel_1_dim0_plus_data", "channel_1_dim0_plus_valid"
    changes = {
        f"i__data({data})": f"i__data({data} ^ (fault == {FLIPPED} ? 8'h40 : 8'h00))",
        f"i__valid({valid})": f"i__valid({valid} & fault != {BLOCKED})",
    }
    for here, there in ((2, 3), (3, 2)):
        for pin in ("valid", "data"):
            old, other = (f"channel_{node}_eject_{pin}" for node in (here, there))
            changes[f".channel__{pin}({old})"] = f".channel__{pin}(fault == {SWAPPED} ? {other} : {old})"
    for old, new in changes.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    start = text.index(";", text.index("\nmodule fabric(")) + 2
    sources = self_test_sources(fabric, packets=PACKETS)
    return sources | {"fabric.sv": text[:start] + FAULT + text[start:]}


def test_fabric_without_a_fault_passes(ring: EmittedFabric, faulty_ring: dict[str, str]) -> None:
    assert_passed_twice(ring, faulty_ring)


def test_flipped_bit_is_reported(faulty_ring: dict[str, str]) -> None:
    said = hear_self_test(faulty_ring, plusargs=[f"+fault={FLIPPED}"])
    assert said.endswith("\nFAIL\n")
    for test in ("total exchange", "random"):
        ((sent, received, lost, misrouted, corrupted, _),) = counts_of(said, test)
        assert (sent, received, lost, misrouted) == (sent, sent, 0, 0)
        assert 0 < corrupted < sent


def test_lost_packets_are_reported_and_nothing_hangs(faulty_ring: dict[str, str]) -> None:
    """No packet passes one channel, so no credit comes back: what is behind it stands still."""
    said = hear_self_test(faulty_ring, plusargs=[f"+fault={BLOCKED}"])
    assert said.endswith("\nFAIL\n")
    ((sent, received, lost, misrouted, corrupted, _),) = counts_of(said, "total exchange")
    assert sent - received == lost > 0
    assert (misrouted, corrupted) == (0, 0)


def test_misrouted_packets_are_reported(faulty_ring: dict[str, str]) -> None:
    """Two nodes get what is for the other; no credits are lost, as each takes as many."""
    said = hear_self_test(faulty_ring, plusargs=[f"+fault={SWAPPED}"])
    assert said.endswith("\nFAIL\n")
    ((_, _, _, misrouted, corrupted, _), *_) = counts_of(said, "total exchange")
    assert misrouted > 0
    assert corrupted == 0
