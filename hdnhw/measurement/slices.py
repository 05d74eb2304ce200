"""Collective operations in slices: what is slow on long or narrow channels passes behind the steps of other slices.

The words of every message are cut into slices, and each goes through all steps. A node sends what belongs to a step of
a slice once all has come that the steps before bring it of this slice: it waits for no other node, and steps over
different ports overlap. So that a slice is not far ahead of the others, it also waits in each step for the slice
:data:`AHEAD` before it.
"""

import numpy as np
import numpy.typing as npt

from hdnhw.collectives.executor import Execution
from hdnhw.measurement.collective import direct_model
from hdnhw.measurement.replay import replay
from hdnhw.measurement.results import Row
from hdnhw.spec import FabricSpec
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.support.progress import Progress
from hdnhw.traffic.trace import Trace

AHEAD = 2
"""Slices of one step that a node has under way."""


def sliced_trace(execution: Execution, words: int, slices: int) -> Trace:
    """Return the messages of a schedule in slices, and which of them wait for which.

    Parameters
    ----------
    execution : Execution
        What each node sends in each step.
    words : int
        Flits of a message.
    slices : int
        At most the words; the first ones have a word more if that leaves some over.

    Returns
    -------
    Trace
        Slice by slice, each step by step and node by node.
    """
    steps, nodes, _ = execution.sent.shape
    step, node, port = (one.astype(np.int64) for one in np.nonzero(execution.sent))
    count, messages = execution.sent[step, node, port], slices * len(step)
    share = words // slices + (np.arange(slices) < words % slices)
    number = np.repeat(np.arange(slices), len(step))
    behind = execution.neighbors[node, port].astype(np.int64)
    source, target, step = (np.tile(one, slices) for one in (node, behind, step))
    came = np.full((slices, steps, nodes), -1)
    came[number, step, target] = np.arange(messages)
    before = [np.where(earlier < step, came[number, earlier, source], -1) for earlier in range(steps)]
    before.append(np.where(number >= AHEAD, came[number - AHEAD, step, source], -1))
    waited = np.concatenate(before)
    waiting = np.tile(np.arange(messages), len(before))[waited >= 0]
    waited = waited[waited >= 0]
    order = np.argsort(waited, kind="stable")
    return Trace(
        "slices",
        np.zeros(messages, np.int64),
        source,
        target,
        np.outer(share, count).ravel(),
        np.searchsorted(waited[order], np.arange(messages + 1)).astype(np.int64),
        waiting[order],
    )


def measure_slices(
    fabric: FabricSpec, execution: Execution, *, words: int, slices: int, progress: Progress = lambda *_: None
) -> Row:
    """Run a schedule in slices on the model.

    Parameters
    ----------
    fabric : FabricSpec
    execution : Execution
        With one port a step.
    words : int
        Flits of a message.
    slices : int
    progress : callable
        Is told a stage and the share of the packets that have arrived.

    Returns
    -------
    dict
        ``slices``, ``sliced_cycles``; and ``lower_bound_cycles``, those of all flits of these steps over the channel or
        terminal that takes longest.

    Raises
    ------
    SpecError
        If messages have fewer words than slices.
    """
    if slices > words:
        raise SpecError(f"{named('slices')} must be at most the {words} words of a message, not {slices}")
    model = direct_model(fabric)
    sent: npt.NDArray[np.int64] = execution.sent.sum(axis=0) * words
    busy = max((sent * np.array(model.machine.channels.intervals)).max(), sent.sum(axis=1).max())
    run = replay(model, sliced_trace(execution, words, slices), progress=progress)
    return {"slices": slices, "sliced_cycles": run.cycles, "lower_bound_cycles": int(busy)}
