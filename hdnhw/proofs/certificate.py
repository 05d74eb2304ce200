"""Certificates: what has been proved of a text and under which assumptions, in a file beside the text's manifest."""

import json
from pathlib import Path
from typing import Any

from hdnhw.proofs.finding import ANSWERS, BARE, verdict
from hdnhw.spec import FabricSpec
from hdnhw.spec.options import options_of
from hdnhw.support.errors import SpecError
from hdnhw.verilog.fabric import EmittedFabric
from hdnhw.verilog.folder import MANIFEST
from hdnhw.verilog.verilog import digest_of

CERTIFICATE = "certificate.json"
"""The name of a certificate."""

ASSUMPTIONS = (
    "all routers and ejection buffers leave reset in the same cycle",
    "logic and memories do what the Verilog says, as Yosys reads it",
    "Yosys, ABC and what this program makes for them are right",
    "of endpoints no more is looked at than their streams' rules, of AXI4-Stream the sender and the granter, and of "
    "collective engines barriers; whole frames and bursts in one schedule of few cycles, with any data",
    "the sender's buffer has the data that it says, the granter's receiver gives back no more than was granted",
    "the top level around endpoints, and that of clocks of nodes, is not looked at but for its registers; nor is a "
    "chip of several",
    "the check of a frame fails unless it is whole and as it was sent; on a link no frame overtakes another one",
    "sides of a link agree on numbers only after a hello of each with its present epoch; headers tell what the "
    "receiver says; of bridges the CRC, the choice of epochs and the queues to routers are not looked at",
    "clock crossings and what an ejection buffer does with the flits that it has taken in are not looked at",
)
"""What a proof takes for granted."""


def digests(fabric: EmittedFabric) -> list[dict[str, str]]:
    """Return the digest of each file of Verilog of a fabric, and of its manifest, as rows of a result."""
    names = (*fabric.verilog, MANIFEST)
    return [{"file": name, "digest": digest_of(fabric.files[name].encode())} for name in names]


def check_folder(folder: Path, fabric: EmittedFabric) -> None:
    """Refuse a folder in which other files stand than those of a fabric.

    Raises
    ------
    SpecError
        See above.
    """
    for row in digests(fabric):
        file = folder / row["file"]
        if not file.is_file() or digest_of(file.read_bytes()) != row["digest"]:
            raise SpecError(f"{file} {'has changed' if file.is_file() else 'is not there'}: nothing was proved of it")


def _read(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; an empty one if there is none."""
    try:
        found = json.loads(path.read_text(), parse_constant=_refuse)
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def write_certificate(result: dict[str, Any], folder: Path) -> Path:
    """Write the result of :func:`hdnhw.proofs.prove.prove_fabric` beside a manifest, with a digest of all of it."""
    path, said = folder / CERTIFICATE, {**result, "assumptions": list(ASSUMPTIONS)}
    path.write_text(json.dumps({**said, "digest": _digest(said)}, indent=1) + "\n")
    return path


def _digest(said: dict[str, Any]) -> str:
    """Return the digest of what a certificate says."""
    return digest_of(json.dumps({key: said[key] for key in said if key != "digest"}, sort_keys=True).encode())


def check_certificate(path: Path) -> dict[str, Any]:
    """Compare a certificate with its findings, and with the text and the manifest beside it; nothing is proved again.

    Returns
    -------
    dict
        ``spec``; ``digests`` of the files that it belongs to; ``tools`` by which; and what its findings say together,
        see :func:`hdnhw.proofs.finding.verdict`.

    Raises
    ------
    SpecError
        If there is no certificate in the file, it contradicts itself, or a file beside it is another one.
    """
    said, manifest = _read(path), _read(path.parent / MANIFEST)
    kinds = {"spec": str, "digests": list, "proved": bool, "tools": dict, "findings": list}
    if not all(isinstance(said.get(key), kind) for key, kind in kinds.items()):
        raise SpecError(f"check must be a file with a certificate, not {path}")
    findings = [one if isinstance(one, dict) else {} for one in said["findings"]]
    answers = {(str(one.get("property")), str(one.get("answer"))) for one in findings}
    is_whole = {answer for _, answer in answers} <= set(ANSWERS) and {name for name, _ in answers} >= set(BARE)
    told = verdict(answers)
    if not is_whole or {key: said[key] for key in ("proved", "bounded") if key in said} != told:
        raise SpecError(f"check must be a certificate that says what its findings do, not {path}")
    if said.get("digest") != _digest(said):
        raise SpecError(f"check must be a certificate as it was written, and {path} has been edited")
    parts = [manifest.get(part) for part in ("endpoints", "clocks", "chips")]
    names = [f"{manifest.get('fabric')}.sv", *(part.get("file") for part in parts if isinstance(part, dict)), MANIFEST]
    for name in names:
        file = path.parent / str(name)
        if not file.is_file() or {"file": name, "digest": digest_of(file.read_bytes())} not in said["digests"]:
            raise SpecError(f"check must be a certificate of the files beside it, and {path} is of another {name}")
    for key in ("spec", *options_of(FabricSpec)):
        if said.get(key) != manifest.get(key):
            raise SpecError(f"check must be a certificate of the fabric beside it, and {path} has another {key}")
    return {key: said[key] for key in said if key in ("spec", "digests", "tools", *told)}
