"""Certificates: what has been proved of a text and under which assumptions, in a file beside the text's manifest."""

import hashlib
import json
from pathlib import Path
from typing import Any

from hdnhw.proofs.finding import ANSWERS
from hdnhw.spec import SpecError
from hdnhw.verilog.fabric import EmittedFabric

__all__ = ["ASSUMPTIONS", "CERTIFICATE", "check_certificate", "check_folder", "digests", "write_certificate"]

CERTIFICATE = "certificate.json"
"""The name of a certificate."""

ASSUMPTIONS = (
    "all routers and ejection buffers leave reset in the same cycle",
    "logic and memories do what the Verilog says, as Yosys reads it",
    "Yosys, ABC and what this program makes for them are right",
    "of endpoints no more is looked at than their streams' rules, and of AXI4-Stream the sender and the granter",
    "the sender's buffer has the data that it says, the granter's receiver gives back no more than was granted",
    "the top level around endpoints is not looked at",
    "clock crossings and what an ejection buffer does with the flits that it has taken in are not looked at",
)
"""What a proof takes for granted."""


def digests(manifest: dict[str, Any]) -> dict[str, str]:
    """Return the digest of a manifest's fabric, and that of its endpoints' text if there is one."""
    around = manifest.get("endpoints")
    found = {
        "digest": manifest.get("digest"),
        "endpoints_digest": around.get("digest") if isinstance(around, dict) else None,
    }
    return {name: digest for name, digest in found.items() if isinstance(digest, str)}


def check_folder(fabric: EmittedFabric, folder: Path) -> None:
    """Refuse a folder in which another text stands than that of a fabric, or none.

    Raises
    ------
    SpecError
        See above.
    """
    must = "output must be a folder into which this fabric has been emitted, and"
    found = digests(_read(folder / "manifest.json"))
    if any(found.get(name) != digest for name, digest in digests(fabric.manifest).items()):
        has = f"the manifest of another text, {', '.join(found.values())}" if found else "no manifest"
        raise SpecError(f"{must} {folder} has {has}")
    for name, text in fabric.verilog.items():
        file = folder / name
        if not file.is_file() or file.read_bytes() != text.encode():
            raise SpecError(f"{must} {file} is {'another text' if file.is_file() else 'not there'}")


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
    """Write the result of :func:`hdnhw.proofs.fabric.prove_fabric` beside a manifest; return the path."""
    path = folder / CERTIFICATE
    path.write_text(json.dumps({**result, "assumptions": list(ASSUMPTIONS)}, indent=1) + "\n")
    return path


def check_certificate(path: Path) -> dict[str, Any]:
    """Compare a certificate with the text and the manifest beside it; nothing is proved again.

    Returns
    -------
    dict
        ``text``, the file that it belongs to, None if there is none, or none of its endpoints; ``digest`` of the
        certificate; ``proved``, whether all of its findings say so; ``tools`` by which.

    Raises
    ------
    SpecError
        If there is no certificate in the file, or it contradicts itself or the manifest.
    """
    said, manifest = _read(path), _read(path.parent / "manifest.json")
    kinds = {"spec": str, "digest": str, "proved": bool, "tools": dict, "findings": list}
    if not all(isinstance(said.get(key), kind) for key, kind in kinds.items()):
        raise SpecError(f"check must be a file with a certificate, not {path}")
    answers = [one.get("answer") if isinstance(one, dict) else None for one in said["findings"]]
    if not answers or not set(answers) <= set(ANSWERS) or said["proved"] != (set(answers) == {"proved"}):
        raise SpecError(f"check must be a certificate that says what its findings do, not {path}")
    texts = {
        f"sha256:{hashlib.sha256(text.read_bytes()).hexdigest()}": text for text in sorted(path.parent.glob("*.sv"))
    }
    text = texts.get(said["digest"]) if said.get("endpoints_digest", said["digest"]) in [*texts] else None
    for key in said.keys() & manifest.keys() if text else ():
        if said[key] != manifest[key]:
            raise SpecError(f"check must be a certificate of the fabric beside it, and {path} has another {key}")
    return {
        "spec": said["spec"],
        "text": None if text is None else str(text),
        "digest": said["digest"],
        "tools": said["tools"],
        "proved": said["proved"],
    }
