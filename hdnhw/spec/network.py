"""What specs of networks have in common."""

from dataclasses import fields
from typing import Any, ClassVar


class NetworkSpec:
    """A network by its name and sizes: the base class of all specs of networks.

    Each one is a frozen dataclass without a ``repr`` of its own, so that equal specs are equal and have one hash, and
    ``str`` gives the constructor call that makes it: its member ``text``, or the `maker` that its class statement names
    with all members.
    """

    maker: ClassVar[str] = ""

    def __init_subclass__(cls, *, maker: str = "") -> None:
        cls.maker = maker or cls.maker

    def __repr__(self) -> str:
        this: Any = self
        members = {member.name: getattr(self, member.name) for member in fields(this)}
        return str(members.get("text") or f"{self.maker}({', '.join(map(str, members.values()))})")
