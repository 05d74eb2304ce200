"""What hdnhw raises for what was asked of it: the command line knows it without loading what raises it."""


class SpecError(ValueError):
    """A request that cannot be met, such as a spec that names no network; the message says what is allowed."""


class RuleError(ValueError):
    """A routing rule that must not become hardware: it can deadlock, get lost or leave the network."""


class HangError(RuntimeError):
    """A fabric in which packets will never arrive: deadlock or livelock. The message says which, line by line."""
