"""The cycle-accurate model."""
