"""Reading spec strings."""

import ast
import warnings
from collections.abc import Callable
from dataclasses import dataclass

from hdnhw.spec.checks import SpecError
from hdnhw.spec.dualnets import DualCube, DualNet, dualcube, hdn, rdn
from hdnhw.spec.graphs import (
    CrossedCube,
    CubeCycles,
    FoldedCube,
    Petersen,
    ReducedCube,
    Star,
    ccc,
    crossed_cube,
    folded_cube,
    petersen,
    reduced_cube,
    star,
)
from hdnhw.spec.products import Product, complete, cube, ghc, mesh, product, torus
from hdnhw.spec.swapped import SwappedNet, folded_hsn, hcn, hcn3, hfn, hsn

__all__ = ["NetworkSpec", "parse"]

NetworkSpec = (
    Product | DualNet | DualCube | SwappedNet | FoldedCube | CrossedCube | CubeCycles | ReducedCube | Star | Petersen
)

_CONSTRUCTORS: dict[str, Callable[..., NetworkSpec]] = {
    "ccc": ccc,
    "complete": complete,
    "crossed_cube": crossed_cube,
    "cube": cube,
    "dualcube": dualcube,
    "folded_cube": folded_cube,
    "folded_hsn": folded_hsn,
    "ghc": ghc,
    "hcn": hcn,
    "hcn3": hcn3,
    "hdn": hdn,
    "hfn": hfn,
    "hsn": hsn,
    "mesh": mesh,
    "petersen": petersen,
    "product": product,
    "rdn": rdn,
    "reduced_cube": reduced_cube,
    "star": star,
    "torus": torus,
}
_SHAPE = {
    "ccc": ("N",),
    "complete": ("N",),
    "crossed_cube": ("N",),
    "cube": ("N",),
    "dualcube": ("R",),
    "folded_cube": ("N",),
    "folded_hsn": ("LEVELS", "K"),
    "hcn": ("N",),
    "hcn3": ("N",),
    "hdn": ("BASE", "[[factor indices], ...]"),
    "hfn": ("N",),
    "hsn": ("LEVELS", "NUCLEUS"),
    "petersen": (),
    "rdn": ("BASE", "LEVELS"),
    "reduced_cube": ("K", "M"),
    "star": ("N",),
}
"""The arguments of the constructors that take a fixed number of them."""

_OPTIONS = {"hsn": ("diameter_links", "top")}
"""The named options of the constructors that have any."""


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
        raise SpecError(f"{where}: not a constructor expression such as rdn(cube(3), 1)") from None
    try:
        value = _read(tree.body, source)
    except RecursionError:
        raise SpecError(f"{source.at(0)}: nested too deeply") from None
    if not isinstance(value, NetworkSpec):
        raise SpecError(f"spec {text!r}: must be one of {', '.join(sorted(_CONSTRUCTORS))}, each called with (...)")
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
    constructor = _CONSTRUCTORS.get(name)
    if constructor is None:
        raise SpecError(f"{where}: {name!r} is not a network; allowed are {', '.join(sorted(_CONSTRUCTORS))}")
    arguments = [_read(argument, source) for argument in node.args]
    shape = _SHAPE.get(name)
    options = _options(node, name, source, where)
    if shape is not None and len(arguments) != len(shape):
        raise SpecError(f"{where}: {name} must be {name}({', '.join(shape)}), not {_count(len(arguments), 'argument')}")
    try:
        return constructor(*arguments, **options)
    except SpecError as error:
        raise SpecError(f"{where}: {error}") from None


def _options(node: ast.Call, name: str, source: _Source, where: str) -> dict[str, object]:
    """Return the named options of a call; True and False are allowed in them alone."""
    allowed = _OPTIONS.get(name, ())
    options: dict[str, object] = {}
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg not in allowed:
            option = "**" if keyword.arg is None else repr(keyword.arg)
            known = f"the named options {' and '.join(allowed)}, not" if allowed else "no named option"
            raise SpecError(f"{where}: {name} takes {known} {option}")
        value = keyword.value
        if isinstance(value, ast.Constant) and isinstance(value.value, bool):
            options[keyword.arg] = value.value
        else:
            options[keyword.arg] = _read(value, source)
    return options
