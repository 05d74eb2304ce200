"""Measurements on the model: loads, sweeps, traces, requests, collective operations."""
