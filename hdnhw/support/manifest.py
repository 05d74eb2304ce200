"""What a manifest says of the top level of an emitted fabric."""

from collections.abc import Mapping
from typing import Any


def parts_of(manifest: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the entries of what is around the fabric, the innermost first."""
    return [manifest[part] for part in ("chips", "endpoints", "clocks") if part in manifest]


def top_ports(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ports of the top level, as the manifest has them."""
    ports: dict[str, Any] = [manifest, *parts_of(manifest)][-1]["ports"]
    return ports


def constraints_of(manifest: Mapping[str, Any]) -> list[str]:
    """Return the files of constraints of what crosses between clocks."""
    return [name for part in parts_of(manifest) for name in part.get("constraints", ())]


def counts_of(manifest: Mapping[str, Any]) -> dict[str, int]:
    """Return how many each letter in the names of the top level's ports stands for."""
    chips = manifest.get("chips")
    return {"P": len(chips["nodes"][0]), "K": len(chips["links"])} if chips else {"N": manifest["routers"]}
