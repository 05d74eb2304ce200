"""What a command does not need is not imported before it runs."""

import subprocess
import sys

import pytest

from hdnhw.cli import EXTRAS

HEAVY = (
    "amaranth",
    "amaranth_boards",
    "cocotb",
    "jinja2",
    "matplotlib",
    "numpy",
    "pyarrow",
    "scipy",
    "tqdm",
    "z3",
)
IMPORTED = "; import sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
RUN = """
import contextlib, io, sys
sys.argv = {!r}
from hdnhw.cli import main
with contextlib.redirect_stdout(io.StringIO()):
    try:
        status = main()
    except SystemExit as exit:
        status = exit.code
assert status == {}, status
pass"""

WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
"""
"""Makes libraries look as if they were not installed."""

FEW_PACKETS = """
from hdnhw.model.fabric import model_of
from hdnhw.measurement.replay import exchange_on
from hdnhw.spec import FabricSpec, cube
from hdnhw.traffic.packets import Traffic
model = model_of(FabricSpec(network=cube(2)))
assert len(model.run(Traffic.from_lists([[(3, 0)]] * 4), max_cycles=1000).packet) == 4
exchange_on(model, words=8)
pass"""


def imported(code):
    """Return the libraries that a program has imported at its end."""
    done = subprocess.run([sys.executable, "-c", code + IMPORTED], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def command(*arguments, status=0):
    """Return a program that runs a command and looks at its status."""
    return RUN.format(["hdnhw", *arguments], status)


@pytest.mark.parametrize(
    ("code", "needs"),
    [
        ("import hdnhw", set()),
        ("import hdnhw; hdnhw.parse('rdn(cube(3), 1)')", set()),
        (command("--help"), set()),
        *((command(name, "--help"), set()) for name in ("info", "emit", "machines", "build", "papers")),
        *((command(name, "--help"), {"numpy"}) for name in ("simulate", "sweep", "cosim")),  # it lists the patterns
        (command("info", "cube(3)"), {"numpy"}),
        (command("neighbors", "rdn(cube(3), 1)", "0"), set()),
        (command("route", "rdn(cube(3), 1)", "0", "5"), set()),
        (command("picture", "rdn(cube(2), 1)", "-o", "network.svg"), {"numpy"}),
        (command("emit", "cube(1)", status=2), set()),
        (FEW_PACKETS, {"numpy"}),
    ],
)
def test_only_what_is_needed_is_imported(code, needs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert imported(code).intersection(HEAVY) == needs


SWEEP = ("sweep", "torus(4, 4)", "--rates", "0.1", "--cycles", "200", "--workers", "1")


@pytest.mark.parametrize(
    ("extras", "line", "status"),
    [
        ("", ("simulate", "torus(4, 4)", "--cycles", "200", "--seeds", "2"), 0),
        ("", (*SWEEP, "--plot", "made.svg"), 2),
        ("sweep", (*SWEEP, "--plot", "made.svg", "--html", "made.html"), 0),
        ("", ("explore", "rdn(cube(2), 1)", "-o", "made.html"), 0),
        ("", ("info", "rdn(cube(2), 1)"), 2),
        ("metrics", ("info", "rdn(cube(2), 1)"), 0),
        ("parquet", ("simulate", "torus(4, 4)", "--cycles", "200", "--channels", "made.csv"), 0),
        ("metrics", ("emit", "cube(1)", "-o", "made"), 2),
        ("metrics rtl", ("emit", "cube(1)", "-o", "made"), 0),
    ],
)
def test_a_command_needs_no_other_extra(extras, line, status, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    missing = {module for module, extra in EXTRAS.items() if extra not in extras.split()}
    imported(WITHOUT.format(missing) + command(*line, status=status))
