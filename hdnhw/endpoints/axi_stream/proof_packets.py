"""Packets of an AXI4-Stream endpoint: the sender makes of each part of a frame one packet, whole and with its header.

Around the sender stands a buffer that has packets and frames of any size whenever it likes, and a receiver that asks
for grants to others. The rig marks one packet, any one, and watches its header and one data flit of it, of any value.
"""

from contextlib import suppress

from hdnhw.endpoints.axi_stream.format import FrameFormat, PacketKind
from hdnhw.endpoints.axi_stream.format_pool import pool_of
from hdnhw.proofs.rig import RigError
from hdnhw.proofs.streams import EndpointRig
from hdnhw.rtl.bits import flit_codes, index_width
from hdnhw.verilog.fabric import EmittedFabric

_MOST, _BITS = 3, 3
"""Packets in a sender at most, and bits of their number: one is composed, one is sent, and the tail of one waits."""


class SenderRig(EndpointRig):
    """A rig around the sender of an AXI4-Stream endpoint."""

    def __init__(self, fabric: EmittedFabric) -> None:
        super().__init__(fabric)
        frames = self._machine.endpoint_format
        assert isinstance(frames, FrameFormat)
        self._frames, self._pool, self._fields = frames, pool_of(self._machine), frames.header_fields
        self._size_bits = (3 * frames.payload_flits).bit_length()
        for name in ("packet", "frame", "word"):
            self._look(f"takes_{name}", f"sender.oldest__take_{name}", 1)
        self._have_frames()
        self._have_grants()
        self._leave()
        self._mark()
        self._have_words()
        self._claim_packet()
        with suppress(RigError):
            self._hint_all()

    def _have_frames(self) -> None:
        """Have an oldest frame: of one that is not whole no more is known than where it goes, and junk besides."""
        fields, pool, most = self._fields, self._pool, self._frames.payload_flits - 1
        width, one = pool.count_width, pool.count(1)
        known = {"user": fields["user"], "keep": fields["keep"], "end": fields["end"], "total": width}
        for name, bits in {**known, "dst": fields["dst"]}.items():
            new = self._wire(f"new_{name}", self._free(f"f_{name}", bits), width=bits)
            if name == "end":
                new = f"({new} > {most} ? {bits}'d{most} : {new})"
            self._register(f"its_{name}", f"(rst || takes_frame) ? {new} : its_{name}", width=bits, reset="")
        self._wire("next_number", f"takes_frame ? {width}'d{one} : number + takes_packet", width=width)
        self._register("number", "next_number", width=width, reset=str(one))
        self._register("is_first", "takes_frame || (is_first && !takes_packet)", reset="1")
        self._wire("becomes_whole", f"{self._free('f_whole')} || (whole && !takes_frame)")
        self._register("whole", "becomes_whole")
        stays = f"(some && !takes_packet) || {self._free('f_some')}"
        last = "next_number == (takes_frame ? new_total : its_total)"
        self._register("some", f"({stays}) && (becomes_whole || !({last}))")
        self._register("took_packet", "takes_packet")
        self._wire("is_last", "number == its_total")
        self._wire("size", f"is_last ? its_end + 1 : {most + 1}", width=self._size_bits)
        above = sum(known.values()) + 1
        junk, dst = self._free("f_frame", above), self._free("f_junk_dst", fields["dst"])
        frame = f"whole ? {{its_user, its_keep, its_end, {self._free('f_long')}, its_total}} : {junk}"
        self._wire("known", frame, width=above)
        self._wire("frame", f"{{known, some ? its_dst : {dst}}}", width=above + fields["dst"])
        for name in ("some", "whole", "frame"):
            self._cut(f"sender.oldest__{name}", name)
        self.claims += [
            ("a packet is taken that is not there", "!takes_packet || (some && !took_packet)"),
            ("a frame is taken with another packet than its last", "takes_frame == (takes_packet && is_last)"),
        ]
        self._happens("takes_frame && !is_first")

    def _have_grants(self) -> None:
        """Have grants to be sent, and let grants come."""
        bits = self._fields["dst"]
        if not self._pool.grants:
            self._wire("replies", "1'd0")
            self._wire("reply", "0", width=bits)
            return
        self._look("reply_ready", "sender.reply__ready", 1)
        self._register("reply_waits", "offers_reply && !reply_ready")
        self._wire("offers_reply", f"reply_waits || {self._free('f_reply')}")
        self._register("reply_kept", "reply", width=bits, reset="")
        self._wire("reply", f"reply_waits ? reply_kept : {self._free('f_reply_dst', bits)}", width=bits)
        self._wire("replies", "offers_reply && reply_ready")
        self._cut("sender.reply__valid", "offers_reply")
        self._cut("sender.reply__payload", "reply")
        self._wire("granted", self._free("f_granted"))
        self._cut("sender.granted", "granted")
        for name, width in (
            ("_is_open", 1),
            ("_has_asked", 1),
            ("passed", 1),
            ("too_long", 1),
            ("offers", 1),
            ("packets", self._pool.request_width),
        ):
            self._wire(f"plans{name}", self._free(f"f_plans{name}", width), width=width)
            self._cut(f"sender.{name}", f"plans{name}")
        self._happens("replies")

    def _leave(self) -> None:
        """Let the router take flits, and claim that they are those of packets that have been composed."""
        width, last = self._frames.flits.flit_width, self._length - 1
        bits = index_width(self._length)
        valid = self._output_pin("inject__valid", "out")
        self._output_pin("inject__payload", "flit", width)
        ready = self._free("f_ready")
        self._pins.append(f".inject__ready({ready})")
        self._wire("leaves", f"{valid} && {ready}")
        self._register("place", f"leaves ? (place == {last} ? 0 : place + 1) : place", width=bits)
        self._wire("ends", f"leaves && place == {last}")
        self._wire("composes", "takes_packet || replies")
        self._register("under_way", "under_way + composes - ends", width=_BITS)
        self.claims += [
            ("a packet is sent that there is not", f"!{valid} || under_way != 0"),
            ("more packets are taken than there is room for", f"under_way <= {_MOST}"),
            ("a packet pauses", f"place == 0 || {valid}"),
            ("a packet is taken while a grant is", "!takes_packet || !replies"),
        ]

    def _mark(self) -> None:
        """Mark a packet, and remember what its header must say, and which of its data flits is watched."""
        frames, fields = self._frames, self._fields
        self._wire("marks", f"{self._free('f_marks')} && composes && !inside")
        self._wire("goes", "inside && before == 0 && ends")
        self._register("inside", "marks || (inside && !goes)")
        self._register("before", "marks ? under_way - ends : before - (ends && before != 0)", width=_BITS)
        kind = (
            f"replies ? 2'd{int(PacketKind.GRANT)} : is_first ? 2'd{int(PacketKind.FIRST)} : 2'd{int(PacketKind.BODY)}"
        )
        says = {"kind": (kind, 2), "dst": ("replies ? reply : its_dst", fields["dst"]), "last": ("takes_frame", 1)}
        says |= {name: (f"its_{name}", fields[name]) for name in ("end", "keep", "user")}
        for name, (value, bits) in says.items():
            self._register(f"own_{name}", f"marks ? ({value}) : own_{name}", width=bits, reset="")
        bits = index_width(frames.payload_flits)
        spot = self._free("f_spot", bits)
        self._wire("new_spot", f"{spot} < size ? {spot} : 0", width=bits)
        self._register("spot", "marks ? new_spot : spot", width=bits, reset="")
        self._happens("goes")

    def _have_words(self) -> None:
        """Have the data of the packets that have been taken; all but the watched flit is junk."""
        bits, width = self._size_bits, self._frames.flits.flit_width
        self._register("left", "left + (takes_packet ? size : 0) - takes_word", width=bits)
        self._register("ahead", "marks ? left - takes_word + new_spot : ahead - (takes_word && ahead != 0)", width=bits)
        self._wire("is_watched", "waits_word && ahead == 0")
        waits = "marks ? takes_packet : waits_word && !(is_watched && takes_word)"
        self._register("waits_word", waits)
        self._constant("value", width)
        self._wire("word", f"is_watched ? value : {self._free('f_word', width)}", width=width)
        self._cut("sender.oldest__word", "word")
        self.claims += [
            ("a data flit is taken of no packet", "!takes_word || left != 0"),
            ("data flits are left of more than two packets", f"left <= {2 * self._frames.payload_flits}"),
        ]

    def _claim_packet(self) -> None:
        """Claim that the marked packet is as it was taken."""
        width, grant, headers = self._frames.flits.flit_width, int(PacketKind.GRANT), self._frames.header_flits
        self._wire("is_own", "out && inside && before == 0")
        self._wire("has_data", f"own_kind != {grant}")
        offset = 0
        for name, bits in self._fields.items():
            value = "own_address" if name == "src" else f"own_{name}"
            for bit in range(bits):
                place, low = divmod(offset + bit, width)
                holds = f"flit[{low}] == {value}[{bit}]" if bits > 1 else f"flit[{low}] == {value}"
                due = f"is_own && place == {place} && ({self._when(name)})"
                self.claims.append((f"bit {bit} of {name} is wrong in a header", f"!({due}) || {holds}"))
            offset += bits
        self._wire("is_shown", f"is_own && has_data && place == spot + {headers}")
        self.claims.append(("a data flit is not where it belongs, or changed", "!is_shown || flit == value"))
        self._happens("is_shown")

    def _when(self, field: str) -> str:
        """Return the condition that a field of the marked packet's header says something."""
        return {"dst": "1", "src": "1", "kind": "1", "last": "has_data"}.get(field, "has_data && own_last")

    def _hint_all(self) -> None:
        """Model how packets go through the sender: one is composed, then it is active, then its tail may wait."""
        length, codes = self._length, flit_codes(self._length)
        self._wire("room", "!out || f_ready")
        self._wire("advances", "active && room")
        self._wire("loads", f"composed && (!active || (advances && at_flit == {length - 1}))")
        for name in ("sends", "sends_last", "is_last", "replies"):
            self._look(f"has_{name}", f"sender.{name}", 1)
        self._register("composed", "composed ? !loads : has_sends || has_replies")
        self._register("active", f"loads || (active && !(advances && at_flit == {length - 1}))")
        bits = index_width(length)
        number = " | ".join(f"(code == {code} ? {bits}'d{flit} : 0)" for flit, code in enumerate(codes))
        self._wire("at_flit", number, width=bits)
        following = " | ".join(
            f"(code == {code} ? {bits}'d{codes[(flit + 1) % length]} : 0)" for flit, code in enumerate(codes)
        )
        self._register("code", f"advances ? ({following}) : code", width=bits)
        headers = self._frames.header_flits
        begins = f"at_flit == {length - 1}"
        shifted = f"{{in_header[{headers - 2}:0], {begins}}}" if headers > 1 else begins
        self._register("in_header", f"advances ? {shifted} : in_header", width=headers, reset="1")
        self._hint(f"in_header == {headers}'(1 << at_flit)")
        self._wire("has_tail", f"out && place == {length - 1}")
        self._hint(f"place == (out ? (at_flit == 0 ? {length - 1} : at_flit - 1) : at_flit)")
        self._hint("active || at_flit == 0")
        self._hint(f"under_way == {_BITS}'(composed + active + has_tail)")
        self._wire("in_tail", "inside && before == 0 && has_tail")
        self._wire("in_active", "inside && active && before == has_tail")
        self._wire("in_composed", f"inside && composed && before == {_BITS}'(active + has_tail)")
        self._hint("!inside || in_tail || in_active || in_composed")
        self._hint_choice()
        self._hint_headers()
        self._hint_words()

    def _hint_choice(self) -> None:
        """What has been chosen is there, and is known to be the last packet of its frame or not."""
        self._hint("!some || whole || !is_last")
        self._hint("!has_sends || (some && !has_replies)")
        self._hint(f"!has_replies || {'reply_waits' if self._pool.grants else 0}")
        self._hint("!has_sends || has_is_last == is_last")
        self._hint("has_sends_last == (has_sends && is_last)")

    def _hint_headers(self) -> None:
        """The header of the marked packet is that which is composed, or what is left of it to be shifted out."""
        width, total, offset = self._frames.flits.flit_width, self._frames.header_width, 0
        self._look("header", "sender.header", total)
        self._look("shift", "sender.shift", total)
        for name, bits in self._fields.items():
            value = "own_address" if name == "src" else f"own_{name}"
            top, known = offset + bits - 1, self._when(name)
            self._hint(f"!in_composed || !({known}) || header[{top}:{offset}] == {value}")
            for flit in range(self._frames.header_flits):
                low = max(offset, flit * width)
                if low <= top:
                    part = f"{value}[{bits - 1}:{low - offset}]" if bits > 1 else value
                    here = f"in_active && at_flit == {flit}"
                    self._hint(f"!({here}) || !({known}) || shift[{top - flit * width}:{low - flit * width}] == {part}")
            offset += bits

    def _hint_words(self) -> None:
        """As many data flits are left as those of the packets that are composed and sent have."""
        fields, headers, bits = self._fields, self._frames.header_flits, self._size_bits
        kind = 2 * fields["dst"] + 1
        self._look("stop", "sender.stop", fields["end"])
        self._look("last_word", "sender.end", fields["end"])
        self._look("goes_on", "sender.has_data", 1)
        self._register("active_data", f"loads ? !header[{kind}] : active_data")
        self._wire("word_number", f"at_flit < {headers} ? 0 : at_flit - {headers}", width=bits)
        self._hint("!active || goes_on == (active_data && word_number <= last_word)")
        self._register("word_index", "loads ? 0 : word_index + takes_word", width=fields["end"])
        self._hint("!active || !goes_on || word_index == word_number")
        self._wire("rest", "active && goes_on ? last_word + 1 - word_number : 0", width=bits)
        self._wire("behind", f"composed && !header[{kind}] ? stop + 1 : 0", width=bits)
        self._hint("left == rest + behind")
        self._hint(f"its_end < {self._frames.payload_flits}")
        self._hint(f"!composed || header[{kind}] || stop < {self._frames.payload_flits}")
        self._hint(f"!active || !active_data || last_word < {self._frames.payload_flits}")
        self._hint("!in_active || active_data == has_data")
        self._hint("!in_composed || !has_data || spot <= stop")
        self._hint("!in_active || !has_data || spot <= last_word")
        self._hint("!in_composed || !has_data || (waits_word && ahead == rest + spot)")
        self._hint("!in_active || !has_data || waits_word == (word_number <= spot)")
        self._hint("!in_active || !waits_word || ahead == spot - word_number")
        self._hint("!waits_word || (inside && has_data && !in_tail)")
