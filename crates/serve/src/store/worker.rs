//! What a file is slow at, on a thread of its own: bringing it to safety, making holes in it.

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

/// What the thread is asked for: bytes that are to be zero, and whether all that was written
/// before is to be safe.
struct Job {
    ticket: u64,
    zeroing: Option<Zeroing>,
    syncs: bool,
}

/// How far the thread has come.
#[derive(Default)]
struct Progress {
    /// The last ticket that is done with.
    done: u64,
    /// What has gone wrong, by ticket, until it is asked for.
    faults: BTreeMap<u64, Fault>,
    /// Whether the file could not be brought to safety once, and so never again.
    has_failed: bool,
}

/// What the two threads share.
struct Shared {
    progress: Mutex<Progress>,
    moved: Condvar,
    signal: OwnedFd,
}

impl Shared {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        // One that panicked has left whole what it was at.
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread, and what it was asked for. It ends when this is dropped.
pub struct Worker {
    asked: u64,
    /// Taken when the thread is to end.
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
                // Whoever asked meanwhile is served by the same call.
                let jobs: Vec<Job> = std::iter::once(first).chain(asked.try_iter()).collect();
                work(&file, &jobs, &its);
            }
        })?;
        Ok(Worker { asked: 0, jobs: Some(jobs), thread: Some(thread), shared })
    }

    /// Begins to bring all that was written to safety; the ticket of that.
    pub fn begin_sync(&mut self) -> u64 {
        self.begin(None, true)
    }

    /// Begins to make bytes zero, and then brings all to safety, or not.
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

    /// What has come of a ticket, which is asked for once; `None`: nothing yet.
    pub fn outcome(&self, ticket: u64) -> Option<Result<(), Fault>> {
        let mut progress = self.shared.progress();
        let is_done = progress.done >= ticket;
        is_done.then(|| progress.faults.remove(&ticket).map_or(Ok(()), Err))
    }

    /// The last ticket that is done with.
    pub fn done(&self) -> u64 {
        self.shared.progress().done
    }

    /// Waits until a ticket is done with.
    pub fn wait(&self, ticket: u64) {
        let progress = self.shared.progress();
        let waited = self.shared.moved.wait_while(progress, |progress| progress.done < ticket);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits for all that was asked for.
    pub fn wait_for_all(&self) {
        self.wait(self.asked);
    }

    /// Whether the file could not be brought to safety once.
    pub fn has_failed(&self) -> bool {
        self.shared.progress().has_failed
    }

    pub fn signal(&self) -> BorrowedFd<'_> {
        self.shared.signal.as_fd()
    }

    pub fn clear_signal(&self) {
        let mut count = [0; 8];
        // Nothing to read is no fault: the signal is cleared.
        let _ = rustix::io::read(&self.shared.signal, &mut count);
    }
}

/// Does what was asked for, holes first: they are quicker.
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
    // It only fails when the counter is full, and then the signal stands already.
    let _ = rustix::io::write(&shared.signal, &1u64.to_ne_bytes());
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A thread that has panicked has nothing more to say.
            let _ = thread.join();
        }
    }
}
