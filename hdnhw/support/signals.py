"""Signals that end a program: where they must wait, and what fails because of them."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread


@contextmanager
def deferred() -> Iterator[None]:
    """Let SIGINT and SIGTERM wait, and SIGINT for ever in processes that start now: they inherit what is blocked."""
    came: list[int] = []
    is_told = current_thread() is main_thread()
    handlers = {
        number: signal.signal(number, lambda which, _: came.append(which))
        for number in (signal.SIGINT, signal.SIGTERM)
        if is_told
    }
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for which in came:
            signal.raise_signal(which)


@contextmanager
def told_first() -> Iterator[None]:
    """Raise what a signal has raised, not an error that came of it.

    Python's own clean-up can fail when it is interrupted: :func:`shutil.rmtree`, between closing a folder and noting
    that it is closed, closes it again.
    """
    try:
        yield
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, KeyboardInterrupt):
                raise cause from None
            cause = cause.__context__
        raise
