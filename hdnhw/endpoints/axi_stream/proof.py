"""What is proved of AXI4-Stream endpoints: what sender and granter make of frames, and whole frames."""

from collections.abc import Iterator
from functools import partial

from hdnhw.endpoints.axi_stream.format_pool import pool_of
from hdnhw.endpoints.axi_stream.proof_frames import FramesRig
from hdnhw.endpoints.axi_stream.proof_grants import GranterRig
from hdnhw.endpoints.axi_stream.proof_packets import SenderRig
from hdnhw.proofs.endpoints import Part
from hdnhw.proofs.joined import NODES
from hdnhw.verilog.fabric import EmittedFabric


def _parts(fabric: EmittedFabric) -> Iterator[Part]:
    yield "packets", "sender", partial(SenderRig, fabric)
    if pool_of(fabric.machine).grants:
        yield "grants", "granter", partial(GranterRig, fabric)
    if fabric.machine.network.num_nodes >= NODES:
        yield "frames", "endpoints of three nodes", partial(FramesRig, fabric)


PROOF = _parts
