"""Certificates: what has been proved of a text and under which assumptions, in a file beside the text's manifest."""

import hashlib
import json
from pathlib import Path
from typing import Any

from hdnhw.spec import SpecError
from hdnhw.verilog.fabric import EmittedFabric

__all__ = ["ASSUMPTIONS", "CERTIFICATE", "check_certificate", "check_manifest", "digests", "write_certificate"]

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
    found = {"digest": manifest.get("digest"), "endpoints_digest": manifest.get("endpoints", {}).get("digest")}
    return {name: digest for name, digest in found.items() if digest is not None}


def check_manifest(fabric: EmittedFabric, folder: Path) -> None:
    """Refuse a folder into which another text has been emitted, or none.

    Raises
    ------
    SpecError
        See above.
    """
    path = folder / "manifest.json"
    found = digests(json.loads(path.read_text())) if path.is_file() else {}
    if any(found.get(name) != digest for name, digest in digests(fabric.manifest).items()):
        has = f"the manifest of another text, {', '.join(found.values())}" if found else "no manifest"
        raise SpecError(f"output must be a folder into which this fabric has been emitted, and {folder} has {has}")


def write_certificate(result: dict[str, Any], folder: Path) -> Path:
    """Write the result of :func:`hdnhw.proofs.fabric.prove_fabric` beside a manifest; return the path."""
    path = folder / CERTIFICATE
    path.write_text(json.dumps({**result, "assumptions": list(ASSUMPTIONS)}, indent=1) + "\n")
    return path


def check_certificate(path: Path) -> dict[str, Any]:
    """Compare a certificate with the text beside it; nothing is proved again.

    Returns
    -------
    dict
        ``text``, the file that it belongs to, None if there is none, or none of its endpoints; ``digest`` of the
        certificate; ``proved``, whether it says that all is; ``tools`` by which.

    Raises
    ------
    SpecError
        If there is no certificate in the file.
    """
    try:
        said = json.loads(path.read_text())
        digest, proved, tools, spec = (said[key] for key in ("digest", "proved", "tools", "spec"))
    except (OSError, ValueError, KeyError, TypeError):
        raise SpecError(f"check must be a file with a certificate, not {path}") from None
    texts = {
        f"sha256:{hashlib.sha256(text.read_bytes()).hexdigest()}": text for text in sorted(path.parent.glob("*.sv"))
    }
    text = texts.get(digest) if said.get("endpoints_digest", digest) in texts else None
    return {
        "spec": spec,
        "text": None if text is None else str(text),
        "digest": digest,
        "tools": tools,
        "proved": proved,
    }
