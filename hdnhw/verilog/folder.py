"""A fabric read back from its folder: the text that stands there, and the machine that its manifest is of."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from hdnhw.endpoints import declared
from hdnhw.machine.machine import Machine, make_machine
from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec
from hdnhw.spec.chips import ChipOptions
from hdnhw.spec.options import options_of
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named_by
from hdnhw.verilog.fabric import EmittedFabric, emit_fabric

Made = TypeVar("Made")

MANIFEST = "manifest.json"


def read_fabric(folder: Path, *, like: EmittedFabric | None = None) -> EmittedFabric:
    """Return the fabric in a folder: its files of Verilog and its manifest as they stand there.

    The text may be any; nothing is looked at but that the files of the manifest are there. What the manifest says of
    the machine must be what is emitted for its spec and options. With `like`, the text must be that of this fabric.

    Raises
    ------
    SpecError
        If the folder has no such manifest, or a file of it is missing, no text, or not as it must be.
    """
    text = _read(folder / MANIFEST)
    said, emitted = _understood(folder, text, _emit)
    there, made = _without_digests(said), _without_digests(json.loads(emitted.files[MANIFEST]))
    for key in sorted({*there, *made}):
        if there.get(key) != made.get(key):
            raise SpecError(f"{folder / MANIFEST} has another {key!r} than a fabric of its spec and options")
    texts = {name: _read(folder / name) for name in emitted.verilog}
    for name, must in ({} if like is None else like.verilog).items():
        if texts.get(name) != must:
            raise SpecError(f"{folder / name} is not the text of this fabric")
    return replace(emitted, files={**emitted.files, **texts, MANIFEST: text}, manifest=said)


def read_machine(folder: Path) -> Machine:
    """Return the machine of the fabric in a folder, by its manifest alone.

    Raises
    ------
    SpecError
        If the folder has no such manifest.
    """
    return _understood(folder, _read(folder / MANIFEST), lambda said: make_machine(_spec(said)))[1]


def _understood(folder: Path, text: str, make: Callable[[Any], Made]) -> tuple[Any, Made]:
    """Return what a manifest says, and what is made of it."""
    try:
        said = json.loads(text, parse_constant=_refuse)
        return said, make(said)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        reason = "nests too deep" if isinstance(error, RecursionError) else reason
        raise SpecError(f"{folder / MANIFEST} is no manifest of a fabric: {reason}") from error


def _spec(said: Any) -> FabricSpec:
    """Return the machine that a manifest says."""
    if not isinstance(said, dict):
        raise ValueError("it must be an object")
    endpoints = said.get("endpoints")
    if not isinstance(endpoints, dict | None):
        raise ValueError("endpoints must be an object")
    if endpoints is not None:
        endpoints = declared("spec")[endpoints["type"]](**endpoints["options"])
    options = {name: said[name] for name in options_of(FabricSpec)}
    with named_by(str):  # as they stand in the manifest
        return FabricSpec(network=parse(said["spec"]), endpoints=endpoints, **options)


def _emit(said: Any) -> EmittedFabric:
    """Emit what a manifest says."""
    spec = _spec(said)
    chips = said.get("chips")
    cut = ChipOptions() if chips is None else ChipOptions(**{name: chips[name] for name in options_of(ChipOptions)})
    return emit_fabric(
        spec,
        top=said["fabric"],
        initial=said["initial_values"],
        wrapper="wrappers" in said,
        node_clocks="clocks" in said,
        cut=cut,
        assertions="assertions" in said,
    )


def _without_digests(value: Any) -> Any:
    """Return what a manifest says but for the digests in it, which are those of a text."""
    if isinstance(value, dict):
        return {key: _without_digests(own) for key, own in value.items() if key != "digest"}
    return value


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = "is not there" if isinstance(error, FileNotFoundError) else "cannot be read as text"
        raise SpecError(f"{path} {reason}") from error


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
