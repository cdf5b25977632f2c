"""Keys of `[power]`, written from the schema by `make docs`: not to be edited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from reprieve.sections import Keys


class Power(Keys):
    """Keys of `[power]`.

    What the flash draws from its supplies, and what it may draw at once.
    """

    _section = "power"

    account: Literal["off", "on"]
    """Whether power and energy are accounted for.

    Default: `"off"`. `off`: No: the other keys of the section are not looked at. `on`: Yes.
    """
    p_idle_mw: float
    """A die of which nothing runs and nothing is suspended.

    Value: a number at least 0 and at most 1000000. It must be given. Only while power.account is
    on.
    """
    p_sense_mw: float
    """A die while one of its planes senses a page.

    Value: a number at least 0 and at most 1000000. It must be given. Only while power.account is
    on.
    """
    p_program_pulse_mw: float
    """A die in a program pulse, on one plane.

    Value: a number at least 0 and at most 1000000. It must be given. Only while power.account is
    on.
    """
    p_program_verify_mw: float
    """A die in a program verify, on one plane.

    Value: a number at least 0 and at most 1000000. It must be given. Only while power.account is
    on.
    """
    p_erase_pulse_mw: float
    """A die in an erase pulse, on one plane.

    Value: a number at least 0 and at most 1000000. It must be given. Only while power.account is
    on.
    """
    p_erase_verify_mw: float
    """A die in an erase verify, on one plane.

    Value: a number at least 0 and at most 1000000. Default: that of `power.p_program_verify_mw`.
    Only while power.account is on.
    """
    p_suspended_mw: float
    """A die with a suspended operation of which nothing runs.

    Value: a number at least 0 and at most 1000000. Default: that of `power.p_idle_mw`. Only while
    power.account is on. Source: Zambelli et al. 2021, Figure 3b: the idle consumption during a
    suspension.
    """
    p_sense_mw_by_type: Sequence[int] | None
    """p_sense_mw by page type; absent: alike.

    Value: a list of integers from 0 to 1000000, or "none". Default: absent. Only while
    power.account is on.
    """
    p_program_pulse_mw_by_type: Sequence[int] | None
    """p_program_pulse_mw by page type; absent: alike.

    Value: a list of integers from 0 to 1000000, or "none". Default: absent. Only while
    power.account is on.
    """
    p_program_verify_mw_by_type: Sequence[int] | None
    """p_program_verify_mw by page type; absent: alike.

    Value: a list of integers from 0 to 1000000, or "none". Default: absent. Only while
    power.account is on.
    """
    e_resume_nj: float
    """Energy of a die for a resume, to bring its voltages up again.

    Value: a number at least 0 and at most 1000000000. Default: `0`. Only while power.account is on.
    """
    e_io_pj_per_bit: float | None
    """A bit over the channel, in or out; goes before io_capacitance_pf.

    Value: a number at least 0 and at most 1000000, or "none". Default: absent. Only while
    power.account is on.
    """
    io_capacitance_pf: float | None
    """Capacitance of a line of the channel: a bit takes 1/2 io_activity C vdd_q_v^2.

    Value: a number at least 0 and at most 1000000, or "none". Default: absent. Only while
    power.account is on.
    """
    io_activity: float
    """Share of bits at which a line changes; of random data the half.

    Value: a number at least 0 and at most 1. Default: `0.5`. Only while power.account is on.
    """
    vdd_core_v: float | None
    """Voltage of the core supply, to state currents.

    Value: a number above 0 and at most 100, or "none". Default: absent. Only while power.account is
    on. Source: Zambelli et al. 2021, Table 2: 2.7 to 3.6 V.
    """
    vdd_q_v: float | None
    """Voltage of the I/O supply.

    Value: a number above 0 and at most 100, or "none". Default: absent. Only while power.account is
    on. Source: Zambelli et al. 2021, Table 2: 1.2 to 1.8 V.
    """
    series_us: float | None
    """Width of the bins of the time series of power; absent: none is kept.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000, or "none". Default:
    absent. Only while power.account is on.
    """
    max_active_dies: int | None
    """Dies that may sense, program or erase at once; absent: all.

    Value: an integer from 1 to 2147483648, or "none". Default: absent. Only while power.account is
    on.
    """
    budget_mw: float | None
    """What all dies together may draw; absent: no limit.

    Value: a number at least 0 and at most 1000000, or "none". Default: absent. Only while
    power.account is on.
    """
    budget_counts: Literal["mean", "peak"]
    """As what a program or an erase counts under budget_mw.

    Default: `"mean"`. Only while power.account is on. `mean`: Its mean over pulses and verifies.
    `peak`: The phase that draws most.
    """
