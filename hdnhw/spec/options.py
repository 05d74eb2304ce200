"""Options: the members of a spec that a user chooses, each described in one place.

A member made by :func:`option` carries an :class:`Option`. The command line, the keys of sweeps, what results and
manifests say of a machine, and the machines that checks draw at random are all derived from it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from operator import index
from typing import Any, SupportsIndex

from hdnhw.spec.checks import SpecError


@dataclass(frozen=True, kw_only=True)
class Option:
    """What there is to know of one option; the classes made from it say which values it has.

    Attributes
    ----------
    help : str
        For the command line.
    metavar : str or None
        What stands for the value there.
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
    metavar: str | None = None
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
            raise TypeError(f"{what} must be True or False, not {value!r}")
        return value


@dataclass(frozen=True, kw_only=True)
class Choice(Option):
    """One of some names."""

    choices: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "drawn", self.choices)

    def checked(self, what: str, value: Any) -> str:
        """See :meth:`Option.checked`."""
        if value not in self.choices:
            raise SpecError(f"{what} must be {' or '.join(self.choices)}, not {value!r}")
        return str(value)


def _integer(what: str, value: Any) -> int:
    """Return `value` as an integer, whatever library it is one of."""
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise TypeError(f"{what} must be an integer, not {value!r}")
    return index(value)


@dataclass(frozen=True, kw_only=True)
class Size(Option):
    """An integer from `least` to `most`, a power of two if asked; None where it `may_be_none`.

    Attributes
    ----------
    unit : str
        In messages, for example ``flits``; empty for counts of the thing itself.
    """

    least: int
    most: int
    unit: str = ""
    power_of_two: bool = False
    may_be_none: bool = False

    def checked(self, what: str, value: Any) -> int | None:
        """See :meth:`Option.checked`."""
        if value is None and self.may_be_none:
            return None
        number = _integer(what, value)
        if not self.least <= number <= self.most or (self.power_of_two and number & (number - 1)):
            joint = "or" if self.most == self.least + 1 else "to"
            allowed = f"{'a power of two from ' * self.power_of_two}{self.least} {joint} {self.most}"
            raise SpecError(f"{what} must be {allowed}{' ' * bool(self.unit)}{self.unit}, not {number}")
        return number


@dataclass(frozen=True, kw_only=True)
class Text(Option):
    """Any string, or None; it is read where more is known."""

    def checked(self, what: str, value: Any) -> str | None:
        """See :meth:`Option.checked`."""
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{what} must be a string or None, not {value!r}")
        return value


@dataclass(frozen=True, kw_only=True)
class Names(Option):
    """Some of some names, kept in the order of `choices`; on the command line with commas between them."""

    choices: tuple[str, ...]

    def checked(self, what: str, value: Any) -> tuple[str, ...]:
        """See :meth:`Option.checked`."""
        asked = tuple(value)
        if not asked or set(asked) - set(self.choices):
            raise SpecError(
                f"{what} must be some of {', '.join(self.choices)}, not {', '.join(map(repr, asked)) or 'none'}"
            )
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


def option(default: Any, kind: Option) -> Any:
    """Return a member of a dataclass that is an option, with its default."""
    return field(default=default, metadata={"option": kind})


def options_of(spec: Any, **kinds: bool) -> Mapping[str, Option]:
    """Return the options of a spec, or of a class of specs, by the names of its members.

    Parameters
    ----------
    spec
    kinds : bool
        Only those of which the attributes of :class:`Option` with these names are so: ``timed=True`` are those on which
        cycles depend.
    """
    options = {member.name: member.metadata["option"] for member in fields(spec) if "option" in member.metadata}
    return {
        name: option
        for name, option in options.items()
        if all(getattr(option, kind) == asked for kind, asked in kinds.items())
    }


def check_options(spec: Any) -> None:
    """Check the options of a frozen spec, and keep them as :meth:`Option.checked` returns them."""
    for name, kind in options_of(spec).items():
        object.__setattr__(spec, name, kind.checked(name.replace("_", " "), getattr(spec, name)))
