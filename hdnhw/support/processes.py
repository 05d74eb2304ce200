"""Processes: those that work in parallel, none of which outlives the one that started them, and limits of CPU time."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from math import ceil, inf
from multiprocessing import active_children, parent_process
from multiprocessing.context import ForkServerContext, ForkServerProcess, SpawnContext, SpawnProcess
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryFile
from threading import Thread
from types import ModuleType, TracebackType
from typing import IO, Any, Generic, ParamSpec, TypeVar

from hdnhw.support.ranks import check_alone
from hdnhw.support.signals import deferred

PATIENCE = 10
"""How many times as long as its limit of CPU time a process may take by the clock, as it may wait for others."""

Given = ParamSpec("Given")
Result = TypeVar("Result")


@contextmanager
def _without_main() -> Iterator[None]:
    """Let a process that starts now not run the main module again, which Python does so that it can find things there.

    What works here finds everything in packages; and a script, or a program that is typed in, can call it as it is.
    """
    main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


class _Spawned(SpawnProcess):
    def start(self) -> None:
        with _without_main():
            super().start()


class _Forked(ForkServerProcess):
    def start(self) -> None:
        with _without_main():
            super().start()


class _Spawning(SpawnContext):
    Process = _Spawned


class _Forking(ForkServerContext):
    Process = _Forked


class Processes(ProcessPoolExecutor):
    """An executor whose processes end with it: at once after an error, and when the one that started them is killed.

    Ctrl-C reaches all processes of a terminal; these leave it to the one that started them. They do not run the main
    module: functions and classes of it cannot be given to them.

    Parameters
    ----------
    count : int
        Of processes.
    method : str
        ``spawn`` or ``forkserver``, as in :mod:`multiprocessing`.
    preload : sequence of str
        Modules that the server of ``forkserver`` imports.
    options
        Of :class:`~concurrent.futures.ProcessPoolExecutor`.

    Attributes
    ----------
    workers : int
        How many there are.
    """

    def __init__(self, count: int, *, method: str = "spawn", preload: tuple[str, ...] = (), **options: Any) -> None:
        check_alone("work that several processes share")
        self.workers = count
        context = _Forking() if method == "forkserver" else _Spawning()
        if preload:
            context.set_forkserver_preload(list(preload))
        self._others = set(active_children())
        super().__init__(count, mp_context=context, initializer=_follow, **options)

    def submit(self, function: Callable[Given, Result], /, *given: Given.args, **named: Given.kwargs) -> Future[Result]:
        """See :meth:`concurrent.futures.Executor.submit`; it starts processes."""
        with deferred():
            return super().submit(function, *given, **named)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """End the processes; after an error they do not finish what they are doing."""
        if kind is not None:
            for process in set(active_children()) - self._others:
                process.kill()
        return super().__exit__(kind, error, trace)


class SpentError(Exception):
    """A program that has not ended within its budget."""


class Budget:
    """CPU time that programs may take in all: how busy the machine is with others makes no difference.

    Attributes
    ----------
    spent : float
        CPU seconds of the programs that have run, and of all that they have started and waited for.
    """

    def __init__(self, seconds: float = inf) -> None:
        self.seconds, self.spent = seconds, 0.0

    @property
    def left(self) -> float:
        """CPU seconds that are left."""
        return max(0.0, self.seconds - self.spent)

    def run(
        self, command: Sequence[str | Path], *, cwd: Path | None = None, env: dict[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Run a program; return its status and what it has printed.

        It ends when it, or one that it has started, has taken what is left, in whole seconds; or :data:`PATIENCE` times
        that by the clock, since a program that waits for ever takes no CPU time.

        Raises
        ------
        SpentError
            If it has not ended by itself, or nothing was left.
        """
        left = self.left
        if not left:
            raise SpentError
        until = time.monotonic() + PATIENCE * left
        with TemporaryFile() as out, TemporaryFile() as err:
            with subprocess.Popen(limited(command, left), stdout=out, stderr=err, cwd=cwd, env=env) as process:
                try:
                    was_late = self._wait(process, until)
                except BaseException:
                    process.kill()
                    raise
            said = [_text_of(file) for file in (out, err)]
        status = process.returncode
        # One that it has started may have been ended: the system counts that in ticks.
        if was_late or status == -signal.SIGXCPU or (status and self.left < left / 10):
            self.spent = max(self.spent, self.seconds)
            raise SpentError
        return subprocess.CompletedProcess(command, status, *said)

    def _wait(self, process: "subprocess.Popen[bytes]", until: float) -> bool:
        """Wait for a process and count what it has taken; return whether it was ended as it was late."""
        pause, was_late = 0.001, False
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        while not ended:
            if time.monotonic() > until and not was_late:
                os.kill(process.pid, signal.SIGKILL)
                was_late = True
            time.sleep(pause)
            pause = min(2 * pause, 0.02)
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.spent += usage.ru_utime + usage.ru_stime
        return was_late


def _text_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def limited(command: Sequence[str | Path], seconds: float) -> list[str]:
    """Return a command that SIGXCPU ends after so many CPU seconds; each process that it starts has as many."""
    words = [str(word) for word in command]
    if seconds == inf:
        return words
    # A limit that is lower already stays.
    return ["sh", "-c", 'ulimit -S -t "$0" 2> /dev/null; exec "$@"', str(ceil(seconds)), *words]


class Ended(Generic[Result]):
    """Futures as they end.

    :func:`concurrent.futures.wait` holds the locks of all futures for a moment: when a signal raises an exception just
    then, some stay locked, and the executor waits for them for ever. Here there is no lock that could be left behind.
    """

    def __init__(self) -> None:
        self._queue: SimpleQueue[Future[Result]] = SimpleQueue()

    def add(self, future: Future[Result]) -> None:
        """Let :meth:`wait` return a future too."""
        with deferred():
            future.add_done_callback(self._queue.put)

    def wait(self) -> list[Future[Result]]:
        """Wait until a future has ended; return all that have and were not returned before."""
        return [self._queue.get(), *(self._queue.get_nowait() for _ in range(self._queue.qsize()))]


def _follow() -> None:
    """End this process when the one that started it is gone."""
    Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
