"""Bitstreams: what the tools are told and what happens when they fail. `make bench-boards` runs the real ones."""

import fcntl
import json
import re
import stat
from pathlib import Path

import pytest

from hdnhw.boards.bitstream import build_bitstreams
from hdnhw.boards.catalogue import BOARDS
from hdnhw.cli import main
from hdnhw.fpga.tools import ToolError, tool_path, tool_versions
from hdnhw.spec.chips import ChipOptions
from tests.specs import fabric_spec

SPEC = fabric_spec("dualcube(2)", packet_length=2, flit_width=8, buffers=1)

TOOL = """#!/bin/sh
# Stands in for a tool: writes what the real one would, or fails.
echo "$0 $@" >> commands
case "$0" in
  *yosys*) echo '{{"modules": {{}}}}' > top.json ;;
  *nextpnr*) echo '{report}' > report.json; touch top.config top.asc; {failure} ;;
  *pack*) for name in "$@"; do last=$name; done; echo bits > top.bit; echo bits > top.bin ;;
esac
"""


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """Return a function that puts stand-ins in the place of the tools."""

    def make(fmax, failure=""):
        cells = ("TRELLIS_COMB", "TRELLIS_FF", "DP16KD", "TRELLIS_RAMW", "ICESTORM_LC", "ICESTORM_RAM")
        report = {
            "fmax": {"clk": {"achieved": fmax, "constraint": 1}, "other": {"achieved": 500.0, "constraint": 1}},
            "utilization": {cell: {"used": 1, "available": 2} for cell in cells},
        }

        def path(tool):
            script = tmp_path / tool
            script.write_text(TOOL.format(report=json.dumps(report), failure=failure))
            script.chmod(script.stat().st_mode | stat.S_IXUSR)
            return script

        monkeypatch.setattr("hdnhw.fpga.tools.tool_path", path)

    return make


@pytest.mark.parametrize("board", BOARDS.values(), ids=lambda board: board.name)
def test_bitstream_is_moved_into_place_and_figures_are_read(tools, tmp_path, board):
    tools(fmax=60.0)
    (built,) = build_bitstreams(board, SPEC, packets=10, seed=7, root=tmp_path)
    assert built.passed
    assert built.bitstream == tmp_path / board.name / f"{board.name}{board.bitstream}"
    assert built.bitstream.read_text() == "bits\n"
    assert (built.fmax_mhz, built.clock_mhz) == (60.0, board.clock_hz / 1e6)
    assert built.utilization["ram"] == {"used": 1, "available": 2}
    assert list(built.tools) == board.tools
    commands = (built.work / "commands").read_text().splitlines()
    assert len(commands) == 3
    assert "--seed 7" in commands[1]
    constraints = (built.work / ("top.lpf" if board.family == "ecp5" else "top.pcf")).read_text()
    assert all(f"led_{number}" in constraints for number in range(4))
    assert "uart_0__tx" in constraints


def test_both_boards_get_a_bitstream_with_the_same_pins(tools, tmp_path):
    tools(fmax=60.0)
    board, cut = BOARDS["ulx3s-85f"], ChipOptions(chips="dim0=2", link="parallel", link_width=8)
    built = build_bitstreams(board, fabric_spec("torus(4)"), packets=1, cut=cut, root=tmp_path)
    assert [each.bitstream for each in built] == [
        tmp_path / board.name / f"{board.name}-{chip}.bit" for chip in range(2)
    ]
    constraints = [(each.work / "top.lpf").read_text() for each in built]
    assert constraints[0] == constraints[1]
    assert [each.bitstream.read_text() for each in built] == ["bits\n"] * 2
    pins = dict(re.findall(r'LOCATE COMP "link_0__(\w+?)__io(?:\[\d\])?" SITE "(\w+)"', constraints[0]))
    assert pins["clk_i"] == "B11"
    assert pins["clk_o"] == "C11"
    assert pins["mark_i"] == "A10"
    assert pins["mark_o"] == "A11"


def test_slow_design_leaves_no_bitstream(tools, tmp_path):
    tools(fmax=11.9)
    (built,) = build_bitstreams(BOARDS["ice40-hx8k"], SPEC, packets=10, root=tmp_path)
    assert not built.passed
    assert not built.bitstream.exists()


