"""Workers for work that goes on in parallel: processes here, or those of a cluster."""

import logging
import os
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread
from typing import Any

from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named

MOST_WORKERS = 1024
"""Processes that are started here."""

WATCH_SECONDS = 0.5
"""Between two looks at how many workers a cluster has."""

Say = Callable[[str], None]


def worker_count(workers: int | None) -> int:
    """Return how many processes to use: one a processor if None."""
    count = workers if workers is not None else os.cpu_count() or 1
    if not 1 <= count <= MOST_WORKERS:
        raise SpecError(f"{named('workers')} must be 1 to {MOST_WORKERS}, not {count}")
    return int(count)


def start_of(workers: int | None, cluster: str | None, say: Say) -> Callable[[], Any]:
    """Return what starts workers: an executor.

    Parameters
    ----------
    workers : int or None
        Processes; None: one a processor.
    cluster : str or None
        Address of the Dask scheduler whose workers are used instead.
    say : callable
        Is told when a cluster has no worker, from any thread.
    """
    from hdnhw.support.processes import Processes

    if cluster is None:
        return partial(Processes, worker_count(workers))
    if workers is not None:
        raise SpecError(f"workers are those of the cluster: give {named('workers')} or {named('cluster')}, not both")
    return partial(_cluster, cluster, say)


@contextmanager
def _cluster(address: str, say: Say) -> Iterator[Any]:
    from distributed import Client, KilledWorker

    logging.disable()  # what becomes of the connection is said here, in one line
    try:
        with _connected(Client, address) as client, _watched(client, say):
            try:
                executor = client.get_executor(retries=3)
                executor.workers = max(1, sum(client.nthreads().values()))  # as that of processes
                yield executor
            except KilledWorker as error:
                raise ConnectionError(f"workers of the cluster at {address} died, one after another: {error}") from None
            except Exception as error:
                if isinstance(error, CancelledError) or client.status != "running":
                    raise ConnectionError(f"the scheduler of the cluster at {address} is gone") from None
                raise
    finally:
        logging.disable(logging.NOTSET)


def _connected(connect: Callable[..., Any], address: str) -> Any:
    try:
        return connect(address, timeout=10)
    except (OSError, ValueError) as error:
        raise SpecError(
            f"{named('cluster')} must be the address of a Dask scheduler, not {address!r}: {error}"
        ) from None


@contextmanager
def _watched(client: Any, say: Say) -> Iterator[None]:
    """Tell when a cluster has no workers, once each time."""
    over = Event()

    def watch() -> None:
        before = True
        while not over.wait(WATCH_SECONDS):
            try:
                there = bool(client.nthreads())
            except Exception:  # the scheduler is gone: that is seen by who waits for results
                return
            if before and not there and not over.is_set():
                say("the cluster has no worker: waiting for one")
            before = there

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
