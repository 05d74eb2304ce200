"""What a manifest says of the top level of an emitted fabric."""

from collections.abc import Mapping
from typing import Any


def top_ports(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ports of the top level, as the manifest has them."""
    parts = [manifest, *(manifest[part] for part in ("chips", "endpoints", "clocks") if part in manifest)]
    ports: dict[str, Any] = parts[-1]["ports"]
    return ports


def counts_of(manifest: Mapping[str, Any]) -> dict[str, int]:
    """Return how many each letter in the names of the top level's ports stands for."""
    chips = manifest.get("chips")
    return {"P": len(chips["nodes"][0]), "K": len(chips["links"])} if chips else {"N": manifest["routers"]}
