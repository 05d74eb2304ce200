"""What is changed in RTLIL: each change on its own."""

import pytest
from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.bits import UNINITIALIZED
from hdnhw.verilog.verilog import module_text


class Table(wiring.Component):
    """A memory that begins with some words."""

    def __init__(self, words):
        self._words = words
        super().__init__({"word": Out(4)})

    def elaborate(self, _platform):
        m = Module()
        m.submodules.words = words = memory.Memory(shape=4, depth=2, init=self._words)
        m.d.comb += self.word.eq(words.read_port().data)
        return m


def test_a_table_cannot_do_without_initial_values():
    assert "initial" in module_text(Table([0, 5]), "table", flatten=True)
    with pytest.raises(ValueError, match="a memory must begin with zeros where it has no initial values"):
        module_text(Table([0, 5]), "table", flatten=True, initial=False)
    assert "initial" not in module_text(Table([0, 0]), "table", flatten=True, initial=False)


class Pair(wiring.Component):
    """A register that needs an initial value, and one that does not."""

    def __init__(self):
        super().__init__({"i": In(1), "o": Out(2)})

    def elaborate(self, _platform):
        m = Module()
        needs = Signal(name="needs")
        begins_with_anything = Signal(name="begins_with_anything", reset_less=True, attrs={UNINITIALIZED: 1})
        m.d.sync += [needs.eq(self.i), begins_with_anything.eq(~self.i)]
        m.d.comb += self.o.eq(Cat(needs, begins_with_anything))
        return m


def test_a_register_that_needs_no_initial_value_has_none():
    text = module_text(Pair(), "pair", flatten=True)
    assert "reg needs = 1'h0;" in text
    assert "reg begins_with_anything;" in text
    assert UNINITIALIZED not in text
    assert "reg needs;" in module_text(Pair(), "pair", flatten=True, initial=False)
