"""Counters that stay at their largest value."""

from amaranth.hdl import Module, Signal, Value


def count_events(m: Module, counter: Signal, event: Value) -> None:
    """Count the cycles in which `event` is high, a cycle late: the counter is wide, and nobody waits for it."""
    drops, most = Signal(), Signal()
    m.d.sync += drops.eq(event)
    with m.If(drops & ~most):
        m.d.sync += [counter.eq(counter + 1), most.eq(counter[1:].all())]
