"""Synthesis and place-and-route with open tools from PyPI."""
