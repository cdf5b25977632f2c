//! Writes what was asked of the drive to a file that can be replayed, in order of arrival.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use reprieve_base::{Request, Time, UserError};

const HEADING: &str = "arrival_ns,op,lba,bytes,fua,completion_ns,answered_ns\n";

/// A request that stands in the file once all of it is known.
#[derive(Clone, Copy, Debug)]
struct Row {
    request: Request,
    completion: Option<Time>,
    answered: Option<Time>,
    /// Nothing more will be known of it.
    is_over: bool,
}

/// The file, which gets its name when it is complete.
pub struct Recorder {
    path: PathBuf,
    temporary: PathBuf,
    file: Option<BufWriter<File>>,
    /// Rows that are not in the file, from number `first` on.
    rows: VecDeque<Row>,
    first: u64,
}

impl Recorder {
    /// A recording that will be at `path`. Errors if it cannot be written there.
    pub fn create(path: &Path) -> Result<Recorder, UserError> {
        let name = path.file_name().filter(|_| path.extension().is_none_or(|end| end != "toml"));
        let Some(name) = name else {
            let what = "must be the name of a file, which does not end in .toml";
            return Err(UserError::new(what).at(format_args!("--record {}", path.display())));
        };
        let mut part = name.to_owned();
        part.push(format!(".{}.part", std::process::id()));
        let temporary = path.with_file_name(part);
        let file = File::create_new(&temporary).map_err(|error| unwritable(path, &error))?;
        let mut recorder = Recorder {
            path: path.to_owned(),
            temporary,
            file: Some(BufWriter::with_capacity(1 << 16, file)),
            rows: VecDeque::new(),
            first: 0,
        };
        recorder.write(|file| file.write_all(HEADING.as_bytes()))?;
        Ok(recorder)
    }

    /// The scenario that replays it stands beside it.
    pub fn scenario_path(&self) -> PathBuf {
        self.path.with_extension("toml")
    }

    /// What a scenario beside it calls it.
    pub fn file_name(&self) -> PathBuf {
        self.path.file_name().expect("it was looked at before").into()
    }

    fn write(
        &mut self,
        how: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), UserError> {
        let file = self.file.as_mut().expect("open until it is finished");
        how(file).map_err(|error| unwritable(&self.path, &error))
    }

    fn row(&mut self, number: u64) -> &mut Row {
        &mut self.rows[(number - self.first) as usize]
    }

    pub fn arrived(&mut self, number: u64, request: &Request) {
        assert_eq!(number, self.first + self.rows.len() as u64, "numbers follow each other");
        let request = *request;
        self.rows.push_back(Row { request, completion: None, answered: None, is_over: false });
    }

    pub fn completed(&mut self, number: u64, at: Time) {
        self.row(number).completion = Some(at);
    }

    /// The client was told at this time of the model, or has gone. Errors if the disk is full.
    pub fn answered(&mut self, number: u64, at: Option<Time>) -> Result<(), UserError> {
        let row = self.row(number);
        (row.answered, row.is_over) = (at, true);
        while self.rows.front().is_some_and(|row| row.is_over) {
            self.write_row()?;
        }
        Ok(())
    }

    fn write_row(&mut self) -> Result<(), UserError> {
        let Some(row) = self.rows.pop_front() else { return Ok(()) };
        self.first += 1;
        let Request { arrival, op, lba, bytes, fua } = row.request;
        let (op, fua) = (op.name(), u8::from(fua));
        // What never happened has no time.
        let time = |at: Option<Time>| at.map(|at| at.ns().to_string()).unwrap_or_default();
        let (completed, answered) = (time(row.completion), time(row.answered));
        let arrival_ns = arrival.ns();
        self.write(|file| {
            writeln!(file, "{arrival_ns},{op},{lba},{bytes},{fua},{completed},{answered}")
        })
    }

    /// Writes what is left, gives the file its name, and puts the scenario beside it.
    pub fn finish(mut self, scenario: &str) -> Result<(), UserError> {
        while !self.rows.is_empty() {
            self.write_row()?;
        }
        self.write(BufWriter::flush)?;
        let beside = self.scenario_path();
        fs::write(&beside, scenario).map_err(|error| unwritable(&beside, &error))?;
        fs::rename(&self.temporary, &self.path).map_err(|error| unwritable(&self.path, &error))?;
        self.file = None;
        Ok(())
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if self.file.is_some() {
            // On the way out with an error already; a file left behind changes nothing.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

fn unwritable(path: &Path, error: &io::Error) -> UserError {
    UserError::new(format!("cannot be written: {error}"))
        .at(format_args!("--record {}", path.display()))
}
