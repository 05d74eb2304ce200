"""Blocks that are reset alone: what they have under way is ended, and nothing of before reaches them."""

import random
from collections import deque
from types import SimpleNamespace

import pytest

from hdnhw.endpoints.axi4 import isolation
from hdnhw.endpoints.axi4.isolation import Isolation
from hdnhw.endpoints.axi4.layout import CHANNELS, STREAM, port_layouts

LAYOUTS = port_layouts(id_width=2, address_width=12, data_width=8)
CYCLES, QUIET = 1500, 300
OKAY, SLVERR = 0, 2


class Side:
    """The transfers at one side of an isolation; what is offered stays, unless the side itself is reset."""

    def __init__(self, dut, side, offers, rng):
        self.ends = {name: getattr(dut, f"{side}_{name}") for name in dut._layouts}
        self.queues = {name: deque() for name in self.ends if offers(name)}
        self.takes = [name for name in self.ends if not offers(name)]
        self.rng, self.offered, self.kept = rng, set(), {}

    def drive(self, ctx, *, present=True):
        if not present:
            self.offered.clear()
            for queue in self.queues.values():
                queue.clear()
        for name, queue in self.queues.items():
            if queue and self.rng.random() < 0.6:
                self.offered.add(name)
            if name in self.offered:
                ctx.set(self.ends[name].payload, queue[0])
            ctx.set(self.ends[name].valid, name in self.offered)
        for name in self.takes:
            ctx.set(self.ends[name].ready, present and self.rng.random() < 0.6)

    def moved(self, ctx, *, stays=True):
        """Return what is taken in this cycle, by channel; and look whether what is offered to it stays."""
        found = {}
        for name, end in self.ends.items():
            valid, ready = ctx.get(end.valid), ctx.get(end.ready)
            if name in self.takes:
                payload = {field: int(ctx.get(getattr(end.payload, field))) for field, _ in end.payload.shape()}
                if stays and name in self.kept:
                    assert (valid, payload) == (1, self.kept[name]), f"{name} changes while it waits"
                self.kept.pop(name, None)
                if valid and not ready:
                    self.kept[name] = payload
                if valid and ready:
                    found[name] = payload
            elif valid and ready:
                found[name] = self.queues[name].popleft()
                self.offered.discard(name)
        return found


def presence(rng, resets):
    while resets:
        yield from [True] * rng.randint(10, 80)
        yield from [False] * rng.randint(1, 12)
    while True:
        yield True


def burst(rng, number):
    return {"id": number % 4, "addr": 0, "len": rng.choice([0, 0, 1, 3]), "size": 0, "burst": 1}


def beats(one):
    return [place == one["len"] for place in range(one["len"] + 1)]


def run(simulate, dut, block_is_near, step, resets, rng):
    """Run both sides; `step` is told what moved at the near and at the far side, and whether the block is there."""
    near, far = (
        Side(dut, side, lambda name, forth=forth: (name == STREAM or CHANNELS[name]) == forth, rng)
        for side, forth in (("near", True), ("far", False))
    )

    async def bench(ctx):
        there = presence(rng, resets)
        for cycle in range(CYCLES + QUIET):
            present = next(there) or cycle >= CYCLES
            ctx.set(dut.present, present)
            near.drive(ctx, present=present or not block_is_near)
            far.drive(ctx, present=present or block_is_near)
            moved = near.moved(ctx, stays=not block_is_near), far.moved(ctx, stays=block_is_near)
            step(near, far, *moved, present, cycle)
            await ctx.tick()

    simulate(dut, bench, cycles=CYCLES + QUIET + 10)


