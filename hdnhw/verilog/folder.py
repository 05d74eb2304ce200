"""A fabric read back from its folder: the text that stands there, and the machine that its manifest is of."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from hdnhw.endpoints import declared
from hdnhw.networks.parse import parse
from hdnhw.spec import FabricSpec
from hdnhw.spec.chips import ChipOptions
from hdnhw.spec.options import options_of
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named_by
from hdnhw.verilog.fabric import EmittedFabric, emit_fabric

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
    try:
        said = json.loads(text, parse_constant=_refuse)
        emitted = _emit(said)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        reason = "nests too deep" if isinstance(error, RecursionError) else reason
        raise SpecError(f"{folder / MANIFEST} is no manifest of a fabric: {reason}") from error
    there, made = _without_digests(said), _without_digests(json.loads(emitted.files[MANIFEST]))
    for key in sorted({*there, *made}):
        if there.get(key) != made.get(key):
            raise SpecError(f"{folder / MANIFEST} has another {key!r} than a fabric of its spec and options")
    texts = {name: _read(folder / name) for name in emitted.verilog}
    for name, must in ({} if like is None else like.verilog).items():
        if texts.get(name) != must:
            raise SpecError(f"{folder / name} is not the text of this fabric")
    return replace(emitted, files={**emitted.files, **texts, MANIFEST: text}, manifest=said)


def _emit(said: Any) -> EmittedFabric:
    """Emit what a manifest says."""
    if not isinstance(said, dict):
        raise ValueError("it must be an object")
    endpoints = said.get("endpoints")
    if not isinstance(endpoints, dict | None):
        raise ValueError("endpoints must be an object")
    if endpoints is not None:
        endpoints = declared("spec")[endpoints["type"]](**endpoints["options"])
    options = {name: said[name] for name in options_of(FabricSpec)}
    chips = said.get("chips")
    cut = ChipOptions() if chips is None else ChipOptions(**{name: chips[name] for name in options_of(ChipOptions)})
    with named_by(str):  # as they stand in the manifest
        spec = FabricSpec(network=parse(said["spec"]), endpoints=endpoints, **options)
    return emit_fabric(
        spec,
        top=said["fabric"],
        initial=said["initial_values"],
        wrapper="wrappers" in said,
        node_clocks="clocks" in said,
        cut=cut,
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
