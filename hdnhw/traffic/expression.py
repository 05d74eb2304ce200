"""Patterns and processes as text: a name, or a call with literal arguments."""

import ast
from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from itertools import chain, repeat
from types import MappingProxyType
from typing import Any

from hdnhw.spec.checks import meant
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import choices_text


def read_expression(
    text: str,
    makers: Mapping[str, Callable[..., Any]],
    what: str,
    *,
    also: str = "",
    called: Mapping[str, str] = MappingProxyType({}),
) -> tuple[str, list[Any]]:
    """Return the name of the maker that an expression such as ``hotspot(0.2, 5)`` calls, and the arguments.

    Arguments stand for the parameters of the maker that are given by position and are of type int or float; ``*name``
    takes any number of them. Others are the caller's. An error calls it `what`, which may be `also` besides. Makers may
    be `called` by other names, too.

    Raises
    ------
    TypeError
        If it is no string.
    SpecError
        If there is no such maker, or its parameters are others.
    """
    if not isinstance(text, str):
        raise TypeError(f"{what} must be a string, not one of type {type(text).__name__}")
    name, arguments = _parts(text)
    name = called.get(name, name)
    if name not in makers:
        raise SpecError(f"{what} {choices_text(makers, text, also)}{meant(name, makers)}")
    parameters = _parameters(makers[name])
    rest = [parameter for parameter in parameters if parameter.kind is Parameter.VAR_POSITIONAL]
    least = sum(parameter.default is Parameter.empty for parameter in parameters) - len(rest)
    if len(arguments) < least or (len(arguments) > len(parameters) and not rest):
        shown = ", ".join(parameter.name for parameter in parameters)
        raise SpecError(f"{what} {name} takes ({shown}), at least {least} of them, not {len(arguments)} arguments")
    for parameter, argument in zip(chain(parameters, *map(repeat, rest)), arguments, strict=False):
        allowed = (int, float) if parameter.annotation is float else (int,)
        if type(argument) not in allowed:
            raise SpecError(
                f"{name} {parameter.name} must be {'a number' if float in allowed else 'an integer'}, not {argument!r}"
            )
    return name, arguments


def form_of(name: str, maker: Callable[..., Any]) -> str:
    """Return how a maker is written: ``hotspot(SHARE, NODE)``."""
    parameters = _parameters(maker)
    rest = ", ..." * any(parameter.kind is Parameter.VAR_POSITIONAL for parameter in parameters)
    shown = ", ".join(parameter.name.upper() for parameter in parameters) + rest
    return f"{name}({shown})" if shown else name


def _parameters(maker: Callable[..., Any]) -> list[Parameter]:
    """Return the parameters for which an expression has arguments."""
    return [
        parameter
        for parameter in signature(maker).parameters.values()
        if parameter.annotation in (int, float)
        and parameter.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.VAR_POSITIONAL)
    ]


def _parts(text: str) -> tuple[str, list[Any]]:
    try:
        node = ast.parse(text.strip(), mode="eval").body
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            return node.func.id, [ast.literal_eval(argument) for argument in node.args]
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        pass
    return text.strip(), []
