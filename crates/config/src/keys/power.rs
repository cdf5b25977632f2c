//! Keys of power draw, of temperature, and of power loss.

use crate::row::*;
use crate::types::*;

const ACCOUNTED: &[Need] = &[is("power.account", &["on"])];
const WARMS: &[Need] = &[is("thermal.model", &["rc"])];
const LOSS: &[Need] = &[is("power_loss.mode", &["on"])];
const TMT: &str = "NVM Express Base Specification 2.0, TMT1 and TMT2; the values: assumed";
const RESET: &str = "ONFI 1.0, tRST: at most 5, 10 and 500 us during read, program and erase";

section! {
    /// Power draw of the flash, and limits on it.
    POWER "power"

    /// Whether power and energy are accounted for.
    account [power] variant_of {
        "off" = None => None, "No: the other keys of the section are not looked at.";
        "on" = Some(_) => Some(Default::default()), "Yes.";
    }, or("'off'");
    /// A die that is idle, with nothing suspended.
    p_idle_mw [power?.core_uw[0]] scaled(1e3, closed(0.0, 1e6)), when(ACCOUNTED);
    /// The part of each power below that a command draws once, whatever the number of its planes:
    /// charge pumps and logic. A command on n planes draws p_base_mw + n (p - p_base_mw).
    p_base_mw [power?.base_uw] scaled(1e3, closed(0.0, 1e6)), same_as("power.p_idle_mw"),
        when(ACCOUNTED);
    /// A die while one of its planes senses a page.
    p_sense_mw [power?.core_uw[1]] scaled(1e3, closed(0.0, 1e6)), when(ACCOUNTED);
    /// A die in a program pulse, on one plane.
    p_program_pulse_mw [power?.core_uw[2]] scaled(1e3, closed(0.0, 1e6)), when(ACCOUNTED);
    /// A die in a program verify, on one plane.
    p_program_verify_mw [power?.core_uw[3]] scaled(1e3, closed(0.0, 1e6)), when(ACCOUNTED);
    /// A die in an erase pulse, on one plane.
    p_erase_pulse_mw [power?.core_uw[4]] scaled(1e3, closed(0.0, 1e6)), when(ACCOUNTED);
    /// A die in an erase verify, on one plane.
    p_erase_verify_mw [power?.core_uw[5]] scaled(1e3, closed(0.0, 1e6)),
        same_as("power.p_program_verify_mw"), when(ACCOUNTED);
    /// An otherwise idle die with a suspended operation.
    p_suspended_mw [power?.core_uw[6]] scaled(1e3, closed(0.0, 1e6)), same_as("power.p_idle_mw"),
        when(ACCOUNTED),
        from("Zambelli et al. 2021, Figure 3b: the idle consumption during a suspension");
    /// p_sense_mw by page type; absent: alike.
    p_sense_mw_by_type [power?.by_type_mw[0]] counts(0, 1_000_000), absent(), when(ACCOUNTED);
    /// p_program_pulse_mw by page type; absent: alike.
    p_program_pulse_mw_by_type [power?.by_type_mw[1]] counts(0, 1_000_000), absent(),
        when(ACCOUNTED);
    /// p_program_verify_mw by page type; absent: alike.
    p_program_verify_mw_by_type [power?.by_type_mw[2]] counts(0, 1_000_000), absent(),
        when(ACCOUNTED);
    /// Energy of a die for a resume, to bring its voltages up again.
    e_resume_nj [power?.resume_pj] scaled(1e3, closed(0.0, 1e9)), or("0"), when(ACCOUNTED);
    /// A bit over the channel, in or out; goes before io_capacitance_pf.
    e_io_pj_per_bit [power?.io_fj_per_bit] scaled(1e3, closed(0.0, 1e6)), absent(), when(ACCOUNTED);
    /// Capacitance of a line of the channel: a bit takes 1/2 io_activity C vdd_q_v^2.
    io_capacitance_pf [power?.io_capacitance_pf] closed(0.0, 1e6), absent(), when(ACCOUNTED);
    /// Share of bits at which a line changes; of random data the half.
    io_activity [power?.io_activity] closed(0.0, 1.0), or("0.5"), when(ACCOUNTED);
    /// Voltage of the core supply, to state currents.
    vdd_core_v [power?.vdd_core_v] above(0.0, 100.0), absent(), when(ACCOUNTED),
        from("Zambelli et al. 2021, Table 2: 2.7 to 3.6 V");
    /// Voltage of the I/O supply.
    vdd_q_v [power?.vdd_q_v] above(0.0, 100.0), absent(), when(ACCOUNTED),
        from("Zambelli et al. 2021, Table 2: 1.2 to 1.8 V");
    /// Width of the bins of the time series of power; absent: none is kept.
    series_us [power?.series] us(), absent(), when(ACCOUNTED);
    /// Dies that may sense, program or erase at once; absent: all.
    max_active_dies [power?.max_active_dies] count(1, 1 << 31), absent(), when(ACCOUNTED);
    /// Limit on the power of all dies together; absent: no limit.
    budget_mw [power?.budget_uw] scaled(1e3, closed(0.0, 1e6)), absent(), when(ACCOUNTED);
    /// The power that a program or an erase counts with under budget_mw.
    budget_counts [power?.budget_counts] choice(BudgetCounts::WORDS), or("'mean'"), when(ACCOUNTED);
}

