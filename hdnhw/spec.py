"""Spec strings and the frozen dataclasses they stand for.

A network spec names a graph; a :class:`FabricSpec` names one machine built on that graph. The text of a spec is the
constructor expression of this module, so ``hdn(torus(2, 3, 5), [[0], [1, 2]])`` means the same in a shell, a TOML file
and Python; it is also what ``str`` and ``repr`` give. :func:`parse` reads it with :mod:`ast` against a list of allowed
names and literals; nothing is evaluated.
"""

import ast
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import index
from typing import SupportsIndex

__all__ = [
    "CROSSBARS",
    "EXCHANGE_ORDERS",
    "OPERATIONS",
    "QUEUEINGS",
    "AxiStreamSpec",
    "CollectiveSpec",
    "DualCube",
    "DualNet",
    "FabricSpec",
    "Factor",
    "NetworkSpec",
    "Product",
    "SpecError",
    "complete",
    "cube",
    "dualcube",
    "ghc",
    "hdn",
    "mesh",
    "parse",
    "product",
    "rdn",
    "torus",
]

MAX_ADDRESS_BITS = 60
"""Widest packed address, bits: addresses are handled as signed 64-bit integers by the model."""

CROSSBARS = ("crosspoint", "output")
"""Where the registers of a router's switch traversal stand; the first is the default."""

QUEUEINGS = ("fifo", "voq")
"""In which order packets leave a virtual channel of a router's input; the first is the default."""


OPERATIONS = ("broadcast", "scatter", "allgather", "exchange")
"""Collective operations."""

EXCHANGE_ORDERS = ("paper", "cluster-first")
"""Schedules of a total exchange: the papers' and the one of fewest words, see :mod:`hdnhw.collective.exchange`."""


class SpecError(ValueError):
    """A spec that names no network; the message says where and what is allowed."""


@dataclass(frozen=True)
class Factor:
    """One factor graph of a product.

    Attributes
    ----------
    kind : str
        ``"cycle"``, ``"path"`` or ``"complete"``.
    size : int
        Number of nodes, at least 2.
    """

    kind: str
    size: int

    @property
    def is_edge(self) -> bool:
        """Whether the factor is a single edge (two nodes): one port whatever its kind."""
        return self.size == 2

    @property
    def is_symmetric(self) -> bool:
        """Whether the factor is node-symmetric, as a base of a dual-net must be."""
        return self.kind != "path" or self.is_edge

    @property
    def degree(self) -> int:
        """Largest degree in the simple graph."""
        if self.kind == "complete":
            return self.size - 1
        return 1 if self.is_edge else 2

    @property
    def diameter(self) -> int:
        """Diameter in hops."""
        return {"cycle": self.size // 2, "path": self.size - 1, "complete": 1}[self.kind]


@dataclass(frozen=True, repr=False)
class Product:
    """A product of factor graphs; factor 0 is the most significant digit of a node number.

    Attributes
    ----------
    factors : tuple of Factor
    text : str
        The canonical spec string.
    """

    factors: tuple[Factor, ...]
    text: str

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True, repr=False)
class DualNet:
    """HDN(B, k, S): the hierarchical dual-net (HDN paper, section 2).

    Attributes
    ----------
    base : Product
        The base network B.
    super_nodes : tuple of tuple of int
        ``super_nodes[j - 1]`` holds the factor indices of SN^j, ascending; ``k = len(super_nodes)``.
    text : str
        The canonical spec string.
    """

    base: Product
    super_nodes: tuple[tuple[int, ...], ...]
    text: str

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True, repr=False)
class DualCube:
    """The dual-cube F_r: RDN((r-1)-cube, 1) under the binary addresses of the dual-cube paper.

    Attributes
    ----------
    r : int
        Degree of every node, at least 2.
    """

    r: int

    def __repr__(self) -> str:
        return f"dualcube({self.r})"


NetworkSpec = Product | DualNet | DualCube


