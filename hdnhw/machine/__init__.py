"""A machine: all that model, hardware and proofs need to know of one fabric, and the formats of its flits."""
