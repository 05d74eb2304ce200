"""A fabric and its terminals, cycle by cycle."""

from hdnhw.model.kernel.compiled import at, borrow, called, inlined, kept
from hdnhw.model.kernel.queue import start_epoch
from hdnhw.model.kernel.router import allocate, deliver, return_credits, return_ejected
from hdnhw.model.kernel.state import (
    CYCLE,
    ENDED,
    EPOCH,
    FREED,
    LEAVING,
    LEFT,
    LINE,
    LOST,
    OFFERED,
    SENT,
    SLOT,
    Offers,
    State,
)
from hdnhw.model.kernel.terminal import (
    advance_generators,
    eject_cycle,
    eject_slot,
    inject_cycle,
    inject_gapless,
    inject_slot,
    offer,
    store_leaving,
)
from hdnhw.model.kernel.threads import meet, seen_gone
from hdnhw.model.kernel.ways import Route

__all__ = ["simulate", "sort_arrivals"]


@kept
def sort_arrivals(offers: Offers, bits: int) -> None:
    """Set the order of arrivals, by the part of their source, ``node >> bits``, and else as they are."""
    first, order, node = offers.first, offers.order, offers.arrivals.node
    first[:] = 0
    for number in range(len(node)):
        first[at((node[at(number)] >> bits) + 1)] += 1
    for part in range(1, len(first)):
        first[at(part)] += first[at(part - 1)]
    for number in range(len(node)):
        part = at(node[at(number)] >> bits)
        order[at(first[part])] = number
        first[part] += 1
    for part in range(len(first) - 1, 0, -1):
        first[at(part)] = first[at(part - 1)]
    first[0] = 0


@kept
def simulate(route: Route, state: State, offers: Offers, packets: int, limit: int) -> int:
    """Go on until `packets` packets have left or been dropped since reset, or cycle `limit` is reached.

    All threads are called at once, each with its parts. A source has an arrival to send from its cycle on. Terminals
    that never pause are worked on once a slot: then `limit` must be in the sample phase if the run is to go on, and
    `out` tells of tails that are still on their way to the terminal, and is in no order within a cycle. Return how many
    packets of the thread's parts have left since the call.
    """
    state, offers = borrow(state), borrow(offers)  # the caller holds all arrays
    phases, pauses, progress, parts = state.phases, state.pauses, state.progress, state.parts
    plain = pauses.gap == 0 and pauses.stall == 0 and pauses.hold == 0
    turns, meeting = 2 if len(state.fabric.odd) else 1, 0
    cycle, slot = progress[CYCLE], progress[SLOT]
    left = 0
    while cycle < limit:
        meeting += 1
        if seen_gone(parts, meeting, progress[LEFT] + left + progress[LOST]) >= packets:
            break
        phase = cycle % phases.length
        samples = phase == phases.sample
        end = cycle + (phases.sample - phase - 1) % phases.length if plain else cycle
        last = turns - 1 if samples else 0
        for turn in range(last + 1):
            if turn:
                meeting += 1
                meet(parts, meeting)
            for part in range(parts.begin, parts.end):
                if samples:
                    _work_slot(route, state, slot, turn, part, plain)
                if turn == last and plain:
                    left = _work_terminals(route, state, slot, part, samples, end, limit, left, offers)
                elif turn == last:
                    left = _work_cycle(route, state, slot, part, samples, cycle, left, offers)
        slot += samples
        cycle = end + 1
    progress[CYCLE], progress[SLOT] = cycle, slot
    progress[LEFT] += left
    return left


@inlined
def _work_slot(route: Route, state: State, slot: int, turn: int, part: int, plain: bool) -> None:
    """Let the routers of a part have their turn in a slot."""
    lengths, row = state.parts.lengths, part * LINE
    if turn == 0:
        if slot % EPOCH == 0:
            begin = part << state.parts.bits
            start_epoch(state.routers.queues, begin, min(begin + (1 << state.parts.bits), len(state.fabric.address)))
        for item in range(part << state.parts.bits, (part << state.parts.bits) + lengths[at(row + FREED)]):
            state.sources.occupied[at(state.freed[at(item)])] -= 1
        lengths[at(row + FREED)] = lengths[at(row + LEAVING)] = 0
        return_credits(state, slot, part)
        if plain:
            return_ejected(state, slot, part)
    deliver(route, state, slot, turn, part)
    state.progress[SENT] += allocate(route, state, slot, turn, part)


@inlined
def _work_terminals(
    route: Route,
    state: State,
    slot: int,
    part: int,
    samples: bool,
    end: int,
    limit: int,
    left: int,
    offers: Offers,
) -> int:
    """Let the terminals of a part that never pause go on to the next allocation."""
    phases, progress = state.phases, state.progress
    if samples:
        tail = (slot + 2) * phases.length + phases.ejection_cycles - 1
        left = eject_slot(state, slot, part, tail, left)
    _offer_until(state, part, min(end, limit - 1), offers)
    slot += samples
    if not phases.gapless:
        drops = inject_slot(route, state, slot, part, end - phases.length + 1, end < limit)
    else:
        heads = end - (phases.update - phases.injection)
        drops = inject_gapless(route, state, slot, part, heads, True) if heads < limit else 0
    if drops:
        progress[ENDED] = max(progress[ENDED], end + 1)
    progress[LOST] += drops
    return left


@called
def _work_cycle(
    route: Route,
    state: State,
    slot: int,
    part: int,
    samples: bool,
    cycle: int,
    left: int,
    offers: Offers,
) -> int:
    """Let the terminals of a part that pause have a cycle."""
    phases, progress, phase = state.phases, state.progress, cycle % state.phases.length
    if samples:
        return_ejected(state, 0, part)
        store_leaving(state, part, (slot + 1) * phases.length + phases.ejection_cycles)
    _offer_until(state, part, cycle, offers)
    slot += samples
    taken, drops = phase == phases.injection, 0
    if not phases.gapless:
        drops = inject_cycle(route, state, slot, part, cycle, taken)
    elif taken or state.pauses.gap:
        drops = inject_gapless(route, state, slot, part, cycle, taken)
    if drops:
        progress[ENDED] = max(progress[ENDED], cycle + 1)
    progress[LOST] += drops
    left = eject_cycle(state, part, cycle, left, phases.late <= phase <= phases.update)
    if state.pauses.gap or state.pauses.stall:
        advance_generators(state, part, cycle)
    return left


@inlined
def _offer_until(state: State, part: int, cycle: int, offers: Offers) -> None:
    """Give the sources of a part the packets that they get to send up to a cycle."""
    first, order, arrives = offers.first, offers.order, offers.arrivals.cycle
    place, begin, total = part * LINE + OFFERED, first[at(part)], first[at(part + 1)]
    item = begin + state.parts.lengths[at(place)]
    while item < total and arrives[at(order[at(item)])] <= cycle:
        offer(state, offers, item, total)
        item += 1
    state.parts.lengths[at(place)] = item - begin
