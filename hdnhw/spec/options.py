"""Options: the members of a spec, or of what a command asks for, that a user chooses, each described in one place.

A member made by :func:`option` carries an :class:`Option`. The command line, the parameters of functions and their
docstrings, refusals, the keys of sweeps, what results and manifests say of a machine, and the machines that checks draw
at random are all derived from it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from math import inf
from operator import index
from typing import Any, ClassVar, SupportsFloat, SupportsIndex

from hdnhw.spec.checks import shown
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import choices_text, named


@dataclass(frozen=True, kw_only=True)
class Option:
    """What there is to know of one option; the classes made from it say which values it has.

    Attributes
    ----------
    help : str
        For the command line and docstrings: a phrase that begins with a small letter, and names other options as the
        command line does.
    metavar : str, tuple of str or None
        What stands for the value on the command line.
    group : str
        Title of the options among which it is listed there.
    routes : bool
        Whether it belongs to the routing rule, which exists without hardware.
    timed : bool
        Whether it depends on it in which cycle a packet comes out.
    pins : bool
        Whether it adds ports to the top level of a fabric.
    drawn : tuple
        Values among which checks draw at random; empty if they have a way of their own.
    """

    help: str
    metavar: str | tuple[str, ...] | None = None
    group: str = ""
    routes: bool = False
    timed: bool = False
    pins: bool = False
    drawn: tuple[Any, ...] = ()

    def checked(self, what: str, value: Any) -> Any:
        """Return `value` as it is kept; `what` names the option in messages.

        Raises
        ------
        TypeError
            If it is of another type.
        SpecError
            If it is out of range.
        """
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Flag(Option):
    """True or False."""

    drawn: tuple[Any, ...] = (False, True)

    def checked(self, what: str, value: Any) -> bool:
        """See :meth:`Option.checked`."""
        if not isinstance(value, bool):
            raise TypeError(f"{what} must be True or False, not {shown(value)}")
        return value


@dataclass(frozen=True, kw_only=True)
class Choice(Option):
    """One of some names; `alone` is the one meant by the option without a value on the command line, if any is."""

    choices: tuple[str, ...]
    alone: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "drawn", self.choices)

    def checked(self, what: str, value: Any) -> str:
        """See :meth:`Option.checked`."""
        if value not in self.choices:
            raise SpecError(f"{what} {choices_text(self.choices, value)}")
        return str(value)


@dataclass(frozen=True, kw_only=True)
class Kind(Choice):
    """One of some names; in Python also an object of such a kind."""

    def checked(self, what: str, value: Any) -> Any:
        """See :meth:`Option.checked`."""
        return super().checked(what, value) if isinstance(value, str) else value


def _integer(what: str, value: Any) -> int:
    """Return `value` as an integer, whatever library it is one of."""
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise TypeError(f"{what} must be an integer, not {shown(value)}")
    return index(value)


@dataclass(frozen=True, kw_only=True)
class Size(Option):
    """An integer from `least` to `most`, if there is one; a power of two if asked.

    Attributes
    ----------
    unit : str
        In messages, for example ``flits``; empty for counts of the thing itself.
    """

    least: int
    most: int | None = None
    unit: str = ""
    power_of_two: bool = False

    def checked(self, what: str, value: Any) -> int:
        """See :meth:`Option.checked`."""
        number = _integer(what, value)
        too_many = self.most is not None and number > self.most
        if number < self.least or too_many or (self.power_of_two and number & (number - 1)):
            joint = "or" if self.most == self.least + 1 else "to"
            allowed = f"at least {self.least}" if self.most is None else f"{self.least} {joint} {self.most}"
            allowed = f"{'a power of two from ' * self.power_of_two}{allowed}"
            raise SpecError(f"{what} must be {allowed}{' ' * bool(self.unit)}{self.unit}, not {number}")
        return number


@dataclass(frozen=True, kw_only=True)
class Rate(Option):
    """A number from `least` to `most`; below it if `open`. Its `unit` is for messages."""

    least: float
    most: float
    open: bool = False
    unit: str = ""

    def checked(self, what: str, value: Any) -> Any:
        """See :meth:`Option.checked`."""
        if isinstance(value, bool) or not isinstance(value, SupportsFloat):
            raise TypeError(f"{what} must be a number, not {shown(value)}")
        if not self.least <= float(value) <= self.most or (self.open and value == self.most):
            least, most = f"at least {self.least:g}", "finite" if self.most == inf else f"below {self.most:g}"
            allowed = f"{least} and {most}" if self.open else f"{self.least:g} to {self.most:g}"
            allowed = least if self.most == inf and not self.open else allowed
            raise SpecError(f"{what} must be {allowed}{' ' * bool(self.unit)}{self.unit}, not {value}")
        return value


@dataclass(frozen=True, kw_only=True)
class Text(Option):
    """Any string; it is read where more is known."""

    def checked(self, what: str, value: Any) -> str:
        """See :meth:`Option.checked`."""
        if not isinstance(value, str):
            raise TypeError(f"{what} must be a string, not {shown(value)}")
        return value


@dataclass(frozen=True, kw_only=True)
class Pattern(Text):
    """Where packets go: the command line lists what there is, and `more`.

    Functions of the library read files, arrays and mappings before; they come here as text, which names them.
    """

    more: str = ""


@dataclass(frozen=True, kw_only=True)
class Origin(Text):
    """What a file says that it was made by: the command line gives itself, without ``--json`` if it is `plain`."""

    plain: bool = False


@dataclass(frozen=True, kw_only=True)
class Given(Option):
    """A node, a file, or a list in one word on the command line: any value, which is read where more is known.

    `alone` is the one meant by the option without a value there, if any is.
    """

    alone: Any = None

    def checked(self, what: str, value: Any) -> Any:  # noqa: ARG002
        """See :meth:`Option.checked`."""
        return value


@dataclass(frozen=True, kw_only=True)
class PerChannel(Option):
    """A number for all channels, or for those of some types: ``TYPE=N,...``, of which the last that fits counts.

    A type is a port, whose name may have ``*`` in it, and stands for both directions of a channel. In Python also an
    integer or a mapping. Kept as text, see :func:`by_channel`.
    """

    least: int
    most: int
    unit: str

    def checked(self, what: str, value: Any) -> str:
        """See :meth:`Option.checked`."""
        if isinstance(value, Mapping):
            value = ",".join(f"{name}={number}" for name, number in value.items())
        elif isinstance(value, SupportsIndex):
            value = str(_integer(what, value))
        if not isinstance(value, str):
            raise TypeError(f"{what} must be an integer, a string or a mapping, not {shown(value)}")
        text = re.sub(r" *([=,]) *", r"\1", value.strip(" "))
        for one in text.split(","):
            found = re.fullmatch(r"(?:[\w*]+=)?(-?[0-9]{1,9})", one)
            if found is None:
                raise SpecError(
                    f"{what} must be {self.unit} such as 2, or those of types of channels such as cross1=20,dim*=2, "
                    f"not {shown(value)}"
                )
            if not self.least <= int(found[1]) <= self.most:
                raise SpecError(f"{what} must be {self.least} to {self.most} {self.unit}, not {found[1]}")
        return text


def by_channel(text: str) -> list[tuple[str, int]]:
    """Return what a :class:`PerChannel` says: patterns of types, and their numbers.

    Examples
    --------
    >>> by_channel("2,cross*=20")
    [('*', 2), ('cross*', 20)]
    """
    parts = [one.rpartition("=") for one in text.split(",")]
    return [(pattern or "*", int(number)) for pattern, _, number in parts]


@dataclass(frozen=True, kw_only=True)
class Repeated(Given):
    """A list of such values; on the command line the option stands once for each."""


@dataclass(frozen=True, kw_only=True)
class Patterns(Repeated, Pattern):
    """One pattern, or several."""

    def checked(self, what: str, value: Any) -> Any:
        """See :meth:`Option.checked`."""
        several = isinstance(value, Iterable) and not isinstance(value, str)
        return [Text.checked(self, what, one) for one in value] if several else Text.checked(self, what, value)


@dataclass(frozen=True, kw_only=True)
class Several(Option):
    """One or more values, or a `number` of them, of the `choices` if there are any.

    On the command line there are blanks between them, and `metavar` may name each.
    """

    choices: tuple[str, ...] = ()
    number: int | None = None

    def checked(self, what: str, value: Any) -> tuple[Any, ...]:
        """See :meth:`Option.checked`."""
        value = (value,) if isinstance(value, str) or not isinstance(value, Iterable) else value
        for one in value:
            if self.choices and one not in self.choices:
                raise SpecError(f"{what} {choices_text(self.choices, one)}")
        return tuple(value)


@dataclass(frozen=True, kw_only=True)
class Names(Option):
    """Some of some names, kept in the order of `choices`; on the command line with commas between them."""

    choices: tuple[str, ...]

    def checked(self, what: str, value: Any) -> tuple[str, ...]:
        """See :meth:`Option.checked`."""
        asked = tuple(value)
        for one in asked or [()]:
            if one not in self.choices:
                raise SpecError(f"{what} {choices_text(self.choices, one)}")
        return tuple(name for name in self.choices if name in asked)


@dataclass(frozen=True, kw_only=True)
class Node(Option):
    """The number of a node; on the command line an address as well."""

    def checked(self, what: str, value: Any) -> int:
        """See :meth:`Option.checked`."""
        number = _integer(what, value)
        if number < 0:
            raise SpecError(f"{what} must be at least 0, not {number}")
        return number


def option(default: Any, kind: type[Option], help: str, **about: Any) -> Any:
    """Return a member of a dataclass that is an option: its default, or :data:`REQUIRED`, and what makes up its kind.

    It may be None if its annotation says so.
    """
    return field(default=default, metadata={"option": kind(help=help, **about)})


def option_of(spec: type, name: str, default: Any) -> Any:
    """Return an option of a class with another default."""
    known = replace(options_of(spec)[name], group=group_of(spec, name))
    return field(default=default, metadata={"option": known})


REQUIRED = MISSING
"""In place of the default of an option that must be given."""


def seed_option(default: int, of: str = "the random numbers") -> Any:
    """Return the option of the seed of something."""
    return option(default, Size, f"seed of {of}", metavar="S", least=0)


MOST_THREADS = 64
"""Of one run."""


def threads_option(worth: str) -> Any:
    """Return the option that says how many threads simulate, and from how many routers on that is worth it."""
    about = f"simulation threads; they pay off above {worth} routers, and the result is the same"
    return option(1, Size, about, metavar="N", least=1, most=MOST_THREADS)


def options_of(spec: Any, **kinds: bool) -> Mapping[str, Option]:
    """Return the options of a spec, or of a class of specs, by the names of its members.

    Parameters
    ----------
    spec
    kinds : bool
        Only those of which the attributes of :class:`Option` with these names are so: ``timed=True`` are those on which
        cycles depend.
    """
    options = {name: member.metadata["option"] for name, member in members_of(spec).items()}
    return {
        name: option
        for name, option in options.items()
        if all(getattr(option, kind) == asked for kind, asked in kinds.items())
    }


def members_of(spec: Any) -> Mapping[str, Any]:
    """Return the members of a spec, or of a class of specs, that are options: its own before those that it inherits."""
    kind = spec if isinstance(spec, type) else type(spec)
    order = [name for one in kind.__mro__ for name in vars(one).get("__annotations__", ())]
    members = sorted(fields(spec), key=lambda member: order.index(member.name))
    without = getattr(kind, "without", ())
    return {member.name: member for member in members if "option" in member.metadata and member.name not in without}


def group_of(spec: type, name: str) -> str:
    """Return the title of the options among which one is listed: its own, or that of the class that it comes from."""
    own: str = options_of(spec)[name].group
    return own or next(
        vars(one).get("heading", "") for one in spec.__mro__ if name in vars(one).get("__annotations__", ())
    )


def check_options(spec: Any) -> None:
    """Check the options of a frozen spec, and keep them as :meth:`Option.checked` returns them."""
    for name, member in members_of(spec).items():
        value, kind = getattr(spec, name), member.metadata["option"]
        if value is not None or not str(member.type).endswith("| None"):
            object.__setattr__(spec, name, kind.checked(named(name), value))


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a command asks for: its members are options, and are checked when it is made.

    Attributes
    ----------
    heading : str
        Above the options of a class among all of a command; empty for those that need none.
    without : tuple of str
        Options of its base classes that a class does not have: they keep their defaults.
    """

    heading: ClassVar[str] = ""
    without: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_options(self)
