"""What a routing rule decides at a node, as circuits from which every network family makes its own."""
