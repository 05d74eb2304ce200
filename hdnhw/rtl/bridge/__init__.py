"""Bridges: the sides of a link that joins the parts of a network in two chips, whatever its wires do to words."""
