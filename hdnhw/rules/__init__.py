"""Routing rules, their proofs and figures."""
