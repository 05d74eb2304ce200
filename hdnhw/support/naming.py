"""How messages name options and list choices."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_NAMES: ContextVar[Callable[[str], str]] = ContextVar("names of options", default=str)


def flag_of(name: str) -> str:
    """Return an option as the command line has it."""
    return f"--{name.replace('_', '-')}"


@contextmanager
def named_by(names: Callable[[str], str]) -> Iterator[None]:
    """Let messages name options in some way: ``named_by(flag_of)`` as the command line does."""
    token = _NAMES.set(names)
    try:
        yield
    finally:
        _NAMES.reset(token)


def named(name: str, value: object = None) -> str:
    """Return an option, with a value, as the caller writes it: ``on='rtl'``, or ``--on rtl`` on the command line."""
    shown = _NAMES.get()(name)
    if value is None:
        return shown
    return f"{shown} {value}" if shown.startswith("-") else f"{shown}={value!r}"


def choices_text(choices: Iterable[str], value: Any, also: str = "") -> str:
    """Return the end of a message about a value that is none of the choices, nor what it may be `also`.

    Examples
    --------
    >>> choices_text(("sum", "min"), "mean")
    "must be one of sum, min, not 'mean'"
    """
    return f"must be {also}one of {', '.join(choices)}, not {value!r}"
