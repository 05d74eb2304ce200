"""Mutants that differ in some state, but in none that a run comes to, are told from those that do."""

import re

from tests.mutants import equivalence, schemata, sequential

TEXT = r"""
module part(address, a, clk, rst, o, q, y);
  input [1:0] address;
  input a;
  input clk;
  input rst;
  output o;
  output q;
  output y;
  wire x;
  wire n;
  wire [1:0] sum;
  reg [1:0] \s.count  = 2'h1;
  reg [1:0] \s.count.next ;
  reg \m [1:0];
  initial begin
    \m [0] = 1'h0;
    \m [1] = 1'h0;
  end
  always @(posedge clk) begin
    if (a)
      \m [\s.count [0]] <= a;
  end
  assign q = \m [a];
  always @(posedge clk)
    \s.count  <= \s.count.next ;
  assign n = ~ \s.count [0];
  assign x = \s.count [1] & n;
  assign sum = \s.count  + 2'h1;
  assign o = & \s.count ;
  assign y = address[0] & a;
  always_comb begin
    \s.count.next  = x ? 2'h1 : sum;
    if (rst) begin
      \s.count.next  = 2'h1;
    end
  end
endmodule
module top(a, clk, rst, o, q);
  input [1:0] a;
  input clk;
  input rst;
  output [1:0] o;
  output [1:0] q;
  part one (
    .a(a[0]),
    .address(2'h0),
    .clk(clk),
    .rst(rst)
  );
  part other (
    .a(a[1]),
    .address(2'h2),
    .clk(clk),
    .rst(rst)
  );
endmodule
"""
"""A count that is 1 or 2, and one bit of an address that is 0 everywhere."""


def test_what_differs_in_no_run_is_told_from_what_does():
    mutants = schemata.all_mutants(TEXT, ["part"])
    equal = equivalence.equivalent_mutants(TEXT, mutants)
    numbers = [one.number for one in mutants if one.number not in equal]
    same = sequential.never_different(TEXT, mutants, numbers, seconds=60, workers=2)
    assert {one.key for one in mutants if one.number in same} == {
        "part: x = s.count[1] & n: | for &",
        "part: x = s.count[1] & n: left alone",
        "part: y = address[0] & a: left alone",
    }


def test_pins_that_are_not_constant_everywhere_may_be_anything_there():
    text = re.sub(r"(other \(.*?\.address)\(2'h2\)", r"\1(a)", TEXT, flags=re.DOTALL)
    mutants = schemata.all_mutants(text, ["part"])
    (number,) = (one.number for one in mutants if one.key == "part: y = address[0] & a: left alone")
    assert sequential.never_different(text, mutants, [number], seconds=60, workers=1) == set()


def test_nothing_to_look_at_is_nothing():
    assert sequential.never_different(TEXT, schemata.all_mutants(TEXT, ["part"]), [], seconds=1, workers=1) == set()
