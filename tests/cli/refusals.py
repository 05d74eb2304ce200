"""What is refused, as refused.txt has it: a command line, and below it all that it says, ``...`` for any text."""

import re
from pathlib import Path

TEXT = Path(__file__).with_name("refused.txt").read_text()
REFUSED = dict(re.findall(r"^\$ hdnhw (.*)\n(.*)\n", TEXT, flags=re.MULTILINE))
"""Command lines -> what they say."""


def is_like(said, text):
    """Return whether a text is one line that refused.txt has."""
    return re.fullmatch(re.escape(said).replace(r"\.\.\.", ".*") + "\n", text) is not None
