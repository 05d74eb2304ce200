"""The self-test of one board or of two under Verilator, serial lines decoded."""

from collections.abc import Mapping, Sequence

from hdnhw.boards.exerciser import Side
from hdnhw.boards.selftest import SIDES, SelfTest, check_testable
from hdnhw.sim.listener import hear
from hdnhw.verilog.chips import EmittedChips
from hdnhw.verilog.fabric import ONE_CHIP, EmittedFabric
from hdnhw.verilog.verilog import module_text

TOP, PAIR, CABLE = "selftest", "pair", "cable"
DIVISOR = 4
"""Cycles a bit: a real line would take a hundred times as long."""

PAUSE_CYCLES = 100
PATIENCE_CYCLES = 100_000
"""Time for which a board waits for the other one."""

CABLE_CYCLES = 3
"""That words take from one board to the other."""

ENDINGS = ("PASS", "FAIL")
CYCLE_LIMIT = 10_000_000
"""Most cycles of a run."""


def self_test_sources(fabric: EmittedFabric, *, packets: int) -> dict[str, str]:
    """Return the Verilog of what a board holds but for a faster serial line and shorter pauses, by file name.

    Of a network on two boards, both of them and the cable between.

    Parameters
    ----------
    fabric : EmittedFabric
    packets : int
        Packets of the random test, a node.

    Raises
    ------
    SpecError
        If the fabric cannot be tested.
    """
    check_testable(fabric.machine, ONE_CHIP if fabric.chips is None else fabric.chips.cut)
    sides = {TOP: None} if fabric.chips is None else {f"{TOP}_{chip}": Side(chip, PATIENCE_CYCLES) for chip in SIDES}
    tests = {
        name: SelfTest(fabric, divisor=DIVISOR, packets=packets, pause_cycles=PAUSE_CYCLES, side=side)
        for name, side in sides.items()
    }
    texts = {f"{name}.sv": module_text(test, name, flatten=True) for name, test in tests.items()}
    pair = {} if fabric.chips is None else {f"{PAIR}.sv": _pair_text(fabric.chips)}
    return {**pair, **texts, **fabric.verilog}


def _pair_text(chips: EmittedChips) -> str:
    """Return two boards and the cable between them: what leaves one comes to the other."""
    width = chips.cut.link_width
    lines = [chips.wire_text(CABLE), f"module {PAIR} ("]
    lines += [f"  input wire clk_{chip}, input wire rst_{chip}, output wire tx_{chip}," for chip in SIDES]
    lines = [*lines[:-1], lines[-1].removesuffix(","), ");"]
    ends = [f"{chip}_{end}" for chip in SIDES for end in ("near", "far")]
    lines += [f"  wire clk_{end};\n  wire [{width}:0] pins_{end};" for end in ends]
    for chip, other in zip(SIDES, reversed(SIDES), strict=True):
        pins = {name: f"{name}_{chip}" for name in ("clk", "rst", "tx")}
        for way, of in (("o", f"{chip}_near"), ("i", f"{other}_far")):
            pins |= {f"link__clk_{way}": f"clk_{of}", f"link__data_{way}": f"pins_{of}[{width - 1}:0]"}
            pins |= {f"link__mark_{way}": f"pins_{of}[{width}]"}
        lines.append(_instance(f"{TOP}_{chip}", f"board_{chip}", pins))
        pins = {"errors": "32'd0", "cut": "1'b0", "clk_i": f"clk_{chip}_near", "clk_o": f"clk_{chip}_far"}
        pins |= {"pins_i": f"pins_{chip}_near", "pins_o": f"pins_{chip}_far"}
        lines.append(_instance(f"{CABLE} #(.DELAY({CABLE_CYCLES}), .SEED(32'd{chip + 1}))", f"cable_{chip}", pins))
    return "\n".join([*lines, "endmodule", ""])


def _instance(module: str, name: str, pins: Mapping[str, str]) -> str:
    return f"  {module} {name} ({', '.join(f'.{pin}({value})' for pin, value in pins.items())});"


def hear_self_test(sources: Mapping[str, str], *, runs: int = 1, plusargs: Sequence[str] = ()) -> str:
    """Simulate the sources of a self-test until `runs` runs have ended; return the text from the serial line.

    Raises
    ------
    ToolError
        If there is no verdict in time.
    """
    limit = CYCLE_LIMIT * runs
    (text,) = hear(sources, TOP, divisor=DIVISOR, endings=ENDINGS, runs=runs, cycle_limit=limit, plusargs=plusargs)
    return text


def hear_pair(sources: Mapping[str, str], *, plusargs: Sequence[str] = ()) -> list[str]:
    """Simulate two boards until each has a verdict, as :func:`hear_self_test` does one; return the text of each."""
    lines = [f"_{chip}" for chip in SIDES]
    return hear(
        sources,
        PAIR,
        divisor=DIVISOR,
        endings=ENDINGS,
        lines=lines,
        cycle_limit=CYCLE_LIMIT,
        plusargs=plusargs,
    )
