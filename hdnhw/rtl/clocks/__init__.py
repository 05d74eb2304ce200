"""Terminals in clock domains of their own: one crossing a node, between it and the fabric."""
