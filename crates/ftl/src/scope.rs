//! The logical pages that preconditioning writes among themselves.

use reprieve_base::Stream;

/// Logical pages that are overwritten, and at last drawn anew, among themselves: those of the
/// drive, or those of one plane.
pub(super) struct Scope {
    /// The plane, counted over the drive, if they are those of one; else 0.
    pub(super) plane: u32,
    /// The first of the logical pages, and how far each is from the next.
    pub(super) first_lpn: u32,
    pub(super) stride: u32,
    pub(super) lpns: u32,
    /// Writes that they have still to get in this pass.
    pub(super) left: u64,
    pub(super) stream: Stream,
}
