"""Text in which results stand where they are read has the logic of the text of Yosys, and its names."""

import random
import re
from unittest import mock

import pytest

from hdnhw.fpga.yosys import YosysError, run_yosys
from hdnhw.networks.parse import parse
from hdnhw.spec import CollectiveSpec, FabricSpec
from hdnhw.verilog.fabric import emit_fabric
from hdnhw.verilog.folding import MARK, folded, without_marks

SMALL = {"packet_length": 2, "flit_width": 8, "buffers": 2}
MACHINES = {
    "one class": FabricSpec(network=parse("cube(2)"), **SMALL),
    "classes": FabricSpec(network=parse("torus(4, 4)"), **SMALL),
    "tables": FabricSpec(network=parse("hdn(cube(2), [[0]])"), dead_pins=True, crc=True, **SMALL),
    "virtual output queues": FabricSpec(network=parse("torus(3)"), queueing="voq", **SMALL),
    "engines": FabricSpec(network=parse("cube(2)"), endpoints=CollectiveSpec(), packet_length=4, flit_width=32),
}

READ = """read_verilog -sv {file}
hierarchy -top {top}
proc
flatten
memory
opt_clean
techmap
dffunmap
opt_clean
rename {top} {name}
design -stash {name}
"""

COMPARE = """design -copy-from gold -as gold gold
design -copy-from gate -as gate gate
equiv_make gold gate equiv
hierarchy -top equiv
equiv_simple
equiv_status -assert
"""


def plain(text, _):
    return without_marks(text)


def are_equal(one, other, top, folder):
    """Prove that registers and outputs of two texts take the same."""
    (folder / "one.sv").write_text(one)
    (folder / "other.sv").write_text(other)
    read = "".join(
        READ.format(file=f"{name}.sv", top=top, name=as_) for name, as_ in (("one", "gold"), ("other", "gate"))
    )
    try:
        run_yosys(read + COMPARE, cwd=folder)
    except YosysError:
        return False
    return True


@pytest.mark.parametrize("spec", MACHINES.values(), ids=MACHINES)
def test_emitted_modules_have_the_logic_of_those_of_yosys(spec, tmp_path):
    fabric = emit_fabric(spec)
    with mock.patch("hdnhw.verilog.verilog.folded", plain):
        before = emit_fabric(spec)
    one, other = ("\n".join(each.verilog.values()) for each in (before, fabric))
    assert other.count("\n") < 0.8 * one.count("\n")
    for module in fabric.blocks:
        assert are_equal(one, other, module, tmp_path), module
    named = set(re.findall(r"^  reg (?:\[\d+:0\] )?(\\?\S+?) ?[ ;]", one, re.MULTILINE))
    assert named <= set(re.findall(r"^  reg (?:\[\d+:0\] )?(\\?\S+?) ?[ ;]", other, re.MULTILINE))


def drawn(seed):
    """Return a module as Yosys prints it, of results that are as wide as what they are of, or not."""
    draw = random.Random(seed)
    widths = {name: draw.randint(1, 5) for name in ("a", "b", "c", "d")}
    ports, lines, unread = list(widths), [], []

    def operand():
        name = unread.pop(draw.randrange(len(unread))) if unread and draw.random() < 0.8 else draw.choice(list(widths))
        if draw.random() < 0.15:
            place = draw.randrange(widths[name])
            return f"{name} [{place}]", 1
        if draw.random() < 0.1:
            return "3'h5", 3
        return f"{name} ", widths[name]

    for number in range(draw.randint(6, 30)):
        (one, first), (two, second), (three, third) = operand(), operand(), operand()
        text, width = draw.choice(
            [
                (f"~ {one}", first),
                (f"- {one}", first),
                (f"& {one}", 1),
                (f"! {one}", 1),
                (one, first),
                *((f"{one} {sign} {two}", max(first, second)) for sign in ("&", "|", "^", "+", "-")),
                *((f"{one} {sign} {two}", 1) for sign in ("==", "<", ">=", "&&", "||")),
                (f"{one} << {two}", first),
                (f"{one} ? {two} : {three}", max(second, third)),
                (f"{{ {one}, {two} }}", first + second),
            ]
        )
        name = rf"\t{number}" + (MARK if draw.random() < 0.85 else "")
        widths[name] = width + draw.choice((0, 0, 0, 0, 1, 2)) if draw.random() < 0.9 else max(1, width - 1)
        unread.append(name)
        lines.append(f"  assign {name}  = {text};")
    for number, name in enumerate([*unread, draw.choice(list(widths))]):
        widths[f"o_{number}"] = widths[name] + draw.choice((0, 0, 1))
        ports.append(f"o_{number}")
        lines.append(f"  assign o_{number} = {name} ;")
    declared = []
    for name, width in widths.items():
        bits = f"[{width - 1}:0] " if width > 1 else ""
        declared += [f"  {'output' if name[0] == 'o' else 'input'} {bits}{name};"] if name in ports else []
        declared.append(f"  wire {bits}{name} ;")
    return "\n".join([f"module drawn({', '.join(ports)});", *declared, *lines, "endmodule", ""])


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_expressions_keep_the_widths_that_they_had(first, tmp_path):
    for seed in range(first, first + 10):
        text = drawn(seed)
        assert are_equal(without_marks(text), folded(text, {}), "drawn", tmp_path), seed


def test_what_is_read_once_goes_and_what_a_source_has_named_stays():
    text = """module part(a, b, o);
  input [1:0] a;
  wire [1:0] a;
  input b;
  wire b;
  output o;
  reg o;
  wire \\and_1@ ;
  wire \\not_2@ ;
  wire \\both_3@ ;
  wire \\or_4@ ;
  wire \\unread_5@ ;
  wire \\queue.pop ;
  assign \\and_1@  = a[0] & b;
  assign \\not_2@  = ~ \\and_1@ ;
  assign \\both_3@  = a[1] ^ b;
  assign \\or_4@  = \\not_2@  | \\both_3@ ;
  assign \\unread_5@  = \\or_4@ ;
  assign \\queue.pop  = \\or_4@ ;
  always_comb begin
    o = \\both_3@ ;
    if (\\queue.pop ) begin
      o = b;
    end
  end
endmodule
"""
    assert (
        folded(text, {"": "Part: A part.", "queue": "Queue: A queue."})
        == """// Part: A part.
module part(a, b, o);
  input [1:0] a;
  wire [1:0] a;
  input b;
  wire b;
  output o;
  reg o;
  wire both_3;
  wire \\queue.pop ;

  // Part itself
  assign both_3 = a[1] ^ b;
  always_comb begin
    o = both_3;
    if (\\queue.pop ) begin
      o = b;
    end
  end

  // queue: Queue: A queue.
  assign \\queue.pop  = ~(a[0] & b) | both_3;
endmodule
"""
    )


@pytest.mark.parametrize("text", ["$signed(a) >>> b", "a ** b", "a[b]"])
def test_an_expression_of_another_form_stays_as_it_is(text):
    ways = {"a": "input", "b": "input", "o": "output"}
    ports = "".join(f"  {way} {name};\n  wire {name};\n" for name, way in ways.items())
    lines = f"  wire \\x@ ;\n  assign \\x@  = {text};\n  assign o = \\x@  & a;\n"
    whole = f"module m(a, b, o);\n{ports}{lines}endmodule"
    assert folded(whole, {}) == without_marks(whole)
