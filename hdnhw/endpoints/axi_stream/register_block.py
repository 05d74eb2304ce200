"""The register block of a fabric: AXI4-Lite, identification, soft reset, and the counters of every node."""

from collections.abc import Mapping
from typing import Any

from amaranth.hdl import Const, Module, Mux, Signal, Value
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.axi_stream.endpoint import WORD_WIDTH, NodeWord
from hdnhw.rtl.axi_lite import Response, axi_lite_members
from hdnhw.rtl.bits import below, equals

IDENTIFICATION = 0x48444E48
"""The first register: "HDNH"."""

VERSION = 0x00010000
"""Version of the register map, major number above bit 16."""

ADDRESS_WIDTH = 19
"""Bits of a byte address; the same for every fabric."""

PORT = axi_lite_members("s_axil_", ADDRESS_WIDTH)
"""Its AXI4-Lite slave."""

NODE_BASE, NODE_STRIDE = 1 << 18, 32
"""Byte address of node 0's registers; bytes per node."""

RESET_CYCLES = 16
"""Cycles for which a reset is held at least."""

RESET_BIT = 0
"""Bit of the control register that resets: write 1; it reads 1 until the reset is over."""


class GlobalWord(enum.IntEnum, shape=3):
    """The registers of the fabric, in the order of their addresses."""

    IDENTIFICATION = 0
    VERSION = 1
    NODES = 2
    PACKET_LENGTH = 3
    FLIT_WIDTH = 4
    MAX_FRAME = 5
    TUSER_WIDTH = 6
    CONTROL = 7


class RegisterBlock(wiring.Component):
    """Registers of a fabric.

    A read is answered ``3 + ceil(log4(nodes))`` cycles after its address was taken, as the words of the nodes go
    through a tree of registered choices among four; a write two cycles after the later of address and data. One of each
    is in progress at a time. An address without register is answered SLVERR, as is a write to any but control.

    Parameters
    ----------
    constants : mapping of GlobalWord to int
        Value of every register of the fabric but control.
    num_nodes : int

    Members
    -------
    s_axil_* : AXI4-Lite slave
        See :func:`hdnhw.rtl.axi_lite.axi_lite_members`. Bits 1 and 0 of an address are ignored, as are awprot and
        arprot.
    select : Out(NodeWord)
        Register that is read.
    words : In(32).array(num_nodes)
        That register of every node, one cycle after `select`.
    reset : Out(1)
        Reset of fabric and endpoints; high from the cycle after the block's own reset or a write of 1 to the reset bit,
        until `RESET_CYCLES` cycles after it.
    """

    def __init__(self, constants: Mapping[GlobalWord, int], *, num_nodes: int) -> None:
        self._constants, self._num_nodes = dict(constants), num_nodes
        super().__init__(
            {
                **PORT,
                "select": Out(NodeWord),
                "words": In(WORD_WIDTH).array(num_nodes),
                "reset": Out(1, init=1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        hold = Signal(range(RESET_CYCLES), init=RESET_CYCLES - 1)
        m.d.sync += self.reset.eq(hold.any())
        with m.If(self._elaborate_write(m)):
            m.d.sync += hold.eq(RESET_CYCLES - 1)
        with m.Elif(hold.any()):
            m.d.sync += hold.eq(hold - 1)
        self._elaborate_read(m)
        return m

    def _elaborate_write(self, m: Module) -> Value:
        """Answer writes; return whether one asks for a reset in this cycle."""
        has_address, has_data, to_control, strobe = Signal(), Signal(), Signal(), Signal()
        do_write = Signal()
        m.d.comb += [
            self.s_axil_awready.eq(~has_address),
            self.s_axil_wready.eq(~has_data),
            do_write.eq(has_address & has_data & ~self.s_axil_bvalid),
        ]
        with m.If(self.s_axil_awvalid & self.s_axil_awready):
            m.d.sync += [has_address.eq(1), to_control.eq(equals(self.s_axil_awaddr[2:], int(GlobalWord.CONTROL)))]
        with m.If(self.s_axil_wvalid & self.s_axil_wready):
            m.d.sync += [has_data.eq(1), strobe.eq(self.s_axil_wstrb[0] & self.s_axil_wdata[RESET_BIT])]
        with m.If(do_write):
            m.d.sync += [
                has_address.eq(0),
                has_data.eq(0),
                self.s_axil_bvalid.eq(1),
                self.s_axil_bresp.eq(Mux(to_control, Response.OKAY, Response.SLVERR)),
            ]
        with m.If(self.s_axil_bvalid & self.s_axil_bready):
            m.d.sync += self.s_axil_bvalid.eq(0)
        return do_write & to_control & strobe

    def _elaborate_read(self, m: Module) -> None:
        """Answer reads: take the address, wait until the nodes' words have come through, answer."""
        address, busy, of_node, known = Signal(ADDRESS_WIDTH - 2), Signal(), Signal(), Signal()
        word, node = address[:3], address[3:-1]
        chosen, levels = self._elaborate_choice(m, node)
        remaining = Signal(range(levels + 3))
        m.d.comb += [
            self.s_axil_arready.eq(~busy),
            of_node.eq(address[-1]),
            self.select.eq(word),
        ]
        m.d.sync += known.eq(Mux(of_node, below(node, self._num_nodes) & below(word, len(NodeWord)), equals(node, 0)))
        with m.If(~busy):
            m.d.sync += [address.eq(self.s_axil_araddr[2:]), busy.eq(self.s_axil_arvalid), remaining.eq(levels + 1)]
        with m.Elif(remaining.any()):
            m.d.sync += remaining.eq(remaining - 1)
        with m.Elif(~self.s_axil_rvalid):
            m.d.sync += [
                self.s_axil_rvalid.eq(1),
                self.s_axil_rresp.eq(Mux(known, Response.OKAY, Response.SLVERR)),
                self.s_axil_rdata.eq(Mux(known, Mux(of_node, chosen, self._global_word(m, word)), 0)),
            ]
        with m.Elif(self.s_axil_rready):
            m.d.sync += [self.s_axil_rvalid.eq(0), busy.eq(0)]

    def _global_word(self, m: Module, word: Value) -> Signal:
        value = Signal(WORD_WIDTH, name="global_word")
        with m.Switch(word):
            for name, constant in self._constants.items():
                with m.Case(int(name)):
                    m.d.comb += value.eq(constant)
            with m.Case(int(GlobalWord.CONTROL)):
                m.d.comb += value[RESET_BIT].eq(self.reset)
        return value

    def _elaborate_choice(self, m: Module, node: Value) -> tuple[Value, int]:
        """Choose the word of `node` in registered levels of four; return it and the number of levels."""
        values, levels = list(self.words), 0
        while len(values) > 1:
            bits, chosen = node[2 * levels : 2 * levels + 2], []
            for group in range(0, len(values), 4):
                four = [*values[group : group + 4], *[Const(0, WORD_WIDTH)] * 3]
                chosen.append(Signal(WORD_WIDTH, name=f"level_{levels}_{group // 4}", reset_less=True))
                low, high = Mux(bits[0], four[1], four[0]), Mux(bits[0], four[3], four[2])
                m.d.sync += chosen[-1].eq(Mux(bits[1], high, low))
            values, levels = chosen, levels + 1
        return values[0], levels
