"""The Petersen graph."""

from hdnhw.spec import Petersen
from hdnhw.topology.graph import Digits, Network, Port

__all__ = ["PetersenNetwork"]


class PetersenNetwork(Network):
    """Two rings of five: in ring r, node i is linked to i + (r + 1) and i - (r + 1), by ``spoke`` to the other ring.

    Node i of ring r has number ``5 r + i``.

    Parameters
    ----------
    spec : Petersen
    """

    spec: Petersen

    def __init__(self, spec: Petersen) -> None:
        self.spec, self.radices = spec, spec.radices
        self.ports = (Port("ring_plus", 1), Port("ring_minus", 0), Port("spoke", 2))

    @property
    def digit_names(self) -> tuple[str, ...]:
        """``r`` (ring) and ``i`` (place in it)."""
        return ("r", "i")

    @property
    def node_symmetric(self) -> bool:
        """The Petersen graph is node-symmetric."""
        return True

    @property
    def diameter_formula(self) -> int:
        """The diameter."""
        return 2

    def move(self, digits: Digits, port: int) -> Digits:
        """Return the digits of the neighbour behind `port`."""
        ring, place = digits
        if port == 2:
            return 1 - ring, place
        return ring, (place + (1, -1)[port] * (ring + 1)) % 5
