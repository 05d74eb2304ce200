"""Amaranth components of router and fabric."""
