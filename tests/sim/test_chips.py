"""Packets between chips whose clocks differ, over wires that hurt words and are cut: all there, and each fault seen."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from hdnhw.cli import main
from hdnhw.rtl.bridge import bridge
from hdnhw.sim.chips import CLOCKS, SystemBench
from hdnhw.spec.chips import ChipOptions
from hdnhw.support.errors import SpecError
from hdnhw.verilog.fabric import emit_fabric
from tests.specs import fabric_spec

CUT: dict[str, dict[str, Any]] = {"torus(4)": {"chips": "dim0=2"}, "rdn(cube(1), 1)": {"chips": "1"}}


def system(text: str, *, cut: dict[str, Any] | None = None, **options: Any) -> SystemBench:
    own = ChipOptions(**CUT.get(text, {}) | (cut or {}))
    return SystemBench(emit_fabric(fabric_spec(text, **options), cut=own))


@pytest.mark.parametrize(
    ("text", "cut", "options"),
    [
        ("torus(4)", {"link": "parallel"}, {"packet_length": 4}),
        ("rdn(cube(1), 1)", {}, {"crc": True}),
        ("torus(4)", {"link_width": 64}, {"packet_length": 4, "flit_width": 64}),
        ("torus(4)", {"link_width": 16, "link": "parallel"}, {"packet_length": 5, "queueing": "voq", "buffers": 8}),
        ("rdn(cube(1), 1)", {}, {"packet_length": 1, "flit_width": 80}),
        ("rdn(cube(1), 1)", {"link_width": 8}, {"packet_length": 16, "switching": "cut-through"}),
        ("dualcube(3)", {"chips": "1"}, {"gapless_packets": True, "lanes": 2, "channel_latency": "dim0=7"}),
        ("hdn(cube(2), [[0]])", {"chips": "1"}, {}),
        ("torus(4, 4)", {"chips": "dim*=2"}, {}),
    ],
)
def test_nothing_is_lost_between_chips(text: str, cut: dict[str, Any], options: dict[str, Any]) -> None:
    bench = system(text, cut=cut, **options)
    for seed, clocks in enumerate(CLOCKS):
        for test, rate in (("random", 1e-4), ("exchange", 0.0)):
            case = bench.make_case(test, packets=400, clocks=clocks, rate=rate, seed=seed)
            verdict = bench.run_case(case).verdict
            assert verdict.passed, (clocks, test, verdict)
            assert verdict.packets >= 400
            if rate:
                assert verdict.damaged > 3, verdict
                assert verdict.resent > 0, verdict


@pytest.mark.parametrize(
    ("text", "cut", "options"),
    [
        ("torus(4)", {"link": "parallel"}, {"packet_length": 5, "queueing": "voq", "buffers": 8}),
        ("rdn(cube(1), 1)", {}, {"packet_length": 1, "flit_width": 80, "crc": True}),
        ("dualcube(2)", {"chips": "1"}, {"packet_length": 16, "channel_latency": "dim0=7"}),
    ],
)
def test_channels_of_a_link_that_stays_down_are_dead(
    text: str, cut: dict[str, Any], options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Packets for them come out before them, or are counted where they were; all others, and all later ones, arrive."""
    monkeypatch.setattr(bridge, "PATIENCE_CYCLES", 2000)
    bench = system(text, cut=cut, dead_pins=True, **options)
    stranded = {}
    for name, cycles in (("cut for long", 14_000), ("cut for a moment", 500), ("stays cut", 10**6)):
        case = bench.make_case("random", packets=8000, clocks="far", rate=1e-5, seed=1)
        case |= {"cuts": [(2000, 0, cycles), (3000, 0, cycles)], "gap": 100}
        verdict = bench.run_case(case).verdict
        stranded[name] = verdict.stranded + verdict.died
        assert (verdict.doubled, verdict.changed) == (0, 0), verdict
        assert verdict.disordered <= stranded[name], verdict
        if name == "stays cut":  # what the bridge holds waits
            assert 0 < verdict.lost < 400, verdict
        else:
            assert verdict.lost == 0, verdict
    assert stranded["cut for a moment"] == 0
    assert stranded["stays cut"] >= stranded["cut for long"] > 100


@pytest.mark.parametrize(
    ("node", "bits", "dead"),
    [
        (1, 0b001, {(1, 0)}),
        (2, 0b100, {(2, 0), (2, 1), (3, 1)}),  # of the channels to node 2, that from its own chip
    ],
)
def test_pins_of_a_chip_strand_what_goes_by_dead_channels(node: int, bits: int, dead: set[tuple[int, int]]) -> None:
    class Dead(SystemBench):
        def _joined(self, name: str, at: int) -> str:
            return f"3'd{bits}" if (name, at) == ("dead", node) else super()._joined(name, at)

    fabric = emit_fabric(fabric_spec("torus(4)", dead_pins=True), cut=ChipOptions(chips="dim0=2"))
    bench = Dead(fabric)
    verdict = bench.run_case(bench.make_case("exchange", packets=1200, clocks="near", rate=0, seed=1, cuts=0)).verdict
    network, rule, stranded = fabric.machine.network, fabric.machine.plan.rule, 0
    for src, dst in product(range(4), repeat=2):
        at, passes = src, False
        while at != dst:
            port, _ = rule.next_hop(network.decode(at), network.decode(dst))
            passes, at = passes or (at, port) in dead, network.neighbors(at)[network.ports[port].name]
        stranded += 75 * passes  # a quarter of what each node sends is for each node
    assert (verdict.lost, verdict.doubled, verdict.changed, verdict.died) == (0, 0, 0, 0)
    assert verdict.stranded == stranded > 0


