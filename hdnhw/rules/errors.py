"""What proofs of routing rules raise, by itself: the command line knows it without loading the proofs."""


class RuleError(ValueError):
    """A routing rule that must not become hardware: it can deadlock, get lost or leave the network."""
