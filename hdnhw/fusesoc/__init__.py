"""A generator for FuseSoC: cores that ask for a fabric by its spec."""
