//! Records the drive's requests to a file that can be replayed, in order of arrival and in whole
//! rows, however the server ends.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reprieve_base::{Request, Time, UserError};

use crate::clock::Wall;
use crate::store::{Files, System, Worker};

const HEADING: &str = "arrival_ns,op,lba,bytes,fua,completion_ns,answered_ns\n";
/// Bytes after which rows are written, and the longest delay otherwise.
const WRITE_BYTES: usize = 64 << 10;
const WRITE_NS: u64 = 1_000_000_000;
/// Limit on rows whose answer is unsent; beyond, the oldest is written without that time.
const ROWS_MAX: usize = 64 << 10;

/// A row, which is written once complete.
#[derive(Clone, Copy, Debug)]
struct Row {
    request: Request,
    completion: Option<Time>,
    answered: Option<Time>,
    /// Complete.
    is_over: bool,
}

/// The outcome of a recording.
pub struct Recorded {
    pub requests: u64,
    /// The reason why it ended before the drive did.
    pub failure: Option<String>,
}

/// The file, which gets its name once clients can connect.
pub struct Recorder {
    path: PathBuf,
    /// Its path until then.
    temporary: Option<PathBuf>,
    file: File,
    worker: Worker,
    /// Rows to be written, and the time of the oldest.
    buffer: Vec<u8>,
    since: Wall,
    /// Bytes of whole lines in the file, and the number of requests among them.
    file_bytes: u64,
    rows_written: u64,
    /// Rows that are not in the buffer yet, from number `first` on.
    rows: VecDeque<Row>,
    first: u64,
    /// The reason why recording has stopped.
    failure: Option<String>,
}

impl Recorder {
    /// Creates a recording at `path`. Errors if the file is not writable.
    pub fn create(path: &Path) -> Result<Recorder, UserError> {
        let name = path.file_name().filter(|_| path.extension().is_none_or(|end| end != "toml"));
        if name.is_none() {
            let what = "must be the name of a file, which does not end in .toml";
            return Err(UserError::new(what).at(format_args!("--record {}", path.display())));
        }
        let temporary = part_of(path);
        let unwritable = |error| unwritable(path, &error);
        let file = File::create_new(&temporary).map_err(unwritable)?;
        let made = file.try_clone().and_then(|copy| Worker::start(Arc::new(copy), true));
        let worker = made.inspect_err(|_| drop(fs::remove_file(&temporary))).map_err(unwritable)?;
        Ok(Recorder {
            path: path.to_owned(),
            temporary: Some(temporary),
            file,
            worker,
            buffer: HEADING.into(),
            since: Wall::default(),
            file_bytes: 0,
            rows_written: 0,
            rows: VecDeque::new(),
            first: 0,
            failure: None,
        })
    }

    /// Its name in a scenario beside it.
    pub fn file_name(&self) -> PathBuf {
        self.path.file_name().expect("it was looked at before").into()
    }

    /// Names the file, and writes the scenario that replays it beside it.
    pub fn begin(&mut self, scenario: &str) -> Result<(), UserError> {
        self.write();
        if let Some(failure) = &self.failure {
            return Err(unwritable(&self.path, failure));
        }
        let beside = self.path.with_extension("toml");
        let part = part_of(&beside);
        let put = fs::write(&part, scenario).and_then(|()| File::open(&part)?.sync_all());
        let temporary = self.temporary.as_ref().expect("it begins once");
        put.and_then(|()| rename_both([(temporary, &self.path), (&part, &beside)]))
            .inspect_err(|_| drop(fs::remove_file(&part)))
            .map_err(|error| unwritable(&beside, &error))?;
        self.temporary = None;
        Ok(())
    }

    fn row(&mut self, number: u64) -> Option<&mut Row> {
        self.rows.get_mut(number.checked_sub(self.first)? as usize)
    }

    pub fn arrived(&mut self, number: u64, request: &Request) {
        assert_eq!(number, self.first + self.rows.len() as u64, "numbers follow each other");
        let request = *request;
        self.rows.push_back(Row { request, completion: None, answered: None, is_over: false });
        while self.rows.len() > ROWS_MAX && self.rows[0].completion.is_some() {
            self.push_row();
        }
    }

    pub fn completed(&mut self, number: u64, at: Time) {
        self.row(number).expect("it is not complete").completion = Some(at);
    }

