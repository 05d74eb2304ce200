"""Building Verilog with the simulator, wherever and whatever is installed."""

import os
from importlib import metadata
from pathlib import Path

import pytest

from hdnhw.sim import simulator
from hdnhw.sim.simulator import Build

TEXT = """\
module bench(input clk, output reg [3:0] count);
  always @(posedge clk) count <= count + 1;
endmodule
"""
FILES = {"bench.sv": TEXT}


def test_a_folder_with_a_space(tmp_path: Path) -> None:
    build = Build("tiny", FILES, "bench", root=tmp_path / "a folder, with (all) sorts & $igns")
    assert build.make() > 0
    assert os.access(build.folder / "bench", os.X_OK)
    assert (build.folder / "build.log").exists()
    assert build.make() == 0
    kept = build.folder / "bench"
    kept.write_bytes(kept.read_bytes() + b"\0")
    assert not build._is_built()  # what is run is not as it was built


@pytest.mark.parametrize("tool", ["verilator", "cocotb", "g++"])
def test_a_build_of_other_tools_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str) -> None:
    first = Build("tiny", FILES, "bench", root=tmp_path).folder
    assert Build("tiny", FILES, "bench", root=tmp_path).folder == first
    monkeypatch.setattr(simulator, "version", lambda name: "0" if name == tool else metadata.version(name))
    if tool == "g++":
        (tmp_path / tool).symlink_to("/bin/true")
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert Build("tiny", FILES, "bench", root=tmp_path).folder != first


@pytest.mark.parametrize("missing", ["perl", "g++", "make"])
def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    for tool in {"perl", "g++", "make"} - {missing}:
        (tmp_path / tool).symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("MAKEFLAGS", raising=False)
    with pytest.raises(
        ValueError, match=rf"^verilator needs {missing.replace('+', '.')} from the system: please install"
    ):
        Build("tiny", FILES, "bench", root=tmp_path / "build")
    assert not (tmp_path / "build").exists()
