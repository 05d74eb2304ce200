"""Compiling ahead: what one process compiles, all later ones load."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

from hdnhw.kernels import Kernel, compilation
from hdnhw.kernels.compiling import folder_of
from hdnhw.model.fabric import Course, model_of
from hdnhw.model.kernel.fabric import simulate
from hdnhw.model.load import LoadSpec
from hdnhw.model.loaded import NO_ARRIVALS
from hdnhw.model.measure import measure
from hdnhw.progress import Progress
from hdnhw.spec import FabricSpec, SpecError, cube
from hdnhw.traffic.packets import Terminals

__all__ = ["compile_all", "compile_model"]

LAYERS = ("hdnhw.topology", "hdnhw.rules", "hdnhw.collectives", "hdnhw.traffic", "hdnhw.model")
"""Where kernels are."""


def compile_model() -> None:
    """Compile the model for the processes that follow, unless that was done; if it cannot be kept, each will do so."""
    if folder_of(simulate) is None:
        compilation.announce(False)
    else:
        model = model_of(FabricSpec(network=cube(1)))
        Course(model, Terminals(), room=1).advance(NO_ARRIVALS, packets=1, limit=1)  # small as it is, it is compiled
        measure(model, LoadSpec(rate=0.1, cycles=100, warmup=0))


def compile_all(progress: Progress = lambda *_: None) -> set[Path]:
    """Compile all kernels unless that was done; return the folders in which they are kept.

    Raises
    ------
    SpecError
        If there is no folder to keep them.
    """
    if folder_of(simulate) is None:
        raise SpecError("no folder to keep what is compiled can be written: NUMBA_CACHE_DIR must name one that can")
    for name in _modules():
        import_module(name)
    dispatchers = [simulate]
    for number, kernel in enumerate(Kernel.every):
        progress("compiling", number / (len(Kernel.every) + 1))
        dispatchers.append(kernel.compiled)
    compile_model()
    return {folder for folder in map(folder_of, dispatchers) if folder is not None}


def _modules() -> Iterator[str]:
    for layer in LAYERS:
        package = import_module(layer)
        yield from (module.name for module in walk_packages(package.__path__, f"{layer}."))
