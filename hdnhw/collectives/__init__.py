"""Collective operations: schedules as circuits, an executor that moves their messages, and what they cost."""
