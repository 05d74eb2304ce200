"""Words read over a stream of bytes, as LiteX's UARTBone has it: a serial line, or a socket of TCP."""

import os
import socket
from select import select

from hdnhw.support.errors import SpecError

READ = 2
"""Command that reads words from an address on; behind it come their number, a byte, and the address, in words."""

MOST_WORDS, ADDRESS_BYTES, WORD_BYTES = 255, 4, 4
"""Of a command; bytes of an address and of a word, the most significant first."""

REQUEST_BYTES = 2 + ADDRESS_BYTES
"""Of a whole command."""

PATIENCE = 5.0
"""Seconds without a byte after which a device does not answer."""


class Words:
    """Words of a device, by their addresses in bytes.

    Parameters
    ----------
    place : str
        ``tcp:HOST:PORT``, or the path of a serial line.
    baud : int
        Bits a second of a serial line.

    Raises
    ------
    SpecError
        If it cannot be opened.
    """

    def __init__(self, place: str, *, baud: int) -> None:
        self._place = place
        kind, _, rest = place.partition(":")
        try:
            self._file = _socket(rest) if kind == "tcp" else _line(place, baud)
        except (OSError, ValueError) as error:
            raise SpecError(f"{place} cannot be opened: {error}") from error

    def close(self) -> None:
        """Let it go."""
        os.close(self._file)

    def read(self, address: int, count: int) -> list[int]:
        """Return so many words from an address on.

        Raises
        ------
        SpecError
            If there is no answer.
        """
        words: list[int] = []
        while len(words) < count:
            some, at = min(count - len(words), MOST_WORDS), address // WORD_BYTES + len(words)
            os.write(self._file, bytes([READ, some]) + at.to_bytes(ADDRESS_BYTES))
            told = self._take(some * WORD_BYTES)
            words += [int.from_bytes(told[place : place + WORD_BYTES]) for place in range(0, len(told), WORD_BYTES)]
        return words

    def _take(self, count: int) -> bytes:
        told = b""
        while len(told) < count:
            ready, _, _ = select([self._file], [], [], PATIENCE)
            more = os.read(self._file, count - len(told)) if ready else b""
            if not more:
                raise SpecError(f"{self._place} has told {len(told)} bytes of {count} and does not go on")
            told += more
        return told


def addresses_of(request: bytes) -> list[int]:
    """Return which words a command of :data:`REQUEST_BYTES` asks for."""
    at = int.from_bytes(request[2:])
    return [(at + number) * WORD_BYTES for number in range(request[1])]


def _socket(rest: str) -> int:
    host, _, port = rest.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=PATIENCE).detach()


def _line(path: str, baud: int) -> int:
    """Open a serial line: 8 data bits, no parity, 1 stop bit, as it comes."""
    import termios
    import tty

    speed = getattr(termios, f"B{baud}", None)
    if speed is None:
        raise ValueError(f"{baud} baud is no speed of a serial line")
    file = os.open(path, os.O_RDWR | os.O_NOCTTY)
    try:
        tty.setraw(file)
        settings = termios.tcgetattr(file)
        settings[4] = settings[5] = speed
        termios.tcsetattr(file, termios.TCSAFLUSH, settings)
    except termios.error as error:
        os.close(file)
        raise OSError(error.args[1]) from error
    return file
