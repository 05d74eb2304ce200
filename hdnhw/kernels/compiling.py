"""Compiling with Numba, and keeping the machine code wherever there is a place for it, or without any."""

import ast
import inspect
import pickle
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from weakref import WeakSet

from numba import njit
from numba.core import caching, ccallback, event, sigutils

from hdnhw.kernels import STARTED, compilation

__all__ = ["compiled", "compiled_text", "digest_of_sources", "folder_of", "is_there"]

ROOT = Path(__file__).parents[2]
"""The folder of the package."""

PLACES = 1024
"""Functions of one name that are made from a text and kept, at most."""


_own: WeakSet[Any] = WeakSet()
"""What :func:`compiled` has returned."""


def compiled(function: Callable[..., Any], *signatures: str, **options: Any) -> Any:
    """Compile a function: at once for its signatures, or for the arguments of each call if there are none.

    Other threads go on while it runs. The code is kept in the folder that ``NUMBA_CACHE_DIR`` names, beside the source,
    or in the user's folder for such things, whichever can be written first; from beside the source it is read where
    nothing can be written. It is made anew when a source that it was made from has changed.
    """
    dispatcher = njit(nogil=True, **options)(function)
    _own.add(dispatcher)
    _keep(dispatcher, function)
    for signature in signatures:
        dispatcher.compile(signature)
    if signatures:
        dispatcher.disable_compile()
    return dispatcher


@lru_cache(maxsize=64)
def compiled_text(text: str, signature: str) -> Any:
    """Compile the one function that a text defines, which reads nothing else, to a C function.

    The code is kept as that of kernels is, by the digest of the text.
    """
    digest = sha256(text.encode()).hexdigest()
    namespace: dict[str, Any] = {}
    exec(compile(text, __file__, "exec"), namespace)
    _, function = namespace.popitem()
    function.__module__ = __name__
    function.__qualname__ = f"{function.__name__}_{digest}"  # names its symbol
    function.__name__ += f"_{int(digest, 16) % PLACES}"
    made = ccallback.CFunc(function, sigutils.normalize_signature(signature), {}, {})
    _keep(made, function, digest)
    made.compile()
    return made


def digest_of_sources(file: Path) -> str:
    """Return a digest of a source and of all those of hdnhw that it imports, and that they import, and so on.

    Comments, docstrings and what stands on which line are no part of it. What a program has imported may be
    older than a file that has changed since it began: then the time of the change is a part.
    """
    digests, files = dict[Path, str](), [file]
    while files:
        if (source := files.pop()) not in digests:
            changed = source.stat().st_mtime_ns
            digest, imports = _read(source, changed)
            digests[source] = digest + (f" {changed}" if changed > STARTED else "")
            files += imports
    return sha256(" ".join(digests[source] for source in sorted(digests)).encode()).hexdigest()


@cache
def _read(source: Path, _changed: int) -> tuple[str, list[Path]]:
    """Return the digest of a source, and the files of hdnhw whose full names it has in imports or as strings."""
    tree, names = ast.parse(source.read_bytes()), set[str]()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                names |= {alias.name for alias in aliases}
            case ast.ImportFrom(module=str(module), names=aliases):
                names |= {module, *(f"{module}.{alias.name}" for alias in aliases)}
            case ast.Constant(value=str(text)):
                names.add(text)
            case ast.Expr(value=ast.Constant() as docstring):
                docstring.value = None
    paths = [ROOT.joinpath(*name.split(".")) for name in names if re.fullmatch(r"hdnhw(\.\w+)+", name)]
    files = [file for path in paths for file in (path.with_suffix(".py"), path / "__init__.py")]
    return sha256(ast.dump(tree).encode()).hexdigest(), [file for file in files if file.is_file()]


def folder_of(dispatcher: Any) -> Path | None:
    """Return the folder in which the code of what :func:`compiled` returned is kept; None if it is not."""
    return Path(dispatcher._cache.cache_path) if isinstance(dispatcher._cache, _Cache) else None


