"""Endpoints of some nodes joined by a network that keeps packets whole, in a drawn schedule, with any data.

When users send, pause and take, what the network carries first, and when a reset comes is drawn; what they send is any
words. So every register that does not hold data has one value in each cycle, and a claim is checked for all data at
once: by bounded model checking, for the cycles of the schedule.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from hdnhw.fpga.harness import ports_of
from hdnhw.proofs.rig import TOO_FEW, TOP, Rig
from hdnhw.rtl.bits import index_width
from hdnhw.verilog.fabric import EmittedFabric

NODES = 3
"""Endpoints in a rig: what two of them send to the third one is mixed, packet by packet."""

_MOST_NODES = 128
"""Nodes among which those of a rig are drawn, and words of memories that have one for each node or frame."""

_LEAST = 64
"""Bits of a word at least: users choose some."""

_WORDS = 16
"""Words of any value, of which neighboring transfers have different ones."""


_READ = f"""read_verilog -formal -sv rig.sv
hierarchy -top {TOP}
proc
opt -fast
memory_collect
memory_map -formal
opt -fast
flatten
opt_clean
wreduce
opt -fast
async2sync
"""
"""Passes that make gates of an endpoint once, and not of each."""


Layout = Iterable[tuple[str, Any]]
"""Fields of a transfer, as :mod:`hdnhw.rtl` has them: each has an offset and a width."""


class Output(NamedTuple):
    """A stream by which an endpoint offers something: when it does, when that is taken, and what it is."""

    there: str
    taken: str
    payload: str


class JoinedRig(Rig):
    """A rig around endpoints of nodes that are drawn.

    Parameters
    ----------
    fabric : EmittedFabric
        With endpoints.
    cycles : int
        Length of the schedule: a reset comes after a fifth of it, and all has arrived in the end.
    words : int
        Of a memory of flits that are written at most, from 0 on after a reset.
    draws : Random
        What is drawn.
    """

    def __init__(self, fabric: EmittedFabric, *, cycles: int, words: int, draws: Random) -> None:
        assert fabric.endpoints is not None
        self.cycles, self._random = cycles, draws
        super().__init__(fabric, fabric.endpoints.modules.unit, file=fabric.endpoints.file)
        self._shrink(words)
        self._ports = {port.name: port for port in ports_of(self._text, self.module)}
        self._nodes = range(NODES)
        self._joined: list[dict[str, str]] = [{} for _ in self._nodes]
        addresses = sorted(map(self._machine.address.of_node, range(self._plan.network.num_nodes)))
        self._addresses = self._random.sample(addresses[:_MOST_NODES], NODES)
        for node, address in enumerate(self._addresses):
            self._joined[node]["address"] = f"{self._ports['address'].width}'d{address}"
        self._any_width = max(_LEAST, self._machine.spec.flit_width)
        for number in range(_WORDS):
            self._constant(f"word_{number}", self._any_width)
        self._wire("ends", f"t == {self.cycles - 1}")
        over = " || ".join(self._out(node, "rig_over") for node in self._nodes)
        self.claims.append((TOO_FEW, f"!({over})"))
        self._join()

    def instances(self) -> tuple[list[str], list[tuple[str, int]]]:
        """See :class:`Rig`."""
        lines, junk = [], []
        for node in self._nodes:
            pins = {"clk": "clk", "rst": "rst", **self._joined[node]}
            for port in self._ports.values():
                if port.is_input and port.name not in pins:
                    pins[port.name] = f"f_{node}_{port.name}"
                    junk.append((pins[port.name], port.width))
            lines.append(f"{self.module} node_{node} ({', '.join(f'.{pin}({net})' for pin, net in pins.items())});")
        return lines, junk

    def script(self) -> str:
        """See :class:`Rig`."""
        return _READ

    def _resets(self) -> str:
        self._register("t", "t + 1", width=index_width(self.cycles), reset="")
        return f"t == {self.cycles // 5 + self._random.randrange(self._length)}"

    def _shrink(self, flits: int) -> None:
        """Leave memories, of flits and others, their first words: what is read beyond is junk."""
        found = re.findall(r"^ *reg (\[(\d+):0\] )\\?(\S+) *\[(\d+):0\];$", self._text, re.MULTILINE)
        over = ["0"]
        for number, (word, high, memory, last) in enumerate(found):
            words = flits if int(high) + 1 >= self._machine.spec.flit_width else _MOST_NODES
            if int(last) < words:
                continue
            net, junk = rf"\\?{re.escape(memory)} *\[", f"rig_junk_{number}"
            begins = [(line, re.match(rf" *{net}(\d+)\] = ", line)) for line in self._text.splitlines(keepends=True)]
            self._text = "".join(line for line, own in begins if own is None or int(own[1]) < words)
            self._replace(rf"^( *reg (?:\[\d+:0\] )?{net})\d+:0\];$", rf"\g<1>{words - 1}:0];")
            for condition, place in re.findall(rf"^ *if \((.*)\)\n *{net}(.*)\] <= .*;$", self._text, re.MULTILINE):
                over.append(f"(({condition}) && ({place}) >= {words})")
            read = rf"(assign .* =|<=) (\\?{re.escape(memory)} *)\[(.*)\];$"
            self._replace(read, rf"\1 (\3) < {words} ? \2[\3] : {junk};")
            self._extend({junk: word}, "")
        said = f"  output rig_over;\n  assign rig_over = {' || '.join(over)};".replace("\\", r"\\")
        self._replace(rf"^module {self.module}\(([^;]*;)", rf"module {self.module}(rig_over, \1\n{said}")

    def _out(self, node: int, pin: str) -> str:
        """Make a wire that an output of an endpoint drives."""
        width, name = self._ports[pin].width, f"{pin}_{node}"
        self._declared.append(f"wire [{width - 1}:0] {name};")
        self._joined[node][pin] = name
        return name

    def _table(self, name: str, values: Sequence[int], index: str, width: int) -> str:
        """Make a wire that has one of some values, by an index; 0 behind the last one."""
        bits = index_width(len(values) + 1)
        at = self._wire(f"{name}_at", index, width=bits)
        known = [f"{width}'h{value:x}" for value in values]
        known += [f"{width}'h0"] * ((1 << bits) - len(known))
        for bit in range(bits):
            pairs = zip(known[::2], known[1::2], strict=True)
            known = [one if one == other else f"({at}[{bit}] ? {other} : {one})" for one, other in pairs]
        return self._wire(name, known[0], width=width)

    def _drawn(self, name: str, share: float) -> str:
        """Make a bit that is set in a share of all cycles; towards the end, when all is to arrive, always."""
        quiet = self.cycles * 3 // 5
        bits = [cycle > quiet or self._random.random() < share for cycle in range(self.cycles)]
        return self._table(name, bits, "t", 1)

    def _any(self, name: str, index: str, width: int) -> str:
        """Make a wire that has one of the words of any value, by an index."""
        self._wire(f"{name}_which", index, width=index_width(_WORDS))
        own = f"{{{self._any_width}{{{name}_which == %d}}}} & word_%d"
        words = " | ".join(f"({own % (number, number)})" for number in range(_WORDS))
        return self._wire(name, words, width=width)

    def _fields(self, name: str, layout: Layout, payload: str) -> dict[str, str]:
        """Make a wire for each field of a transfer."""
        return {
            field: self._wire(
                f"{name}_{field}", f"{payload}[{place.offset + place.width - 1}:{place.offset}]", width=place.width
            )
            for field, place in layout
        }

    def _packed(self, name: str, layout: Layout, fields: Mapping[str, str]) -> str:
        """Make a transfer of its fields."""
        wires = [self._wire(f"{name}_{field}", fields[field], width=place.width) for field, place in layout]
        return self._wire(name, f"{{{', '.join(reversed(wires))}}}", width=sum(place.width for _, place in layout))

    def _come(self, node: int, stream: str, some: str, payload: str, share: float) -> str:
        """Let what there is come in by a stream, and stay until it is taken; return when that is."""
        name, ready = f"{stream}_{node}", self._out(node, f"{stream}__ready")
        now = self._drawn(f"{name}_now", share)
        valid = self._wire(f"{name}_comes", f"!rst && ({some}) && ({name}_waits || {now})")
        self._register(f"{name}_waits", f"{valid} && !{ready}")
        self._joined[node] |= {f"{stream}__valid": valid, f"{stream}__payload": payload}
        return self._wire(f"{name}_taken", f"{valid} && {ready}")

    def _leave(self, node: int, stream: str, share: float) -> Output:
        """Take what comes out by a stream."""
        name = f"{stream}_{node}"
        valid, payload = self._out(node, f"{stream}__valid"), self._out(node, f"{stream}__payload")
        ready = self._joined[node][f"{stream}__ready"] = self._drawn(f"{name}_ready", share)
        return Output(f"(!rst && {valid})", self._wire(f"{name}_taken", f"!rst && {valid} && {ready}"), payload)

    def _join(self) -> None:
        """Join what endpoints inject to what they eject: at each, a packet of one of them at a time."""
        last, bits, width = self._length - 1, index_width(self._length), self._machine.spec.flit_width
        above, choice = self._machine.flits.destination.stop - 1, index_width(NODES)
        for node in self._nodes:
            valid, flit = self._out(node, "inject__valid"), self._out(node, "inject__payload")
            self._wire(f"moves_{node}", f"!rst && {valid} && carried_{node}")
            following = f"place_{node} == {last} ? 0 : place_{node} + 1"
            self._register(f"place_{node}", f"moves_{node} ? ({following}) : place_{node}", width=bits)
            self._wire(f"to_{node}", f"place_{node} == 0 ? {flit}[{above}:0] : was_to_{node}", width=above + 1)
            self._register(f"was_to_{node}", f"to_{node}", width=above + 1, reset="")
            self._joined[node]["inject__ready"] = f"carried_{node}"
        for node, address in enumerate(self._addresses):
            drawn = [self._random.randrange(NODES) for _ in range(self.cycles)]
            chosen = self._table(f"chosen_{node}", drawn, "t", choice)
            self._register(f"was_from_{node}", f"from_{node}", width=choice, reset="")
            self._wire(f"from_{node}", f"within_{node} ? was_from_{node} : {chosen}", width=choice)
            now = self._drawn(f"lets_{node}", 0.8)
            gives = [f"(from_{node} == {one} && inject__valid_{one} && to_{one} == {address})" for one in self._nodes]
            comes = self._wire(f"comes_{node}", f"!rst && {now} && ({' || '.join(gives)})")
            flits = [
                f"({{{width + 1}{{from_{node} == {one}}}}} & {{place_{one} == {last}, inject__payload_{one}}})"
                for one in self._nodes
            ]
            flit = self._wire(f"flit_{node}", " | ".join(flits), width=width + 1)
            gets = f"{comes} && {self._out(node, 'eject__ready')}"
            self._register(f"within_{node}", f"{gets} ? !{flit}[{width}] : within_{node}")
            self._joined[node] |= {"eject__valid": comes, "eject__payload": flit}
        for node in self._nodes:
            takers = [
                f"(from_{one} == {node} && to_{node} == {address} && lets_{one} && eject__ready_{one})"
                for one, address in enumerate(self._addresses)
            ]
            self._wire(f"carried_{node}", " || ".join(takers))
