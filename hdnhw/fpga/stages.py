"""What a name in a mapped netlist stands for: the signal of the emitted module, and the router's stage."""

import re

from hdnhw.fpga.harness import INSTANCE

_CELL = re.compile(
    r"_(PFUMX|L6MUX21|CCU2C|TRELLIS_[A-Z0-9]+|DP16KD|SB_[A-Z0-9_]+|DFFLC|LC|BLUT|ALUT|DFF[A-Z]*|LUT[1-6]|MUX2_LUT\d|FD1P3[A-Z]*|WIDEFN9|CCU2|PDPSC16K|SDPX9B|DP8KC)(?=_|$|\[|\.)"
)
"""Yosys names a cell after a signal at one of its pins: what comes behind is the cell."""

_STAGES = tuple(
    (re.compile(pattern), stage)
    for pattern, stage in (
        (r"^(feed|step_\d+|serial_[io])\b", "wrapper"),
        (r"^ejection_\d+\.", "ejection"),
        # A credit leaves a router as the pop of a queue: one register, whose name Yosys chooses among the two.
        (r"^(far_)?\w+_i__credit\b|^\w+\.channel__credit\b|^allocator\.credits_\d+_\d+\.give\b", "switch allocation"),
        (r"^(.*\.)?(near_|far_)?\w*credit\b", "credit"),
        (r"^allocator\.(credits_\d+_\d+\.|(pending|given|give|available|spend(_\d+_\d+)?)\b)", "credit"),
        (r"^allocator\.(queue_|vc_)?order_\d+", "order"),
        (r"^allocator\.(ready|choice|want)_\d+\b", "vc allocation"),
        (r"^(allocator\.queues_\d+|(\w+\.)?queues)__(pop|read_vc)\b", "switch allocation"),
        (r"^(allocator\.queues_\d+|(\w+\.)?queues)__way_\d+", "route computation"),
        (r"^allocator\.at\b", "phase"),
        (r"^allocator\.|^idle_\d+", "switch allocation"),
        (r"^\w+\.(noticed\b|channel__notice\b|queues__tells)|^(near_|far_)?\w+_[io]__notice\b", "notice"),
        (r"^\w+\.((route|onward)(_\d+)?\.|cur\b)|^(near_|far_)?neighbors\b", "route computation"),
        (r"^\w+\.((decisions|onwards)_\d+_)?(push|pop|close|(read|write)_slot)\b", "queue"),
        (
            r"^\w+\.(decisions|onwards)_\d+\.(valid|full|level|there|following|push|pop|close|write_slot|read_slot)\b",
            "queue",
        ),
        (r"^\w+\.((decisions|onwards)_\d+\.|out\b|onward\b)", "route computation"),
        (r"^\w+\.(flits(_write_\w+)?\b|incoming(_\d+)?\b|(vc|slot|write_(addr|data|en))\b)", "buffer write"),
        (r"^(\w+\.)?(flit|flit_register_\d|flits_read_\w+|reading_vc|reading_slot)\b", "buffer read"),
        (r"^(injection\.|(near_|far_)?(inject__|inject_\d|(dropped|paused)(_\d+)?\b))", "injection"),
        (r"^(near_|far_)?(eject__|eject_\d)", "ejection"),
        (r"^\w+\.(checker\.|(errors|drops|most)\b)|^(near_|far_)?\w+_errors\b", "check"),
        (
            r"^(near_|far_)?(dead_(ahead|behind|to|from|[io])|voids|waiting|drops|most|lost(_of_\d+)?)\b",
            "dead channels",
        ),
        (r"^\w+\.ignore[ds]\b", "dead channels"),
        (r"^(data|gated|valid|vc)_\d+", "switch traversal"),
        (r"^(near_|far_)?(\w+_[io]__(data|valid|vc)|channel_\w+)\b", "channel traversal"),
        (r"^\w+\.channel__", "channel traversal"),
        (r"^(\w+[._])?(at|reads|begun|odd)\b", "phase"),
    )
)


def signal_of(name: str) -> str:
    """Reduce the name of a cell or net to the signal of the emitted module that it is named after.

    Examples
    --------
    >>> signal_of("dut.of.allocator.first_TRELLIS_FF_Q_4"), signal_of("near_dim0_i__data[3]")
    ('allocator.first', 'near_dim0_i__data')
    >>> signal_of("dut.of.router_5.dim0.flit_SB_LUT4_I0_O_LC")
    'router_5.dim0.flit'
    """
    plain = name.replace("\\", "").removeprefix(INSTANCE).removeprefix("dut.")
    found = _CELL.search(plain)
    return re.sub(r"(\[\d+\])+$", "", plain[: found.start()] if found else plain)


def stage_of(signal: str) -> str:
    """Return the stage of the router in which a signal is computed; ``other`` if none is known.

    The stages are those of the router (route computation, vc allocation, switch allocation, switch traversal, channel
    traversal) and what serves them: injection and ejection, the phase of the slot, the orders of service, credits,
    the queue of decisions, the notice of what comes, buffer write and buffer read, the check of flits, what keeps dead
    channels out, and the wrapper around the unit.

    Examples
    --------
    >>> stage_of("allocator.choice_0"), stage_of("router_5.allocator.grant_0"), stage_of("gated_1_0")
    ('vc allocation', 'switch allocation', 'switch traversal')
    """
    inside = re.sub(r"^router_\d+\.", "", signal)
    return next((stage for pattern, stage in _STAGES if pattern.search(inside)), "other")
