"""AXI4-Lite, as registers have it: the signals of a subordinate of 32 bits, and its responses."""

from typing import Any

from amaranth.hdl import Shape
from amaranth.lib import enum
from amaranth.lib.wiring import In, Out

WORD_WIDTH = 32


class Response(enum.IntEnum, shape=2):
    """Responses of AXI."""

    OKAY = 0
    SLVERR = 2


def axi_lite_members(prefix: str, address_width: int) -> dict[str, Any]:
    """Return the members of an AXI4-Lite slave of 32 bits, each named `prefix` and the signal's name in AXI."""
    members = {
        "awaddr": In(address_width),
        "awprot": In(3),
        "awvalid": In(1),
        "awready": Out(1),
        "wdata": In(WORD_WIDTH),
        "wstrb": In(WORD_WIDTH // 8),
        "wvalid": In(1),
        "wready": Out(1),
        "bresp": Out(2),
        "bvalid": Out(1),
        "bready": In(1),
        "araddr": In(address_width),
        "arprot": In(3),
        "arvalid": In(1),
        "arready": Out(1),
        "rdata": Out(WORD_WIDTH),
        "rresp": Out(2),
        "rvalid": Out(1),
        "rready": In(1),
    }
    return {prefix + name: member for name, member in members.items()}


def described_members(members: dict[str, Any]) -> dict[str, Any]:
    """Return the ports of some members, as manifests have them."""
    return {
        name: {"direction": "input" if member.flow == In else "output", "width": Shape.cast(member.shape).width}
        for name, member in members.items()
    }
