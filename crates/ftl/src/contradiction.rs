//! Errors about a saved state that no drive can have.

use reprieve_base::UserError;

/// Returns the error of a state that contradicts itself.
pub(super) fn wrong(what: String) -> UserError {
    UserError::new(format!("the state contradicts itself: {what}; save it anew"))
}
