"""A fabric and its terminals, cycle by cycle."""

from hdnhw.model.kernel.compiled import at, kept
from hdnhw.model.kernel.memory import borrow
from hdnhw.model.kernel.router import Route, allocate, deliver, return_credits
from hdnhw.model.kernel.state import CYCLE, ENDED, LEFT, LOST, SENT, SLOT, Arrivals, State
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

__all__ = ["simulate"]


@kept
def simulate(route: Route, state: State, arrivals: Arrivals, packets: int, limit: int) -> int:
    """Go on until `packets` packets have left or been dropped since reset, or cycle `limit` is reached.

    A source has a packet of `arrivals` to send from its cycle on; it takes a row of the pool. Terminals that never
    pause are worked on once a slot: then `limit` must be in the sample phase if the run is to go on, and `out` tells of
    tails that are still on their way to the terminal, and is in no order within a cycle. Return how many packets have
    left since the call.
    """
    state, arrivals = borrow(state), borrow(arrivals)  # the caller holds all arrays
    phases, pauses, progress, freed = state.phases, state.pauses, state.progress, state.freed
    plain, total = pauses.gap == 0 and pauses.stall == 0 and pauses.hold == 0, len(arrivals.cycle)
    turns = 2 if len(state.fabric.odd) else 1
    arrived, left = 0, 0
    cycle, slot, ended = progress[CYCLE], progress[SLOT], progress[ENDED]
    sent, lost, before = progress[SENT], progress[LOST], progress[LEFT]
    while before + left + lost < packets and cycle < limit:
        phase = cycle % phases.length
        if phase == phases.sample:
            for item in range(freed.length[0]):
                state.sources.occupied[at(freed.node[at(item)])] -= 1
            freed.length[0] = 0
            return_credits(state.routers, state.returning, slot)
            if plain:
                return_credits(state.routers, state.ejected, slot)
            state.leaving.length[0] = 0
            for turn in range(turns):
                deliver(route, state, slot)
                sent += allocate(state, slot, turn)
            if not plain:
                return_credits(state.routers, state.ejected, 0)
            ready = (slot + 1) * phases.length + phases.ejection_cycles
            if not plain:
                store_leaving(state, ready)
            else:
                if state.leaving.length[0]:
                    ended = ready + phases.length
                left = eject_slot(state, slot, ready + phases.length - 1, left)
            slot += 1
        # Terminals: up to the next allocation, or this cycle alone.
        end = cycle + (phases.sample - phase - 1) % phases.length if plain else cycle
        while arrived < total and arrivals.cycle[at(arrived)] <= min(end, limit - 1):
            offer(state, arrivals, arrived)
            arrived += 1
        if plain:
            if not phases.gapless:
                drops = inject_slot(route, state, slot, end - phases.length + 1, end < limit)
            else:
                heads = end - (phases.update - phases.injection)
                drops = inject_gapless(route, state, slot, heads, True) if heads < limit else 0
            if drops:
                ended = max(ended, end + 1)
            lost += drops
        else:
            taken = phase == phases.injection
            if not phases.gapless:
                lost += inject_cycle(route, state, slot, cycle, taken)
            elif taken or pauses.gap:
                lost += inject_gapless(route, state, slot, cycle, taken)
            left = eject_cycle(state, cycle, left, phases.late <= phase <= phases.update)
            if pauses.gap or pauses.stall:
                advance_generators(state, cycle)
            ended = end + 1
        cycle = end + 1
    progress[CYCLE], progress[SLOT], progress[ENDED] = cycle, slot, ended
    progress[SENT], progress[LOST], progress[LEFT] = sent, lost, before + left
    return left
