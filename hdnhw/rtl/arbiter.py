"""Arbitration by a matrix: who was served longest ago comes first."""

from collections.abc import Mapping
from functools import reduce
from operator import or_

from amaranth.hdl import Const, Module, Signal, Value

Order = Mapping[tuple[int, int], Value]
"""For each pair of requesters, whether the one comes before the other."""


def service_order(m: Module, served: Value, *, update: Value, name: str) -> Order:
    """Keep requesters in the order in which they were served, the latest last.

    The order is a bit for each pair (Dally and Towles, Principles and Practices of Interconnection Networks, section
    18.5). After reset requesters come in the order of their numbers, and so do those that are served together.

    Parameters
    ----------
    m : Module
        Gets the registers.
    served : Value
        A bit for each requester.
    update : Value
        Whether `served` counts in this cycle.
    name : str
        Of the registers.
    """
    order: dict[tuple[int, int], Value] = {}
    for later in range(len(served)):
        for sooner in range(later):
            before = Signal(name=f"{name}_{sooner}_{later}", init=1)
            order[sooner, later], order[later, sooner] = before, ~before
            with m.If(update):
                m.d.sync += before.eq(served[later] | (before & ~served[sooner]))
    return order


def first_in_order(requests: Mapping[int, Value], order: Order) -> dict[int, Value]:
    """Return for each request, by the number of its requester, whether it is the first of all."""
    return {
        i: request & ~reduce(or_, (other & order[j, i] for j, other in requests.items() if j != i), Const(0, 1))
        for i, request in requests.items()
    }
