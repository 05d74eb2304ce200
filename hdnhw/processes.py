"""Processes that work in parallel: none outlives the one that started them."""

import os
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import active_children, get_context, parent_process
from queue import SimpleQueue
from threading import Thread
from types import TracebackType
from typing import Any, Generic, ParamSpec, TypeVar

from hdnhw.signals import deferred

__all__ = ["Ended", "Processes"]

Given = ParamSpec("Given")
Result = TypeVar("Result")


class Processes(ProcessPoolExecutor):
    """An executor whose processes end with it: at once after an error, and when the one that started them is killed.

    Ctrl-C reaches all processes of a terminal; these leave it to the one that started them.

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
        context = get_context(method)
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
