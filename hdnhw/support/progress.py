"""What a command says while it works: messages, a bar of tqdm, and on a terminal how long it has been silent."""

import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Event, RLock, Thread
from time import monotonic
from types import TracebackType
from typing import Any
from warnings import catch_warnings, simplefilter

Progress = Callable[[str, float], None]
"""What is told a stage of some work and the share of it that is done."""

TERMINAL_BAR, NOTEBOOK_BAR = "{percentage:3.0f} %|{bar:16}| {elapsed}<{remaining} {desc}", "{bar} {elapsed} {desc}"
CLOCK = "working, {elapsed}"

LONGEST = 1000
"""Most characters that are told at once: an argument of any length may be in it."""

PATIENCE, TICK = 2.0, 0.5
"""Seconds without a word after which a clock is shown, and between two looks at that."""


class _Screen:
    """Standard error, and what is drawn anew there again and again, if it is a terminal. Any thread may write.

    Attributes
    ----------
    bars : int
        How many bars are shown.
    clock : tqdm or None
        The clock, if it is shown.
    changed : float
        When something was shown, by :func:`time.monotonic`.
    lock : RLock
    """

    def __init__(self) -> None:
        self.bars, self.changed, self.lock = 0, monotonic(), RLock()
        self.clock: Any = None

    def hide_clock(self) -> None:
        """Take the clock away."""
        with self.lock:
            if self.clock is not None:
                self.clock.close()
            self.clock, self.changed = None, monotonic()

    def say(self, message: str) -> None:
        """Write a line above bars."""
        if sys.stderr is None:  # it was closed, and print would take standard output
            return
        with self.lock, suppress(OSError):
            if self.bars or self.clock is not None:
                from tqdm import tqdm

                tqdm.write(message, file=sys.stderr)
            else:
                print(f"{message}\n", end="", file=sys.stderr)
            sys.stderr.flush()  # at once: a signal may come in between
            self.changed = monotonic()


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _make_bar(of_terminal: str, of_notebook: str | None = None, **options: Any) -> Any:
    """Return a bar of tqdm in these formats, without it None: where neither a terminal nor a notebook shows it."""
    if not _is_terminal() and (of_notebook is None or "ipykernel" not in sys.modules):
        return None
    with catch_warnings():
        simplefilter("ignore")  # that a notebook lacks widgets
        from tqdm.auto import tqdm
        from tqdm.notebook import tqdm_notebook
    is_notebook = issubclass(tqdm, tqdm_notebook)
    if not is_notebook and not _is_terminal():
        return None
    form = of_notebook if is_notebook else of_terminal
    return tqdm(file=sys.stderr, bar_format=form, leave=False, dynamic_ncols=True, **options)


_SCREEN = _Screen()


def say(message: str) -> None:
    """Tell the user something that is not the result, if anybody listens; of a line that never ends, its ends."""
    if len(message) > LONGEST:
        message = f"{message[: LONGEST // 2]} ... {message[-LONGEST // 2 :]}"
    _SCREEN.say(message)


class Stopwatch:
    """Time since it was made."""

    def __init__(self) -> None:
        self._started = monotonic()

    @property
    def seconds(self) -> float:
        """What has gone by."""
        return monotonic() - self._started


class ProgressBar:
    """A bar on standard error if that is a terminal, or in a notebook with widgets; it is gone at the end.

    Examples
    --------
    >>> with ProgressBar() as progress:
    ...     progress.show("warm-up", 0.25)
    """

    def __enter__(self) -> "ProgressBar":
        self._bar, self._shown = None, ("", -1)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            with _SCREEN.lock:
                self._bar.close()
                _SCREEN.bars -= 1
                _SCREEN.changed = monotonic()

    def show(self, what: str, share: float) -> None:
        """Show what is being done and which share of it is, 1 at most; the time left is that of this share."""
        before, shown = self._shown, (what, int(100 * min(1.0, share)))
        if shown == before:
            return
        with _SCREEN.lock:
            self._shown = shown
            if before[1] < 0:
                self._begin(what)
            if self._bar is None:
                return
            self._bar.set_description_str(what, refresh=False)
            if shown[1] < before[1]:
                self._bar.reset()
            self._bar.n = shown[1]
            self._bar.refresh()
            _SCREEN.changed = monotonic()

    def _begin(self, what: str) -> None:
        _SCREEN.hide_clock()
        self._bar = _make_bar(TERMINAL_BAR, NOTEBOOK_BAR, desc=what, total=100)
        _SCREEN.bars += self._bar is not None

    def say(self, message: str) -> None:
        """Tell the user something; the bar goes on below it."""
        say(message)


class Clock:
    """The time since its context began, on a terminal that has shown nothing new for a while and has no bar."""

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
            _SCREEN.hide_clock()

    def _run(self) -> None:
        while not self._over.wait(TICK):
            with _SCREEN.lock:
                if self._over.is_set() or _SCREEN.bars:
                    continue
                if _SCREEN.clock is not None:
                    _SCREEN.clock.refresh()
                elif monotonic() - _SCREEN.changed >= PATIENCE:
                    _SCREEN.clock = _make_bar(CLOCK)
                    _SCREEN.clock.start_t -= monotonic() - self._start
                    _SCREEN.clock.refresh()
