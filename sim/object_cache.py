"""A compiler that keeps what is most of the work in a small bench: Verilator's library, and its headers compiled.

The make file that Verilator writes runs ``python object_cache.py FOLDER COMPILER ARGUMENTS`` in place of the compiler,
once a file: so little is imported here.
"""

import fcntl
import os
import shutil
import sys
from collections.abc import Sequence
from hashlib import sha256

HEADER = """\
#include "verilated.h"
#include "verilated_dpi.h"
#if VM_TIMING
#include "verilated_timing.h"
#endif
"""
"""What all that Verilator writes includes first, compiled once for each set of options, not once a build."""

UNUSED = ("-fPIC", "-MMD")
"""Options for shared libraries and for files that change: benches are programs, and each is made from nothing."""

TIMING = ("-DVM_TIMING=0", "-DVM_TIMING=1", "-fcoroutines")
"""Options that the library's objects do not depend on, but for those of its file of that name."""


def compile_or_copy(cache: str, command: Sequence[str]) -> int:
    """Run a compiler with what is kept of its work; return its exit status.

    Parameters
    ----------
    cache : str
        Folder of what is kept: objects of Verilator's library and its compiled headers, by the digest of all that they
        depend on. Processes that want the same wait for the one that makes it.
    command : sequence of str
        The compiler and its arguments, which end with the source.
    """
    if "c++-header" in command:
        with open(command[-1], "w"):  # make looks for it again when all else is made
            return 0
    *start, source = (word for word in command if word not in UNUSED)
    target = f"{os.path.splitext(source)[0]}.o"
    for option in {"-o", "-include"}.intersection(start):
        at = start.index(option)
        target = start[at + 1] if option == "-o" else target
        del start[at : at + 2]
    library = os.path.join(os.environ["VERILATOR_ROOT"], "include")
    folder, name = os.path.split(source)
    if folder != library:
        included = []
        if _is_generated(source):
            options = [command[0], *sorted({*start[1:]} - {"-c"})]
            header = os.path.join(cache, f"header-{_digest(options, library)}.h")
            _keep(f"{header}.gch", [*options, "-x", "c++-header"], header)
            included = ["-include", header]
        return os.spawnvp(os.P_WAIT, command[0], [*start, *included, "-o", target, source])
    if name != "verilated_timing.cpp":
        start = [word for word in start if word not in TIMING]
    kept = os.path.join(cache, f"{name}-{_digest(start, library)}.o")
    status = _keep(kept, start, source)
    if status == 0:
        shutil.copyfile(kept, target)
    return status


def _keep(kept: str, command: list[str], source: str) -> int:
    """Compile a source, :data:`HEADER` if there is none, unless it is kept; return the exit status."""
    if os.path.exists(kept):
        return 0
    with open(f"{kept}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(kept):
            return 0
        if not os.path.exists(source):
            with open(source, "w") as text:
                text.write(HEADER)
        status = os.spawnvp(os.P_WAIT, command[0], [*command, "-o", f"{kept}.new", source])
        if status == 0:
            os.replace(f"{kept}.new", kept)
        return status


def _is_generated(source: str) -> bool:
    """Tell whether a source is Verilator's, or includes what it wrote."""
    with open(source) as text:
        return '#include "V' in text.read()


def _digest(command: list[str], library: str) -> str:
    """Return a digest of a command, and of the compiler and the library's sources as they were last written."""
    files = [shutil.which(command[0]) or command[0]]
    files += [os.path.join(folder, name) for folder, _, names in os.walk(library) for name in sorted(names)]
    states = [(path, os.stat(path).st_size, os.stat(path).st_mtime_ns) for path in files]
    return sha256(repr((command, states, HEADER)).encode()).hexdigest()[:32]


if __name__ == "__main__":
    sys.exit(compile_or_copy(sys.argv[1], sys.argv[2:]))
