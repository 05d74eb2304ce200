"""The network that a spec names."""

from hdnhw.networks.parse import parse
from hdnhw.networks.registry import family_of
from hdnhw.spec import NetworkSpec
from hdnhw.topology.graph import Network


def build(spec: NetworkSpec | str) -> Network:
    """Return the network that `spec` names, which may be text that :func:`hdnhw.networks.parse.parse` reads.

    Raises
    ------
    SpecError
        If no network family has specs of this class, or the text is none.
    """
    spec = parse(spec) if isinstance(spec, str) else spec
    family = family_of(spec)
    network: Network = family.network(spec)
    network.family = family
    return network
