"""Workers for work that goes on in parallel: processes here, or those of a cluster."""

import argparse
import logging
import os
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread
from typing import Any

from hdnhw.spec import SpecError

__all__ = ["add_worker_options", "worker_count", "workers"]

MOST_WORKERS = 1024
"""Processes that are started here."""

WATCH_SECONDS = 0.5
"""Between two looks at how many workers a cluster has."""

Say = Callable[[str], None]


def add_worker_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say who works."""
    parser.add_argument("--workers", type=int, metavar="N", help="processes (default: one a processor)")
    parser.add_argument("--cluster", metavar="ADDRESS", help="Dask scheduler whose workers to use instead")


def worker_count(options: argparse.Namespace) -> int:
    """Return how many processes to use."""
    count = options.workers if options.workers is not None else os.cpu_count() or 1
    if not 1 <= count <= MOST_WORKERS:
        raise SpecError(f"workers must be 1 to {MOST_WORKERS}, not {count}")
    return int(count)


def workers(options: argparse.Namespace, say: Say) -> Callable[[], Any]:
    """Return what starts the workers: an executor. `say` is told when a cluster has none, from any thread."""
    from hdnhw.processes import Processes

    if options.cluster is None:
        return partial(Processes, worker_count(options))
    if options.workers is not None:
        raise SpecError("workers are those of the cluster: give --workers or --cluster, not both")
    return partial(_cluster, options.cluster, say)


@contextmanager
def _cluster(address: str, say: Say) -> Iterator[Any]:
    from distributed import Client, KilledWorker

    logging.disable()  # what becomes of the connection is said here, in one line
    try:
        with _connected(Client, address) as client, _watched(client, say):
            try:
                yield client.get_executor(retries=3)
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
        raise SpecError(f"cluster must be the address of a Dask scheduler, not {address!r}: {error}") from None


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
