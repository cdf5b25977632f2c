//! Sets of logical pages that preconditioning overwrites independently.

use reprieve_base::Stream;

/// Logical pages that are overwritten, and finally permuted, among themselves: all pages of the
/// drive, or of one plane.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Scope {
    /// The plane, counted over the drive; 0 for all pages of the drive.
    pub(super) plane: u32,
    /// First logical page, length of a run of consecutive pages, and distance between runs.
    pub(super) first_lpn: u32,
    pub(super) run: u32,
    pub(super) stride: u32,
    pub(super) lpns: u32,
    /// Writes left in this pass.
    pub(super) left: u64,
    /// Overwritten pages may change planes.
    pub(super) is_shared: bool,
    pub(super) stream: Stream,
}

impl Scope {
    /// Returns the logical page of a number in the set.
    #[inline]
    pub(super) fn logical_page(&self, number: u32) -> u32 {
        self.first_lpn + number / self.run * self.stride + number % self.run
    }

    /// Returns the number of a logical page in the set.
    #[inline]
    pub(super) fn number(&self, lpn: u32) -> u32 {
        let lpn = lpn - self.first_lpn;
        lpn / self.stride * self.run + lpn % self.stride
    }

    /// Returns the logical pages in order, up to `of_drive`, the pages of the drive.
    pub(super) fn logical_pages(&self, of_drive: u32) -> impl Iterator<Item = u32> {
        let firsts = (self.first_lpn..of_drive).step_by(self.stride as usize);
        let run = self.run;
        firsts.flat_map(move |first| first..first + run)
    }
}
