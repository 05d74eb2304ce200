"""Processes that work in parallel: none outlives the one that started them."""

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, parent_process
from multiprocessing.context import ForkServerContext, ForkServerProcess, SpawnContext, SpawnProcess
from queue import SimpleQueue
from threading import Thread
from types import ModuleType, TracebackType
from typing import Any, Generic, ParamSpec, TypeVar

from hdnhw.signals import deferred

__all__ = ["Ended", "Processes"]

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
    """

    def __init__(self, count: int, *, method: str = "spawn", preload: tuple[str, ...] = (), **options: Any) -> None:
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
