//! The slow operations of a file, on a separate thread: syncing it, making holes in it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use rustix::event::{EventfdFlags, eventfd};

use super::Fault;
use super::holes::{Zeroing, zero};

/// A job of the thread: bytes to zero, and whether to sync all earlier writes.
struct Job {
    ticket: u64,
    zeroing: Option<Zeroing>,
    syncs: bool,
}

/// The progress of the thread.
#[derive(Default)]
struct Progress {
    /// The last finished ticket.
    done: u64,
    /// Errors by ticket, until they are taken.
    faults: BTreeMap<u64, Fault>,
    /// Whether a sync has failed once, which is permanent.
    has_failed: bool,
}

/// The state shared by the two threads.
struct Shared {
    progress: Mutex<Progress>,
    moved: Condvar,
    signal: OwnedFd,
}

impl Shared {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        // A thread that panicked has left its data consistent.
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread, and its job queue. It ends when this is dropped.
pub struct Worker {
    asked: u64,
    /// Taken to end the thread.
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    shared: Arc<Shared>,
}

impl Worker {
    pub fn start(file: File) -> io::Result<Worker> {
        let signal = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let (progress, moved) = (Mutex::new(Progress::default()), Condvar::new());
        let shared = Arc::new(Shared { progress, moved, signal });
        let (jobs, asked) = mpsc::channel();
        let its = Arc::clone(&shared);
        let thread = thread::Builder::new().name("reprieve-file".into()).spawn(move || {
            while let Ok(first) = asked.recv() {
                // One sync serves all jobs queued meanwhile.
                let jobs: Vec<Job> = std::iter::once(first).chain(asked.try_iter()).collect();
                work(&file, &jobs, &its);
            }
        })?;
        Ok(Worker { asked: 0, jobs: Some(jobs), thread: Some(thread), shared })
    }

    /// Starts to sync all earlier writes; returns a ticket.
    pub fn begin_sync(&mut self) -> u64 {
        self.begin(None, true)
    }

    /// Starts to zero bytes, and then to sync if `syncs`; returns a ticket.
    pub fn begin_zero(&mut self, zeroing: Zeroing, syncs: bool) -> u64 {
        self.begin(Some(zeroing), syncs)
    }

    fn begin(&mut self, zeroing: Option<Zeroing>, syncs: bool) -> u64 {
        self.asked += 1;
        let job = Job { ticket: self.asked, zeroing, syncs };
        let jobs = self.jobs.as_ref().expect("taken at the end");
        jobs.send(job).expect("the thread ends after this");
        self.asked
    }

    /// Takes the outcome of a ticket; `None`: it is pending.
    pub fn outcome(&self, ticket: u64) -> Option<Result<(), Fault>> {
        let mut progress = self.shared.progress();
        let is_done = progress.done >= ticket;
        is_done.then(|| progress.faults.remove(&ticket).map_or(Ok(()), Err))
    }

    /// The last finished ticket.
    pub fn done(&self) -> u64 {
        self.shared.progress().done
    }

    /// Waits until a ticket is finished.
    pub fn wait(&self, ticket: u64) {
        let progress = self.shared.progress();
        let waited = self.shared.moved.wait_while(progress, |progress| progress.done < ticket);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits for all jobs.
    pub fn wait_for_all(&self) {
        self.wait(self.asked);
    }

    /// Whether a sync has failed.
    pub fn has_failed(&self) -> bool {
        self.shared.progress().has_failed
    }

    pub fn signal(&self) -> BorrowedFd<'_> {
        self.shared.signal.as_fd()
    }

    pub fn clear_signal(&self) {
        let mut count = [0; 8];
        // An empty read is no fault: the signal is cleared.
        let _ = rustix::io::read(&self.shared.signal, &mut count);
    }
}

/// Executes jobs, holes first: they are quicker.
fn work(file: &File, jobs: &[Job], shared: &Shared) {
    let mut faults = BTreeMap::new();
    for Job { ticket, zeroing, .. } in jobs {
        let zeroed = zeroing.map_or(Ok(()), |zeroing| zero(file, zeroing));
        faults.extend(zeroed.err().map(|fault| (*ticket, fault)));
    }
    let mut syncing = jobs.iter().filter(|job| job.syncs).peekable();
    let has_failed = syncing.peek().is_some() && file.sync_data().is_err();
    let mut progress = shared.progress();
    progress.has_failed |= has_failed;
    if progress.has_failed {
        faults.extend(syncing.map(|job| (job.ticket, Fault::Failed)));
    }
    progress.faults.append(&mut faults);
    progress.done = jobs.last().expect("there is one").ticket;
    drop(progress);
    shared.moved.notify_all();
    // It fails only when the counter is full, and then the signal is set.
    let _ = rustix::io::write(&shared.signal, &1u64.to_ne_bytes());
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread needs no further report.
            let _ = thread.join();
        }
    }
}