    /// Records the time of an answer; `None`: the client has left.
    pub fn answered(&mut self, number: u64, at: Option<Time>) {
        let Some(row) = self.row(number) else { return };
        (row.answered, row.is_over) = (at, true);
        while self.rows.front().is_some_and(|row| row.is_over) {
            self.push_row();
        }
    }

    fn push_row(&mut self) {
        let Some(row) = self.rows.pop_front() else { return };
        self.first += 1;
        let Request { arrival, op, lba, bytes, fua } = row.request;
        let (op, fua) = (op.name(), u8::from(fua));
        // An event that never happened has no time.
        let time = |at: Option<Time>| at.map(|at| at.ns().to_string()).unwrap_or_default();
        let (completed, answered) = (time(row.completion), time(row.answered));
        let arrival_ns = arrival.ns();
        writeln!(self.buffer, "{arrival_ns},{op},{lba},{bytes},{fua},{completed},{answered}")
            .expect("memory takes any text");
    }

    /// Whether rows are pending.
    pub fn is_behind(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// Writes rows if there are enough, or if the oldest is due.
    pub fn tick(&mut self, now: Wall) {
        if self.buffer.is_empty() {
            self.since = now;
        } else if self.buffer.len() >= WRITE_BYTES || now.0 - self.since.0 >= WRITE_NS {
            self.write();
            self.worker.begin_sync();
        }
        if self.worker.has_failed() {
            self.fail("the disk has failed".to_string());
        }
    }

    /// Writes the buffer; on a failure, truncates the file to whole rows.
    fn write(&mut self) {
        let mut written = 0;
        while written < self.buffer.len() && self.failure.is_none() {
            match self.file.write(&self.buffer[written..]) {
                Ok(0) => self.fail("it takes nothing more".to_string()),
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => self.fail(error.to_string()),
            }
        }
        let ends = self.buffer[..written].iter().rposition(|byte| *byte == b'\n');
        let whole = &self.buffer[..ends.map_or(0, |end| end + 1)];
        let lines = whole.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.rows_written += lines - u64::from(self.file_bytes == 0 && lines > 0);
        self.file_bytes += whole.len() as u64;
        if self.failure.is_some() {
            // A partial row that cannot be removed is skipped by the reader.
            let _ = self.file.set_len(self.file_bytes);
        }
        self.buffer.clear();
    }

    fn fail(&mut self, why: String) {
        self.failure.get_or_insert(why);
    }

    /// The reason why recording has stopped, if it has.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Requests in the file.
    pub fn rows_written(&self) -> u64 {
        self.rows_written
    }

    /// Writes the remaining rows, and syncs the file.
    pub fn finish(&mut self) {
        while !self.rows.is_empty() {
            self.push_row();
        }
        self.write();
        if let Err(error) = self.file.sync_all() {
            self.fail(error.to_string());
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        match &self.temporary {
            // No client could connect; a leftover file is harmless.
            Some(temporary) => drop(fs::remove_file(temporary)),
            None => self.write(),
        }
    }
}

/// Gives two files of a folder their names, and syncs it; on a failure, restores the old files.
fn rename_both(files: [(&Path, &Path); 2]) -> io::Result<()> {
    let kept = files.map(|(_, path)| part_of(path).with_extension("before"));
    let was = files.map(|(_, path)| path.exists());
    for ((_, path), kept) in files.iter().zip(&kept) {
        // A file system without links has no way back.
        let _ = fs::hard_link(path, kept);
    }
    let renamed = files.iter().try_for_each(|(from, path)| fs::rename(from, path));
    let put = renamed.and_then(|()| System.sync_entry(files[0].1));
    for (((_, path), kept), was) in files.iter().zip(&kept).zip(was) {
        let _ = match was {
            // Renaming one of two names of a file does nothing.
            true if put.is_err() => fs::rename(kept, path).and_then(|()| fs::remove_file(kept)),
            true => fs::remove_file(kept),
            false if put.is_err() => fs::remove_file(path),
            false => Ok(()),
        };
    }
    put
}

/// The path of a file while it is incomplete.
fn part_of(path: &Path) -> PathBuf {
    let mut part = path.file_name().expect("it was looked at before").to_owned();
    part.push(format!(".{}.part", std::process::id()));
    path.with_file_name(part)
}

fn unwritable(path: &Path, error: &impl std::fmt::Display) -> UserError {
    UserError::new(format!("cannot be written: {error}"))
        .at(format_args!("--record {}", path.display()))
}
