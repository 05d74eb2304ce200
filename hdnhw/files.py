"""Files that are written: their names are looked at before the work, and they are there whole or not at all."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from hdnhw.spec import SpecError

__all__ = ["check_distinct", "check_file", "check_folder", "check_output", "locked", "replacing"]


def check_folder(what: str, path: Path) -> None:
    """Raise SpecError unless a folder of this name can be written or made; `what` names it."""
    there = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise SpecError(f"{what} must be a folder that can be written or made, not {str(path)!r}")


def check_distinct(paths: Mapping[str, str | None]) -> None:
    """Raise SpecError if two options, by their names, are the same file; None stands for one that is not given."""
    seen: dict[Path, str] = {}
    for name, path in paths.items():
        other = None if path is None else seen.setdefault(Path(path).resolve(), name)
        if other not in (None, name):
            raise SpecError(f"{other} and {name} must be different files, not both {path!r}")


def check_file(what: str, path: Path) -> None:
    """Raise SpecError if there is something of this name that is no file; `what` names it."""
    if path.exists() and not path.is_file():
        raise SpecError(f"{what} must be a file, and {str(path)!r} is none")


def check_output(what: str, path: Path, suffixes: Sequence[str]) -> None:
    """Raise SpecError unless a file of this name can be written and has one of the suffixes; `what` names it."""
    if path.suffix not in suffixes:
        *most, last = suffixes
        allowed = f"{', '.join(most)} or {last}" if most else last
        raise SpecError(f"{what} must be a file {allowed}, not {str(path)!r}")
    check_file(what, path)
    if not os.access(path.parent, os.W_OK | os.X_OK) or not path.parent.is_dir():
        raise SpecError(f"{what} must be in a folder that can be written, not {str(path)!r}")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give another path to write to; what is there at the end takes the place of `path`, unless there was an error."""
    with TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        new = Path(folder) / path.name
        yield new
        os.replace(new, path)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Wait until no other process is here with the same folder, on file systems that have locks."""
    from fcntl import LOCK_EX, flock

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            flock(descriptor, LOCK_EX)
        yield
    finally:
        os.close(descriptor)