FAULTS = {
    "lost": ("busy <= 1;", "busy <= sent != 3;"),
    "doubled": ("numbers[next] <= numbers[next] + 1;", "numbers[next] <= numbers[next] + (sent != 3);"),
    "disordered": ("numbers[next] <= numbers[next] + 1;", "numbers[next] <= numbers[next] + 1 + (sent == 3);"),
    "changed": (
        "leaving <= packet(NODE, next, numbers[next]);",
        "leaving <= packet(NODE, next, numbers[next]) ^ mask;",
    ),
}
"""What a source does wrong -> its text, and another one."""


@pytest.mark.parametrize("fault", FAULTS)
def test_the_bench_sees_each_fault(fault: str) -> None:
    class Wrong(SystemBench):
        def sources(self) -> Any:
            top, files, rules = super().sources()
            before, after = FAULTS[fault]
            text = files["bench.sv"]
            assert text.count(before) == 1
            mask = "  wire [BITS-1:0] mask = {{BITS-1{1'b0}}, sent == 3} << BITS - 1;\n\n  always @(posedge clk) begin"
            text = text.replace(before, after).replace("  always @(posedge clk) begin", mask, 1)
            return top, {**files, "bench.sv": text}, rules

    bench = Wrong(emit_fabric(fabric_spec("cube(1)"), cut=ChipOptions(chips="dim0=2")))
    verdict = bench.run_case(bench.make_case("random", packets=40, clocks="near", rate=0, seed=1, cuts=0)).verdict
    wrong = {name: getattr(verdict, name) for name in FAULTS}
    assert not verdict.passed
    assert wrong[fault] == 2, verdict  # one of each node
    # The next one of a source is not the next number, and what comes twice stands for another one.
    behind = {"lost": {"disordered"}, "changed": {"disordered"}, "doubled": {"lost"}}.get(fault, set())
    assert all(not count for name, count in wrong.items() if name not in {fault, *behind}), verdict


def test_a_link_that_is_cut_for_good_loses_packets_and_the_bench_says_so() -> None:
    bench = system("torus(4)", packet_length=4)
    case = bench.make_case("random", packets=400, clocks="equal", rate=0, seed=1)
    verdict = bench.run_case(case | {"cuts": [(200, 0, 10**7)]}).verdict
    assert verdict.lost > 100
    assert not verdict.doubled + verdict.disordered + verdict.changed


def test_short_packets_are_refused() -> None:
    with pytest.raises(SpecError, match="48 bits or more"):
        system("torus(4)", packet_length=1)
    with pytest.raises(ValueError, match="several chips"):
        SystemBench(emit_fabric(fabric_spec("torus(4)")))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("cosim torus(4) --chips dim0=2 --test hops", "--chips is for the random and exchange tests, not for hops"),
        ("cosim torus(4) --chips dim0=2 --simulator icarus", "several chips need --simulator verilator, not icarus"),
        ("cosim torus(4) --chips dim0=2 --resets 5 --test random", "--resets is for one chip, not for --chips"),
        ("cosim torus(4) --error-rate 0.1 --test random", "--error-rate is for the errors test"),
        ("emit torus(4) --chips dim0=2 --node-clocks -o {}", "node clocks do not go with chips"),
        (
            "emit torus(4) --chips dim0=2 --endpoints axi-stream -o {}",
            "--chips is for streams of flits and AXI4, not for",
        ),
        ("cosim torus(4) --chips dim0=2 --test axi4 --error-rate 0.1", "--error-rate is for the errors test"),
        ("emit torus(4) --chips dim0=2 --switching cut-through -o {}", "--chips does not go with cut-through"),
        ("emit torus(4) --chips dim0=2 --link-width 7 -o {}", "--link-width must be 8 to 1024 bits, not 7"),
        ("emit torus(4) --chips dim0=2 --link-width 64 -o {}", "--link-width must be 8 to 32 bits"),
        ("emit torus(4) --chips 1 -o {}", "--chips must be parts of dimensions of torus(4) such as dim0=2, not 1"),
        ("emit torus(4) --chips= -o {}", "--chips must be parts of dimensions"),
        ("emit torus(4) --link parallel -o {}", "--link needs --chips"),
        ("emit torus(4) --link-width 16 -o {}", "--link-width needs --chips"),
        ("emit torus(4) --chips dim0=2 --name x_chip -o {}", "must not end in '_chip'"),
        ("emit dualcube(2) --chips 1 --channel-width cross1=8 -o {}", "and cross1 leaves it"),
        (
            "emit dualcube(2) --chips 1 --channel-latency *=9 -o {}",
            "--channel-latency is of channels on a chip, and cross1",
        ),
        ("synth torus(4) --unit chip", "--unit chip needs --chips"),
        ("synth torus(4) --chips dim0=2", "--chips is for --unit chip and bridge"),
        ("synth torus(4) --chips dim0=2 --unit bridge --address 1", "--address belongs to a router or an endpoint"),
    ],
)
def test_what_does_not_go_is_refused_in_a_line(tmp_path: Any, capsys: Any, arguments: str, said: str) -> None:
    out = tmp_path / "out"
    words = [word.format(out) if word == "{}" else word for word in arguments.split()]
    assert main(words) == 2
    error = capsys.readouterr().err
    assert said in error, error
    assert error.count("\n") == 1
    assert not out.exists()
    assert replace(ChipOptions(), chips="1").link == "stream"
