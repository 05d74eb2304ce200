"""The way of words from a sender to the wires: by way of registers, in which their check is found, and of a queue."""

from hdnhw.proofs.bridge import BridgeRig
from hdnhw.rtl.bits import index_width
from hdnhw.rtl.bridge.sender import QUEUE
from hdnhw.verilog.fabric import EmittedFabric

COUNT_BITS = 5
"""Bits of the number of a word: enough for more than there are on the way."""

STAGES = 5
"""Registers between the choice of a word and the queue; a rig of the sender reads words in that with number 2."""


class WordsRig(BridgeRig):
    """A rig around the end of a sender: any words come whenever the sender may choose some, and any one is marked."""

    steps = 2

    def __init__(self, fabric: EmittedFabric, module: str) -> None:
        super().__init__(fabric, module)
        width = self._link.word_width
        for name, size in (("in_header", self._header), ("in_packets", 1), ("in_check", self._check_words)):
            self._cut(f"sender.{name}", self._free(f"f_{name}", size))
        for name in ("valid", "check", "last"):
            self._look(f"stage_{name}", f"sender.{name}", STAGES)
        valid = self._output_pin("tx__valid", "out")
        payload = self._output_pin("tx__payload", "payload", width + 1)
        ready = self._free("f_ready")
        self._pins.append(f".tx__ready({ready})")
        self._constant("value")
        self._constant("own_bit", index_width(width + 1))
        self._wire("goes", f"{valid} && {ready}")
        self._register("come", "come + stage_valid[2]", width=COUNT_BITS)
        self._register("gone", "gone + goes", width=COUNT_BITS)
        self._wire("is_whole", f"own_bit < {width} ? !stage_check[2] : own_bit == {width}")
        self._wire("marks", f"{self._free('f_marks')} && stage_valid[2] && is_whole && !live && bit_now == value")
        word = self._free("f_word", width)
        self._cut("sender.word", word)
        self._wire("bit_now", f"{{stage_last[2], {word}}} >> own_bit")
        self._wire("is_own", "live && gone == own_number")
        self._register("live", "marks || (live && !(is_own && goes))")
        self._register("own_number", "marks ? come : own_number", width=COUNT_BITS, reset="")
        self._register("waits", f"{valid} && !{ready}")
        self._register("kept", payload, width=width + 1, reset="")
        self._wire("under", f"{COUNT_BITS}'(come - gone)", width=COUNT_BITS)
        self.claims += [
            ("a word is withdrawn or changes while it waits", "!waits || (out && payload == kept)"),
            ("a word leaves that has not come", "!out || under != 0"),
            ("a word is lost on its way to the wires", f"under <= {QUEUE + 2}"),
            ("a word leaves changed, or out of its order", "!(out && is_own) || payload[own_bit] == value"),
        ]
        self._happens("goes && is_own")
        self._happens("stage_valid == 0 && out && !f_ready")
        self._hint_all()

    def _hint_all(self) -> None:
        """The marked word is as far behind the words that leave as there were words before it."""
        width, bits = self._link.word_width, (QUEUE - 1).bit_length()
        for name, size in (("level", bits), ("waiting_write_addr", bits), ("waiting_read_addr", bits)):
            self._look(f"is_{name}", f"sender.{name}", size)
        for name in ("has_word", "advance"):
            self._look(name, f"sender.{name}", 1)
        for stage in (3, 4):
            self._look(f"word_{stage}", f"sender.word_{stage}", width)
        self._register("own_3", "marks")
        self._register("own_4", "own_3")
        self._forget("sender.waiting", "own_4", "waiting")
        self._look("queue_addr", "rig_waiting_addr", bits)
        self._look("queue_word", "rig_waiting_word", width + 1)
        count = " + ".join(f"stage_valid[{stage}]" for stage in range(STAGES))
        self._wire("ahead", f"{COUNT_BITS}'(own_number - gone)", width=COUNT_BITS)
        self._wire("place", f"{COUNT_BITS}'(ahead - out)", width=COUNT_BITS)
        self._wire("queued", "live && !own_3 && !own_4 && !(out && is_own)")
        self._hint("has_word == (is_level != 0)")
        self._hint(f"is_waiting_write_addr == {bits}'(is_waiting_read_addr + is_level)")
        self._hint(
            f"{COUNT_BITS}'d0 + is_level + {count} + advance <= {QUEUE - 1} && (!advance || is_level <= {QUEUE // 2})"
        )
        self._hint("under == is_level + out + stage_valid[3] + stage_valid[4]")
        self._hint(f"!live || ahead < under && own_bit <= {width}")
        for stage in (3, 4):
            before = " + ".join(["is_level", "out", *(f"stage_valid[{late}]" for late in range(stage + 1, STAGES))])
            self._hint(f"!own_{stage} || live && stage_valid[{stage}] && ahead == {before}")
            is_whole = f"own_bit < {width} ? !stage_check[{stage}] : own_bit == {width}"
            word = self._wire(f"bit_{stage}", f"{{stage_last[{stage}], word_{stage}}} >> own_bit")
            self._hint(f"!own_{stage} || ({is_whole}) && {word} == value")
        self._hint(f"!queued || place < is_level && queue_addr == {bits}'(is_waiting_read_addr + place)")
        self._hint("!queued || queue_word[own_bit] == value")
