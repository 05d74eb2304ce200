"""Nodes and channels that die in traffic and come back: what must become of every packet, whatever the cycle."""

from dataclasses import dataclass, replace
from pathlib import Path

from hdnhw.sim.compare import log_rows
from hdnhw.sim.stimulus import Case, make_case, write_case
from hdnhw.sim.streams import HarnessBench
from hdnhw.topology.faults import Faults
from hdnhw.topology.metrics import neighbor_table

WELL_SLOTS = 2
"""Slots after something has come back, after which packets meet nothing dead any more."""


@dataclass(frozen=True)
class DeathVerdict:
    """What a run in which something died and came back showed.

    Attributes
    ----------
    packets : int
        Packets that were sent.
    delivered : int
        Of these, how many came out at their destination.
    stranded : int
        How many came out beside what was dead, after it had died.
    counted : int
        How many routers say they have lost or dropped.
    wrong : int
        Packets that came out twice, with other flits than were sent, or elsewhere.
    unaccounted : int
        By how many packets `counted` differs from those that did not come out.
    late : int
        Packets that were accepted when all was well again for a while.
    late_lost : int
        Of these, how many were not delivered.
    """

    packets: int
    delivered: int
    stranded: int
    counted: int
    wrong: int
    unaccounted: int
    late: int
    late_lost: int

    @property
    def passed(self) -> bool:
        """Whether all is as it must be."""
        return not (self.wrong or self.unaccounted or self.late_lost)


class DeathBench(HarnessBench[Case, DeathVerdict]):
    """A fabric of bare streams with dead pins, see :class:`HarnessBench`."""

    def test_name(self, case: Case) -> str:
        """See :meth:`hdnhw.sim.runner.Bench.test_name`."""
        return f"death-{case.dead_cycles[0]}"

    def make_case(self, faults: Faults, *, packets: int, dies: int, returns: int, seed: int = 1) -> Case:
        """Make random traffic in which something is dead from cycle `dies` on, and no more from `returns` on."""
        case = make_case("random", self.model, packets=packets, seed=seed)
        return replace(case, faults=faults, dead_cycles=(dies, returns), limit=2 * case.limit)

    def write(self, case: Case, folder: Path) -> dict[str, object]:
        """See :meth:`hdnhw.sim.runner.Bench.write`."""
        return self.options(write_case(case, folder, self.machine))

    def check(self, case: Case, folder: Path) -> DeathVerdict:
        """See :meth:`hdnhw.sim.runner.Bench.check`."""
        assert case.faults is not None
        flits, (dies, returns) = self.machine.flits, case.dead_cycles
        number_of = {flits.word(packet): number for number, packet in enumerate(case.flits.tolist())}
        dead = case.faults.all_channels(neighbor_table(self.machine.network))
        delivered: set[int] = set()
        stranded: set[int] = set()
        wrong = 0
        for node, cycle, data in log_rows(folder / "ejections.log"):
            packet = number_of.get(int(data, 16), -1)
            if packet < 0 or packet in delivered | stranded:
                wrong += 1
            elif case.destination[packet] == int(node):
                delivered.add(packet)
            else:
                stranded.add(packet)
                wrong += not (dead[int(node)].any() and int(cycle) > dies)
        counted = self.dropped(folder)
        well = returns + WELL_SLOTS * flits.packet_length
        heads = ((int(packet), int(cycle)) for packet, cycle in log_rows(folder / "heads.log"))
        late = {packet for packet, cycle in heads if cycle > well and case.destination[packet] >= 0}
        return DeathVerdict(
            packets=len(case.flits),
            delivered=len(delivered),
            stranded=len(stranded),
            counted=counted,
            wrong=wrong,
            unaccounted=abs(len(case.flits) - len(delivered) - len(stranded) - counted),
            late=len(late),
            late_lost=len(late - delivered),
        )
