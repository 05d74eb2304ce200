"""Ranks: processes that ``mpirun`` starts, on one machine or several, to share one simulation.

All of them do the same with the same data, but for what the core does with the nodes of each; the first one alone
prints and writes. mpi4py is imported where there are several, and brings the MPI that it was built for.
"""

import ctypes
import os
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import cache, partial
from io import StringIO
from math import inf
from time import monotonic, sleep
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

VARIABLES = (
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
)
"""In which Open MPI, MPICH and those like it, and srun say how many processes there are, and which one this is."""

PATIENCE = 2.0
"""Seconds that a rank which has failed waits for the others to end, too, before it ends them."""

LOOKS, NAP = 50, 2e-5
"""Looks for what the others send, and seconds between those behind them: a processor may have several ranks to serve,
and MPI would keep it busy with waiting."""


def started() -> tuple[int, int]:
    """Return how many processes were started together, and the number of this one."""
    for size, rank in VARIABLES:
        if int(os.environ.get(size) or 1) > 1:
            return int(os.environ[size]), int(os.environ.get(rank) or 0)
    return 1, 0


def is_first() -> bool:
    """Tell whether this is the process that prints and writes."""
    return started()[1] == 0


def check_alone(what: str) -> None:
    """Raise ValueError if there are several processes, with which something does not go."""
    size, _ = started()
    if size > 1:
        raise ValueError(f"mpirun, which has started {size} processes, does not go with {what}")


class Ranks:
    """The processes that were started together.

    Attributes
    ----------
    size, rank : int
        How many there are, and which of them this is.
    exchange : int or None
        Of several, the function of C by which they exchange bytes, see ``hdnhw/core/src/machine.hpp``.
    parcels : array of ctypes
        What goes with it.
    exchanges, bytes : int
        How often that was called, and what this rank has sent by it.
    error : BaseException or None
        Why it has failed.
    """

    def __init__(self) -> None:
        self.size, self.rank = started()
        self.exchange: int | None = None
        self.error: BaseException | None = None
        self.exchanges, self.bytes = 0, 0
        self.parcels = (ctypes.c_int64 * self.size)()
        if self.size == 1:
            return
        from mpi4py import MPI

        self._mpi, self._all, self._end = MPI, MPI.COMM_WORLD.Dup(), MPI.COMM_WORLD.Dup()
        if self._all.size != self.size:
            raise ValueError(
                f"{self.size} processes were started, and mpi4py sees {self._all.size}: it must be of the MPI whose "
                "mpirun this is"
            )
        self.rank = self._all.rank
        self._come = [MPI.buffer.allocate(1) for _ in range(self.size)]
        self._called = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(self._exchange)
        self.exchange = ctypes.cast(self._called, ctypes.c_void_p).value
        told = sys.excepthook

        def end(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
            if not self.rank:
                told(kind, error, trace)
            self.leave(1, lambda: told(kind, error, trace))

        sys.excepthook = end

    def _exchange(self, place: int) -> bool:
        """Send each other rank its bytes, and say where those from it stand; return whether that could be."""
        try:
            world, byte = self._all, self._mpi.BYTE
            sizes, requests, status = list(self.parcels), [], self._mpi.Status()
            for rank, size in enumerate(sizes):
                if rank != self.rank:
                    requests.append(world.Isend([self._mpi.buffer.fromaddress(place, size), byte], rank))
                    place += size
            for rank in range(self.size):
                if rank != self.rank:
                    message = _awaited(partial(world.Improbe, rank, 0, status))
                    size = status.Get_count(byte)
                    if size > len(self._come[rank]):
                        self._come[rank] = self._mpi.buffer.allocate(2 * size)
                    message.Recv([self._come[rank], size, byte])
                    self.parcels[rank] = self._come[rank].address
            _awaited(partial(self._mpi.Request.Testall, requests))
        except BaseException as error:  # the core must end first
            self.error = error
            return False
        self.exchanges, self.bytes = self.exchanges + 1, self.bytes + sum(sizes)
        return True

    def total(self, numbers: Any) -> Any:
        """Return an array, whose elements are now the sums of those of all ranks."""
        return self._reduced(numbers, "SUM")

    def most(self, numbers: Any) -> Any:
        """Return an array, whose elements are now the largest of those of all ranks."""
        return self._reduced(numbers, "MAX")

    def _reduced(self, numbers: Any, how: str) -> Any:
        if self.size > 1 and numbers.size:
            _awaited(self._all.Iallreduce(self._mpi.IN_PLACE, numbers, getattr(self._mpi, how)).Test)
        return numbers

    def table(self, words: "npt.NDArray[np.int64]") -> "npt.NDArray[np.int64]":
        """Return the words of all ranks, axes (rank, word)."""
        import numpy as np

        found = np.empty((self.size, len(words)), np.int64)
        _awaited(self._all.Iallgather(words, found).Test)
        return found

    def gather(self, rows: Any) -> Any:
        """Return the rows of all ranks, one rank after the other."""
        if self.size == 1:
            return rows
        import numpy as np

        counts = self.table(np.array([len(rows)]))[:, 0]
        found = np.empty((counts.sum(), rows.shape[1]), rows.dtype)
        if len(found):
            _awaited(self._all.Iallgatherv(np.ascontiguousarray(rows), [found, counts * rows.shape[1]]).Test)
        return found

    def leave(self, status: int, tell: Callable[[], None]) -> None:
        """Wait until all ranks are here; if this one has failed and the others are not, tell so and end them."""
        if self.size == 1:
            return
        request, until = self._end.Ibarrier(), monotonic() + (PATIENCE if status else inf)
        while not request.Test():
            if monotonic() > until:
                break
            sleep(0.001)
        else:
            return
        if self.rank:
            tell()
        sleep(PATIENCE / 10)  # mpirun forgets what it has not passed on
        self._mpi.COMM_WORLD.Abort(status)


def _awaited(look: Callable[[], Any]) -> Any:
    """Look until there is something; return that."""
    looks = 0
    while not (found := look()):
        looks += 1
        if looks > LOOKS:
            sleep(NAP)
    return found


@cache
def ranks() -> Ranks:
    """Return the ranks; MPI begins when they are first asked for."""
    return Ranks()


def together(run: Callable[[], int]) -> int:
    """Run a program that returns its exit status; what it prints is that of the first rank, unless another one fails.

    Parameters
    ----------
    run : callable
        Asks for :func:`ranks`, and takes care of an error if there is no MPI.
    """
    size, rank = started()
    if size == 1:
        return run()
    said = StringIO()
    try:
        if not rank:
            status = run()
        else:
            with redirect_stdout(StringIO()), redirect_stderr(said):
                status = run()
    except SystemExit as error:
        status = int(error.code or 0)
    if ranks.cache_info().currsize:
        ranks().leave(status, lambda: print(said.getvalue(), end="", file=sys.stderr, flush=True))
    elif rank:
        sleep(PATIENCE)  # the first one is to say why, and Open MPI ends all when one has failed
    return status
