//! The logical pages that preconditioning writes among themselves.

use reprieve_base::Stream;

/// Logical pages that are overwritten, and at last drawn anew, among themselves: those of the
/// drive, or those of one plane.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Scope {
    /// The plane, counted over the drive, if they are those of one; else 0.
    pub(super) plane: u32,
    /// The first of the logical pages, how many follow each other, and how far it is from the
    /// first of those to the first of the next.
    pub(super) first_lpn: u32,
    pub(super) run: u32,
    pub(super) stride: u32,
    pub(super) lpns: u32,
    /// Writes that they have still to get in this pass.
    pub(super) left: u64,
    /// A page that is overwritten may have been on another plane, and go to another.
    pub(super) is_shared: bool,
    pub(super) stream: Stream,
}

impl Scope {
    /// The logical page of this number among them.
    #[inline]
    pub(super) fn logical_page(&self, number: u32) -> u32 {
        self.first_lpn + number / self.run * self.stride + number % self.run
    }

    /// The number among them of one of the logical pages.
    #[inline]
    pub(super) fn number(&self, lpn: u32) -> u32 {
        let lpn = lpn - self.first_lpn;
        lpn / self.stride * self.run + lpn % self.stride
    }

    /// The logical pages in order, of a drive with `of_drive` of them.
    pub(super) fn logical_pages(&self, of_drive: u32) -> impl Iterator<Item = u32> {
        let firsts = (self.first_lpn..of_drive).step_by(self.stride as usize);
        let run = self.run;
        firsts.flat_map(move |first| first..first + run)
    }
}
