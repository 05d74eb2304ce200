"""What a rule decides, as one number."""

VC_SHIFT = 8
"""A decision is ``port | vc << VC_SHIFT``; the port number of an arrival is the number of ports."""
