"""Checks of sizes that the makers of specs share."""

from collections.abc import Iterable
from difflib import get_close_matches
from reprlib import repr as short_repr

from hdnhw.support.errors import SpecError

MAX_ADDRESS_BITS = 60
"""Widest packed address, bits: addresses are handled as signed 64-bit integers by the model."""

MAX_EDGES = 1 << 19
"""Most edges of a network that is a list of them."""

MAX_PORTS = 4096
"""Most ports of a node; a router has fewer still."""


def meant(name: str, allowed: Iterable[str]) -> str:
    """Return which of the names that are allowed may be meant by another one, as part of an error; empty if none is.

    Examples
    --------
    >>> meant("tours", ["mesh", "torus"])
    ' (did you mean torus?)'
    """
    known = {one.lstrip("-"): one for one in allowed}
    near = get_close_matches(name.lstrip("-"), known, n=1, cutoff=0.7)
    return f" (did you mean {known[near[0]]}?)" if near else ""


def shown(value: object) -> str:
    """Return a value of any kind for a message of one line: an array is cut.

    Examples
    --------
    >>> shown([1, 2]), shown("x" * 99)
    ('[1, 2]', "'xxxxxxxxxxxx...xxxxxxxxxxxxx'")
    """
    return " ".join(short_repr(value).split())


def integer(value: object, what: str, least: int) -> int:
    """Return `value` if it is an integer of at most 64 bits and not below `least`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise SpecError(f"{what} must be an integer, not {value!r}")
    if value.bit_length() > 64:
        raise SpecError(f"{what} must be an integer of at most 64 bits, not of {value.bit_length()}")
    if value < least:
        raise SpecError(f"{what} must be at least {least}, not {value}")
    return value


def dimension(name: str, n: object, least: int) -> int:
    """Return the dimension of a cube of some kind, `n`, if it is an integer of a size that addresses allow."""
    value = integer(n, f"{name} dimension", least)
    if value > MAX_ADDRESS_BITS:
        raise SpecError(f"{name} dimension must be at most {MAX_ADDRESS_BITS}, not {value}")
    return value


def call_text(name: str, arguments: Iterable[object]) -> str:
    """Return the canonical text of a constructor call."""
    return f"{name}({', '.join(str(argument) for argument in arguments)})"


def check_address(text: str, bits: int) -> None:
    """Raise SpecError if an address has too many bits."""
    if bits > MAX_ADDRESS_BITS:
        raise SpecError(f"{text} needs {bits} address bits; at most {MAX_ADDRESS_BITS} are allowed")


def check_digits(text: str, radices: Iterable[int]) -> None:
    """Raise SpecError if an address of digits of these radices has too many bits."""
    check_address(text, sum(digit_widths(radices)))


def digit_widths(radices: Iterable[int]) -> list[int]:
    """Return the address bits of each digit."""
    return [(radix - 1).bit_length() for radix in radices]


def check_ports(text: str, ports: int) -> None:
    """Raise SpecError if a node has too many ports."""
    if ports > MAX_PORTS:
        raise SpecError(f"{text} has {ports} ports per node; at most {MAX_PORTS} are allowed")


def check_edges(text: str, edges: int) -> None:
    """Raise SpecError if a network that is a list of edges has too many."""
    if edges > MAX_EDGES:
        raise SpecError(f"{text} has {edges} edges; networks that are lists of edges have at most {MAX_EDGES}")


def check_level_count(name: str, levels: int) -> None:
    """Raise SpecError if there are too many levels to build."""
    if levels > MAX_ADDRESS_BITS:
        raise SpecError(f"{name} level count must be at most {MAX_ADDRESS_BITS}, not {levels}")
