"""Reading spec strings."""

import ast
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import cast

from hdnhw.networks.registry import makers
from hdnhw.spec.checks import meant
from hdnhw.spec.network import NetworkSpec
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import choices_text

CALLED = {"ring": "torus", "ncube": "cube", "hypercube": "cube", "kncube": "torus", "grid": "mesh", "path": "mesh"}
CALLED |= {"wk_recursive": "wk", "wrapped_butterfly": "butterfly"}
"""What others call some networks."""


def parse(text: str) -> NetworkSpec:
    """Read a spec string.

    Parameters
    ----------
    text : str

    Returns
    -------
    NetworkSpec

    Raises
    ------
    TypeError
        If `text` is not a string.
    SpecError
        With the column of the offending part, counted from 1 in `text`, and what is allowed there.

    Examples
    --------
    >>> str(parse("hdn( torus(2,3,5), [[1,0], []] )"))
    'hdn(torus(2, 3, 5), [[0, 1], []])'
    """
    if not isinstance(text, str):
        raise TypeError(f"spec must be a string, not {text!r}")
    if not text.isascii() or len(text.splitlines()) > 1:
        raise SpecError(f"spec {text!r}: must be one line of ASCII characters")
    expression = text.lstrip()
    source = _Source(text, len(text) - len(expression))
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(expression.rstrip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = source.at((getattr(error, "offset", None) or 1) - 1)
        why = getattr(error, "msg", "cannot be read")
        raise SpecError(f"{where}: {why}: not a constructor expression such as rdn(cube(3), 1)") from None
    try:
        value = _read(tree.body, source)
    except RecursionError:
        raise SpecError(f"{source.at(0)}: nested too deeply") from None
    if not isinstance(value, NetworkSpec):
        raise SpecError(f"spec {text!r}: {choices_text(makers(), text, 'a call of ')}")
    return value


@dataclass(frozen=True)
class _Source:
    """The text of a spec as the user typed it, and how many spaces stand before the expression."""

    text: str
    indent: int

    def at(self, offset: int) -> str:
        """Return where the character is that stands `offset` characters into the expression."""
        return f"spec {self.text!r}: column {self.indent + offset + 1}"


def _read(node: ast.expr, source: _Source) -> object:
    where = source.at(node.col_offset)
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        operand = _read(node.operand, source)
        if isinstance(operand, int):
            return -operand
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_read(item, source) for item in node.elts]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _construct(node, node.func.id, source, where)
    raise SpecError(f"{where}: only constructor calls, integers and lists are allowed")


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' * (number != 1)}"


def _construct(node: ast.Call, name: str, source: _Source, where: str) -> object:
    maker = makers().get(name)
    if maker is None:
        known = meant(CALLED.get(name, name), makers())
        raise SpecError(f"{where}: network {choices_text(makers(), name)}{known}")
    arguments = [_text(argument) if _is_text(argument, maker) else _read(argument, source) for argument in node.args]
    options = _options(node, maker, source, where)
    try:
        signature(maker).bind(*arguments, **options)
    except TypeError:
        count = _count(len(arguments), "argument")
        raise SpecError(f"{where}: {name} must be {name}({', '.join(_shape(maker))}), not {count}") from None
    try:
        return maker(*arguments, **options)
    except SpecError as error:
        raise SpecError(f"{where}: {error}") from None


def _is_text(node: ast.expr, maker: Callable[..., NetworkSpec]) -> bool:
    """Return whether an argument is a string, of a maker that takes some."""
    takes = any("str" in str(parameter.annotation) for parameter in signature(maker).parameters.values())
    return takes and isinstance(node, ast.Constant) and type(node.value) is str


def _text(node: ast.expr) -> str:
    return str(cast(ast.Constant, node).value)


def _shape(maker: Callable[..., NetworkSpec]) -> list[str]:
    """Return the arguments that a maker takes by position, as errors show them."""
    shown = []
    for parameter in signature(maker).parameters.values():
        name = "[[INDEX, ...], ...]" if parameter.annotation == Sequence[Sequence[int]] else parameter.name.upper()
        if parameter.kind is Parameter.VAR_POSITIONAL:
            shown.append(f"{name}, ...")
        elif parameter.kind is not Parameter.KEYWORD_ONLY:
            shown.append(name if parameter.default is Parameter.empty else f"[{name}]")
    return shown


def _options(node: ast.Call, maker: Callable[..., NetworkSpec], source: _Source, where: str) -> dict[str, object]:
    """Return the named options of a call; True and False are allowed in them alone."""
    parameters = signature(maker).parameters.values()
    allowed = [parameter.name for parameter in parameters if parameter.kind is Parameter.KEYWORD_ONLY]
    options: dict[str, object] = {}
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg not in allowed:
            option = "**" if keyword.arg is None else repr(keyword.arg)
            known = f"the named option{'s' * (len(allowed) > 1)} {' and '.join(allowed)}, not"
            raise SpecError(f"{where}: {maker.__name__} takes {known if allowed else 'no named option'} {option}")
        value = keyword.value
        if isinstance(value, ast.Constant) and isinstance(value.value, bool):
            options[keyword.arg] = value.value
        else:
            options[keyword.arg] = _read(value, source)
    return options
