"""The network that a spec names."""

from hdnhw.spec import NetworkSpec, family_of
from hdnhw.topology.graph import Network


def build(spec: NetworkSpec) -> Network:
    """Return the network that `spec` names.

    Raises
    ------
    SpecError
        If no network family has specs of this class.
    """
    network: Network = family_of(spec).network(spec)
    return network
