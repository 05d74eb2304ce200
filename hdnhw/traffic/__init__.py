"""What terminals send: patterns of destinations and injection processes."""
