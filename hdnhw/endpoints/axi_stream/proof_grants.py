"""Grants of an AXI4-Stream endpoint: each request is granted once, in order, and never more than the reserve.

Around the granter stands a receiver that asks and gives back whenever it likes, for no more than has been granted. The
rig marks one request, any one.
"""

from contextlib import suppress

from hdnhw.endpoints.axi_stream.format_pool import pool_of
from hdnhw.proofs.rig import RigError
from hdnhw.proofs.streams import EndpointRig
from hdnhw.rtl.bits import index_width
from hdnhw.verilog.fabric import EmittedFabric


class GranterRig(EndpointRig):
    """A rig around the granter of an AXI4-Stream endpoint."""

    KEPT = ("receiver.granter.requests.words",)

    def __init__(self, fabric: EmittedFabric) -> None:
        super().__init__(fabric)
        self._pool = pool_of(self._machine)
        self._width = (2 * self._pool.reserve).bit_length()
        self._need_bits = self._pool.reserve.bit_length()
        self._address_bits = self._machine.address.width
        self._table_bits = index_width(self._pool.num_nodes)
        self._peek(self.KEPT[0], "own_place", "word")
        self._peek(self.KEPT[0], f"first_request[{self._table_bits - 1}:0]", "front")
        self._watch()
        self._ask()
        self._give_back()
        self._claim()
        self._hint_all()

    def _watch(self) -> None:
        """Look at what is granted, and to whom: it is known in the cycle after."""
        self._look("valid", "receiver.granter.reply__valid", 1)
        self._look("who", "receiver.granter.reply__payload", self._address_bits)
        self._look("amount", "receiver.granter.next_packets", self._need_bits)
        self._wire("f_taken", self._free("f_takes"))
        self._cut("receiver.granter.reply__ready", "f_taken")
        self._register("was_valid", "valid")
        self._register("was_amount", "amount", width=self._need_bits)
        self._wire("grants", "valid && !was_valid")

    def _ask(self) -> None:
        """Let sources ask, no more at once than there are, and mark a request."""
        pool, bits = self._pool, self._need_bits
        self._wire("pushes", f"!rst && {self._free('f_push')} && pending < {pool.num_nodes}")
        asked = self._free("f_asked", pool.request_width)
        self._wire("longest", self._free("f_longest"))
        self._wire(
            "asked",
            f"longest ? ~0 : {asked} > {pool.most_asked} ? {pool.most_asked} : {asked}",
            width=pool.request_width,
        )
        self._wire("need", f"longest ? {pool.longest_need} : asked", width=bits)
        self._wire("src", self._free("f_src", self._address_bits), width=self._address_bits)
        for net, value in (("push", "pushes"), ("longest", "longest"), ("packets", "asked"), ("src", "src")):
            self._cut(f"receiver.granter.{net}", value)
        count = (pool.num_nodes + 1).bit_length()
        self._register("pending", "pending + pushes - grants", width=count)
        self._wire("marks", f"{self._free('f_marks')} && pushes && !inside")
        self._wire("is_due", "inside && before == 0 && grants")
        self._register("inside", "marks || (inside && !is_due)")
        self._register("before", "marks ? pending - grants : before - (grants && before != 0)", width=count)
        self._register("own_need", "marks ? need : own_need", width=bits, reset="")
        self._register("own_src", "marks ? src : own_src", width=self._address_bits, reset="")
        self._happens("is_due")

    def _give_back(self) -> None:
        """Let frames end, not in consecutive cycles, and give back what they were granted."""
        bits = self._need_bits
        self._wire("ends", f"{self._free('f_ends')} && !ended")
        self._register("ended", "ends")
        back = self._free("f_back", bits)
        self._wire("back", f"{back} > out ? out : {back}", width=bits)
        self._register("was_back", "back", width=bits)
        self._register("out", "out + (grants ? was_amount : 0) - (ends ? back : 0)", width=self._width)
        self._cut("receiver.granter.ends", "ends")
        self._cut("receiver.granter.returns", "back")

    def _claim(self) -> None:
        """Claim that grants are those of requests, and no more than the reserve."""
        self.claims += [
            ("a grant is given that nobody asked for", "!grants || pending != 0"),
            ("a grant goes to another source", "!is_due || who == own_src"),
            ("another number of packets is granted than was asked for", "!is_due || was_amount == own_need"),
            ("more is granted than the reserve", f"out + (grants ? was_amount : 0) <= {self._pool.reserve}"),
        ]

    def _hint_all(self) -> None:
        """What is left of the reserve is what has not been granted; the table has the requests that wait."""
        bits, table = self._need_bits, self._table_bits
        self._look("left", "receiver.granter.left", bits)
        self._look("more", "receiver.granter.like", bits)
        # The first one's place is the address that is read: of distributed RAM through a register, of block RAM itself.
        pointers = ("requests_address", "requests_read__addr")
        name = next((name for name in pointers if f"\\receiver.granter.{name} " in self._text), pointers[0])
        self._look("first_request", f"receiver.granter.{name}", table + 1)
        self._look("last_request", "receiver.granter.requests_write_address", table + 1)
        self._look("word", "rig_word_word", self._address_bits + bits)
        self._register("own_place", f"marks ? last_request[{table - 1}:0] : own_place", width=table, reset="")
        self._wire("there", "last_request - first_request", width=table + 1)
        total = f"{self._width + 1}'d{self._pool.reserve}"
        self._hint(f"left + out + (grants ? was_amount : 0) + (ended ? was_back : 0) == {total}")
        self._hint("!ended || more == left + was_back")
        self._hint("pending == there + grants")
        self._hint("!inside || before < pending")
        self._hint(f"!inside || is_due || own_place == {table}'(first_request + before - grants)")
        self._hint("!inside || is_due || word == {own_need, own_src}")
        self._hint_choice()

    def _hint_choice(self) -> None:
        """Model how a request is read, compared and granted."""
        bits = self._need_bits
        self._look("waits", "receiver.granter.waits", 1)
        self._look("read", "receiver.granter.requests.o", self._address_bits + bits)
        self._register("was_ended", "ended")
        self._register("less", "left - amount", width=bits + 1)
        self._wire("is_enough", f"!less[{bits}] && !ends && !ended && !was_ended")
        self._wire("chooses", "may && !ends")
        self._register("settled", "waits && !chooses ? {settled[1:0], 1'd1} : 0", width=3)
        self._register("may", "settled[2] && is_enough && !valid && !chooses")
        self._look("front", "rig_front_word", self._address_bits + bits)
        self._look("read_addr", "receiver.granter.requests.read__addr", self._table_bits)
        self._hint(f"pending <= {self._pool.num_nodes}")
        self._hint(f"!waits || read_addr == first_request[{self._table_bits - 1}:0]")
        self._hint("!settled[0] || read == front")
        with suppress(RigError):  # of block RAM
            self._look("memory_word", "receiver.granter.requests.read__data", self._address_bits + bits)
            self._hint("!waits || memory_word == front")
        self._hint("!waits || there != 0")
        self._hint("settled == 0 || waits")
        self._hint("settled == 0 || settled == 1 || settled == 3 || settled == 7")
        self._hint("!may || (waits && settled == 7 && !valid)")
        self._hint(f"!settled[1] || amount == read[{self._address_bits + bits - 1}:{self._address_bits}]")
        self._hint(f"!settled[2] || ended || was_ended || less == {bits + 1}'(left - amount)")
        self._hint(f"!may || (less == {bits + 1}'(left - amount) && !less[{bits}])")
        self._hint("!settled[0] || !inside || before != 0 || grants || read == {own_need, own_src}")
