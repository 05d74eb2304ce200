"""The choice of queueing: which allocator a machine has, and with it which buffers stand at its routers' inputs."""

from collections.abc import Mapping

from hdnhw.machine.machine import Machine
from hdnhw.rtl.allocator import Allocator
from hdnhw.rtl.matching import MatchingAllocator
from hdnhw.rtl.separable import SeparableAllocator

ALLOCATORS: Mapping[str, type[Allocator]] = {"fifo": SeparableAllocator, "voq": MatchingAllocator}
"""By the names of :data:`hdnhw.spec.QUEUEINGS`."""


def allocator_of(machine: Machine) -> type[Allocator]:
    """Return the allocator of the routers of a machine."""
    return ALLOCATORS[machine.spec.queueing]
