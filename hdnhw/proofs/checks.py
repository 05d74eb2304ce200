"""Check bits: they are made and looked at as a division of the flit by the polynomial says, and errors are counted.

In the rigs of queues and of the ejection buffer a checker says what the rig likes, and injection may make any check
bits. What they say and make is claimed here, of all flits.
"""

from hdnhw.machine.crc import check_width
from hdnhw.proofs.parts import RouterPart
from hdnhw.proofs.rig import Rig
from hdnhw.rtl.check_bits import ERRORS_WIDTH
from hdnhw.verilog.fabric import EmittedFabric


class CheckRig(Rig):
    """A rig around a checker: any flits come with any check bits, and it says of each whether these are others.

    Parameters
    ----------
    fabric : EmittedFabric
    module : str
        Its name.
    channel, checker : str
        What the names of the channel's pins and of the checker's wires begin with.
    """

    def __init__(self, fabric: EmittedFabric, module: str, channel: str, checker: str) -> None:
        super().__init__(fabric, module)
        flit_width, width = self._machine.spec.flit_width, check_width(self._machine.spec.flit_width)
        data, check = self._free("f_data", flit_width), self._free("f_check", width)
        self._pins += [f".{channel}__data({data})", f".{channel}__check({check})"]
        self._wire("differs", f"{check} ^ {self._check(data)}", width=width)
        self._register("differed", "differs", width=width, reset="")
        for says, bits in (("wrong", "differs"), ("was_wrong", "differed")):
            self._look(f"says_{says}", f"{checker}.{says}", 1)
            self.claims.append(("a flit is called wrong that is not, or right", f"says_{says} == ({bits} != 0)"))
            self._happens(f"says_{says}")
            self._happens(f"!says_{says}")
        self._look("is_different", f"{checker}.differed", width)
        for bit in range(width):
            self._hint(f"is_different[{bit}] == differed[{bit}]")


class ErrorsRig(RouterPart):
    """A rig around what counts the packets with wrong flits that come by a port: it is told which flits are wrong.

    Parameters
    ----------
    fabric : EmittedFabric
    shape : int
        See :class:`RouterPart`.
    port : int
    """

    def __init__(self, fabric: EmittedFabric, shape: int, port: int) -> None:
        super().__init__(fabric, shape, 0)
        name, before = self._name(port), self._at(self._timing.head_phase - 1)
        self._register("on", f"{before} ? !fresh && {self._free('f_on')} : on")
        self._pins.append(f".{name}_i__valid(on)")
        self._wire("seen", f"on && !{self._ignore(port)}" if self._machine.spec.dead_pins else "on")
        self._be_wrong("seen", f"{name}.checker")
        self._count(f"{name}_errors", "done && hurt", "wrong", width=ERRORS_WIDTH)
        self._look("most", f"{name}.most", 1)
        self._hint(f"most == &count_of_{name}_errors")


class MakerRig(RouterPart):
    """A rig around what injection writes a cycle later than it is on the stream: a flit, and its check bits above it.

    Parameters
    ----------
    fabric : EmittedFabric
    shape : int
        See :class:`RouterPart`.
    """

    def __init__(self, fabric: EmittedFabric, shape: int) -> None:
        super().__init__(fabric, shape, 0)
        width, total = self._machine.spec.flit_width, self._machine.word_width
        payload = self._free("f_payload", width)
        self._pins.append(f".inject__payload({payload})")
        self._register("word", f"{{{self._check(payload)}, {payload}}}", width=total, reset="")
        self._look("written", "injection.write_data", total)
        for bit in range(total):
            said = "check bits are made that are not those of the flit" if bit >= width else "a flit is written changed"
            self.claims.append((said, f"written[{bit}] == word[{bit}]"))
        self._happens("word != 0")
