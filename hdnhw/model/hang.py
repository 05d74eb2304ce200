"""What :mod:`hdnhw.model.watchdog` raises, by itself: the command line knows it without loading the model."""


class HangError(RuntimeError):
    """A fabric in which packets will never arrive: deadlock or livelock. The message says which, line by line."""
