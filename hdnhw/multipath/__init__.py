"""Disjoint paths, and ways around what is dead."""
