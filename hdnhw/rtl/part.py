"""What a component is joined from: modules by their names, or components with their logic; joined by their members."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from amaranth.hdl import ClockSignal, Elaboratable, Instance, Module, ResetInserter, ResetSignal, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In


@dataclass(frozen=True)
class Part:
    """A component, or the module that is emitted of it.

    Attributes
    ----------
    make : callable
        Makes the component.
    module : str
        Name of its module; empty where the component itself stands, with its logic.
    joint : str
        Between the members of a path in the names of the module's ports.
    """

    make: Callable[[], Any]
    module: str = ""
    joint: str = "__"

    @cached_property
    def ports(self) -> list[tuple[tuple[str | int, ...], bool, int]]:
        """Path, whether it is an input, and bits of each port."""
        one = unused(self.make())
        return [(path, member.flow is In, len(Value.cast(value))) for path, member, value in one.signature.flatten(one)]


def unused(component: Any) -> Any:
    """Return a component of which only the ports are read, without a warning that it was forgotten."""
    for each in (component, *vars(component).values()):
        if isinstance(each, Elaboratable):
            each._MustUse__silence = True
    return component


def place(
    m: Module,
    name: str,
    part: Part,
    members: Mapping[str, Any],
    *,
    clocks: Mapping[str, Value] | None = None,
    unread: bool = False,
) -> None:
    """Add a part to a module as submodule `name`, all of its members joined.

    Parameters
    ----------
    members : mapping of str to value
        Each member of its signature -> what it is joined to: values, and for a signature an interface or a mapping, for
        an array a sequence of them. Wires between two parts are given to both.
    clocks : mapping of str to value, optional
        Clocks and resets of a module, by its ports; those of the domain ``sync`` if it is not given. A component is in
        that domain: only ``rst`` counts, which resets it as well.
    unread : bool
        Whether nothing reads the outputs that are not among the members.

    Raises
    ------
    ValueError
        If a member is missing or is not one of the part's, or has other bits.
    """
    if unknown := {*_paths(members)} - {path[:depth] for path, _, _ in part.ports for depth in (1, 2, 3)}:
        raise ValueError(f"{_shown(name, min(unknown))} is not a member of it")
    pins = {}
    for path, is_input, width in part.ports:
        is_read = is_input or not unread or path[0] in members
        pins[path] = Value.cast(_found(name, members, path)) if is_read else _unread(name, path, width)
        if len(pins[path]) != width:
            raise ValueError(f"{_shown(name, path)} must be joined to {width} bits, not {len(pins[path])}")
    if part.module:
        clocked = {"clk": ClockSignal(), "rst": ResetSignal()} if clocks is None else clocks
        joined = [("i", port, value) for port, value in clocked.items()]
        joined += [
            ("i" if is_input else "o", part.joint.join(map(str, path)), pins[path]) for path, is_input, _ in part.ports
        ]
        m.submodules[name] = Instance(part.module, *joined)
        return
    component: Any = part.make()
    for path, is_input, _ in part.ports:
        port = Value.cast(at(component, path))
        m.d.comb += port.eq(pins[path]) if is_input else pins[path].eq(port)
    m.submodules[name] = ResetInserter(clocks["rst"])(component) if clocks else component


def wires(signature: wiring.Signature, name: str) -> Any:
    """Return an interface of wires between two parts, called `name` and the path of each member, joined by ``_``."""
    made = signature.create()
    for path, _, value in signature.flatten(made):
        Value.cast(value).name = "_".join((name, *map(str, path)))
    return made


def at(one: Any, path: Iterable[str | int]) -> Any:
    """Return what an interface, or a mapping or sequence in its place, has at a path of its signature."""
    for step in path:
        one = one[step] if isinstance(step, int) or isinstance(one, Mapping) else getattr(one, step)
    return one


def _paths(members: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Return the paths of what is given: every member, and of interfaces theirs."""
    for name, value in members.items():
        yield (name,)
        if isinstance(signature := getattr(value, "signature", None), wiring.Signature | wiring.FlippedSignature):
            yield from ((name, *path) for path, _ in signature.members.flatten())


def _found(name: str, members: Mapping[str, Any], path: tuple[str | int, ...]) -> Any:
    try:
        return at(members, path)
    except (AttributeError, LookupError):
        raise ValueError(f"{_shown(name, path)} must be joined") from None


def _unread(name: str, path: tuple[str | int, ...], width: int) -> Signal:
    return Signal(width, name="_".join((name, *map(str, path))))  # a pin without one is an error to some tools


def _shown(name: str, path: tuple[str | int, ...]) -> str:
    return ".".join((name, *map(str, path)))
