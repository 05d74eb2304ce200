"""The command that measures machines side by side: what it prints, and what it refuses."""

import json
import shlex
from pathlib import Path

import pytest

from hdnhw.cli import main
from hdnhw.fpga import side_by_side
from hdnhw.fpga.tools import ToolError

TWO = "machines 'cube(2)' --machine '--packet-length 4' --machine '' --packet-bits 64"


@pytest.fixture(autouse=True)
def no_tools(monkeypatch):
    """Let synthesis tell figures that follow from the machine, without a tool: shorter packets are twice as large."""

    def synthesize(spec, **_):
        length = spec.fabric.packet_length
        rams = {"TRELLIS_DPR16X4": 1, "DP16KD": 0}
        fmax = [100.0 * length, 200.0, 300.0]
        return {
            "family": "ecp5",
            "comb_sites": 8000 // length,
            "ram_cells": rams,
            "fmax_mhz": 200.0 if length > 2 else 50.0,
            "fmax_of_seed": fmax,
        }

    monkeypatch.setattr(side_by_side, "synthesize", synthesize)


def test_a_row_for_each_machine(run):
    status, out, err = run(f"{TWO} --machine '--packet-length 2 --queueing voq' --json")
    result = json.loads(out)
    assert (status, err) == (0, "")
    about = {"spec": "cube(2)", "packet_bits": 64, "hops": 4, "seeds": 3, "family": "ecp5", "device": "LFE5U-85F"}
    assert about.items() <= result.items()
    assert result["left_out"] == []
    four, eight, two = result["machines"]
    assert [row["packet"] for row in (four, eight, two)] == ["4x16", "8x8", "2x32"]
    assert [row["options"] for row in (four, eight, two)] == [
        "--packet-length 4 --flit-width 16",
        "--flit-width 8",
        "--packet-length 2 --queueing voq",
    ]
    assert [(row["buffers"], row["ram"], row["queueing"]) for row in (four, eight, two)] == [
        (2, "distributed", "fifo"),
        (4, "block", "fifo"),
        (4, "distributed", "voq"),
    ]
    for row in result["machines"]:
        assert row["gbits_per_node"] == pytest.approx(
            row["saturation_throughput"] * row["flit_width"] * row["fmax_mhz"] / 1000, abs=1e-3
        )
        assert row["gbits_per_1000_sites"] == pytest.approx(1000 * row["gbits_per_node"] / row["sites"], abs=1e-3)
        assert row["ns"] == pytest.approx(1000 * row["latency_cycles"] / row["fmax_mhz"], abs=0.1)
        assert row["bound_share"] == pytest.approx(row["saturation_throughput"] / min(1, row["saturation_bound"]), 1e-3)
    assert [row["default"] for row in result["machines"]] == [False] * 3
    assert [row["front"] for row in result["machines"]] == [True, True, two["gbits_per_node"] > four["gbits_per_node"]]


def test_options_outside_of_a_machine_hold_for_all(run):
    _, out, _ = run(f"{TWO} --buffers 8 --flit-width 16 --json")
    (row,) = json.loads(out)["machines"]
    assert (row["packet"], row["buffers"], row["options"]) == (
        "4x16",
        8,
        "--packet-length 4 --flit-width 16 --buffers 8",
    )
    _, out, _ = run("machines 'cube(2)' --packet-length 8 --buffers 2 --json")
    rows = json.loads(out)["machines"]
    assert {(row["packet"], row["buffers"]) for row in rows} == {("8x32", 2)}
    assert {row["queueing"] for row in rows} == {"fifo", "voq"}


def test_the_default_is_marked(run):
    _, out, _ = run("machines 'cube(2)' --machine '' --machine '--buffers 4 --ram block' --machine '--crc ' --json")
    assert [(row["default"], row["crc"]) for row in json.loads(out)["machines"]] == [(True, False), (False, True)]


def test_text_shows_what_differs_in_a_table_and_the_rest_once(run):
    status, out, err = run(f"{TWO} --machine '--packet-length 5'")
    assert (status, err) == (0, "")
    before, _, table = out.partition("machines\n")
    common = dict(line.split() for line in before.splitlines() if len(line.split()) == 2)
    assert {"queueing": "fifo", "switching": "store-and-forward", "lanes": "1", "speed": "6"}.items() <= common.items()
    names, *rows, title, head, left_out = table.splitlines()
    assert names.split() == shlex.split(
        "packet buffers ram sites block_rams mhz ns accepts of_bound gbits per_1000_sites front default"
    )
    assert [row.split()[:3] for row in rows] == [["4x16", "2", "distributed"], ["8x8", "4", "block"]]
    assert [row.split()[-2:] for row in rows] == [["yes", "no"]] * 2
    assert (title, head.split()) == ("left_out", ["options", "why"])
    assert left_out.split("  ")[1:] == ["--packet-length 5", "5 flits of 12 bits are no packet of 64 bits"]


def test_a_tool_that_fails(run, monkeypatch):
    def fail(spec, **_):
        raise ToolError(f"yosys has failed with {spec.fabric.flit_width} bits")

    monkeypatch.setattr(side_by_side, "synthesize", fail)
    status, out, err = run(f"{TWO} --plot front.svg --json")
    result = json.loads(out)
    assert (status, err, result["machines"]) == (1, "", [])
    assert [row["why"] for row in result["left_out"]] == [f"yosys has failed with {bits} bits" for bits in (16, 8)]
    status, out, _ = run(TWO)
    assert (status, "machines" in out, out.count("yosys has failed")) == (1, False, 2)
    assert not Path("front.svg").exists()


def test_ctrl_c(tmp_path, monkeypatch, capsys):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(side_by_side, "synthesize", interrupt)
    assert main(shlex.split(f"{TWO} --plot front.svg")) == 130
    assert capsys.readouterr() == ("", "hdnhw: interrupted\n")
    assert list(tmp_path.iterdir()) == []


def test_a_picture(run):
    for name in ("a.svg", "b.svg"):
        assert run(f"{TWO} --plot {name}")[0] == 0
    text = Path("a.svg").read_text()
    assert text == Path("b.svg").read_text().replace("b.svg", "a.svg")
    assert "ns over 4 hops" in text
    assert "0  4x16 --packet-length 4 --flit-width 16" in text
