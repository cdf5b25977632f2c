//! The error of a value of a load that is out of its range.

use reprieve_base::UserError;

/// The error of a value of section `[workload]`.
pub(crate) fn wrong(key: &str, value: impl std::fmt::Display, what: &str) -> UserError {
    UserError::new(format!("workload.{key} = {value}: {what}"))
}
