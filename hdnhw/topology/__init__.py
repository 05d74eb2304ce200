"""Networks by arithmetic: digits, ports, neighbours, addresses and metrics."""