def test_tool_that_fails_is_named_with_its_log_and_leaves_no_bitstream(tools, tmp_path):
    board = BOARDS["ice40-hx8k"]
    tools(fmax=60.0)
    kept = build_bitstreams(board, SPEC, packets=10, root=tmp_path)[0].bitstream
    tools(fmax=60.0, failure="echo ERROR: no room; exit 3")
    with pytest.raises(ToolError, match=r"nextpnr-ice40 has failed: ERROR: no room, see .*nextpnr-ice40.log"):
        build_bitstreams(board, SPEC, packets=10, root=tmp_path)
    assert not kept.exists()


def test_two_builds_for_a_board_do_not_meet(tmp_path):
    with (tmp_path / "ice40-hx8k.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(ToolError, match=r"another build for the same board is under way: .*ice40-hx8k.lock"):
            build_bitstreams(BOARDS["ice40-hx8k"], SPEC, packets=10, root=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["ice40-hx8k.lock"]


@pytest.mark.parametrize("board", BOARDS.values(), ids=lambda board: board.name)
def test_boards_tell_the_truth(board):
    platform = board.platform()
    assert platform.default_clk_constraint.frequency == board.clock_hz
    assert abs(board.clock_hz / board.divisor - 115_200) < 0.02 * 115_200


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["de10"], "board must be one of ulx3s-85f, icepi-zero, ice40-hx8k, not 'de10'"),
        (["ulx3s-85f", "cube(9"], "spec 'cube(9'"),
        (["ulx3s-85f", "cube(4)", "--flit-width", "7"], "flit width must be at least 8 for the self-test, not 7"),
        (["ulx3s-85f", "--packets", "0"], "packets must be 1 to 32768, not 0"),
        (
            ["icepi-zero", "torus(4)", "--chips", "dim0=2"],
            "--chips needs a board with a header for the link, ulx3s-85f, not icepi-",
        ),
        (
            ["ulx3s-85f", "torus(4)", "--chips", "dim0=4"],
            "--chips dim0=4 must cut torus(4) in two, a chip for a board, not 4",
        ),
        (["ulx3s-85f", "torus(4)", "--chips", "dim0=2", "--link", "stream"], "--link must be parallel on boards"),
        (
            ["ulx3s-85f", "torus(4)", "--chips", "dim0=2", "--link-width", "27"],
            "--link-width must be 8 to 26 bits on ulx3s-85f, not 27",
        ),
        (
            ["ulx3s-85f", "torus(4)", "--chips", "dim0=2", "--packets", "3"],
            "--packets is for the random test of one board, not for --chips",
        ),
        (["ulx3s-85f", "torus(4)", "--link-width", "9"], "--link-width needs --chips"),
        (
            ["ulx3s-85f", "torus(4)", "--chips", "dim0=3", "--simulate"],
            "--chips dim0=3 cuts dim0 of torus(4), 4 long, into unequal",
        ),
    ],
)
def test_bad_input_is_one_line(capfd, monkeypatch, tmp_path, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert main(["build", *arguments]) == 2
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert message in said.err
    assert list(tmp_path.iterdir()) == []


def test_failure_is_exit_one(tools, capfd, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    tools(fmax=60.0, failure="exit 3")
    assert main(["build", "ice40-hx8k", "--json"]) == 1
    said = capfd.readouterr()
    assert json.loads(said.out)["passed"] is False
    assert "nextpnr-ice40 has failed, see" in said.err


def test_success_has_the_agreed_keys(tools, capfd, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    tools(fmax=60.0)
    assert main(["build", "ice40-hx8k", "--json"]) == 0
    result = json.loads(capfd.readouterr().out)
    keys = {"board", "spec", "bitstream", "fmax_mhz", "clock_mhz", "utilization", "seconds", "tools", "passed"}
    assert keys <= set(result)
    assert Path(result["bitstream"]).exists()


def test_tools_are_installed():
    tools = [tool for board in BOARDS.values() for tool in board.tools]
    assert all(tool_path(tool).exists() for tool in tools)
    assert set(tool_versions(tools)) == set(tools)
