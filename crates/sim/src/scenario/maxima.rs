//! Parts with two values of a time: what has to hold where the maximum is asked for.

use reprieve_base::UserError;

use super::resolve::Resolved;

const MAXIMA: [&str; 3] =
    ["timing.t_read_us_max", "timing.program_iterations_max", "timing.t_erase_us_max"];

/// What is to have its maximum has one.
pub(super) fn check(resolved: &Resolved) -> Result<(), UserError> {
    let values = &resolved.values;
    if values.text("timing.values") == "typical" {
        return Ok(());
    }
    let by_type = ["timing.t_read_us_by_type", "timing.program_iterations_by_type"];
    let what = if by_type.iter().any(|name| values.get(name).is_some()) {
        "types of pages have one time each; must be \"typical\" with times by type"
    } else if values.weights_if_on("timing.program_iterations_weights").is_some() {
        "wordlines differ already; must be \"typical\" with timing.program_iterations_weights"
    } else if MAXIMA.iter().all(|name| values.get(name).is_none()) {
        "the part has no maximum; must be \"typical\", or timing.t_read_us_max, \
         timing.program_iterations_max or timing.t_erase_us_max must be given"
    } else {
        return Ok(());
    };
    Err(resolved.fault("timing.values", what))
}
