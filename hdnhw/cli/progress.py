"""What a command says while it works: messages, a bar, and on a terminal how long it has been silent."""

import shutil
import sys
from contextlib import suppress
from threading import Event, RLock, Thread
from time import monotonic
from types import TracebackType

__all__ = ["Clock", "ProgressBar", "say"]

WIDTH = 24
"""Characters of a full bar."""

LONGEST = 1000
"""Most characters that are told at once: an argument of any length may be in it."""

PATIENCE, TICK = 2.0, 0.5
"""Seconds without a word after which a clock is shown, and between two looks at that."""


class _Screen:
    """Standard error; its last line is drawn anew again and again, if it is a terminal. Any thread may write.

    Attributes
    ----------
    line : str
        What stands in the last line.
    changed : float
        When something was written, by :func:`time.monotonic`.
    lock : RLock
    """

    def __init__(self) -> None:
        self.line, self.changed, self.lock = "", monotonic(), RLock()

    def draw(self, line: str) -> None:
        """Let this be the last line."""
        line = line[: shutil.get_terminal_size().columns - 1]
        with self.lock:
            if line != self.line and _is_terminal():
                print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
                self.line, self.changed = line, monotonic()

    def say(self, message: str) -> None:
        """Write a line above the last one."""
        with self.lock:
            line = self.line
            self.draw("")
            if sys.stderr is not None:  # it is None if it was closed, and print would take standard output
                with suppress(OSError):
                    print(f"{message}\n", end="", file=sys.stderr, flush=True)  # at once: a signal may come in between
            self.changed = monotonic()
            self.draw(line)


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


_SCREEN = _Screen()


def say(message: str) -> None:
    """Tell the user something that is not the result, if anybody listens; of a line that never ends, its ends."""
    if len(message) > LONGEST:
        message = f"{message[: LONGEST // 2]} ... {message[-LONGEST // 2 :]}"
    _SCREEN.say(message)


class ProgressBar:
    """A bar on standard error if that is a terminal; it is gone at the end of the context.

    Examples
    --------
    >>> with ProgressBar() as progress:
    ...     progress.show("warm-up", 0.25)
    """

    def __enter__(self) -> "ProgressBar":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _SCREEN.draw("")

    def show(self, what: str, share: float) -> None:
        """Show what is being done and which share of it is, 1 at most."""
        share = min(1.0, share)
        bar = "#" * int(WIDTH * share)
        _SCREEN.draw(f"[{bar:.<{WIDTH}}] {int(100 * share):3} % {what}")

    def say(self, message: str) -> None:
        """Tell the user something; the bar goes on below it."""
        say(message)


class Clock:
    """The seconds since its context began, on a terminal that has shown nothing new for a while and has no bar."""

    def __enter__(self) -> None:
        self._over, self._start = Event(), monotonic()
        _SCREEN.changed = self._start
        if _is_terminal():
            Thread(target=self._run, daemon=True).start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with _SCREEN.lock:
            self._over.set()
            _SCREEN.draw("")

    def _run(self) -> None:
        shown = ""
        while not self._over.wait(TICK):
            with _SCREEN.lock:
                is_free = _SCREEN.line == shown and (shown or monotonic() - _SCREEN.changed >= PATIENCE)
                if is_free and not self._over.is_set():
                    _SCREEN.draw(f"working, {monotonic() - self._start:.0f} s")
                shown = _SCREEN.line if is_free else ""
