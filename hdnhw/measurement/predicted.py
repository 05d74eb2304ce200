"""What the steps of a schedule take on a machine, by the latency and width of each type of channels.

It is the model t_s + m t_w with values of each type of its own. A node sends k packets over one channel in a step. The
last one leaves k - 1 intervals behind the first one, those of its wires; where there are fewer packet buffers than keep
these busy, it waits for credits.
"""

import numpy as np

from hdnhw.collectives.executor import Execution
from hdnhw.machine.machine import Machine
from hdnhw.traffic.lengths import packets_of


def predicted_cycles(machine: Machine, execution: Execution, words: int) -> list[int]:
    """Return the cycles of each step, one behind the other: those of the node that takes longest.

    Parameters
    ----------
    machine : Machine
    execution : Execution
        With one port a step.
    words : int
        Flits of a message.

    Raises
    ------
    SpecError
        If packets do not go straight to their destinations.

    Examples
    --------
    >>> from hdnhw.collectives.exchange import exchange_schedule
    >>> from hdnhw.collectives.executor import execute
    >>> from hdnhw.machine.machine import make_machine
    >>> from hdnhw.networks.parse import parse
    >>> from hdnhw.spec import FabricSpec
    >>> spec = FabricSpec(network=parse("rdn(cube(1), 1)"), channel_latency="cross1=40", channel_width="cross1=8")
    >>> machine = make_machine(spec)
    >>> predicted_cycles(machine, execute(exchange_schedule(machine.network)), 8)
    [59, 263, 59, 135]
    """
    machine.plan.check_direct("collectives")
    length, stages = machine.spec.packet_length, np.array(machine.channels.stages)
    back = np.array(machine.channels.credit_stages)
    places = np.array([machine.vc_buffers(port) for port in range(len(stages))])
    interval = np.array(machine.channels.intervals) * length
    around = np.maximum(machine.timing.buffer_slots * length + stages + back, places * interval)
    phases = machine.offset * machine.channels.odd
    first = np.array([machine.timing.zero_load_latency(1, phase) + 1 for phase in phases.tolist()])
    found = []
    for sent in execution.sent:
        node, port = np.nonzero(sent)
        turns, rest = np.divmod(packets_of(sent[node, port] * words, length) - 1, places[port])
        taken = first[node] + stages[port] + turns * around[port] + rest * interval[port]
        found.append(int(taken.max(initial=0)))
    return found
