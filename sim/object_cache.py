"""A compiler that keeps what it made of Verilator's runtime library, most of what there is to compile in a small bench.

The make file that Verilator writes runs ``python object_cache.py FOLDER COMPILER ARGUMENTS`` in place of the compiler.
"""

import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

__all__ = ["compile_or_copy"]


def compile_or_copy(cache: Path, command: list[str]) -> int:
    """Run a compiler, or copy what it made before of the same sources by the same command; return its exit status.

    Parameters
    ----------
    cache : Path
        Folder of the objects that are kept, by the digest of all that they depend on.
    command : list of str
        The compiler and its arguments. Objects are kept whose source, the last argument, is in Verilator's folder of
        library sources: they include nothing that Verilator writes.
    """
    source = Path(command[-1])
    if source.suffix != ".cpp" or source.parent != Path(os.environ["VERILATOR_ROOT"]) / "include":
        return subprocess.run(command, check=False).returncode
    target = Path(command[command.index("-o") + 1])
    kept = cache / f"{source.stem}-{_digest(command, source.parent)}.o"
    if kept.exists():
        shutil.copyfile(kept, target)
        return 0
    status = subprocess.run(command, check=False).returncode
    if status == 0:
        new = kept.with_suffix(f".{os.getpid()}")
        shutil.copyfile(target, new)
        new.replace(kept)
    return status


def _digest(command: list[str], sources: Path) -> str:
    """Return a digest of a command, the compiler and the library's sources."""
    version = subprocess.run([command[0], "--version"], capture_output=True, check=True).stdout
    texts = [path.read_bytes() for path in sorted(sources.rglob("*")) if path.suffix in (".cpp", ".h")]
    parts = ["\0".join(command).encode(), version, *texts]
    return sha256(b"".join(sha256(part).digest() for part in parts)).hexdigest()[:32]


if __name__ == "__main__":
    sys.exit(compile_or_copy(Path(sys.argv[1]), sys.argv[2:]))
