"""Write the hashes of pinned packages anew, after a change of a pin: ``python -m tests.pins``, with uv and PyPI.

A line ``name==version`` of a requirements file gets the SHA-256 of every wheel of that version that CPython of Linux
(glibc, x86-64 and ARM) or macOS can install. Nothing else is installed: pip is told to take no source and to resolve
nothing, so that a requirements file lists all that is there after it.
"""

import re
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
ENVIRONMENT = ("requirements.txt", "requirements-tests.txt")
"""What is installed into `.venv`."""
FILES = (*ENVIRONMENT, "requirements-browser.txt", "examples/riscv/requirements.txt", "website/requirements.txt")

PIN = re.compile(r"^([\w.-]+)==([\w.!+-]+)(?:; (.+?))?(?: \\)?$((?:\n    --hash=\S+(?: \\)?)*)", re.MULTILINE)
PYTHON = re.compile(r"py3|py2\.py3|cp3\d+")
PLATFORM = re.compile(r"any|(many)?linux.*_(x86_64|aarch64)|macosx_.*")


@dataclass(frozen=True)
class Pin:
    """One line of a requirements file.

    Attributes
    ----------
    name, version, marker : str
        The marker says where the package is installed, and is empty if it is everywhere.
    hashes : tuple of str
        Of the wheels, as pip reads them: ``sha256:...``.
    """

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]


def canonical(name):
    """Return the name of a distribution as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins_of(text):
    """Return the pins of the text of a requirements file, by canonical names; what is no pin must be a comment."""
    found = [
        Pin(name, version, marker, tuple(re.findall(r"--hash=(\S+)", hashes)))
        for name, version, marker, hashes in PIN.findall(text)
    ]
    rest = [line for line in PIN.sub("", text).splitlines() if line and not line.startswith("# ")]
    if rest:
        raise ValueError(f"what is no pin must be a comment, not {rest[0]!r}")
    pins = {canonical(pin.name): pin for pin in found}
    if len(pins) < len(found):
        raise ValueError("a package must be pinned once")
    return pins


def is_used(wheel):
    """Whether the CPython of Linux or macOS, with its lock, installs the wheel of this file name."""
    python, abi, platform = wheel.removesuffix(".whl").split("-")[-3:]
    is_abi = abi in ("none", "abi3") or re.fullmatch(r"cp31[1-9]", abi)
    return bool(is_abi and PYTHON.match(python) and PLATFORM.match(platform))


def wheels_of(path):
    """Ask the index, through uv, for the wheels of a requirements file; return their hashes by package and version."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "pylock.toml"
        python = ".".join(map(str, sys.version_info[:3]))
        command = ["uv", "pip", "compile", "--quiet", "--no-deps", "--universal", "--python-version", python]
        subprocess.run([*command, "--format", "pylock.toml", "--output-file", str(made), str(path)], check=True)
        locked = tomllib.loads(made.read_text())["packages"]
    return {
        canonical(package["name"]): sorted(
            f"sha256:{wheel['hashes']['sha256']}"
            for wheel in package.get("wheels", [])
            if is_used(wheel["url"].rpartition("/")[2])
        )
        for package in locked
    }


def written(text, hashes):
    """Return the text of a requirements file with other hashes, in the order of names; comments stand first."""
    lines = [line for line in text.splitlines() if line.startswith("# ")]
    for name, pin in sorted(pins_of(text).items()):
        place = f"; {pin.marker}" if pin.marker else ""
        lines.append(
            " \\\n".join([f"{pin.name}=={pin.version}{place}", *(f"    --hash={one}" for one in hashes[name])])
        )
    return "\n".join(lines) + "\n"


def main():
    """Write all files."""
    for name in FILES:
        path = ROOT / name
        hashes = wheels_of(path)
        missing = sorted(name for name, found in hashes.items() if not found)
        if missing:
            raise SystemExit(f"{name}: no wheel of {', '.join(missing)}")
        path.write_text(written(path.read_text(), hashes))
        print(f"{name}: {len(hashes)} packages, {sum(map(len, hashes.values()))} wheels")


if __name__ == "__main__":
    main()
