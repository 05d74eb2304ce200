"""The package as users have it: a wheel, installed without extras, used from another folder."""

import importlib
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from hdnhw.cli import EXTRAS

ROOT = Path(__file__).parents[1]
PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel, with what `make core` has compiled; return its file."""
    folder = tmp_path_factory.mktemp("wheel")
    build = ["--no-deps", "--no-build-isolation", "--config-settings=build-dir=build/core", f"--wheel-dir={folder}"]
    subprocess.run([*PIP, "wheel", *build, str(ROOT)], check=True)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Install the wheel with what it requires into an environment of its own; return the environment's programs."""
    folder = tmp_path_factory.mktemp("install") / "env"
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    subprocess.run([*PIP, "--python", str(python), "install", str(wheel)], check=True)
    return python.parent


def sources():
    """Return the files of the package that git knows or would take."""
    listed = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    return {name for name in listed if name.startswith(("boards/", "hdnhw/", "sim/")) and (ROOT / name).is_file()}


def packed():
    """Return the same at their places in a wheel."""
    return {re.sub(r"^(sim|boards)/", r"hdnhw/\1/", name) for name in sources()}


def test_the_wheel_has_the_package_and_the_core(wheel):
    assert re.fullmatch(r"hdnhw-[\d.]+-py3-none-(linux|macosx)_\w+\.whl", wheel.name)
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    core = {name for name in names if name.endswith(".so")}
    assert core == {f"hdnhw/core/{path.name}" for path in (ROOT / "hdnhw" / "core").glob("*.so")} != set()
    assert names - core == {name for name in packed() if not name.startswith("hdnhw/core/src/")}
    assert {
        "hdnhw/endpoints/axi4/bench.py",
        "hdnhw/sim/runner.py",
        "hdnhw/boards/uart.py",
        "hdnhw/figures/page.html",
    } <= names


def test_the_source_distribution_has_what_a_wheel_is_built_from(tmp_path):
    build = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(tmp_path)], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    (made,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(made) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names == sources() | {"CMakeLists.txt", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"}
    assert "hdnhw/core/src/rule.cpp" in names


@pytest.fixture
def run(installed, tmp_path, monkeypatch):
    """Return what runs the command in a project that has packages of the same names."""
    monkeypatch.chdir(tmp_path)
    for name in ("sim", "boards"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()

    def call(*arguments):
        command = [str(installed / "hdnhw"), *arguments]
        done = subprocess.run(
            command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": "."}, check=False
        )
        return done.returncode, done.stdout, done.stderr

    return call


@pytest.mark.parametrize(
    "line",
    [
        ("--help",),
        ("--version",),
        ("info", "cube(3)"),
        ("route", "cube(3)", "0", "7"),
        ("routing", "rdn(cube(2), 1)"),
        ("picture", "cube(3)", "-o", "cube.svg"),
        ("explore", "cube(2)", "-o", "cube.html"),
        ("exchange", "cube(3)"),
        ("compare", "cube(3)", "mesh(2, 4)"),
        ("cosim", "--help"),
        ("build", "--help"),
        ("simulate", "cube(3)", "--cycles", "500"),
        ("sweep", "cube(2)", "--rates", "0.1", "--cycles", "500"),
    ],
)
def test_what_needs_no_extra(run, line):
    status, out, err = run(*line)
    assert (status, bool(out), "Traceback" in err) == (0, True, False)


@pytest.mark.parametrize(
    ("line", "extra"),
    [
        (("info", "rdn(cube(2), 1)"), "metrics"),
        (("emit", "cube(2)", "-o", "made"), "rtl"),
        (("simulate", "dualcube(8)", "--cycles", "500"), "rtl"),
        (("cosim", "cube(2)"), "sim"),
        (("demo",), "sim"),
        (("build", "ice40-hx8k", "--simulate"), "sim"),
        (("build", "ice40-hx8k"), "boards"),
        (("exchange", "cube(2)", "--on", "rtl"), "sim"),
        (("synth", "cube(2)"), "flow"),
        (("prove", "cube(2)"), "flow"),
        (("machines", "cube(2)"), "flow"),
        (("sweep", "cube(2)", "--plot", "made.svg"), "sweep"),
        (("sweep", "cube(2)", "--html", "made.html"), "sweep"),
        (("sweep", "cube(2)", "--results", "made.parquet"), "parquet"),
        (("sweep", "cube(2)", "--cluster", "tcp://localhost:1"), "cluster"),
        (("simulate", "cube(2)", "--channels", "made.csv"), "parquet"),
        (("simulate", "cube(2)", "--flows", "made.csv"), "parquet"),
        (("compare", "cube(2)", "--plot", "made.svg"), "sweep"),
    ],
)
def test_what_needs_an_extra_says_so(run, tmp_path, line, extra):
    status, out, err = run(*line)
    said = rf"hdnhw: this needs \w+ of the extra {extra}, which is not installed: pip install 'hdnhw\[{extra}\]'\n"
    assert (status, out) == (2, "")
    assert re.fullmatch(said, err)
    assert not list(tmp_path.glob("made*"))


def test_the_table_of_extras_has_all_that_they_bring():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    brought = {re.match(r"[\w-]+", text)[0].lower(): extra for extra, texts in extras.items() for text in texts}
    modules = packages_distributions()
    imported = {name for name in EXTRAS if importlib.util.find_spec(name) is not None}
    assert imported == EXTRAS.keys()
    for module, extra in EXTRAS.items():
        (distribution,) = {name.lower() for name in modules[module]} & brought.keys()
        assert brought[distribution] == extra
    programs = {f"yowasp-nextpnr-{tool}" for tool in ("ecp5", "himbaechel-gowin", "ice40", "machxo2", "nexus")}
    assert brought.keys() - {name.lower() for module in EXTRAS for name in modules[module]} == {
        "hdnhw",
        "jupyterlab",
        *programs,
    }
