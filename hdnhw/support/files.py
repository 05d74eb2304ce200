"""Files that are written: their names are looked at before the work, and they are there whole or not at all."""

import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from hdnhw.support.errors import SpecError
from hdnhw.support.naming import choices_text
from hdnhw.support.ranks import is_first
from hdnhw.support.signals import deferred


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
        raise SpecError(f"{what} {choices_text(suffixes, str(path), 'a file, ')}")
    check_file(what, path)
    if not os.access(path.parent, os.W_OK | os.X_OK) or not path.parent.is_dir():
        raise SpecError(f"{what} must be in a folder that can be written, not {str(path)!r}")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give another path to write to; what is there at the end takes the place of `path`, unless there was an error.

    Of several ranks only the first one writes what stays.
    """
    if not is_first():
        with TemporaryDirectory() as nowhere:
            yield Path(nowhere, path.name)
        return
    with _named(path), folder_beside(path) as folder:
        new = folder / path.name
        yield new
        os.replace(new, path)


@contextmanager
def folder_beside(path: Path) -> Iterator[Path]:
    """Make a folder where `path` is or will be, and remove it at the end, if it is there; signals wait for both."""
    with deferred():
        folder = TemporaryDirectory(prefix=f".{path.name[:16]}.", dir=path.parent)
    try:
        yield Path(folder.name)
    finally:
        with deferred():
            folder.cleanup()


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Let an error of the system, such as a full disk, say what could not be written."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise type(error)(f"{str(path)!r} could not be written: {os.strerror(error.errno)}") from error


def write_together(folder: Path, files: Mapping[str, str], *, without: Collection[str] = ()) -> list[Path]:
    """Write files into a folder and remove others: all or none, so that an error leaves what was there before.

    Parameters
    ----------
    folder : Path
        It is made if need be.
    files : mapping of str to str
        Name -> text.
    without : collection of str
        Names of files that shall not be there, those that are given excepted.

    Returns
    -------
    list of Path
        The files written.
    """
    made = [one for one in (folder, *folder.parents) if not one.exists()]
    with _named(folder), deferred():
        folder.mkdir(parents=True, exist_ok=True)
        try:
            _replace_all(folder, files, set(without) - set(files))
        except BaseException:
            for one in made:
                one.rmdir()
            raise
    return [folder / name for name in files]


def _replace_all(folder: Path, files: Mapping[str, str], without: Collection[str]) -> None:
    touched = {*files, *without}
    with TemporaryDirectory(prefix=".new.", dir=folder) as name:
        new, before = Path(name, "new"), Path(name, "before")
        new.mkdir()
        shutil.copytree(folder, before, ignore=lambda _, names: set(names) - touched)
        for file, text in files.items():
            (new / file).write_text(text, encoding="utf-8")
        try:
            for file in files:
                os.replace(new / file, folder / file)
            for file in without:
                (folder / file).unlink(missing_ok=True)
        except BaseException:
            for file in touched:
                if (before / file).exists():
                    os.replace(before / file, folder / file)
                else:
                    (folder / file).unlink(missing_ok=True)
            raise


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait until no other process is here with the same folder or file, on file systems that have locks.

    If there is none, a file is made.
    """
    from fcntl import LOCK_EX, flock

    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT)
    try:
        with suppress(OSError):
            flock(descriptor, LOCK_EX)
        yield
    finally:
        os.close(descriptor)
