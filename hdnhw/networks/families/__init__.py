"""Network families: a module each, with a constant FAMILY, or FAMILIES, that says all there is to know of it.

Nothing imports these modules by name to have their families: :func:`hdnhw.networks.registry.families` looks for them.
"""
