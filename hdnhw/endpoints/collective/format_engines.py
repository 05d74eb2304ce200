"""What the collective engines of a machine run, derived from its options in one place."""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from hdnhw.collectives.barrier import barrier_rounds
from hdnhw.collectives.instructions import RegisterProgram, make_register_program
from hdnhw.collectives.program import Program, make_program
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.machine.machine import Machine
from hdnhw.spec import BARRIER


@dataclass(frozen=True, eq=False)
class Engines:
    """The engines of a machine; :func:`engines_of` makes them.

    Attributes
    ----------
    machine : Machine
    spec : CollectiveSpec
        Its endpoints.
    """

    machine: Machine
    spec: CollectiveSpec

    @cached_property
    def program(self) -> Program:
        """What they run, but in registers."""
        return make_program(self.machine.network, self.spec)

    @cached_property
    def register_program(self) -> RegisterProgram:
        """What they run, if it is in registers."""
        return make_register_program(self.machine.network, self.spec.operations)

    @cached_property
    def rounds(self) -> int:
        """Of their barrier, 0 if they have none."""
        return barrier_rounds(self.machine.network) if BARRIER in self.spec.operations else 0

    @cached_property
    def parts(self) -> tuple[Machine, ...]:
        """The same machine with each part of its engines by itself; that itself where they are not joined.

        Of two parts, the one that moves messages is the first.
        """
        machine, parts = self.machine, self.spec.parts
        if not self.spec.is_joint:
            return (machine,)
        return tuple(Machine(replace(machine.spec, endpoints=part), machine.plan, len(parts) > 1) for part in parts)


@lru_cache(maxsize=32)
def engines_of(machine: Machine) -> Engines:
    """Return the engines of a machine that has some."""
    assert isinstance(machine.spec.endpoints, CollectiveSpec)
    return Engines(machine, machine.spec.endpoints)
