"""Flows that are declared: who sends to whom, and at most how much."""

from dataclasses import dataclass
from pathlib import Path

from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.topology.graph import Network

MOST_BURST = 1 << 20

LINE = f"SOURCE DESTINATION [RATE [BURST]], a rate above 0 up to 1 and a burst of 1 to {MOST_BURST} packets"


@dataclass(frozen=True)
class Flow:
    """Packets from one node to another.

    Attributes
    ----------
    source, destination : int
    rate : float or None
        Flits a cycle that are declared; None if nothing is.
    burst : int
        Packets: in any T cycles the source creates at most so many and those of the rate.
    """

    source: int
    destination: int
    rate: float | None = None
    burst: int = 1


def all_flows(network: Network, rate: float | None, burst: int) -> list[Flow]:
    """Return the flows of all pairs of nodes, which share the flits a cycle of each node evenly."""
    nodes = range(network.num_terminals)
    own = None if rate is None else rate / max(1, len(nodes) - 1)
    return [Flow(source, destination, own, burst) for source in nodes for destination in nodes if source != destination]


def read_flows(path: Path, network: Network) -> list[Flow]:
    """Read flows: a line each, see :data:`LINE`; what follows ``#`` does not count.

    Raises
    ------
    SpecError
        If the file cannot be read, a line is none, a flow stands there twice, or some have rates and others none.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise SpecError(f"{named('declared')} must be a text file that can be read, not {str(path)!r}") from None
    flows: dict[tuple[int, int], Flow] = {}
    for number, line in enumerate(lines, start=1):
        if words := line.partition("#")[0].split():
            flow = _flow(words, network.num_terminals, f"{path}: line {number}")
            if (flow.source, flow.destination) in flows:
                raise SpecError(f"{path}: line {number}: the flow from {words[0]} to {words[1]} stands there twice")
            flows[flow.source, flow.destination] = flow
    if not flows:
        raise SpecError(f"{path}: must have a flow: a line {LINE}")
    if len({flow.rate is None for flow in flows.values()}) > 1:
        raise SpecError(f"{path}: must have a rate for all flows, or for none")
    return list(flows.values())


def _flow(words: list[str], nodes: int, where: str) -> Flow:
    """Return the flow of a line."""
    try:
        source, destination, rate, burst = [*words, *("nan", "1")[len(words) - 2 :]][: max(4, len(words))]
        flow = Flow(int(source), int(destination), float(rate) if words[2:] else None, int(burst))
    except ValueError:
        raise SpecError(f"{where} must be {LINE}") from None
    if not (0 <= flow.source < nodes and 0 <= flow.destination < nodes):
        raise SpecError(f"{where}: nodes must be 0 to {nodes - 1}, not {source} and {destination}")
    if not ((flow.rate is None or 0 < flow.rate <= 1) and 1 <= flow.burst <= MOST_BURST):
        raise SpecError(f"{where} must be {LINE}")
    return flow
