"""Compiling with Numba, and keeping the machine code wherever there is a place for it, or without any."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from weakref import WeakSet

from numba import njit
from numba.core import caching, event

from hdnhw.kernels import compilation

__all__ = ["compiled", "folder_of", "is_there"]


_own: WeakSet[Any] = WeakSet()
"""What :func:`compiled` has returned."""


def compiled(function: Callable[..., Any], *signatures: str, **options: Any) -> Any:
    """Compile a function: at once for its signatures, or for the arguments of each call if there are none.

    Other threads go on while it runs. The code is kept in the folder that ``NUMBA_CACHE_DIR`` names, beside the source,
    or in the user's folder for such things, whichever can be written first; from beside the source it is read where
    nothing can be written.
    """
    dispatcher = njit(nogil=True, **options)(function)
    _own.add(dispatcher)
    with suppress(RuntimeError):  # there is no folder
        dispatcher._cache = _Cache(function)  # type: ignore[no-untyped-call]
    for signature in signatures:
        dispatcher.compile(signature)
    if signatures:
        dispatcher.disable_compile()
    return dispatcher


def folder_of(dispatcher: Any) -> Path | None:
    """Return the folder in which the code of what :func:`compiled` returned is kept; None if it is not."""
    return Path(dispatcher._cache.cache_path) if isinstance(dispatcher._cache, _Cache) else None


def is_there(dispatcher: Any) -> bool:
    """Tell whether code of what :func:`compiled` returned is loaded or kept, so that it need not be compiled."""
    cache = dispatcher._cache
    if dispatcher.signatures or not isinstance(cache, _Cache):
        return bool(dispatcher.signatures)
    _, *own = cache._index_key(None, dispatcher.targetctx.codegen())  # type: ignore[no-untyped-call]
    return any(list(made) == own for _, *made in cache._cache_file._load_index())


class _BesideSource(caching.InTreeCacheLocator):
    """The folder beside the source, though it cannot be written, if it has the code: an image's, or another user's."""

    @classmethod
    def from_function(cls, function: Any, file: str) -> "_BesideSource | None":
        made: Any = cls(function, file)
        index = f"{Path(file).stem}.{function.__qualname__}-{made.get_disambiguator()}.*.nbi"
        return made if any(Path(made.get_cache_path()).glob(index)) else None


class _Implementation(caching.CompileResultCacheImpl):
    _locator_classes: list[Any] = [  # noqa: RUF012  # as in the base class
        caching.UserProvidedCacheLocator,
        caching.InTreeCacheLocator,
        _BesideSource,
        caching.UserWideCacheLocator,
    ]


class _Cache(caching.FunctionCache):
    """Numba's, but what cannot be written is not kept, and no error."""

    _impl_class = _Implementation

    @contextmanager
    def _guard_against_spurious_io_errors(self) -> Iterator[None]:
        with suppress(OSError):
            yield


class _Watch(event.Listener):
    """Tells of the first compilation, and adds up the time of all; functions are compiled inside of others.

    What is made for one network or schedule, and never kept, takes little and is not told of.
    """

    def __init__(self) -> None:
        self._depth, self._started = 0, 0.0

    def on_start(self, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        if dispatcher in _own:
            compilation.announce(folder_of(dispatcher) is not None)
        if not self._depth:
            self._started = time.perf_counter()
        self._depth += 1

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        self._depth -= 1
        if not self._depth:
            compilation.seconds += time.perf_counter() - self._started


event.register("numba:compile", _Watch())
