"""Which of the operations of collective engines a network has schedules for."""

from hdnhw.collectives.instructions import register_schedule
from hdnhw.collectives.operations import operation_phases
from hdnhw.spec import BARRIER, ENGINE_OPERATIONS, REGISTER_OPERATIONS
from hdnhw.support.errors import SpecError
from hdnhw.topology.graph import Network


def engine_operations(network: Network) -> tuple[str, ...]:
    """Return all operations that collective engines can do on a network, in the order of manifests.

    Raises
    ------
    SpecError
        If there is none but a barrier.
    """
    found, errors = [], []
    for operation in (*ENGINE_OPERATIONS, *REGISTER_OPERATIONS):
        try:
            if operation in REGISTER_OPERATIONS:
                register_schedule(network, operation)
            elif operation != BARRIER:
                operation_phases(network, operation)
        except SpecError as error:
            errors.append(error)
        else:
            found.append(operation)
    if found == [BARRIER]:
        raise errors[0]
    return tuple(found)
