"""What specs of networks have in common."""

from abc import ABC, abstractmethod

__all__ = ["NetworkSpec", "Nucleus"]


class NetworkSpec:
    """A network by its name and sizes: the base class of all specs of networks.

    Each one is a frozen dataclass, so that equal specs are equal and have one hash, and ``str`` gives the constructor
    call that makes it.
    """


class Nucleus(NetworkSpec, ABC):
    """A spec of a network that can be the nucleus of a swapped network."""

    @property
    @abstractmethod
    def radices(self) -> tuple[int, ...]:
        """Radix of each digit of a node, most significant first."""
