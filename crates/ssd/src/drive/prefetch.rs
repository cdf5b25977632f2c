//! Requests read a few ahead, so that the mapping's cache misses overlap.

use reprieve_base::{Op, Request, SECTOR_BYTES, UserError};
use reprieve_ftl::Ftl;
use reprieve_trace::{Counts, Workload};

/// Requests that are read ahead.
const AHEAD: usize = 16;

/// The workload with a few requests read ahead.
///
/// Nearly every access to the mapping of a large drive misses the caches. One by one the misses add
/// up; together, ahead of time, most of their time overlaps.
pub(super) struct Prefetch {
    workload: Workload,
    queue_depth: Option<u32>,
    ahead: Vec<Request>,
    next: usize,
    /// Error of a row that could not be read.
    error: Option<UserError>,
    page_bytes: u64,
    /// Its requests are offered, and nothing is read.
    is_offered: bool,
}

impl Prefetch {
    pub(super) fn new(workload: Workload, page_bytes: u32) -> Prefetch {
        Prefetch {
            queue_depth: workload.queue_depth(),
            workload,
            ahead: Vec::with_capacity(AHEAD),
            next: 0,
            error: None,
            page_bytes: u64::from(page_bytes),
            is_offered: false,
        }
    }

    /// Creates the input of a load whose requests are offered.
    pub(super) fn offered(page_bytes: u32) -> Prefetch {
        Prefetch { is_offered: true, ..Prefetch::new(Workload::nothing(), page_bytes) }
    }

    /// Requests outstanding in a closed loop.
    #[inline]
    pub(super) fn queue_depth(&self) -> Option<u32> {
        self.queue_depth
    }

    /// Returns the next request; `None` after the last, or at a row that cannot be read.
    #[inline(always)]
    pub(super) fn next(&mut self, ftl: &Ftl) -> Option<Request> {
        if self.next == self.ahead.len() {
            self.refill(ftl);
        }
        let request = *self.ahead.get(self.next)?;
        self.next += 1;
        Some(request)
    }

    /// Appends a request of a load whose requests are offered.
    pub(super) fn offer(&mut self, request: Request) {
        self.ahead.push(request);
    }

    /// Takes the error of a row, once the requests before it have been handed out.
    pub(super) fn take_error(&mut self) -> Option<UserError> {
        if self.next < self.ahead.len() { None } else { self.error.take() }
    }

    /// Not inlined, as it runs once for many requests.
    #[inline(never)]
    fn refill(&mut self, ftl: &Ftl) {
        self.ahead.clear();
        self.next = 0;
        if self.is_offered {
            return;
        }
        if self.error.is_none() {
            self.error = self.workload.fill(&mut self.ahead, AHEAD).err();
        }
        let page = |request: &Request| (request.lba * SECTOR_BYTES / self.page_bytes) as u32;
        let mut lpns = [0; AHEAD];
        for (lpn, request) in lpns.iter_mut().zip(&self.ahead) {
            *lpn = if request.op == Op::Flush { 0 } else { page(request) };
        }
        ftl.tables.touch(&lpns[..self.ahead.len()]);
    }

    /// Returns the share of the workload that has been read.
    pub(super) fn progress(&self) -> Option<f64> {
        self.workload.progress()
    }

    /// Returns how many rows have been read and skipped.
    pub(super) fn counts(&self) -> Counts {
        self.workload.counts()
    }
}
