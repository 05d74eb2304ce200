"""Samples for the four accelerators, and a look at their results, which NumPy computes too.

``check.py SAMPLES`` writes samples, ``check.py SAMPLES RESULTS`` compares.
"""

import sys
from pathlib import Path

import numpy as np

KINDS = {
    "scale": lambda frames: 3 * frames + 1,
    "delta": lambda frames: np.diff(frames, axis=1, prepend=np.uint32(0)),
    "total": lambda frames: np.cumsum(frames, axis=1, dtype=np.uint32),
    "peak": lambda frames: np.maximum.accumulate(frames, axis=1),
}
"""What each does with its frames, in the order in which these are dealt out."""
FRAMES, WORDS = 64, 16


def main(samples, results=None):
    """Write samples; or compare, and exit with status 1 if a word is wrong."""
    if results is None:
        np.random.default_rng(1).integers(0, 1 << 32, FRAMES * WORDS, np.uint32).tofile(samples)
        return
    given = np.fromfile(samples, "<u4").reshape(-1, len(KINDS), WORDS)
    lines = [line for line in Path(results).read_text().split() if not line.startswith(("@", "/"))]
    found = np.frombuffer(bytes(int(line, 16) for line in lines), "<u4").reshape(len(KINDS), -1, WORDS)
    for number, (name, result) in enumerate(KINDS.items()):
        if wrong := int(np.sum(found[number] != result(given[:, number]))):
            sys.exit(f"{name}: {wrong} of {found[number].size} words are wrong")
    print(f"{FRAMES * WORDS} words from {len(KINDS)} nodes, each as computed")


if __name__ == "__main__":
    main(*sys.argv[1:])
