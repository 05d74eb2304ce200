"""A simulation that is watched: words of a monitor by TCP, as :mod:`hdnhw.support.words` asks for them."""

import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles

from hdnhw.sim.streams_bench import begin, reader
from hdnhw.support.words import REQUEST_BYTES, WORD_BYTES, addresses_of

CYCLES = 256
"""Cycles that are simulated from one look at the socket to the next."""


async def serve(clk: Any, read: Callable[[int], Awaitable[int]], listener: socket.socket) -> None:
    """Answer one who asks for words, until he goes; the simulation goes on meanwhile.

    Parameters
    ----------
    clk : handle
        The clock of the fabric.
    read : coroutine function
        Takes the address of a word, and returns it, -1 if there is none.
    listener : socket
        Listens.
    """
    listener.setblocking(False)
    connection, request = None, b""
    while True:
        await ClockCycles(clk, CYCLES)
        try:
            if connection is None:
                connection, _ = listener.accept()
                connection.setblocking(False)
            more = connection.recv(REQUEST_BYTES - len(request))
        except BlockingIOError:
            continue
        if not more:
            connection.close()
            return
        request += more
        if len(request) == REQUEST_BYTES:
            words = [max(0, await read(address)).to_bytes(WORD_BYTES) for address in addresses_of(request)]
            connection.sendall(b"".join(words))
            request = b""


@cocotb.test()
async def watched(dut: Any) -> None:
    """Send a case's packets, whether or not they come out, and write at which port the monitor is read."""
    read = reader(dut, dut.clk)
    await begin(dut)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        Path("port.new").write_text(str(listener.getsockname()[1]))
        Path("port.new").rename("port")
        await serve(dut.clk, read, listener)
    Path("dropped").write_text("0")
