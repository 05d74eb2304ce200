"""Bits of a flit that are wired alike: what is proved of one of them holds for the others.

Two bits are alike if the gates and registers from a bit of the incoming data to the same bit of the outgoing data are
the same ones in the same order, between the same other nets: a permutation of such bits makes no difference.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from hdnhw.proofs.netlist import ForeignInputError, Net, Netlist


def alike_bits(
    netlist: Netlist, *, inputs: Mapping[str, Sequence[Net]], outputs: Sequence[Sequence[Net]], cut: Iterable[Net]
) -> list[list[int]]:
    """Return the bits of a flit in groups that are wired alike, the lowest first.

    Parameters
    ----------
    netlist : Netlist
    inputs : mapping
        Pin -> its nets, of the data that comes in.
    outputs : sequence of sequences of nets
        Of the data that goes out.
    cut : nets
        Those that do not depend on data, whatever drives them.

    Raises
    ------
    ForeignInputError
        If data goes round.
    """
    shapes = _Shapes(netlist, inputs, set(cut))
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for bit in range(len(outputs[0])):
        groups[tuple(shapes.of(output[bit], bit) for output in outputs)].append(bit)
    return sorted(groups.values())


class _Shapes:
    """Numbers of the shapes of logic in front of nets: of two nets they are the same if the logic is."""

    def __init__(self, netlist: Netlist, inputs: Mapping[str, Sequence[Net]], cut: set[Net]) -> None:
        self._drivers, self._cut = netlist.sources, cut
        self._data = {net: (pin, place) for pin, nets in inputs.items() for place, net in enumerate(nets)}
        self._numbers: dict[tuple[object, ...], int] = {}
        self._known: dict[tuple[Net, int], int] = {}
        self._moving = self._reached()

    def _reached(self) -> set[Net]:
        """Return the nets that depend on data."""
        readers: dict[Net, list[Net]] = defaultdict(list)
        for net, (_, reads) in self._drivers.items():
            for one in reads:
                readers[one].append(net)
        reached, stack = set(self._data), list(self._data)
        while stack:
            for net in readers[stack.pop()]:
                if net not in reached and net not in self._cut:
                    reached.add(net)
                    stack.append(net)
        return reached

    def of(self, net: Net, bit: int) -> int:
        """Return the number of the logic in front of a net, which belongs to a bit of the data."""
        key = (net, bit)
        if key in self._known:
            if self._known[key] < 0:
                raise ForeignInputError("data depends on itself")
            return self._known[key]
        self._known[key] = -1
        shape: tuple[object, ...] = ("net", net)
        if net in self._data:
            pin, place = self._data[net]
            shape = ("data", pin, place - bit)
        elif net in self._drivers and net not in self._cut:
            kind, reads = self._drivers[net]
            if net in self._moving or kind in ("and", "not"):
                shape = (kind, *(self.of(one, bit) for one in reads))
        self._known[key] = self._numbers.setdefault(shape, len(self._numbers))
        return self._known[key]
