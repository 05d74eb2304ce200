"""Whole frames: what users give to AXI4-Stream endpoints comes out of others whole, in order and unchanged."""

from random import Random

from hdnhw.endpoints.axi_stream.format import FrameFormat
from hdnhw.endpoints.axi_stream.format_pool import pool_of
from hdnhw.endpoints.axi_stream.layout import receive_layout, send_layout
from hdnhw.proofs.joined import NODES, JoinedRig
from hdnhw.rtl.bits import index_width
from hdnhw.verilog.fabric import EmittedFabric

_LATENCY = 128
"""Cycles of a schedule beside those of its packets."""


class FramesRig(JoinedRig):
    """A rig around AXI4-Stream endpoints: each sends frames to all of them, one of which needs a grant.

    Parameters
    ----------
    fabric : EmittedFabric
        With AXI4-Stream endpoints.
    seed : int
        Of the schedule.
    """

    def __init__(self, fabric: EmittedFabric, *, seed: int = 1) -> None:
        machine, draws = fabric.machine, Random(seed)
        frames = machine.endpoint_format
        assert isinstance(frames, FrameFormat)
        packet, most, prompt = frames.payload_flits, frames.max_transfers, pool_of(machine).prompt
        lengths, long = [1, packet, packet + 1], prompt * packet + 1
        self._sent = [
            [(draws.randrange(NODES), min(most, length)) for length in draws.sample(own, len(own))]
            for own in (lengths + [long] * (node == 0) for node in range(NODES))
        ]
        moved = [[one for sent in self._sent for one in sent if one[0] == node] for node in range(NODES)]
        packets = max(sum(-(-length // packet) for _, length in found) for found in (*self._sent, *moved))
        cycles = _LATENCY + 3 * packets * machine.timing.packet_length
        super().__init__(fabric, cycles=cycles, words=packets << index_width(packet), draws=draws)
        self._frames, self._bits = frames, index_width(self.cycles)
        for node in self._nodes:
            self._send(node)
        for node in self._nodes:
            self._receive(node)

    def _send(self, node: int) -> None:
        """Let a user send its frames."""
        layout, bits, frames = send_layout(self._frames), self._bits, self._sent[node]
        number, place, count = f"number_{node}", f"in_place_{node}", index_width(len(frames) + 1)
        dests = [self._addresses[dest] for dest, _ in frames]
        kth = [[dest for dest, _ in frames[:index]].count(dest) for index, (dest, _) in enumerate(frames)]
        length = self._table(f"length_{node}", [length for _, length in frames], number, bits)
        to = self._table(f"dest_{node}", dests, number, layout["dest"].width)
        which = self._table(f"kth_{node}", kth, number, count)
        last = self._wire(f"in_last_{node}", f"{place} + 1 == {length}")
        word = self._word_of(f"in_{node}", node, to, which, place)
        user, is_first = self._user_of(f"in_user_{node}", node, to, which), f"{place} == 0"
        counts = is_first if self._frames.endpoints.tuser == "first" else last
        fields = {
            "data": word,
            "keep": self._wire(f"in_keep_{node}", f"{word} >> 1", width=layout["keep"].width),
            "last": last,
            "dest": self._wire(f"in_dest_{node}", f"{is_first} ? {to} : {word}", width=layout["dest"].width),
            "user": self._wire(f"in_tuser_{node}", f"{counts} ? {user} : {word}", width=layout["user"].width),
        }
        payload = self._packed(f"transfer_{node}", layout, fields)
        taken = self._come(node, "s_axis", f"{number} != {len(frames)}", payload, 0.7)
        self._register(place, f"{taken} ? ({last} ? 0 : {place} + 1) : {place}", width=bits)
        self._register(number, f"{number} + ({taken} && {last})", width=count)

    def _word_of(self, name: str, source: int, dest: str, kth: str, place: str) -> str:
        """Return the data of a transfer: by its source, address of destination, frame among these, and place."""
        return self._any(name, f"{place} + 5 * {kth} + 7 * {source} + 3 * {dest}", self._frames.flits.flit_width)

    def _user_of(self, name: str, source: int, dest: str, kth: str) -> str:
        return self._any(name, f"11 * {kth} + 3 * {source} + 5 * {dest}", self._frames.header_fields["user"])

    def _keep_of(self, name: str, word: str, last: str) -> str:
        width = self._frames.header_fields["keep"]
        return self._wire(name, f"{last} ? {word} >> 1 : {(1 << width) - 1}", width=width)

    def _receive(self, node: int) -> None:
        """Claim that a user receives the frames that were sent to it, those of each source in their order."""
        layout, bits = receive_layout(self._frames), self._bits
        there, taken, payload = self._leave(node, "m_axis", 0.6)
        part = self._fields(f"out_{node}", layout, payload)
        place, to = f"out_place_{node}", f"{layout['id'].width}'d{self._addresses[node]}"
        self._register(place, f"{taken} ? ({part['last']} ? 0 : {place} + 1) : {place}", width=bits)
        self._register(f"was_id_{node}", f"{taken} ? {part['id']} : was_id_{node}", width=layout["id"].width, reset="")
        known, all_in = [], []
        for source in self._nodes:
            name = f"{source}_{node}"
            frames = [length for dest, length in self._sent[source] if dest == node]
            before = [
                sum(dest == node for dest, _ in self._sent[source][:count])
                for count in range(len(self._sent[source]) + 1)
            ]
            count = index_width(len(frames) + 1)
            whole = self._table(f"whole_{name}", before, f"number_{source}", count)
            own = self._wire(f"own_{name}", f"{there} && {part['id']} == {self._addresses[source]}")
            known.append(own)
            kth = f"outs_{name}"
            self._register(kth, f"{kth} + ({taken} && {own} && {part['last']})", width=count)
            length = self._table(f"due_{name}", frames or [0], kth, bits)
            word = self._word_of(f"due_word_{name}", source, to, kth, place)
            last = self._wire(f"due_last_{name}", f"{place} + 1 == {length}")
            keep = self._keep_of(f"due_keep_{name}", word, last)
            user = self._user_of(f"due_user_{name}", source, to, kth)
            self.claims += [
                ("a frame comes out that was not sent whole", f"!{own} || {kth} < {whole}"),
                ("data of a transfer are changed", f"!{own} || {part['data']} == {word}"),
                ("a frame is shorter or longer", f"!{own} || {part['last']} == {last}"),
                ("tkeep is changed", f"!{own} || {part['keep']} == {keep}"),
                ("tuser is changed", f"!{own} || {part['user']} == {user}"),
            ]
            all_in.append(f"{kth} == {len(frames)}")
        self.claims += [
            ("a frame comes of no node that sent one", f"!{there} || {' || '.join(known)}"),
            ("frames are mixed", f"!{there} || {place} == 0 || {part['id']} == was_id_{node}"),
            ("a frame has not come out in the end", f"!ends || ({' && '.join(all_in)})"),
        ]
        self._happens(f"ends && {' && '.join(all_in)}")
