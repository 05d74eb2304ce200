"""Building Verilog with the simulator, wherever and whatever is installed."""

import os
from pathlib import Path

import pytest

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
