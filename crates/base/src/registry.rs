//! What every registry of policies, formats and generators lists about an entry.

/// A registered choice: the name that a scenario writes and the sentence that documentation prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// As written in a scenario; equals the name of the file that implements it.
    pub name: &'static str,
    /// One sentence: what it does.
    pub doc: &'static str,
}
