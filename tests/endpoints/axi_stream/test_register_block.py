"""The register block: its map, its answers, and the reset it holds."""

import pytest

from hdnhw.endpoints.axi_stream.endpoint import NodeWord
from hdnhw.endpoints.axi_stream.register_block import (
    IDENTIFICATION,
    NODE_BASE,
    NODE_STRIDE,
    RESET_CYCLES,
    GlobalWord,
    RegisterBlock,
)

OKAY, SLVERR = 0, 2
CONSTANTS = {word: IDENTIFICATION + word for word in GlobalWord if word != GlobalWord.CONTROL}
CONTROL = 4 * GlobalWord.CONTROL


class Master:
    """A block, its master, and the nodes whose words it reads."""

    def __init__(self, nodes):
        self.dut, self.nodes = RegisterBlock(CONSTANTS, num_nodes=nodes), nodes

    @staticmethod
    def value(node, word):
        return 0x01010000 * (node + 1) + word & 0xFFFFFFFF

    async def read(self, ctx, address, wait=0):
        """Return (value, response, cycles); the answer is taken `wait` cycles late."""
        dut = self.dut
        ctx.set(dut.s_axil_araddr, address)
        ctx.set(dut.s_axil_arvalid, 1)
        while not (await ctx.tick().sample(dut.s_axil_arready))[2]:
            pass
        ctx.set(dut.s_axil_arvalid, 0)
        cycles = 1
        while not ctx.get(dut.s_axil_rvalid):
            await ctx.tick()
            cycles += 1
        for _ in range(wait):
            await ctx.tick()
            assert ctx.get(dut.s_axil_rvalid)
        result = ctx.get(dut.s_axil_rdata), ctx.get(dut.s_axil_rresp), cycles
        ctx.set(dut.s_axil_rready, 1)
        await ctx.tick()
        ctx.set(dut.s_axil_rready, 0)
        assert not ctx.get(dut.s_axil_rvalid)
        return result

    async def write(self, ctx, address, data=1, strobe=15, lead=0, wait=0):
        """Write, the data `lead` cycles before the address (after it if negative); return (response, cycles)."""
        dut = self.dut
        ctx.set(dut.s_axil_awaddr, address)
        ctx.set(dut.s_axil_wdata, data)
        ctx.set(dut.s_axil_wstrb, strobe)
        for cycle in range(abs(lead) + 1):
            ctx.set(dut.s_axil_awvalid, cycle == max(0, lead))
            ctx.set(dut.s_axil_wvalid, cycle == max(0, -lead))
            assert ctx.get(dut.s_axil_awready if cycle == max(0, lead) else dut.s_axil_wready) or cycle
            await ctx.tick()
        ctx.set(dut.s_axil_awvalid, 0)
        ctx.set(dut.s_axil_wvalid, 0)
        cycles = 1
        while not ctx.get(dut.s_axil_bvalid):
            await ctx.tick()
            cycles += 1
        for _ in range(wait):
            await ctx.tick()
            assert ctx.get(dut.s_axil_bvalid)
        response = ctx.get(dut.s_axil_bresp)
        ctx.set(dut.s_axil_bready, 1)
        await ctx.tick()
        ctx.set(dut.s_axil_bready, 0)
        assert not ctx.get(dut.s_axil_bvalid)
        return response, cycles


def run(simulate, master, bench):
    """Simulate a bench, with endpoints that give the selected word one cycle later."""
    running = [True]

    async def main(ctx):
        await bench(ctx)
        running.clear()

    async def nodes(ctx):
        while running:
            select = ctx.get(master.dut.select)
            await ctx.tick()
            for node in range(master.nodes):
                ctx.set(master.dut.words[node], master.value(node, select))

    simulate(master.dut, main, nodes)


@pytest.mark.parametrize(("nodes", "levels"), [(2, 1), (4, 1), (5, 2), (16, 2), (18, 3)])
def test_every_register_of_every_node(simulate, nodes, levels):
    master = Master(nodes)

    async def bench(ctx):
        for _ in range(RESET_CYCLES + 1):
            await ctx.tick()
        for word in GlobalWord:
            value = CONSTANTS.get(word, 0)
            assert await master.read(ctx, 4 * word) == (value, OKAY, 3 + levels)
        for node in range(nodes):
            for word in NodeWord:
                address = NODE_BASE + NODE_STRIDE * node + 4 * word
                assert await master.read(ctx, address, node % 3) == (master.value(node, word), OKAY, 3 + levels)

    run(simulate, master, bench)


def test_addresses_without_register(simulate):
    master = Master(5)
    holes = [NODE_STRIDE, NODE_BASE - 4, NODE_BASE + 4 * len(NodeWord), NODE_BASE + 5 * NODE_STRIDE, (1 << 19) - 4]

    async def bench(ctx):
        for address in holes:
            assert (await master.read(ctx, address))[:2] == (0, SLVERR)
            assert await master.write(ctx, address) == (SLVERR, 2)
        assert (await master.write(ctx, 4 * GlobalWord.VERSION))[0] == SLVERR
        assert (await master.write(ctx, NODE_BASE))[0] == SLVERR
        assert not ctx.get(master.dut.reset)

    run(simulate, master, bench)


@pytest.mark.parametrize("lead", [0, 1, 3, -1, -4])
def test_the_reset_is_held(simulate, lead):
    master, trace = Master(2), []

    async def bench(ctx):
        for cycle in range(2 * RESET_CYCLES):
            assert ctx.get(master.dut.reset) == (cycle < RESET_CYCLES)
            await ctx.tick()
        for data, strobe in ((0, 15), (2, 15), (1, 14)):
            assert await master.write(ctx, CONTROL, data, strobe) == (OKAY, 2)
            assert not ctx.get(master.dut.reset)
        assert await master.write(ctx, CONTROL, lead=lead, wait=2) == (OKAY, 2)
        assert (await master.read(ctx, CONTROL))[:2] == (1, OKAY)
        while ctx.get(master.dut.reset):
            trace.append(1)
            await ctx.tick()
        assert (await master.read(ctx, CONTROL))[:2] == (0, OKAY)

    run(simulate, master, bench)
    assert 0 < len(trace) < RESET_CYCLES
