"""Networks by their specs: the families, the registry that finds them, and the parser of spec strings."""
