"""Measurements on the model: loads, sweeps, traces, requests, collective operations; and bounds of what it does."""
