"""Streams of endpoints: what is offered stays as it is until it is taken, and nothing is offered after a reset.

Around an endpoint stand users and a router that keep these rules themselves, and do no more. Memories are forgotten:
what is read of them is junk in every cycle, which is more than a memory can do.
"""

import re
from typing import ClassVar

from hdnhw.fpga.harness import ports_of
from hdnhw.proofs.rig import Rig
from hdnhw.verilog.fabric import EmittedFabric


def streams_of(fabric: EmittedFabric, module: str) -> list[str]:
    """Return the names of the streams that what stands at terminals of a fabric offers."""
    assert fabric.endpoints is not None
    outputs = [port.name for port in ports_of(fabric.files[fabric.endpoints.file], module) if not port.is_input]
    return [name.removesuffix("__valid") for name in outputs if name.endswith("__valid")]


class EndpointRig(Rig):
    """A rig around an endpoint, whose memories are forgotten, but for those in `KEPT`.

    Parameters
    ----------
    fabric : EmittedFabric
        With endpoints.
    module : str, optional
        What stands at a terminal, where it is not the same at all.
    """

    KEPT: ClassVar[tuple[str, ...]] = ()

    def __init__(self, fabric: EmittedFabric, module: str = "") -> None:
        assert fabric.endpoints is not None
        super().__init__(fabric, module or fabric.endpoints.modules.unit, file=fabric.endpoints.file)
        self._ports = {port.name: port for port in ports_of(self._text, self.module)}
        self._forget_all()
        self._register("was_reset", "rst", reset="")
        for name in sorted({"address", "base"} & {*self._ports}):
            self._pins.append(f".{name}({self._constant(f'own_{name}', self._ports[name].width)})")

    def _forget_all(self) -> None:
        """Let all memories forget all words: whatever is read of one is an input of its own."""
        found = re.findall(r"^ *reg (\[\d+:0\] )?\\?(\S+) *\[\d+:0\];$", self._text, re.MULTILINE)
        for number, (word, memory) in enumerate(found):
            if memory in self.KEPT:
                continue
            net, junk = rf"\\?{re.escape(memory)} *\[", f"rig_junk_{number}"
            self._text = re.sub(rf"^ *{net}\d+\] = .*;\n", "", self._text, flags=re.MULTILINE)
            self._text = re.sub(rf"^( *){net}.*\] <= .*;$", r"\1;", self._text, flags=re.MULTILINE)
            reads = rf"((?:^ *assign .* =|<=) ){net}.*\];$"
            places = len(re.findall(reads, self._text, re.MULTILINE))
            for place in range(places):
                self._replace_first(reads, rf"\1{junk}_{place};")
            self._extend({f"{junk}_{place}": word for place in range(places)}, "")
            self._check_forgotten(memory)

    def _replace_first(self, pattern: str, becomes: str) -> None:
        self._text = re.sub(pattern, becomes, self._text, count=1, flags=re.MULTILINE)


class StreamRig(EndpointRig):
    """A rig around an endpoint that looks at one of its streams.

    Parameters
    ----------
    fabric : EmittedFabric
        With endpoints.
    module : str
        What stands at a terminal.
    stream : str
        One of :func:`streams_of`.
    """

    def __init__(self, fabric: EmittedFabric, module: str, stream: str) -> None:
        super().__init__(fabric, module)
        for name, port in self._ports.items():
            if port.is_input and name.endswith("__valid"):
                self._come(name.removesuffix("__valid"))
        self._leave(stream)

    def _come(self, stream: str) -> None:
        """Let something come in by a stream, and stay until it is taken."""
        width = self._ports[f"{stream}__payload"].width
        valid, payload = f"{stream}_comes", f"{stream}_payload"
        ready = self._output_pin(f"{stream}__ready", f"{stream}_ready")
        self._wire(valid, f"!rst && !was_reset && ({stream}_waits || {self._free(f'f_{stream}_comes')})")
        self._register(f"{stream}_waits", f"{valid} && !{ready}")
        self._wire(payload, f"{stream}_waits ? {stream}_kept : {self._free(f'f_{stream}_payload', width)}", width=width)
        self._register(f"{stream}_kept", payload, width=width, reset="")
        self._pins += [f".{stream}__valid({valid})", f".{stream}__payload({payload})"]

    def _leave(self, stream: str) -> None:
        """Claim the rules of a stream that the endpoint offers."""
        width = self._ports[f"{stream}__payload"].width
        valid = self._output_pin(f"{stream}__valid", "out")
        payload = self._output_pin(f"{stream}__payload", "payload", width)
        ready = self._free("f_ready")
        self._pins.append(f".{stream}__ready({ready})")
        self._register("waits", f"{valid} && !{ready}")
        self._register("kept", payload, width=width, reset="")
        self._register("early", f"early || (rst && was_reset && {valid})", reset="")
        self.claims += [
            ("what is offered is withdrawn", f"!waits || {valid}"),
            ("what is offered changes while it waits", f"!waits || !{valid} || {payload} == kept"),
            ("something is offered in reset", "!early"),
            ("something is offered right after reset", f"!was_reset || !{valid}"),
        ]
        self._happens(f"{valid} && {ready}")
        self._happens("waits")