def is_there(dispatcher: Any) -> bool:
    """Tell whether code of what :func:`compiled` returned is loaded or kept, so that it need not be compiled."""
    cache = dispatcher._cache
    if dispatcher.signatures or not isinstance(cache, _Cache):
        return bool(dispatcher.signatures)
    _, *own = cache._index_key(None, dispatcher.targetctx.codegen())  # type: ignore[no-untyped-call]
    return cache.files.has(own)


def _keep(made: Any, function: Callable[..., Any], digest: str | None = None) -> None:
    """Let what Numba makes of a function be kept by a digest, that of its sources if there is no other."""
    with suppress(OSError, RuntimeError):  # there is no source, or no folder
        made._cache = _Cache(function, digest or digest_of_sources(Path(inspect.getfile(function))))


def _file_of(function: Callable[..., Any], file: str) -> str:
    """Return how the names of the files begin that are kept of a function."""
    return f"{Path(file).stem}.{function.__name__}.{sys.implementation.cache_tag}"


class _BesideSource(caching.InTreeCacheLocator):
    """The folder beside the source, though it cannot be written, if it has the code: an image's, or another user's."""

    @classmethod
    def from_function(cls, function: Any, file: str) -> "_BesideSource | None":
        made: Any = cls(function, file)
        return made if any(Path(made.get_cache_path()).glob(f"{_file_of(function, file)}.*")) else None


class _Implementation(caching.CompileResultCacheImpl):
    _locator_classes: list[Any] = [  # noqa: RUF012  # as in the base class
        caching.UserProvidedCacheLocator,
        caching.InTreeCacheLocator,
        _BesideSource,
        caching.UserWideCacheLocator,
    ]


class _Files(caching.IndexDataCacheFile):
    """Machine code in a file for each signature and kind of processor, which begins with the digest of what it is.

    Numba has an index beside such files. When two processes write both at once, one's code can come to stand where the
    index has the other's.
    """

    def load(self, key: Any) -> Any:
        digest, path = self._place(key)
        content = path.read_bytes()
        return pickle.loads(content[len(digest) :]) if content.startswith(digest) else None

    def save(self, key: Any, data: Any) -> None:
        digest, path = self._place(key)
        with self._open_for_write(path) as file:
            file.write(digest + self._dump(data))  # type: ignore[no-untyped-call]

    def _place(self, key: Any) -> tuple[bytes, Path]:
        """Return the digest of all of a key, and the file of its signature and kind of processor."""
        signature, *own = key
        name = self._data_name_pattern.format(number=int(sha256(repr(key[:2]).encode()).hexdigest()[:8], 16))
        return self._digest(own) + sha256(repr(signature).encode()).digest(), Path(self._cache_path, name)

    def _digest(self, own: list[Any]) -> bytes:
        """Return the digest of all that a key has but the signature."""
        return sha256(repr((self._version, self._source_stamp, own)).encode()).digest()

    def has(self, own: list[Any]) -> bool:
        """Tell whether there is a file with this key, whatever its signature."""
        digest, name = self._digest(own), self._data_name_pattern.partition("{")[0]
        return any(path.read_bytes().startswith(digest) for path in Path(self._cache_path).glob(f"{name}*.nbc"))


class _Cache(caching.FunctionCache):
    """Numba's, but with files of our own, and what cannot be written is not kept, and no error."""

    _impl_class = _Implementation

    def __init__(self, function: Callable[..., Any], digest: str) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        name = _file_of(function, inspect.getfile(function))
        self._cache_file = self.files = _Files(self.cache_path, name, digest)  # type: ignore[no-untyped-call]

    @contextmanager
    def _guard_against_spurious_io_errors(self) -> Iterator[None]:
        with suppress(OSError):
            yield


class _Watch(event.Listener):
    """Tells of the first compilation, and adds up the time of all; functions are compiled inside of others.

    What is made for one network or schedule takes little and is not told of.
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
