"""Workers for work that goes on in parallel: processes here, or those of a cluster."""

import argparse
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from hdnhw.spec import SpecError

__all__ = ["add_worker_options", "worker_count", "workers"]


def add_worker_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say who works."""
    parser.add_argument("--workers", type=int, metavar="N", help="processes (default: one a processor)")
    parser.add_argument("--cluster", metavar="ADDRESS", help="Dask scheduler whose workers to use instead")


def worker_count(options: argparse.Namespace) -> int:
    """Return how many processes to use."""
    count = options.workers if options.workers is not None else os.cpu_count() or 1
    if count < 1:
        raise SpecError(f"workers must be at least 1, not {count}")
    return int(count)


def workers(options: argparse.Namespace) -> Callable[[], Any]:
    """Return what starts the workers: an executor."""
    from hdnhw.processes import Processes

    if options.cluster is None:
        return partial(Processes, worker_count(options))
    if options.workers is not None:
        raise SpecError("workers are those of the cluster: give --workers or --cluster, not both")
    return partial(_cluster, options.cluster)


@contextmanager
def _cluster(address: str) -> Iterator[Any]:
    from distributed import Client

    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise SpecError(f"cluster must be the address of a Dask scheduler, not {address!r}: {error}") from None
    with client:
        yield client.get_executor(retries=3)
