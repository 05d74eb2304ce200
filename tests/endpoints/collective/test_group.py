"""What a node has heard of members against a list of what it was told, packet by packet."""

import random

import pytest

from hdnhw.endpoints.collective.format_engines import engines_of
from hdnhw.endpoints.collective.group import Group
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.machine.machine import make_machine
from hdnhw.spec import JOIN, MULTICAST
from tests.specs import fabric_spec


def machine_of(text, root):
    engines = CollectiveSpec(operations=("broadcast", MULTICAST), root=root)
    return make_machine(fabric_spec(text, endpoints=engines))


@pytest.mark.parametrize(("text", "root"), [("torus(3, 3)", 4), ("hdn(cube(2), [[0]])", 0), ("hsn(2, cube(2))", 5)])
@pytest.mark.parametrize("seed", range(3))
def test_members_are_noted_by_send_and_parity_until_the_join_of_that_parity_ends(simulate, text, root, seed):
    machine = machine_of(text, root)
    program, rng = engines_of(machine).program, random.Random(f"{text} {seed}")
    multicast = program.numbers_of(program.operations.index(MULTICAST))
    first = program.sends[multicast[0]].step
    node = root if seed == 0 else rng.randrange(machine.network.num_nodes)
    sent = program.sent_in(MULTICAST)
    sends = [program.sends[number] for number in multicast]
    sends_there = [any(sent[send.step - first, node, port] for port in send.link.ports) for send in sends]
    place_of = {number: place for place, number in enumerate(program.told_by)}
    dut = Group(program, machine.endpoint_format)
    numbers = [*program.numbers_of(program.operations.index(JOIN)), *range(len(program.sends))]
    seen = set()

    async def bench(ctx):
        ctx.set(dut.address, machine.address.of_node(node))
        heard, uses, parity, member = [set(), set()], set(), 0, 0
        for _ in range(300):
            said = {"send": rng.choice(numbers), "parity": rng.randrange(2), "member": rng.random() < 0.3}
            ends, new = rng.random() < 0.1, rng.randrange(2)
            for name, value in said.items():
                ctx.set(dut.told[name], int(value))
            ctx.set(dut.parity, parity)
            ctx.set(dut.ends, ends)
            ctx.set(dut.member, member)
            joined = bool(member or heard[parity])
            await ctx.tick()
            if ends:
                uses, heard[parity] = heard[parity], set()
            place = place_of.get(said["send"])
            if said["member"] and place is not None and sends_there[place]:
                heard[said["parity"]] = heard[said["parity"]] | {place}
            if ends:
                parity, member = 1 - parity, new
            assert ctx.get(dut.uses) == sum(1 << place for place in uses)
            assert ctx.get(dut.joined) == joined
            seen.add(len(uses))

    simulate(dut, bench)
    assert seen == {0} if not any(sends_there) else len(seen) > 1