def check_manager(simulate, *, resets, seed):
    rng, epoch, was_present = random.Random(seed), [0], [True]
    under_way = {"b": deque(), "r": deque()}  # of the block since its reset
    due, came, written, answered = deque(), deque(), [], {"aw": 0, "b": 0}

    def step(near, far, given, taken, present, cycle):
        if present and not was_present[0]:
            epoch[0] += 1
        was_present[0] = present
        if not present:
            for one in under_way.values():
                one.clear()
        elif cycle < CYCLES and rng.random() < 0.3:
            channel, one = rng.choice(["aw", "ar"]), burst(rng, epoch[0])
            near.queues[channel].append(one)
            if channel == "aw":
                near.queues["w"].extend({"data": epoch[0] % 256, "strb": 1, "last": last} for last in beats(one))
        for asks, answers in (("aw", "b"), ("ar", "r")):
            if asks in given:
                under_way[answers].append(given[asks])
            if answers in given and present:
                first = under_way[answers][0]
                assert given[answers]["id"] == first["id"] == epoch[0] % 4, "an answer of before the reset"
                if answers == "b" or given["r"]["last"]:
                    under_way[answers].popleft()
        if "aw" in taken:
            due.extend((taken["aw"], last) for last in beats(taken["aw"]))
            answered["aw"] += 1
        came.extend([taken["w"]] if "w" in taken else [])
        while due and came:  # data may be taken before their address
            (one, last), beat = due.popleft(), came.popleft()
            assert beat["last"] == last
            assert not beat["strb"] or beat["data"] % 4 == one["id"], "data of another burst"
            if last:
                written.append(one)
        if "ar" in taken:
            one = taken["ar"]
            far.queues["r"].extend({"id": one["id"], "data": 0, "resp": OKAY, "last": last} for last in beats(one))
        if written and rng.random() < 0.2:
            far.queues["b"].append({"id": written.pop(0)["id"], "resp": OKAY})
        answered["b"] += "b" in taken

    run(simulate, Isolation(LAYOUTS, is_manager=True), True, step, resets, rng)
    assert not due, "write data are missing"
    assert not came, "there are more write data than were asked for"
    assert not written
    assert not any(under_way.values()), "a burst is not answered"
    assert answered["aw"] == answered["b"] > 20


def check_subordinate(simulate, *, resets, seed):
    rng = random.Random(seed)
    asked, counts, responses = deque(), {"aw": 0, "b": 0, "ar": 0}, set()
    lens, pending = deque(), deque()

    def step(near, far, given, taken, present, cycle):
        if not present:
            lens.clear()
            pending.clear()
        if cycle < CYCLES and rng.random() < 0.2:
            channel, one = rng.choice(["aw", "ar"]), burst(rng, 0)
            near.queues[channel].append(one)
            if channel == "aw":
                near.queues["w"].extend({"data": 0, "strb": 1, "last": last} for last in beats(one))
        counts["aw"] += "aw" in given
        if "ar" in given:
            counts["ar"] += 1
            asked.extend(beats(given["ar"]))
        if "b" in given:
            counts["b"] += 1
            responses.add(given["b"]["resp"])
        if "r" in given:
            responses.add(given["r"]["resp"])
            assert given["r"]["last"] == asked.popleft()
        if present and "aw" in taken:
            lens.append(taken["aw"])
        if present and "w" in taken and taken["w"]["last"]:
            pending.append(1)
        if present and pending and lens and rng.random() < 0.2:
            pending.popleft()
            lens.popleft()
            far.queues["b"].append({"id": 0, "resp": OKAY})
        if present and "ar" in taken:
            far.queues["r"].extend({"id": 0, "data": 1, "resp": OKAY, "last": last} for last in beats(taken["ar"]))

    run(simulate, Isolation(LAYOUTS, is_manager=False), False, step, resets, rng)
    assert not asked, "data that were asked for are missing"
    assert counts["aw"] == counts["b"] > 20
    assert responses == ({OKAY, SLVERR} if resets else {OKAY})


@pytest.mark.parametrize("resets", [False, True])
@pytest.mark.parametrize("check", [check_manager, check_subordinate])
def test_all_that_is_asked_is_answered(simulate, check, resets):
    for seed in range(2):
        check(simulate, resets=resets, seed=seed)


FIELD = isolation._field


@pytest.mark.parametrize(
    ("check", "what", "wrong"),
    [
        (check_manager, "counted", lambda level, *_: level),
        (check_subordinate, "counted", lambda level, *_: level),
        (check_manager, "_field", lambda payload, _name, other: FIELD(payload, "", other)),
        (check_subordinate, "_field", lambda payload, _name, other: FIELD(payload, "", other)),
        (check_subordinate, "Response", SimpleNamespace(SLVERR=OKAY)),
    ],
)
def test_each_fault_is_seen(simulate, monkeypatch, check, what, wrong):
    monkeypatch.setattr(isolation, what, wrong)
    with pytest.raises((AssertionError, IndexError)):
        check(simulate, resets=True, seed=0)
