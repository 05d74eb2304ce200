"""The commands that need a simulator: ``hdnhw cosim`` and ``hdnhw demo``."""

from hdnhw.cli.options import Command
from hdnhw.library.cosimulation import CosimOptions, cosim
from hdnhw.library.result import Result
from hdnhw.spec import AxiMemorySpec, AxiStreamSpec, RelaySpec


def run_cosim(asked: CosimOptions) -> Result:
    """Do what :func:`hdnhw.cosim` is asked for, which finds this by the entry point of the command."""
    from hdnhw.sim.cosim import cosim

    return cosim(asked)


def demo() -> Result:
    """Do the main job on a small network, in a few minutes."""
    from hdnhw.sim.cosim import demo

    return demo()


add_cosim = Command(
    cosim,
    example="hdnhw cosim 'rdn(cube(3), 1)' --test random --packets 100000",
    machine={},
    endpoints=[AxiStreamSpec.kind, AxiMemorySpec.kind, RelaySpec.kind],
)
add_demo = Command(demo, example="hdnhw demo")
