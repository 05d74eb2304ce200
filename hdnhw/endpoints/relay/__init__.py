"""Relays: terminals between which packets go by waypoints."""
