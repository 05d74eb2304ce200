"""Support for tests of proofs: a rig is answered for once in a run of all tests, whoever asks."""

import pytest


@pytest.fixture(autouse=True)
def answers_of_this_run(tmp_path_factory, worker_id, monkeypatch):
    """Work in a folder that all processes of this run share, and no other run: what was found before hides nothing."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "proofs"
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