section! {
    /// Temperature of the drive, and limits on the power of the flash while it is hot.
    THERMAL "thermal"

    /// Whether the drive warms up.
    model [power?.thermal] variant_of {
        "none" = None => None, "No.";
        "rc" = Some(_) => Some(Default::default()),
            "As one body: its rise over the ambient follows the power with one time constant.";
    }, or("'none'"), when(ACCOUNTED);
    /// Temperature of the air at the drive.
    ambient_c [power?.thermal?.ambient_c] closed(-40.0, 125.0), or("25"), when(WARMS),
        environment();
    /// Temperature of the drive before the first request.
    start_c [power?.thermal?.start_c] closed(-40.0, 125.0), same_as("thermal.ambient_c"),
        when(WARMS), environment();
    /// Rise over the ambient in the end for each watt.
    c_per_w [power?.thermal?.c_per_w] above(0.0, 1000.0), when(WARMS);
    /// Time in which a rise comes to 63 % of its end.
    time_constant_s [power?.thermal?.time_constant] s(), when(WARMS);
    /// Power of controller, memory and losses, beside that of the flash.
    p_controller_mw [power?.thermal?.controller_uw] scaled(1e3, closed(0.0, 1e6)), or("0"),
        when(WARMS);
    /// Time between two looks of the firmware at the temperature.
    poll_us [power?.thermal?.poll] us(), or("100000"), when(WARMS), from("assumed");
    /// Temperature from which light_budget_mw holds.
    light_c [power?.thermal?.levels[0].from_c] closed(-40.0, 125.0), or("70"), when(WARMS),
        from(TMT);
    /// Temperature from which heavy_budget_mw holds.
    heavy_c [power?.thermal?.levels[1].from_c] closed(-40.0, 125.0), or("80"), when(WARMS),
        from(TMT);
    /// How far below its temperature a limit ends.
    hysteresis_c [power?.thermal?.hysteresis_c] closed(0.0, 100.0), or("2"), when(WARMS),
        from("assumed");
    /// Limit on the power of all dies together from light_c on, counted as budget_mw.
    light_budget_mw [power?.thermal?.levels[0].budget_uw] scaled(1e3, closed(0.0, 1e6)),
        when(WARMS);
    /// Limit on the power of all dies together from heavy_c on.
    heavy_budget_mw [power?.thermal?.levels[1].budget_uw] scaled(1e3, closed(0.0, 1e6)),
        when(WARMS);
}

section! {
    /// Behaviour of the drive when its power fails, and how long it lives on.
    POWER_LOSS "power_loss"

    /// Whether the drive is prepared for a loss of power.
    mode [power_loss] variant_of {
        "off" = None => None, "No: the other keys of the section are not looked at.";
        "on" = Some(_) => Some(Default::default()), "Yes.";
    }, or("'off'");
    /// Time of the power loss, which ends the run; absent: none.
    at_us [power_loss?.at] us(), absent(), when(LOSS);
    /// The fate of the operation in progress on a die when the power fails.
    policy [power_loss?.policy] choice(LossPolicy::WORDS), or("'wait'"), when(LOSS);
    /// The controller with its memory, from the failure until all is safe.
    p_controller_mw [power_loss?.controller_uw] scaled(1e3, closed(0.0, 1e6)), when(LOSS);
    /// Longest time that the drive lives on; absent: as long as the capacitor lasts.
    hold_up_us [power_loss?.hold_up] us(), absent(), when(LOSS);
    /// The capacitor that supplies the drive; absent: hold_up_us limits the time.
    capacitance_uf [power_loss?.capacitor??.capacitance_uf] above(0.0, 1e9), absent(), when(LOSS);
    /// Voltage of the charged capacitor, with which needed capacitances are stated.
    capacitor_start_v [power_loss?.capacitor??.volts[0]] above(0.0, 1000.0), absent(), when(LOSS);
    /// Voltage at which the drive stops.
    capacitor_min_v [power_loss?.capacitor??.volts[1]] above(0.0, 1000.0), absent(), when(LOSS);
    /// Share of the capacitor's energy that reaches controller and flash.
    conversion_efficiency [power_loss?.efficiency] above(0.0, 1.0), or("1.0"), when(LOSS);
    /// Program of a saved page, as in SLC mode; absent: as of the part's page 0.
    t_program_us [power_loss?.program] us(), absent(), when(LOSS);
    /// Pages that a die saves with one program, on as many planes.
    planes [power_loss?.planes] count(1, 128), or("1"), when(LOSS);
    /// Reset of a die that senses.
    t_reset_read_us [power_loss?.resets[0]] us(), or("5"), when(LOSS), from(RESET);
    /// Reset of one that programs.
    t_reset_program_us [power_loss?.resets[1]] us(), or("10"), when(LOSS), from(RESET);
    /// Reset of one that erases.
    t_reset_erase_us [power_loss?.resets[2]] us(), or("500"), when(LOSS), from(RESET);
    /// Bytes read of each programmed page when the mapping is rebuilt.
    oob_bytes [power_loss?.oob_bytes] count(1, 1 << 12), or("16"), when(LOSS);
}
