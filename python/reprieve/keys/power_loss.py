"""Keys of `[power_loss]`, written from the schema by `make docs`: not to be edited."""

from __future__ import annotations

from typing import Literal

from reprieve.sections import Keys


class PowerLoss(Keys):
    """Keys of `[power_loss]`.

    What the drive does when its power fails, and how long it lives on.
    """

    _section = "power_loss"

    mode: Literal["off", "on"]
    """Whether the drive is prepared for a loss of power.

    Default: `"off"`. `off`: No: the other keys of the section are not looked at. `on`: Yes.
    """
    at_us: float | None
    """When the power fails, which ends the run; absent: it does not.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000, or "none". Default:
    absent. Only while power_loss.mode is on.
    """
    policy: Literal["wait", "suspend_erase", "suspend", "reset"]
    """What becomes of the operation that a die is at work on when the power fails.

    Default: `"wait"`. Only while power_loss.mode is on. `wait`: It is waited for. `suspend_erase`:
    An erase is suspended; a program is waited for. `suspend`: It is suspended. `reset`: It is
    broken off by a reset of the die, and of no use.
    """
    p_controller_mw: float
    """The controller with its memory, from the failure until all is safe.

    Value: a number at least 0 and at most 1000000. It must be given. Only while power_loss.mode is
    on.
    """
    hold_up_us: float | None
    """How long the drive lives on at most; absent: as long as the capacitor lasts.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000, or "none". Default:
    absent. Only while power_loss.mode is on.
    """
    capacitance_uf: float | None
    """The capacitor from which the drive lives on; absent: hold_up_us says how long.

    Value: a number above 0 and at most 1000000000, or "none". Default: absent. Only while
    power_loss.mode is on.
    """
    capacitor_start_v: float | None
    """Voltage of the charged capacitor, with which needed capacitances are stated.

    Value: a number above 0 and at most 1000, or "none". Default: absent. Only while power_loss.mode
    is on.
    """
    capacitor_min_v: float | None
    """Voltage at which the drive stops.

    Value: a number above 0 and at most 1000, or "none". Default: absent. Only while power_loss.mode
    is on.
    """
    conversion_efficiency: float
    """Share of the capacitor's energy that reaches controller and flash.

    Value: a number above 0 and at most 1. Default: `1.0`. Only while power_loss.mode is on.
    """
    t_program_us: float | None
    """Program of a page that is saved, as in SLC mode; absent: as of the part's page 0.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000, or "none". Default:
    absent. Only while power_loss.mode is on.
    """
    planes: int
    """Pages that a die saves with one program, on as many planes.

    Value: an integer from 1 to 128. Default: `1`. Only while power_loss.mode is on.
    """
    t_reset_read_us: float
    """Reset of a die that senses.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. Default: `5`. Only
    while power_loss.mode is on. Source: ONFI 1.0, tRST: at most 5, 10 and 500 us during read,
    program and erase.
    """
    t_reset_program_us: float
    """Reset of one that programs.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. Default: `10`. Only
    while power_loss.mode is on. Source: ONFI 1.0, tRST: at most 5, 10 and 500 us during read,
    program and erase.
    """
    t_reset_erase_us: float
    """Reset of one that erases.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. Default: `500`. Only
    while power_loss.mode is on. Source: ONFI 1.0, tRST: at most 5, 10 and 500 us during read,
    program and erase.
    """
    oob_bytes: int
    """Bytes read of each programmed page when the mapping is rebuilt.

    Value: an integer from 1 to 4096. Default: `16`. Only while power_loss.mode is on.
    """
