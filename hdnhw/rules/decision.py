"""What a rule decides, as one number."""

__all__ = ["ROUTE", "VC_SHIFT"]

VC_SHIFT = 8
"""A decision is ``port | vc << VC_SHIFT``; the port number of an arrival is the number of ports."""

ROUTE = "FunctionType(int64(int64, int64))"
"""Numba type of a compiled rule, so that kernels are compiled once for every network."""
