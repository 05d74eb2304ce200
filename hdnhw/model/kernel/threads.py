"""Threads that share the parts of a fabric: where they wait for each other, and who has what.

Threads meet before each slot. What one has written before is there for the others then, and what they read in a slot
was written before it: they need no other order.
"""

from hdnhw.model.kernel.compiled import at, inlined, native, wide
from hdnhw.model.kernel.state import LINE, Parts

__all__ = ["meet", "seen_gone"]

PATIENCE = 2000
"""How often a thread looks whether the others have come, before it lets others have the processor."""

# One thread meets no other: these are compiled, or not called.
arrive, look, step_back = (native(name) for name in ("arrive", "look", "step_back"))


@inlined
def meet(parts: Parts, meeting: int) -> None:
    """Wait until all threads have come to a meeting, which has a number from 1 on."""
    if parts.threads == 1:
        return
    arrive(parts.meetings)
    looks = 0
    while look(parts.meetings) < meeting * parts.threads:
        looks += 1
        if looks > PATIENCE:
            step_back()


@inlined
def seen_gone(parts: Parts, meeting: int, gone: int) -> int:
    """Meet; return how many packets all threads have seen leave or be dropped, of which this one has seen `gone`."""
    if parts.threads == 1:
        return gone
    row = (meeting & 1) * parts.threads
    parts.gone[at((row + parts.thread) * LINE)] = gone
    meet(parts, meeting)
    total = wide(0)
    for thread in range(parts.threads):
        total += parts.gone[at((row + thread) * LINE)]
    return total
