"""Support for tests of proofs: a rig is answered for once in a run of all tests, whoever asks."""

import pytest


@pytest.fixture(autouse=True)
def its_folder(answers_of_this_run):
    """Work where all proofs of this run are."""