@dataclass(frozen=True, kw_only=True)
class AxiStreamSpec:
    """AXI4-Stream endpoints: the terminals of a fabric that carries frames of any length.

    Attributes
    ----------
    max_frame : int
        Bytes of the longest frame, a power of two; longer ones are cut.
    tuser_width : int
        Bits of user data that travel with a frame.

    Raises
    ------
    TypeError
        If a member is of another type.
    SpecError
        If a size is out of range.
    """

    max_frame: int = 1024
    tuser_width: int = 1

    def __post_init__(self) -> None:
        longest, user = _size("max frame", self.max_frame), _size("tuser width", self.tuser_width)
        if not 16 <= longest <= 1 << 20 or longest & (longest - 1):
            raise SpecError(f"max frame must be a power of two from 16 to {1 << 20} bytes, not {longest}")
        if not 1 <= user <= 1024:
            raise SpecError(f"tuser width must be 1 to 1024 bits, not {user}")
        object.__setattr__(self, "max_frame", longest)
        object.__setattr__(self, "tuser_width", user)


@dataclass(frozen=True, kw_only=True)
class CollectiveSpec:
    """Collective engines: the terminals of a fabric that runs collective operations by itself.

    Attributes
    ----------
    operations : tuple of str
        Those of :data:`OPERATIONS` that an engine can run, in their order there.
    root : int
        Node number of the only source of a broadcast or scatter.
    order : str
        One of :data:`EXCHANGE_ORDERS`.

    Raises
    ------
    TypeError
        If a member is of another type.
    SpecError
        If there is no such operation or order, or a root is negative.
    """

    operations: tuple[str, ...] = OPERATIONS
    root: int = 0
    order: str = EXCHANGE_ORDERS[1]

    def __post_init__(self) -> None:
        asked, root = tuple(self.operations), _size("root", self.root)
        if not asked or set(asked) - set(OPERATIONS):
            raise SpecError(f"operations must be some of {', '.join(OPERATIONS)}, not {', '.join(map(repr, asked))}")
        if self.order not in EXCHANGE_ORDERS:
            raise SpecError(f"order must be {' or '.join(EXCHANGE_ORDERS)}, not {self.order!r}")
        if root < 0:
            raise SpecError(f"root must be at least 0, not {root}")
        object.__setattr__(self, "operations", tuple(name for name in OPERATIONS if name in asked))
        object.__setattr__(self, "root", root)


@dataclass(frozen=True, kw_only=True)
class FabricSpec:
    """One machine on a network.

    Attributes
    ----------
    network : NetworkSpec
    modes : str or None
        One letter a level, from level k down to 1, ``f`` or ``O``; None for the default.
    lanes : int
        Virtual channels of a buffer class, 1 or 2.
    packet_length : int
        Flits a packet, L >= 1.
    flit_width : int
        Bits a flit.
    buffers : int or None
        Packet slots a port, a power of two, shared evenly by its virtual channels, at least one each; None for the
        least with which a port of one virtual channel sustains one flit a cycle.
    crossbar : str
        One of :data:`CROSSBARS`: where the registers of switch traversal stand. Cycles do not depend on it.
    queueing : str
        One of :data:`QUEUEINGS`: whether packets leave a virtual channel first in, first out, or so only among those
        that go the same way, as virtual output queues.
    endpoints : AxiStreamSpec, CollectiveSpec or None
        What stands at the terminals; None for bare streams of flits.

    Raises
    ------
    TypeError
        If a member is of another type.
    SpecError
        If a member is out of range.
    """

    network: NetworkSpec
    modes: str | None = None
    lanes: int = 1
    packet_length: int = 8
    flit_width: int = 32
    buffers: int | None = None
    crossbar: str = CROSSBARS[0]
    queueing: str = QUEUEINGS[0]
    endpoints: AxiStreamSpec | CollectiveSpec | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.network, NetworkSpec):
            raise TypeError(f"network must be a network spec such as parse(...) returns, not {self.network!r}")
        if self.modes is not None and not isinstance(self.modes, str):
            raise TypeError(f"modes must be a string or None, not {self.modes!r}")
        for what, choice, allowed in (
            ("crossbar", self.crossbar, CROSSBARS),
            ("queueing", self.queueing, QUEUEINGS),
        ):
            if choice not in allowed:
                raise SpecError(f"{what} must be {' or '.join(allowed)}, not {choice!r}")
        if self.endpoints is not None and not isinstance(self.endpoints, AxiStreamSpec | CollectiveSpec):
            raise TypeError(f"endpoints must be an AxiStreamSpec, a CollectiveSpec or None, not {self.endpoints!r}")
        length, width = _size("packet length", self.packet_length), _size("flit width", self.flit_width)
        if not 1 <= length <= 256:
            raise SpecError(f"packet length must be 1 to 256 flits, not {length}")
        if not 1 <= width <= 1024:
            raise SpecError(f"flit width must be 1 to 1024 bits, not {width}")
        slots = None if self.buffers is None else _size("buffers", self.buffers)
        if slots is not None and (not 1 <= slots <= 256 or slots & (slots - 1)):
            raise SpecError(f"buffers must be a power of two from 1 to 256 packets a port, not {slots}")
        for name, value in (
            ("lanes", _size("lanes", self.lanes)),
            ("packet_length", length),
            ("flit_width", width),
            ("buffers", slots),
        ):
            object.__setattr__(self, name, value)


