"""How far long work is: a bar on a terminal, nothing elsewhere."""

import shutil
import sys
from threading import RLock
from types import TracebackType

from hdnhw.cli.options import say

__all__ = ["ProgressBar"]

WIDTH = 24
"""Characters of a full bar."""


class ProgressBar:
    """A bar on standard error if that is a terminal; it is gone at the end of the context. Any thread may speak.

    Examples
    --------
    >>> with ProgressBar() as progress:
    ...     progress.show("warm-up", 0.25)
    """

    def __init__(self) -> None:
        self._line, self._lock = "", RLock()

    def __enter__(self) -> "ProgressBar":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._draw("")

    def show(self, what: str, share: float) -> None:
        """Show what is being done and which share of it is, 1 at most."""
        share = min(1.0, share)
        bar = "#" * int(WIDTH * share)
        self._draw(f"[{bar:.<{WIDTH}}] {int(100 * share):3} % {what}")

    def say(self, message: str) -> None:
        """Tell the user something; the bar goes on below it."""
        with self._lock:
            line = self._line
            self._draw("")
            say(message)
            self._draw(line)

    def _draw(self, line: str) -> None:
        line = line[: shutil.get_terminal_size().columns - 1]
        with self._lock:
            if line != self._line and sys.stderr is not None and sys.stderr.isatty():
                print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
                self._line = line
