"""What rigs have in common: a module of emitted Verilog, what stands around it, and what must hold in every cycle.

A rig is text, too: registers and claims around an instance of the module. Nets inside the module can be cut: the rig
then drives what reads them. It can look at others. Inputs of the module that a rig does not drive are junk.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from hdnhw.fpga.harness import ports_of
from hdnhw.machine.crc import check_width
from hdnhw.proofs.netlist import read_text, text_of
from hdnhw.rtl.bits import index_width
from hdnhw.support.processes import Budget
from hdnhw.verilog.fabric import EmittedFabric

_DIVISORS = {8: 0x07, 16: 0x1021}
"""Number of check bits -> the polynomial by which a flit is divided, without its leading term."""

TOO_FEW = "more words of a memory are written than the rig has"
"""A claim that says of a rig that it does not fit, and nothing of what stands in it."""

TOP = "rig"
"""The module of a rig."""

_READ = f"""read_verilog -formal -sv rig.sv
hierarchy -top {TOP}
proc
flatten
cd {TOP}
{{joins}}cd
opt_clean
opt -fast
memory_collect
memory_map -formal
opt -fast
async2sync
"""

_MAKE_GATES = """chformal -lower
dffunmap
setundef -undriven -anyseq
opt -fast
techmap
opt -fast
simplemap
dffunmap
simplemap
setundef -anyseq
aigmap
clean
write_aiger -I -zinit -no-startoffset -map rig.map rig.aig
"""


class RigError(Exception):
    """A text that a rig does not fit."""


class Rig:
    """The text of a rig around a module.

    Parameters
    ----------
    fabric : EmittedFabric
    module : str
        Its name.
    file : str, optional
        Of the fabric's files, the one that has it; that of the bare fabric by default.

    Attributes
    ----------
    claims : list of (str, str)
        What must hold in every cycle: what it means if it does not, and the condition.
    slot : int
        Cycles of a slot.
    hints : list of str
        Conditions that may help to prove the claims; one that does not hold says nothing.
    cycles : int
        Of a rig with a schedule, its length: claims are checked within it, and not for all time; 0 of any other.
    steps : int
        Of a rig whose claims and hints follow from themselves in some cycles before, how many these are; 0 if no more
        is known than that an invariant may be found.
    """

    cycles = 0
    steps = 0

    def __init__(self, fabric: EmittedFabric, module: str, *, file: str | None = None) -> None:
        self._fabric, self._machine, self.module = fabric, fabric.machine, module
        self._plan, self._timing = fabric.machine.plan, fabric.machine.timing
        self._length = self.slot = self._timing.packet_length
        self._text = text_of(fabric.text if file is None else fabric.files[file], module)
        self._inputs: list[tuple[str, int]] = []
        self._declared: list[str] = []
        self._lines: list[str] = []
        self._pins: list[str] = [".clk(clk)", ".rst(rst)"]
        self._cuts: list[tuple[str, str]] = []
        self._looks: list[tuple[str, str]] = []
        self.claims: list[tuple[str, str]] = []
        self.hints: list[str] = []
        self._seen: list[str] = []
        self._clock()

    def text(self) -> str:
        """Return the rig and the module in it.

        Its outputs are 1 where a claim or, behind them, a hint does not hold; and the last one once all has happened
        that the rig is meant to let happen.
        """
        holds = [*(claim for _, claim in self.claims), *self.hints]
        wrong = [f"!rst && !({claim})" for claim in holds]
        instances, junk = self.instances()
        inputs = ", ".join(f"input [{width - 1}:0] {name}" for name, width in (*self._inputs, *junk))
        head = f"module {TOP}(input clk, {inputs}, output [{len(wrong)}:0] found);"
        moves = f"wire moves = !rst && {' && '.join(self._seen)};"
        joined = [f"wire [{len(wrong) - 1}:0] wrong;", moves, "assign found = {moves, wrong};"]
        joined += [f"assign wrong[{place}] = {claim};" for place, claim in enumerate(wrong)]
        body = "\n".join(f"  {line}" for line in (*self._declared, *self._lines, *instances, *joined))
        return f"{self._text}\n{head}\n{body}\nendmodule\n"

    def instances(self) -> tuple[list[str], list[tuple[str, int]]]:
        """Return what stands in the rig of the module, and the inputs of it that are junk, with their widths."""
        pins, junk = [*self._pins], []
        for port in ports_of(self._text, self.module):
            if port.name == "odd":
                pins.append(".odd(odd)")
            if port.is_input and not any(pin.startswith(f".{port.name}(") for pin in pins):
                pins.append(f".{port.name}(f_{port.name})")
                junk.append((f"f_{port.name}", port.width))
        return [f"{self.module} dut ({', '.join(pins)});"], junk

    @property
    def digest(self) -> str:
        """A digest of its text, and of the passes that make a circuit of it."""
        return hashlib.sha256(f"{self.text()}{self.script()}{_MAKE_GATES}".encode()).hexdigest()

    def circuit(self, folder: Path, budget: Budget) -> Path:
        """Make a circuit of the rig in a folder, in AIGER.

        Raises
        ------
        ToolError
            If Yosys fails.
        SpentError
            If it takes more than a budget has.
        """
        (folder / "rig.sv").write_text(self.text())
        read_text(self.script() + _MAKE_GATES, cwd=folder, budget=budget)
        return folder / "rig.aig"

    def script(self) -> str:
        """Return the passes of Yosys that make registers and words of logic of ``rig.sv``."""
        cuts = "".join(f"cutpoint w:{net}\n" for net, _ in self._cuts)
        joins = "".join(f"connect -nounset -set {net} {becomes}\n" for net, becomes in (*self._cuts, *self._looks))
        # A cut leaves a value that may be anything; without it, the net is there for the rig to drive.
        return _READ.format(joins=f"{cuts}delete t:$anyseq\n{joins}" if cuts else joins)

    def _clock(self) -> None:
        self._declared.append("reg first = 1;")
        self._lines.append("always @(posedge clk) first <= 0;")
        self._wire("rst", f"first | {self._resets()}")
        last = self._length - 1
        begin, after = f"{self._length}'d1", f"{{at[{last - 1}:0], at[{last}]}}" if last else "1"
        if self._machine.offset:  # the rig is around either kind of routers
            self._wire("odd", f"first ? f_is_odd : {self._constant('is_odd')}")
            begin = f"(odd ? {self._length}'d{1 << self._machine.offset} : {begin})"
        self._declared.append(f"reg [{last}:0] at = 1;")
        self._lines.append(f"always @(posedge clk) at <= rst ? {begin} : {after};")
        self._hint(f"at != 0 && {at_most_one('at')}")
        self._wire("counted", self._at(self._timing.credit_phase))
        self._wire("head", self._at(self._timing.head_phase))
        self._wire("tail", self._at(self._timing.tail_phase))
        self._register("fresh", "fresh && !head", reset="1")

    def _resets(self) -> str:
        """Return when a reset comes: at any time."""
        return self._free("f_reset")

    def _at(self, phase: int) -> str:
        """Return the condition that it is a phase, modulo the length of a slot."""
        return f"at[{phase % self._length}]"

    def _in_phases(self, *phases: int) -> str:
        """Return the condition that it is one of some phases."""
        return f"({' || '.join(map(self._at, phases)) or 0})"

    def _free(self, name: str, width: int = 1) -> str:
        """Make an input of the rig, which may be anything in every cycle."""
        self._inputs.append((name, width))
        return name

    def _wire(self, name: str, value: str, *, width: int = 1) -> str:
        self._declared.append(f"wire [{width - 1}:0] {name};")
        self._lines.append(f"assign {name} = {value};")
        return name

    def _register(self, name: str, following: str, *, width: int = 1, reset: str = "0") -> str:
        """Make a register; without a value for the reset it is not reset."""
        self._declared.append(f"reg [{width - 1}:0] {name} = {reset or 0};")
        becomes = f"rst ? {reset} : {following}" if reset else following
        self._lines.append(f"always @(posedge clk) {name} <= {becomes};")
        return name

    def _delayed(self, name: str, value: str, cycles: int, *, reset: str = "") -> str:
        """Return what a bit was some cycles ago."""
        for cycle in range(cycles):
            value = self._register(f"{name}_{cycle}", value, reset=reset)
        return value

    def _constant(self, name: str, width: int = 1) -> str:
        """Make a value that may be anything and never changes from the first reset on."""
        return self._register(name, f"first ? {self._free(f'f_{name}', width)} : {name}", width=width, reset="")

    def _code_in_phase(self, codes: Sequence[int], ahead: int) -> str:
        """Return which of the codes of a packet's flits is that of the flit that is `ahead` of the phase's number."""
        return self._selected([codes[(phase + ahead) % self._length] for phase in range(self._length)], "at")

    def _selected(self, values: Sequence[int], one_hot: str, bits: int | None = None) -> str:
        """Return that of some values which a one-hot register says; without `bits` they are flits' numbers or codes."""
        bits = index_width(self._length) if bits is None else bits
        return " | ".join(f"({bits}'d{value} & {{{bits}{{{one_hot}[{n}]}}}})" for n, value in enumerate(values))

    def _one_of(self, name: str, bits: str, width: int, *, default: bool) -> str:
        """Make a one-hot value of the lowest of some bits that is set; if none is, of the first one, or none."""
        own = f"{bits}[{width - 1}:0]" if width > 1 else f"{bits}[0]"
        lowest = f"{own} & (~{own} + 1'd1)"
        return self._wire(name, f"{own} == 0 ? {width}'d1 : ({lowest})" if default else lowest, width=width)

    def _data(self, bit: int, watched: str, width: int) -> str:
        """Return a flit that comes in: one bit is ``value`` while it is `watched`, all else is junk."""
        data = self._free("f_data", width)
        self._wire("data_bit", f"{watched} ? value : {data}[{bit}]")
        above = [f"{data}[{width - 1}:{bit + 1}]"] if bit < width - 1 else []
        below = [f"{data}[{bit - 1}:0]"] if bit else []
        return f"{{{', '.join([*above, 'data_bit', *below])}}}"

    def _word(self, channel: str, name: str, value: str = "") -> list[str]:
        """Return the pins of a channel by which a value comes in, or without one a wire of what comes out.

        It is a flit, and above it are its check bits if it has some.
        """
        width, total = self._machine.spec.flit_width, self._machine.word_width
        if width == total and value:
            return [f".{channel}__data({value})"]
        self._declared.append(f"wire [{total - 1}:0] {name};")
        if value:
            self._lines.append(f"assign {name} = {value};")
        if width == total:
            return [f".{channel}__data({name})"]
        return [f".{channel}__data({name}[{width - 1}:0])", f".{channel}__check({name}[{total - 1}:{width}])"]

    def _check(self, flit: str) -> str:
        """Return the check bits of a flit, by dividing it bit by bit."""
        width, bits = self._machine.spec.flit_width, check_width(self._machine.spec.flit_width)
        divided = f"check_bits_of[{bits - 1}] ^ flit[place] ? {bits}'d{_DIVISORS[bits]} : {bits}'d0"
        function = f"""function [{bits - 1}:0] check_bits_of(input [{width - 1}:0] flit);
    integer place;
    begin
      check_bits_of = 0;
      for (place = {width - 1}; place >= 0; place = place - 1)
        check_bits_of = {{check_bits_of[{bits - 2}:0], 1'b0}} ^ ({divided});
      check_bits_of = ~check_bits_of;
    end
  endfunction"""
        if function not in self._declared:
            self._declared.append(function)
        return f"check_bits_of({flit})"

    def _count(self, counter: str, event: str, packets: str, *, width: int) -> None:
        """Claim that a counter counts events, two cycles later, up to the largest value: `packets` says which."""
        most = (1 << width) - 1
        own, now = f"count_of_{counter}", self._register(f"{counter}_now", event)
        self._output_pin(counter, counter, width)
        self._register(own, f"{now} && {own} != {most} ? {own} + 1 : {own}", width=width)
        self.claims.append((f"{packets} packets are counted wrongly", f"{counter} == {own}"))

    def _be_wrong(self, valid: str, checker: str) -> None:
        """Let flits that are `valid` be wrong, and a checker say so; know when a tail was there, and if any was."""
        wrong = self._free("f_wrong")
        self._cut(f"{checker}.was_wrong", self._register("was_wrong", wrong, reset=""))
        self._register("hurt", f"{valid} && ({wrong} || (!head && hurt))")
        self._register("done", f"{valid} && tail")
        self._look("says_bad", f"{checker}.bad", 1)
        self._hint("says_bad == hurt")
        self._hint(f"!hurt || (head ? done : {valid})")
        self._hint("!done || head")
        self._happens("done && hurt")
        self._happens("done && !hurt")

    def _kept(self, slots: int, credit: str) -> str:
        """Count the packets that an ejection buffer has, and the cycles until it may give the next credit."""
        given, last = self._wire("ejection_credit", credit), self._length - 1
        self._register("kept", f"kept + (tail && ejects) - {given}", width=slots.bit_length())
        self._register("apart", f"{given} ? {last} : apart == 0 ? 0 : apart - 1", width=self._length.bit_length())
        return given

    def _output_pin(self, pin: str, name: str, width: int = 1) -> str:
        """Make a wire that an output of the module drives."""
        self._declared.append(f"wire [{width - 1}:0] {name};")
        self._pins.append(f".{pin}({name})")
        return name

    def _hint(self, condition: str) -> None:
        self.hints.append(condition)

    def _happens(self, condition: str) -> None:
        """Say what the rig must be able to let happen, all within one run."""
        name = f"ever_{len(self._seen)}"
        self._seen.append(self._register(name, f"{name} || ({condition})", reset="0"))

    def _cut(self, net: str, becomes: str) -> None:
        """Let a value of the rig stand in place of a net of the module."""
        self._cuts.append((self._inside(net), f"\\{becomes}"))

    def _look(self, name: str, net: str, width: int) -> str:
        """Return a wire of the rig that has the value of a net of the module."""
        inside = self._inside(net)
        self._declared.append(f"wire [{width - 1}:0] {name};")
        self._looks.append((f"\\{name}", inside))
        return name

    def _inside(self, net: str) -> str:
        if not re.search(
            rf"^ *(output )?(wire|reg) (\[\d+:\d+\] )?\\?{re.escape(net)} ?[ ;]", self._text, re.MULTILINE
        ):
            raise RigError(f"{self.module} has no {net}")
        return f"\\dut.{net}"

    def _forget(self, memory: str, keeps: str, name: str) -> None:
        """Let a memory forget all words but one: what it says of others is junk.

        So there is more that it may do than before: what holds then holds of the memory as it is.

        Parameters
        ----------
        memory : str
            Its name in the module, which writes and reads it in one place each.
        keeps : str
            Condition of the rig: the word that is written in this cycle, if one is, is the one to remember.
        name : str
            Of what is remembered: registers ``rig_NAME_addr`` and ``rig_NAME_word`` in the module.
        """
        own, net = f"rig_{name}", re.escape(memory)
        word, bits = self._memory(memory)
        self._replace(
            rf"if \((.*)\)\n *\\?{net} *\[(.*)\] <= (.*);$",
            rf"if ((\1) && ({own}_keeps || {own}_addr == (\2))) begin {own}_addr <= \2; {own}_word <= \3; end",
        )
        self._replace(rf"(assign .* =|<=) \\?{net} *\[(.*)\];$", rf"\1 {own}_addr == (\2) ? {own}_word : {own}_junk;")
        self._check_forgotten(memory)
        registers = f"  reg [{bits - 1}:0] {own}_addr = 0;\n  reg {word}{own}_word = 0;"
        self._extend({f"{own}_keeps": "", f"{own}_junk": word}, registers)
        self._pins.append(f".{own}_keeps({keeps})")

    def _check_forgotten(self, memory: str) -> None:
        """Refuse a text in which a memory is still read or written, but for its first words."""
        uses = re.findall(rf"^.*(?<![\w.$])\\?{re.escape(memory)} *\[.*$", self._text, re.MULTILINE)
        if any(re.fullmatch(r" *(reg .*|\S+ *\[\d+\] = \S+;)", use) is None for use in uses):
            raise RigError(f"{self.module} uses {memory} in more than one way")

    def _peek(self, memory: str, address: str, name: str) -> None:
        """Let the rig read a word of a memory in the same cycle: the wire ``rig_NAME_word`` in the module."""
        own, net = f"rig_{name}", re.escape(memory)
        word, bits = self._memory(memory)
        self._extend({f"{own}_addr": f"[{bits - 1}:0] "}, f"  wire {word}{own}_word;")
        self._replace(
            rf"^( *reg (?:\[\d+:0\] )?\\?{net} *\[\d+:0\];)$",
            rf"\1\n  assign {own}_word = \\{memory} [{own}_addr];",
        )
        self._pins.append(f".{own}_addr({address})")

    def _memory(self, memory: str) -> tuple[str, int]:
        """Return the range of a memory's words, empty if they are bits, and the bits of its addresses."""
        net = re.escape(memory)
        shape = re.search(rf"^ *reg (\[\d+:0\] )?\\?{net} *\[(\d+):0\];$", self._text, re.MULTILINE)
        if shape is None:
            raise RigError(f"{self.module} has no memory {memory}")
        return shape[1] or "", int(shape[2]).bit_length()

    def _extend(self, inputs: Mapping[str, str], declared: str) -> None:
        """Give the module inputs, by name with their ranges, and lines behind them."""
        lines = "".join(f"\n  input {bits}{name};" for name, bits in inputs.items())
        head = f"module {self.module}"
        self._replace(rf"^{head}\(([^;]*;)", rf"{head}({', '.join(inputs)}, \1{lines}\n{declared}")

    def _replace(self, pattern: str, becomes: str) -> None:
        self._text, count = re.subn(pattern, becomes, self._text, flags=re.MULTILINE)
        if count != 1:
            raise RigError(f"{pattern} was found {count} times in {self.module}")


def at_most_one(bits: str) -> str:
    """Return the condition that no two bits of a value are set."""
    return f"({bits} & ({bits} - 1'd1)) == 0"
