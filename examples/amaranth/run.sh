#!/bin/sh
# Simulate the design and print it in Verilog; $1 is the folder for what is made.
set -eu
out=${1:-build/amaranth}
mkdir -p "$out"
python "$(dirname "$0")/sensors.py" "$out/chip.v"
