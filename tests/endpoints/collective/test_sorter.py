"""The sorter against the schedules' conditions, read one message at a time by plain arithmetic."""

import random

import pytest

from hdnhw.collectives.program import make_program
from hdnhw.endpoints.collective.sorter import Sorter
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.networks.build import build
from hdnhw.spec import JOIN, MULTICAST, OPERATIONS
from hdnhw.topology.address import AddressLayout

SLOTS = 11


def expected_list(program, node, group, source, target, send, begins, early):
    """Return the number of the first send of a later step of the operation that takes a message, or of the results; or
    that of early messages. By what a multicast goes, `group` says; no message goes by a send of a join.
    """
    sends = program.sends
    if early:
        return len(sends) + 1
    for number, one in enumerate(sends):
        if one.operation != sends[send].operation or not (begins or one.step > sends[send].step):
            continue
        if one.schedule.name in (JOIN, MULTICAST):
            if one.schedule.name == MULTICAST and group[number - program.numbers_of(one.operation).start]:
                return number
            continue
        first = min(other.step for other in sends if other.schedule is one.schedule)
        if set(one.link.ports) & set(one.schedule.ports_of(one.step - first, node, source, target)):
            return number
    return len(sends)


@pytest.mark.parametrize("text", ["hdn(torus(3), [[0]])", "torus(4, 4)", "product(mesh(3), complete(4))"])
def test_messages_come_into_the_list_of_their_next_send(simulate, text):
    network = build(text)
    program, layout, rng = (
        make_program(network, CollectiveSpec(operations=OPERATIONS, root=1)),
        AddressLayout(network),
        random.Random(text),
    )
    dut, node, lists = Sorter(program, SLOTS), rng.randrange(network.num_nodes), set()
    starts = [
        min(n for n, send in enumerate(program.sends) if send.operation == place) for place in range(len(OPERATIONS))
    ]

    async def bench(ctx):
        ctx.set(dut.address, layout.of_node(node))
        group = [rng.random() < 0.5 for _ in program.told_by]
        ctx.set(dut.uses, sum(bit << place for place, bit in enumerate(group)))
        due, count = [None] * 3, 0
        while count < 200:
            item = None
            if rng.random() < 0.7:
                begins = rng.random() < 0.3
                send = rng.choice(starts) if begins else rng.randrange(len(program.sends))
                item = {"source": rng.randrange(network.num_nodes), "target": rng.randrange(network.num_nodes)}
                item |= {"send": send, "begins": begins, "early": rng.random() < 0.2, "slot": rng.randrange(SLOTS)}
            ctx.set(dut.i.valid, item is not None)
            for name, value in (item or {}).items():
                ctx.set(dut.i.payload[name], layout.of_node(value) if name in ("source", "target") else int(value))
            append = dut.append
            _, _, valid, number, slot, busy = await ctx.tick().sample(
                append.valid, append.payload.list, append.payload.slot, dut.busy
            )
            assert busy == any(due)
            came = due.pop(0)
            assert valid == (came is not None)
            if came is not None:
                asked = (came["source"], came["target"], came["send"], came["begins"], came["early"])
                assert (number, slot) == (expected_list(program, node, group, *asked), came["slot"])
                lists.add(number)
                count += 1
            due.append(item)

    simulate(dut, bench)
    assert len(lists) > len(OPERATIONS)
