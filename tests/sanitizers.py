"""The core under sanitizers, of addresses and undefined behavior, then of threads; 20 minutes.

It is compiled anew for each, and a list of tests and the fuzzer of the model are run with it. Memory that is left at
the end is not looked at: Python leaves some.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

TESTS = (
    *("tests/rules/test_core_rule.py", "tests/rules/test_hop.py", "tests/rules/test_rules.py"),
    *("tests/model", "tests/traffic", "tests/collectives/test_instructions.py"),
    *("tests/topology/test_metrics.py", "tests/topology/test_terminal_cuts.py", "tests/topology/test_orbits.py"),
)
"""Tests that call the core; all tiers of them are run."""

THREADED = ("tests/model/test_threads.py", "tests/model/test_reference.py", "tests/model/test_fabric.py")
"""Those of several threads."""

MACHINES = 100
"""That the fuzzer draws, on one to three threads."""

SANITIZERS = {
    "address,undefined": (("libasan.so", "libubsan.so"), TESTS),
    "thread": (("libtsan.so",), THREADED),
}
"""Sanitizers that go together, the libraries that must be loaded before Python, and what is run."""

OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1",
    "OPENBLAS_NUM_THREADS": "1",
    "UCX_TLS": "^cma",
}
"""Variables of the environment. NumPy's own threads would be reported, as it is compiled without sanitizers, and how
MPICH tries whether processes can read each other's memory."""


def built(sanitizer: str) -> Path:
    """Compile the core; return the folder with its library."""
    folder = ROOT / "build" / "sanitizers" / sanitizer.replace(",", "-")
    flags = f"-O1 -g -fno-omit-frame-pointer -fsanitize={sanitizer} -fno-sanitize-recover=all"
    settings = ["-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_CXX_FLAGS={flags}"]
    programs = Path(sys.executable).parent
    ninja = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={programs / 'ninja'}"]
    make = [str(programs / "cmake"), "-S", str(ROOT), "-B", str(folder), *ninja, *settings]
    subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([make[0], "--build", str(folder), "--target", "core", "--", "--quiet"], check=True)
    return folder


def library(name: str) -> str:
    """Return where a library of the compiler is."""
    found = subprocess.run(["g++", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return os.path.realpath(found.stdout.strip())


def fails(sanitizer: str) -> bool:
    """Run the tests and the fuzzer with one sanitizer; return whether one of them fails."""
    libraries, tests = SANITIZERS[sanitizer]
    variables = {"HDNHW_CORE": str(built(sanitizer)), "LD_PRELOAD": " ".join(map(library, libraries))}
    # The sanitizer of threads needs memory at certain places, which random addresses may take.
    python = ["setarch", "--addr-no-randomize", sys.executable, "-m"]
    tested = [*python, "pytest", "-n", "0", "-q", "--tier", "all", *tests]
    fuzzed = [*python, "tests.model.fuzz", "--count", str(MACHINES)]
    environment = os.environ | OPTIONS | variables
    return any(subprocess.run(one, cwd=ROOT, env=environment, check=False).returncode for one in (tested, fuzzed))


def main() -> int:
    """Run the tests with each."""
    failed = [sanitizer for sanitizer in SANITIZERS if fails(sanitizer)]
    for sanitizer in SANITIZERS:
        print(f"{sanitizer}: {'failed' if sanitizer in failed else 'nothing found'}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
