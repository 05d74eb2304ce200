"""One hypothesis profile for all tests: repeatable, and blind to how busy the machine is."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "hdnhw", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("hdnhw")
