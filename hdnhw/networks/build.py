"""The network that a spec names."""

from hdnhw.networks.registry import family_of
from hdnhw.spec import NetworkSpec
from hdnhw.topology.graph import Network


def build(spec: NetworkSpec) -> Network:
    """Return the network that `spec` names.

    Raises
    ------
    SpecError
        If no network family has specs of this class.
    """
    family = family_of(spec)
    network: Network = family.network(spec)
    network.family = family
    return network
