//! A user's mistake: one sentence that names place, value and what would be right.

use std::fmt;

/// A mistake in a scenario, trace or command; shown as it is, with exit status 2.
///
/// The simulator's own faults are never a `UserError`: they panic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserError(String);

impl UserError {
    /// Creates an error: `FILE:LINE: key = value: the mistake; the remedy`.
    pub fn new(sentence: impl Into<String>) -> UserError {
        UserError(sentence.into())
    }

    /// Returns the error with its place (file, line, option) in front.
    #[must_use]
    pub fn at(self, place: impl fmt::Display) -> UserError {
        UserError(format!("{place}: {}", self.0))
    }
}

impl fmt::Display for UserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UserError {}

/// The known name nearest to `name` in spelling, if any is near enough to suggest.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().max(name.len()) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_finds_a_typing_error_and_nothing_far() {
        assert_eq!(nearest("t_reed_us", ["t_bus_us", "t_read_us"]), Some("t_read_us"));
        assert_eq!(nearest("greddy", ["greedy", "random"]), Some("greedy"));
        assert_eq!(nearest("zzzzzz", ["greedy", "random"]), None);
    }
}
