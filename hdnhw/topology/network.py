"""The network that a spec names."""

from hdnhw.spec import (
    CrossedCube,
    CubeCycles,
    FoldedCube,
    NetworkSpec,
    Petersen,
    ReducedCube,
    Star,
    SwappedNet,
)
from hdnhw.topology.cubes import CrossedCubeNetwork, CubeCyclesNetwork, FoldedCubeNetwork, ReducedCubeNetwork
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.graph import Network, Port
from hdnhw.topology.petersen import PetersenNetwork
from hdnhw.topology.star import StarNetwork
from hdnhw.topology.swapped import SwappedNetwork

__all__ = ["Network", "Port", "build"]


def build(spec: NetworkSpec) -> Network:
    """Return the network that `spec` names."""
    match spec:
        case SwappedNet():
            return SwappedNetwork(spec, build(spec.nucleus))
        case FoldedCube():
            return FoldedCubeNetwork(spec)
        case CrossedCube():
            return CrossedCubeNetwork(spec)
        case CubeCycles():
            return CubeCyclesNetwork(spec)
        case ReducedCube():
            return ReducedCubeNetwork(spec)
        case Star():
            return StarNetwork(spec)
        case Petersen():
            return PetersenNetwork(spec)
        case _:
            return DualNetwork(spec)
