"""Collective engines: terminals of a fabric that run collective operations, and the top level that joins them."""
