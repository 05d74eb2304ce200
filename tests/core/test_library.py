"""The libraries of the core: what they show to others, and which instructions they have."""

import ctypes
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hdnhw import core

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "hdnhw" / "core"
NAMES = ("libcore.so", "libcore-v3.so") if platform.machine() == "x86_64" else ("libcore.so",)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the layout of libraries is that of Linux")


def lines_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_each_library_is_there_and_no_other():
    assert sorted(path.name for path in FOLDER.glob("*.so")) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_only_functions_of_c_are_seen(name):
    """Libraries may share a weak or unique symbol: an old processor would then be given instructions of a new one."""
    declared = r"^HDNHW_API\b[^;{(]*?(\w+)\("
    sources = [path.read_text() for path in (FOLDER / "src").glob("*.cpp")]
    functions = {name for text in sources for name in re.findall(declared, text, re.MULTILINE)}
    symbols = [line.split()[1:] for line in lines_of("nm", "-D", "--defined-only", str(FOLDER / name))]
    assert len(functions) > 10
    assert sorted(symbols) == sorted(["T", function] for function in functions)


@pytest.mark.parametrize("name", NAMES)
def test_only_one_library_has_instructions_of_v3(name):
    text = "\n".join(lines_of("objdump", "-d", "--no-show-raw-insn", str(FOLDER / name)))
    wide = set(re.findall(r"\bv[a-z]\w+ +[^#\n]*%ymm\d+", text))
    assert bool(wide) == (name == "libcore-v3.so")
    assert bool(re.search(r"\t(v[a-z]\w+|mulx|[rs][oha][rlx]x|bextr|pdep|pext) ", text)) == bool(wide)
    assert not re.search(r"\tvf(n?m)(add|sub)", text), "numbers depend on the processor"


def test_the_folder_of_the_environment_comes_first(tmp_path, monkeypatch):
    monkeypatch.setenv("HDNHW_CORE", str(tmp_path))
    load = core.library.__wrapped__
    with pytest.raises(FileNotFoundError, match=r"there is no .*/libcore\.so: run `make core` in a clone, or install"):
        load()
    (tmp_path / "libcore.so").write_bytes((FOLDER / "libcore.so").read_bytes())
    assert load()._name == str(tmp_path / "libcore.so")
    assert isinstance(load(), ctypes.CDLL)
