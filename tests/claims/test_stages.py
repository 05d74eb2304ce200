"""Stages of node 0 in the figures."""

import pytest

from hdnhw.claims import stages
from hdnhw.claims.claim import Verdict


@pytest.mark.parametrize("claim", [*stages.HDN_CLAIMS, *stages.RDN_CLAIMS], ids=lambda claim: claim.check.__name__)
def test_what_holds(claim):
    assert claim.check().verdict == Verdict.HOLDS


def test_node_0_of_figure_2():
    """It crosses first and in the fourth step, with the messages for its own class and with all sixteen."""
    rows = stages.exchange_of_one_level().table
    assert [(row["step"], row["to"], row["messages"]) for row in rows if row["port"] == "cross1"] == [
        (1, "1.0/0.0", 8),
        (4, "1.0/0.0", 16),
    ]


def test_another_order_of_stages(monkeypatch):
    monkeypatch.setattr(stages, "exchange_schedule", lambda network, *_, **__: EXCHANGE(network, "cluster-first"))
    assert stages.exchange_of_one_level().verdict == Verdict.FALSE


EXCHANGE = stages.exchange_schedule