def _size(what: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise TypeError(f"{what} must be an integer, not {value!r}")
    return index(value)


def _integer(value: object, what: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise SpecError(f"{what} must be an integer, not {value!r}")
    if value.bit_length() > 64:
        raise SpecError(f"{what} must be an integer of at most 64 bits, not of {value.bit_length()}")
    if value < least:
        raise SpecError(f"{what} must be at least {least}, not {value}")
    return value


def _call(name: str, arguments: Iterable[object]) -> str:
    return f"{name}({', '.join(str(argument) for argument in arguments)})"


def _product_of(name: str, kind: str, sizes: Sequence[object]) -> Product:
    if not sizes:
        raise SpecError(f"{name} must have at least one size, for example {name}(4, 4)")
    checked = [_integer(size, f"{name} size", 2) for size in sizes]
    return _checked_product(tuple(Factor(kind, size) for size in checked), _call(name, checked))


def _checked_product(factors: tuple[Factor, ...], text: str) -> Product:
    _check_address(text, sum(_digit_widths(factors)))
    return Product(factors, text)


def _digit_widths(factors: Iterable[Factor]) -> list[int]:
    return [(factor.size - 1).bit_length() for factor in factors]


def _check_address(text: str, bits: int) -> None:
    if bits > MAX_ADDRESS_BITS:
        raise SpecError(f"{text} needs {bits} address bits; at most {MAX_ADDRESS_BITS} are allowed")


def torus(*sizes: int) -> Product:
    """Make a product of cycles; a size of 2 is one edge."""
    return _product_of("torus", "cycle", sizes)


def mesh(*sizes: int) -> Product:
    """Make a product of paths."""
    return _product_of("mesh", "path", sizes)


def ghc(*sizes: int) -> Product:
    """Make a generalised hypercube, a product of complete graphs."""
    return _product_of("ghc", "complete", sizes)


def complete(n: int) -> Product:
    """Make one complete graph on `n` nodes."""
    return _product_of("complete", "complete", [n])


def cube(n: int) -> Product:
    """Make the n-cube, a product of `n` single edges."""
    dimensions = _integer(n, "cube dimension", 1)
    if dimensions > MAX_ADDRESS_BITS:
        raise SpecError(f"cube dimension must be at most {MAX_ADDRESS_BITS}, not {dimensions}")
    return Product((Factor("complete", 2),) * dimensions, f"cube({dimensions})")


def product(*parts: Product) -> Product:
    """Make any product; the factors of the parts are numbered from 0 in reading order."""
    if not parts:
        raise SpecError("product must have at least one network, for example product(torus(5), complete(4))")
    for part in parts:
        if not isinstance(part, Product):
            raise SpecError(f"product part must be torus, mesh, cube, complete, ghc or product, not {part!r}")
    return _checked_product(tuple(factor for part in parts for factor in part.factors), _call("product", parts))


def _base(name: str, base: object) -> Product:
    if not isinstance(base, Product):
        raise SpecError(f"{name} base must be torus, cube, complete, ghc or product, not {base!r}")
    for position, factor in enumerate(base.factors):
        if not factor.is_symmetric:
            raise SpecError(
                f"{name} base must be a product of symmetric factors; factor {position} of {base} "
                f"is a path of {factor.size} nodes"
            )
    return base


def _dual_bits(base: Product, super_nodes: Sequence[Sequence[int]]) -> int:
    """Return the address bits of HDN(B, k, S): a level adds a class bit, and a cluster id like the super-node's."""
    widths = _digit_widths(base.factors)
    prefix = 0
    for super_node in super_nodes:
        prefix += 1 + prefix + sum(width for position, width in enumerate(widths) if position not in super_node)
    return prefix + sum(widths)


def _check_level_count(name: str, levels: int) -> None:
    if levels > MAX_ADDRESS_BITS:
        raise SpecError(f"{name} level count must be at most {MAX_ADDRESS_BITS}, not {levels}")


def hdn(base: Product, super_nodes: Sequence[Sequence[int]]) -> DualNet:
    """Make HDN(B, k, S) from one list of factor indices of B a level; ``[]`` is a super-node of one node.

    Raises
    ------
    SpecError
        If the base is not a product of symmetric factors, or a list is not made of distinct factor indices.
    """
    checked_base = _base("hdn", base)
    if not isinstance(super_nodes, (list, tuple)) or not super_nodes:
        raise SpecError("hdn super-nodes must be a list with one list of factor indices a level, for example [[0], []]")
    _check_level_count("hdn", len(super_nodes))
    count = len(checked_base.factors)
    levels = []
    for level, super_node in enumerate(super_nodes, start=1):
        where = f"hdn super-node of level {level}"
        if not isinstance(super_node, (list, tuple)):
            raise SpecError(f"{where} must be a list of factor indices, not {super_node!r}")
        indices = [_integer(position, f"{where}: factor index", 0) for position in super_node]
        if any(position >= count for position in indices):
            raise SpecError(f"{where}: factor index must be 0 to {count - 1}, not {max(indices)}")
        if len(set(indices)) != len(indices):
            raise SpecError(f"{where}: factor indices must be distinct, not {list(super_node)}")
        levels.append(tuple(sorted(indices)))
    text = f"hdn({checked_base}, {[list(level) for level in levels]})"
    _check_address(text, _dual_bits(checked_base, levels))
    return DualNet(checked_base, tuple(levels), text)


def rdn(base: Product, k: int) -> DualNet:
    """Make the recursive dual-net RDN(B, k): HDN with every super-node of one node."""
    checked_base = _base("rdn", base)
    levels = _integer(k, "rdn level count", 1)
    _check_level_count("rdn", levels)
    text = f"rdn({checked_base}, {levels})"
    _check_address(text, _dual_bits(checked_base, [()] * levels))
    return DualNet(checked_base, ((),) * levels, text)


def dualcube(r: int) -> DualCube:
    """Make the dual-cube F_r of 2^(2r-1) nodes (dual-cube paper, section 2)."""
    degree = _integer(r, "dualcube degree", 2)
    _check_address(f"dualcube({degree})", 2 * degree - 1)
    return DualCube(degree)


_CONSTRUCTORS: dict[str, Callable[..., NetworkSpec]] = {
    "complete": complete,
    "cube": cube,
    "dualcube": dualcube,
    "ghc": ghc,
    "hdn": hdn,
    "mesh": mesh,
    "product": product,
    "rdn": rdn,
    "torus": torus,
}
_ARITY = {"complete": 1, "cube": 1, "dualcube": 1, "hdn": 2, "rdn": 2}
_SHAPE = {
    "hdn": "hdn(BASE, [[factor indices], ...])",
    "rdn": "rdn(BASE, LEVELS)",
    "complete": "complete(N)",
    "cube": "cube(N)",
    "dualcube": "dualcube(R)",
}


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
    if node.keywords:
        option = node.keywords[0].arg
        raise SpecError(f"{where}: {name} takes no named option {'**' if option is None else repr(option)}")
    arguments = [_read(argument, source) for argument in node.args]
    if name in _ARITY and len(arguments) != _ARITY[name]:
        raise SpecError(f"{where}: {name} must be {_SHAPE[name]}, not {_count(len(arguments), 'argument')}")
    try:
        return constructor(*arguments)
    except SpecError as error:
        raise SpecError(f"{where}: {error}") from None
