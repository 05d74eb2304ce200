"""The fabrics of tests."""

from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec


def fabric_spec(network, **options):
    """Return the spec of a fabric on the network that a text names."""
    return FabricSpec(network=parse(network), **options)
