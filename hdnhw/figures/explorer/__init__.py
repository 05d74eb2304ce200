"""A page on which a network is explored: what it holds, and the scripts that show it."""
