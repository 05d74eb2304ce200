#!/bin/sh
# Let FuseSoC generate the fabric, read the design and build and run its bench; $1 is the folder for what is made.
set -eu
here=$(dirname "$0")
out=${1:-build/fusesoc}
for target in lint sim; do
  hdnhw-tools fusesoc --cores-root "$here" run --target=$target "--work-root=$out/$target" example:design:chip
done
