"""Networks by arithmetic: digits, ports, neighbors, addresses and metrics."""
