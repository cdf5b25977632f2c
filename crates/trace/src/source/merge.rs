//! The files of one trace, merged by time; a file is open only while its rows are due.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use reprieve_base::UserError;

use super::file::{FileRows, NumberedRow, Tallies};
use super::place::{Files, Place};

/// Opens the file of this number.
pub(super) type Opener = Box<dyn Fn(u32) -> Result<FileRows, UserError> + Send>;

/// Most files that may be open at once: systems allow 1024 as a rule.
const OPEN_MAX: usize = 512;

/// Files merged: each in its own order, all by time, equal times in order of the files' names.
pub(super) struct Merge {
    open: Opener,
    /// Files not yet opened by the time of their first row, the earliest last.
    waiting: Vec<(u64, u32)>,
    /// Open files, each with its next row in `heads`.
    reading: BTreeMap<u32, FileRows>,
    heads: BinaryHeap<Reverse<NumberedRow>>,
    file_bytes: u64,
    /// Total of finished files.
    done_bytes: u64,
}

impl Merge {
    /// Reads the first row of every file.
    ///
    /// Counts of a file without requests are added at once, as it is not read again.
    pub(super) fn new(
        files: &Files,
        open: Opener,
        tallies: &mut Tallies,
    ) -> Result<Merge, UserError> {
        let mut waiting = Vec::with_capacity(files.list.len());
        let (mut file_bytes, mut done_bytes) = (0, 0);
        for index in 0..u32::try_from(files.list.len()).expect("files of a folder") {
            let mut file = open(index)?;
            let mut own = Tallies::default();
            file_bytes += file.progress().file_bytes;
            match file.next_row(files, &mut own)? {
                Some(row) => waiting.push((row.raw.time_ns, index)),
                None => {
                    done_bytes += file.progress().file_bytes;
                    tallies.add(&own);
                }
            }
        }
        waiting.sort_unstable_by_key(|&key| Reverse(key));
        let (reading, heads) = (BTreeMap::new(), BinaryHeap::new());
        Ok(Merge { open, waiting, reading, heads, file_bytes, done_bytes })
    }

    pub(super) fn next_row(
        &mut self,
        files: &Files,
        tallies: &mut Tallies,
    ) -> Result<Option<NumberedRow>, UserError> {
        while let Some(&(first_ns, index)) = self.waiting.last() {
            if self.heads.peek().is_some_and(|Reverse(row)| row.raw.time_ns < first_ns) {
                break;
            }
            self.waiting.pop();
            if self.reading.len() == OPEN_MAX {
                let sentence = format!(
                    "more than {OPEN_MAX} of the trace's files go on at the same time; convert \
                     them in parts"
                );
                return Err(files.error(Place { file: index, line: 0 }, sentence));
            }
            let file = (self.open)(index)?;
            self.reading.insert(index, file);
            self.advance(index, files, tallies)?;
        }
        let Some(Reverse(row)) = self.heads.pop() else { return Ok(None) };
        self.advance(row.place.file, files, tallies)?;
        Ok(Some(row))
    }

    /// Fetches the next row of a file, and closes it behind its last.
    fn advance(
        &mut self,
        index: u32,
        files: &Files,
        tallies: &mut Tallies,
    ) -> Result<(), UserError> {
        let file = self.reading.get_mut(&index).expect("open until its last row");
        match file.next_row(files, tallies)? {
            Some(row) => self.heads.push(Reverse(row)),
            None => {
                self.done_bytes += file.progress().file_bytes;
                self.reading.remove(&index);
            }
        }
        Ok(())
    }

    /// Share of all files that has been read; `None` if they are empty.
    pub(super) fn progress(&self) -> Option<f64> {
        let reading: u64 = self.reading.values().map(|file| file.progress().read_bytes()).sum();
        let read_bytes = (self.done_bytes + reading) as f64;
        (self.file_bytes > 0).then(|| (read_bytes / self.file_bytes as f64).min(1.0))
    }
}
