"""Whole bursts: what managers write through AXI4 endpoints comes to memories, and what they read is what is there."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from hdnhw.endpoints.axi4.format import MemoryFormat
from hdnhw.endpoints.axi4.layout import Burst, channels
from hdnhw.proofs.endpoints import Part
from hdnhw.proofs.joined import NODES, JoinedRig, Output
from hdnhw.rtl.bits import index_width
from hdnhw.verilog.fabric import EmittedFabric

_IDS = 2
"""IDs of managers: answers to bursts with the same one come in order."""

_LATENCY = 192
"""Cycles of a schedule beside those of its packets."""

_BURSTS = NODES
"""Bursts that a manager writes, and that it reads: each of another kind, at another node."""

_REGION = 5
"""Bits of the words of memory that a burst may touch; no two bursts touch the same."""


_KINDS_OF_WORDS = 16
"""Words differ in the lanes that a write leaves out: which parts are cut belongs to the schedule."""


@dataclass(frozen=True)
class _Asked:
    """A burst of a manager, and the address within the memory of each of its beats."""

    node: int
    id: int
    addr: int
    size: int
    burst: Burst
    beats: tuple[int, ...]


class BurstsRig(JoinedRig):
    """A rig around AXI4 endpoints with managers and memories: INCR, WRAP and FIXED bursts, wide and narrow.

    Parameters
    ----------
    fabric : EmittedFabric
        With AXI4 endpoints.
    seed : int
        Of the schedule.
    """

    def __init__(self, fabric: EmittedFabric, *, seed: int = 1) -> None:
        memory, self._random = fabric.machine.endpoint_format, Random(seed)
        assert isinstance(memory, MemoryFormat)
        self._format, self._shift = memory, memory.bytes.bit_length() - 1
        self._arrived: list[str] = []
        self._kinds = [self._kind_of_word() for _ in range(_KINDS_OF_WORDS)]
        asked = {(node, write): self._bursts(node, write=write) for node in range(NODES) for write in (True, False)}
        # A burst is a packet for each part, of as many beats as it holds, and one more where it turns round.
        packets = Counter[int]()
        for one in (one for found in asked.values() for one in found):
            packets[one.node] += 2 + len(one.beats) // memory.payload_flits
        words = max(packets.values()) * fabric.machine.timing.packet_length
        super().__init__(fabric, cycles=_LATENCY + 3 * words, words=words, draws=self._random)
        for node, write in asked:
            self._manage(node, write=write, asked=asked[node, write])
            due = [
                len(one.beats) for (_, way), found in asked.items() for one in found if (one.node, way) == (node, write)
            ]
            self._serve(node, write=write, beats=sum(due))
        every = " && ".join(self._arrived)
        self.claims.append(("a burst has not been answered in the end", f"!ends || ({every})"))
        self._happens(f"ends && {every}")

    def _kind_of_word(self) -> tuple[int, int]:
        """Draw the lanes that a write of a word has for sure, and those that it leaves out, one in each narrow beat."""
        lanes, half = self._format.bytes, self._format.bytes // 2
        if self._random.random() < 0.5:
            return (1 << lanes) - 1, 0
        if half > 1:
            lane = self._random.randrange(half)
            return 0, 1 << lane | 1 << lane + half
        out = self._random.randrange(1, 1 << lanes)
        return (1 << lanes) - 1 & ~out, out

    def _bursts(self, node: int, *, write: bool) -> list[_Asked]:
        """Draw what a manager asks for."""
        found, full, nodes = [], self._shift, self._random.sample(range(NODES), NODES)
        narrow = max(0, full - 1)
        kinds = [(Burst.INCR, self._format.payload_flits + 1, full), (Burst.WRAP, 4, full), (Burst.FIXED, 2, narrow)]
        kinds.append((Burst.INCR, 3, narrow))
        for number, (burst, beats, size) in enumerate(self._random.sample(kinds, _BURSTS)):
            region = ((node * 2 + write) * _BURSTS + number) << _REGION + full
            addr = region + (self._random.randrange(1, 4) << size)
            wrapped = region + (addr % (beats << size) if burst is Burst.WRAP else addr - region)
            turn = region + (beats << size) if burst is Burst.WRAP else 1 << 62
            at, places = wrapped, []
            for _ in range(beats):
                places.append(at)
                at = at if burst is Burst.FIXED else at + (1 << size)
                at = region if at == turn else at
            own = self._random.randrange(_IDS)
            found.append(_Asked(nodes[number], own, wrapped, size, burst, tuple(places)))
        return found

    def _layouts(self, *, inside: bool) -> dict[str, Any]:
        """Return the transfers of the channels of a memory, or of a manager."""
        return channels(self._format, inside=inside)

    def _lanes(self, addr: int, size: int) -> int:
        """Return the lanes that a beat uses, as bits."""
        return ((1 << (1 << size)) - 1) << (addr >> size << size) % self._format.bytes

    def _beat(self, name: str, beats: Sequence[tuple[_Asked, int]], index: str) -> dict[str, str]:
        """Make what one of some beats has, by an index: data, strobes, lanes, and whether it is its burst's last."""
        words = [one.beats[place] >> self._shift for one, place in beats]
        word = self._table(f"word_of_{name}", words, index, self._format.endpoints.memory_bits)
        node = self._table(f"node_of_{name}", [one.node for one, _ in beats], index, index_width(NODES))
        lanes = [self._lanes(one.beats[place], one.size) for one, place in beats]
        lasts = [int(place == len(one.beats) - 1) for one, place in beats]
        data, strobes = self._of_word(name, node, word)
        return {
            "data": data,
            "strobes": strobes,
            "lanes": self._table(f"lanes_of_{name}", lanes, index, self._format.bytes),
            "last": self._table(f"last_of_{name}", lasts, index, 1),
        }

    def _claim_lanes(self, what: str, when: str, lanes: str, data: str, due: str) -> None:
        """Claim that data are those that are due in the lanes that are used."""
        for lane in range(self._format.bytes):
            same = f"{data}[{8 * lane + 7}:{8 * lane}] == {due}[{8 * lane + 7}:{8 * lane}]"
            self.claims.append((what, f"!({when} && {lanes}[{lane}]) || {same}"))

    def _of_word(self, name: str, node: str, word: str) -> tuple[str, str]:
        """Return the data of a word of a memory, of any value, and its strobes: any but those that its kind has."""
        width, lanes = self._format.flits.flit_width, self._format.bytes
        data = self._any(f"{name}_data", f"{word} + 7 * ({node})", width)
        some = self._any(f"{name}_some", f"11 * {word} + 5 * ({node}) + 1", lanes)
        kind = self._wire(f"{name}_kind", f"{word} + 3 * ({node})", width=index_width(_KINDS_OF_WORDS))
        sure, out = (
            self._table(f"{name}_{what}", list(values), kind, lanes)
            for what, values in zip(("sure", "out"), zip(*self._kinds, strict=True), strict=True)
        )
        return data, self._wire(f"{name}_strobes", f"({some} & ~{out}) | {sure}", width=lanes)

    def _manage(self, node: int, *, write: bool, asked: list[_Asked]) -> None:
        """Let a manager ask for its bursts, and claim what it gets."""
        name = f"{'w' if write else 'r'}_{node}"
        layouts = self._layouts(inside=False)
        address, number = f"a{name[0]}", f"number_{name}"
        count = index_width(len(asked) + 1)
        layout = layouts[address]
        values = {
            "id": [one.id for one in asked],
            "addr": [self._addresses[one.node] << self._format.endpoints.memory_bits | one.addr for one in asked],
            "len": [len(one.beats) - 1 for one in asked],
            "size": [one.size for one in asked],
            "burst": [int(one.burst) for one in asked],
        }
        tables = {
            field: self._table(f"{name}_asks_{field}", values[field], number, place.width) for field, place in layout
        }
        payload = self._packed(f"{name}_asks", layout, tables)
        taken = self._come(node, f"s_axi_{address}", f"{number} != {len(asked)}", payload, 0.5)
        self._register(number, f"{number} + {taken}", width=count)
        if write:
            self._give(node, asked)
        given = self._leave(node, f"s_axi_{'b' if write else 'r'}", 0.6)
        answer = self._fields(f"{name}_answer", layouts["b" if write else "r"], given.payload)
        self.claims += [
            ("a burst is answered with an error", f"!{given.there} || {answer['resp']} == 0"),
            ("a burst is answered that there is not", f"!{given.there} || {answer['id']} < {_IDS}"),
        ]
        for own in range(_IDS):
            self._answer(name, asked, own, given, answer)

    def _answer(self, manager: str, asked: list[_Asked], own: int, given: Output, answer: Mapping[str, str]) -> None:
        """Claim the answers to the bursts with an ID: one to each that is written, all beats of those that are read."""
        write, name = manager.startswith("w"), f"{manager}_{own}"
        beats = [
            (number, one, place)
            for number, one in enumerate(asked)
            if one.id == own
            for place in range(len(one.beats))
            if not write or place == len(one.beats) - 1
        ]
        done, bits = f"answers_{name}", index_width(len(beats) + 1)
        now = self._wire(f"now_{name}", f"{given.there} && {answer['id']} == {own}")
        self._register(done, f"{done} + ({given.taken} && {now})", width=bits)
        self._arrived.append(f"{done} == {len(beats)}")
        least = self._table(f"least_{name}", [number for number, *_ in beats] or [0], done, index_width(len(asked) + 1))
        begun = f"number_{manager} > {least}"
        self.claims.append(("a burst is answered that there is not", f"!{now} || ({done} < {len(beats)} && {begun})"))
        if write or not beats:
            return
        due = self._beat(f"due_{name}", [(one, place) for _, one, place in beats], done)
        self.claims.append(("a read is shorter or longer", f"!{now} || {answer['last']} == {due['last']}"))
        self._claim_lanes("what is read is not what is there", now, due["lanes"], answer["data"], due["data"])

    def _give(self, node: int, asked: list[_Asked]) -> None:
        """Let a manager give the data of its writes."""
        beats = [(one, place) for one in asked for place in range(len(one.beats))]
        number, bits = f"beat_{node}", index_width(len(beats) + 1)
        given = self._beat(f"given_{node}", beats, number)
        fields = {"data": given["data"], "strb": f"{given['strobes']} & {given['lanes']}", "last": given["last"]}
        payload = self._packed(f"beat_of_{node}", self._layouts(inside=False)["w"], fields)
        taken = self._come(node, "s_axi_w", f"{number} != {len(beats)}", payload, 0.7)
        self._register(number, f"{number} + {taken}", width=bits)

    def _serve(self, node: int, *, write: bool, beats: int) -> None:
        """Let a memory do one burst after the other, and claim that what is written to it is what should be."""
        name, address = f"{'mw' if write else 'mr'}_{node}", "aw" if write else "ar"
        layouts = self._layouts(inside=True)
        valid, payload = self._out(node, f"m_axi_{address}__valid"), self._out(node, f"m_axi_{address}__payload")
        asked = self._fields(f"{name}_asked", layouts[address], payload)
        idle = self._wire(f"{name}_idle", f"!{name}_busy && !{name}_answers")
        ready = self._joined[node][f"m_axi_{address}__ready"] = f"{name}_ready"
        self._wire(ready, f"{idle} && {self._drawn(f'{name}_now', 0.7)}")
        begins = self._wire(f"{name}_begins", f"!rst && {valid} && {ready}")
        self.claims.append(("a part of a burst turns round", f"!{begins} || {asked['burst']} < 2"))
        for field in ("len", "size", "burst"):
            width = layouts[address][field].width
            self._register(f"{name}_{field}", f"{begins} ? {asked[field]} : {name}_{field}", width=width, reset="")
        width = layouts[address]["addr"].width
        step = f"(({name}_addr >> {name}_size << {name}_size) + ({width}'d1 << {name}_size))"
        following = f"{name}_moves && {name}_burst == {int(Burst.INCR)} ? {step} : {name}_addr"
        self._register(f"{name}_addr", f"{begins} ? {asked['addr']} : {following}", width=width, reset="")
        self._register(f"{name}_beat", f"{begins} ? 0 : {name}_beat + {name}_moves", width=9)
        total, bits = f"{name}_total", index_width(beats + 2)
        self._register(total, f"{total} == {beats + 1} ? {total} : {total} + {name}_moves", width=bits)
        self._arrived.append(f"{total} == {beats}")
        self._wire(f"{name}_last", f"{name}_beat == {name}_len")
        self._register(f"{name}_busy", f"{begins} || ({name}_busy && !({name}_moves && {name}_last))")
        word = self._wire(f"{name}_word", f"{name}_addr >> {self._shift}", width=width)
        data, strobes = self._of_word(f"{name}_due", str(node), word)
        answers = f"{name}_moves && {name}_last ? 1 : {name}_answers && !{name}_answered" if write else "0"
        self._register(f"{name}_answers", answers)
        now = self._drawn(f"{name}_goes", 0.7)
        if not write:
            fields = {"id": "0", "data": data, "resp": "0", "last": f"{name}_last"}
            payload = self._packed(f"{name}_gives", layouts["r"], fields)
            comes = self._wire(f"{name}_comes", f"!rst && {name}_busy && ({name}_waits || {now})")
            self._joined[node] |= {"m_axi_r__valid": comes, "m_axi_r__payload": payload}
            self._wire(f"{name}_moves", f"{comes} && {self._out(node, 'm_axi_r__ready')}")
            self._register(f"{name}_waits", f"{comes} && !{name}_moves")
            return
        valid, payload = self._out(node, "m_axi_w__valid"), self._out(node, "m_axi_w__payload")
        beat = self._fields(f"{name}_gets", layouts["w"], payload)
        self._joined[node]["m_axi_w__ready"] = self._wire(f"{name}_takes", f"{name}_busy && {now}")
        self._wire(f"{name}_moves", f"!rst && {valid} && {name}_takes")
        lanes, full = self._format.bytes, (1 << self._format.bytes) - 1
        window = f"({2 * lanes}'d1 << ({lanes}'d1 << {name}_size)) - 1"
        low = f"({name}_addr >> {name}_size << {name}_size) & {lanes - 1}"
        used = self._wire(f"{name}_lanes", f"(({window}) << ({low})) & {full}", width=lanes)
        self.claims += [
            ("strobes are changed", f"!{name}_moves || {beat['strb']} == ({strobes} & {used})"),
            ("a write is shorter or longer", f"!{name}_moves || {beat['last']} == {name}_last"),
        ]
        self._claim_lanes("what is written is changed", f"{name}_moves", used, beat["data"], data)
        answer = self._packed(f"{name}_answer", layouts["b"], {"id": "0", "resp": "0"})
        self._joined[node] |= {"m_axi_b__valid": f"{name}_answers", "m_axi_b__payload": answer}
        self._wire(f"{name}_answered", f"{name}_answers && {self._out(node, 'm_axi_b__ready')}")


def _parts(fabric: EmittedFabric) -> Iterator[Part]:
    if not fabric.machine.endpoint_format.endpoints.blocks and fabric.machine.network.num_nodes >= NODES:
        yield "bursts", "endpoints of three nodes", partial(BurstsRig, fabric)


PROOF = _parts
