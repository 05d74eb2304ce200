"""The chain of registers through all routers by which a monitor is read."""

from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from hdnhw.machine.monitor import WORD_WIDTH, MonitorMap
from hdnhw.rtl.bits import index_width


class ChainSignature(wiring.Signature):
    """What goes from one router to the next.

    A question stands until its answer has come to the end, and the next one follows when no answer stands there.

    Parameters
    ----------
    of : MonitorMap

    Members
    -------
    asks : Out(1)
        Whether there is a question.
    node : Out
        How many routers on, counted from 1, is the one that is asked.
    word : Out
        Which of its words.
    answers, data : Out(1), Out(32)
        Whether it has answered, and what.
    """

    def __init__(self, of: MonitorMap) -> None:
        super().__init__(
            {
                "asks": Out(1),
                "node": Out(of.node_bits),
                "word": Out(index_width(of.words)),
                "answers": Out(1),
                "data": Out(WORD_WIDTH),
            }
        )
