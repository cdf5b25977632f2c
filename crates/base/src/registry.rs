//! The description of an entry in a registry of policies, formats or generators.

/// A registered choice: the name that a scenario writes and the sentence that documentation prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// As written in a scenario; equals the name of the file that implements it.
    pub name: &'static str,
    /// One sentence on the behaviour.
    pub doc: &'static str,
}
