"""What the self-test does and says: text with commands between the characters, and the component that plays it."""

from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import enum, memory, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.boards.terminal import TrafficKind


class Command(enum.Enum, shape=8):
    """Bytes of a script that are no characters: the command, and its argument in the low bits."""

    CLEAR = 0x80
    FAIL_JUMP = 0x90
    END = 0xA0
    TEST = 0xB0
    NUMBER = 0xC0


class Count(enum.Enum, shape=4):
    """Numbers that a script can print."""

    SENT = 0
    RECEIVED = 1
    LOST = 2
    MISROUTED = 3
    CORRUPTED = 4
    DROPPED = 5
    CYCLES = 6
    RUN = 7
    LINK_DAMAGED = 8
    LINK_RESENT = 9
    LINK_LOST = 10


@dataclass(frozen=True)
class Script:
    """A script.

    Attributes
    ----------
    code : tuple of int
        Bytes below 128 are characters to be printed.
    failed : int
        Index of the byte to go on with at FAIL_JUMP if a test has failed.
    """

    code: tuple[int, ...]
    failed: int


_TRAFFIC_LINE = (
    Count.SENT,
    " packets sent, ",
    Count.RECEIVED,
    " received, ",
    Count.LOST,
    " lost, ",
    Count.MISROUTED,
    " misrouted, ",
    Count.CORRUPTED,
    " corrupted, ",
    Count.CYCLES,
    " cycles\n",
)
_IMPOSSIBLE_LINE = (
    "impossible addresses: ",
    Count.SENT,
    " packets sent, ",
    Count.DROPPED,
    " dropped, ",
    Count.RECEIVED,
    " received\n",
)
_LINES: dict[TrafficKind, tuple[str | Count, ...]] = {
    TrafficKind.EXCHANGE: ("total exchange: ", *_TRAFFIC_LINE),
    TrafficKind.RANDOM: ("random: ", *_TRAFFIC_LINE),
    TrafficKind.IMPOSSIBLE: _IMPOSSIBLE_LINE,
}
_LINK_LINE = (
    "link: ",
    Count.LINK_DAMAGED,
    " frames damaged, ",
    Count.LINK_RESENT,
    " sent again, ",
    Count.LINK_LOST,
    " packets lost\n",
)


def _encode(*parts: str | Count) -> list[int]:
    code: list[int] = []
    for part in parts:
        if isinstance(part, str):
            code += part.replace("\n", "\r\n").encode("ascii")
        else:
            code.append(Command.NUMBER.value | part.value)
    return code


def self_test_script(title: str, *, impossible: bool, linked: bool = False) -> Script:
    """Return the script of the self-test: a line a test, then PASS or FAIL.

    Parameters
    ----------
    title : str
        What is tested; ends the first line but for the number of the run.
    impossible : bool
        Whether the network has addresses that name no node.
    linked : bool
        Whether part of the network is on another board: then the exchange is the only test, and the link has a line.
    """
    kinds = [kind for kind in TrafficKind if impossible or kind is not TrafficKind.IMPOSSIBLE]
    kinds = [TrafficKind.EXCHANGE] if linked else kinds
    code = [*_encode(f"hdnhw self-test: {title}, run ", Count.RUN, "\n"), Command.CLEAR.value]
    for kind in kinds:
        code += [Command.TEST.value | kind.value, *_encode(*_LINES[kind])]
    code += _encode(*_LINK_LINE) if linked else []
    code += [Command.FAIL_JUMP.value, *_encode("PASS\n"), Command.END.value]
    return Script((*code, *_encode("FAIL\n"), Command.END.value), failed=len(code))


CLEAR_CYCLES = 16
"""Cycles for which `clear` is held."""


class ScriptPlayer(wiring.Component):
    """A player of a script: prints it, resets and starts what it says, and begins again after a pause.

    A character takes two cycles and the time for which `text` is not ready.

    Parameters
    ----------
    script : Script
    pause_cycles : int or None
        Cycles between two runs; None if there is one alone.

    Members
    -------
    text : Out(stream.Signature(8))
    number : Out(stream.Signature(Count))
        Numbers to be printed.
    printing : In(1)
        A number is still being printed.
    clear : Out(1)
    start : Out(1)
        Begin the test of `kind`, for one cycle.
    kind : Out(TrafficKind)
    done, passed : In(1)
        Whether no test is running, and whether the last one passed.
    pausing : Out(1)
        A run is over.
    failed : Out(1)
        Whether a test of this run has failed.
    run : Out(16)
        Number of the run, from 1.
    """

    def __init__(self, script: Script, *, pause_cycles: int | None) -> None:
        self._script, self._pause_cycles = script, pause_cycles
        super().__init__(
            {
                "text": Out(stream.Signature(8)),
                "number": Out(stream.Signature(Count)),
                "printing": In(1),
                "clear": Out(1, init=1),
                "start": Out(1),
                "kind": Out(TrafficKind),
                "done": In(1),
                "passed": In(1),
                "pausing": Out(1),
                "failed": Out(1),
                "run": Out(16, init=1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        code = self._script.code
        m.submodules.code = rom = memory.Memory(shape=8, depth=len(code), init=code)
        read = rom.read_port()
        address = Signal(range(len(code)))
        wait = Signal(range(max(self._pause_cycles or 0, CLEAR_CYCLES)))
        m.d.comb += [
            read.addr.eq(address),
            self.text.payload.eq(read.data),
            self.number.payload.eq(read.data[: len(self.number.payload.as_value())]),
        ]
        with m.FSM() as fsm:
            m.d.comb += read.en.eq(fsm.ongoing("fetch"))
            with m.State("fetch"):
                m.d.sync += address.eq(address + 1)
                m.next = "decode"
            with m.State("decode"):
                self._elaborate_decode(m, read.data, address, wait)
            with m.State("clear"):
                m.d.sync += [self.clear.eq(1), wait.eq(wait - 1)]
                with m.If(wait == 0):
                    m.d.sync += [self.clear.eq(0), self.failed.eq(0)]
                    m.next = "fetch"
            with m.State("start"):
                m.d.comb += self.start.eq(1)
                m.next = "test"
            with m.State("test"), m.If(self.done):
                m.d.sync += self.failed.eq(self.failed | ~self.passed)
                m.next = "fetch"
            with m.State("pause"):
                m.d.comb += self.pausing.eq(1)
                m.d.sync += wait.eq(wait - 1)
                with m.If((wait == 0) & (self._pause_cycles is not None)):
                    m.d.sync += [address.eq(0), self.run.eq(self.run + 1)]
                    m.next = "fetch"
        return m

    def _elaborate_decode(self, m: Module, byte: Any, address: Signal, wait: Signal) -> None:
        with m.Switch(byte):
            with m.Case("0-------"):
                m.d.comb += self.text.valid.eq(~self.printing)
                with m.If(self.text.valid & self.text.ready):
                    m.next = "fetch"
            with m.Case("1100----"):
                m.d.comb += self.number.valid.eq(1)
                with m.If(self.number.ready):
                    m.next = "fetch"
            with m.Case("1011----"):
                m.d.sync += self.kind.eq(byte[:2])
                m.next = "start"
            with m.Case("1000----"):
                m.d.sync += wait.eq(CLEAR_CYCLES - 1)
                m.next = "clear"
            with m.Case("1001----"):
                with m.If(self.failed):
                    m.d.sync += address.eq(self._script.failed)
                m.next = "fetch"
            with m.Default():
                m.d.sync += wait.eq((self._pause_cycles or 1) - 1)
                m.next = "pause"
