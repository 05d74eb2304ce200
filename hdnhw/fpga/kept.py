"""Results that are kept in a folder named by the digest of all that they depend on."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hdnhw.fpga.tools import ToolError
from hdnhw.support.files import folder_beside, locked

Result = dict[str, Any]

_NAME, _MARK = "result.json", "kept"


def kept_result(
    folder: Path, make: Callable[[Path], Result], *, keeps: Callable[[Result], bool] = lambda _: True
) -> tuple[Result, bool]:
    """Return a result, and whether it was there already. Other processes that want the same one wait for it.

    What is there is taken if it is as it was written into this folder; otherwise it is made anew.

    Parameters
    ----------
    folder : Path
        Where it is, or will be: made beside its place and moved there when all is there.
    make : callable
        Makes it, with what else is kept, in a folder.
    keeps : callable
        Whether a result is worth keeping; without it the folder is not there afterwards.

    Raises
    ------
    ToolError
        If a tool is missing or fails; ``FOLDER.failed`` keeps its files.
    """
    kept = _read(folder)
    if kept is None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = folder.with_name(f".{folder.name}.lock")
        with locked(lock):
            try:
                kept = _read(folder)
                if kept is None:
                    shutil.rmtree(folder, ignore_errors=True)
                    return _made(folder, make, keeps), False
            finally:
                lock.unlink(missing_ok=True)
    return kept, True


def _read(folder: Path) -> Result | None:
    """Return the result in a folder; None if there is none, or it is not as it was written there."""
    try:
        found: Result = json.loads((folder / _NAME).read_text())
        return found if found.pop(_MARK) == _mark(folder, found) else None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _mark(folder: Path, result: Result) -> str:
    """Return a digest of a result and of what it is of."""
    return hashlib.sha256(json.dumps([folder.name, result], sort_keys=True).encode()).hexdigest()


def _made(folder: Path, make: Callable[[Path], Result], keeps: Callable[[Result], bool]) -> Result:
    failed = folder.with_name(f"{folder.name}.failed")
    with folder_beside(folder) as work:
        work.chmod(0o755)
        try:
            result = make(work)
            if keeps(result):
                (work / _NAME).write_text(json.dumps({_MARK: _mark(folder, result), **result}, indent=1) + "\n")
                _move(work, folder)
        except ToolError as error:
            shutil.rmtree(failed, ignore_errors=True)
            work.rename(failed)
            raise type(error)(str(error).replace(str(work), str(failed))) from None
    shutil.rmtree(failed, ignore_errors=True)
    return result


def _move(work: Path, folder: Path) -> None:
    try:
        work.rename(folder)
    except OSError:  # somebody else was as far first, with the same result
        if _read(folder) is None:
            raise
