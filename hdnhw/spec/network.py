"""What specs of networks have in common."""


class NetworkSpec:
    """A network by its name and sizes: the base class of all specs of networks.

    Each one is a frozen dataclass, so that equal specs are equal and have one hash, and ``str`` gives the constructor
    call that makes it.
    """
