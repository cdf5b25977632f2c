//! The slow operations of a file, on a separate thread: syncing it, making holes in it.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use rustix::event::{EventfdFlags, eventfd};

use super::Fault;
use super::disk::Disk;
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

/// Locks a value; a thread that panicked has left it consistent.
fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread, and its job queue. It ends when this is dropped.
pub struct Worker {
    asked: u64,
    /// Taken to end the thread.
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    /// The jobs under way, without a thread.
    batch: Option<Mutex<Batch>>,
    shared: Arc<Shared>,
}

impl Worker {
    /// Starts the thread; without one, `step` executes the jobs.
    pub fn start(file: Arc<dyn Disk>, has_thread: bool) -> io::Result<Worker> {
        let signal = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let (progress, moved) = (Mutex::new(Progress::default()), Condvar::new());
        let shared = Arc::new(Shared { progress, moved, signal });
        let (jobs, asked) = mpsc::channel();
        let mut batch = Batch::new(file, asked, Arc::clone(&shared));
        let mut worker = Worker { asked: 0, jobs: Some(jobs), thread: None, batch: None, shared };
        if !has_thread {
            worker.batch = Some(Mutex::new(batch));
            return Ok(worker);
        }
        let thread = thread::Builder::new().name("reprieve-file".into());
        worker.thread = Some(thread.spawn(move || {
            while let Ok(first) = batch.asked.recv() {
                batch.jobs.push(first);
                while batch.step() {}
            }
        })?);
        Ok(worker)
    }

    /// Executes the next step of the jobs, if there is no thread; returns whether there was one.
    pub fn step(&self) -> bool {
        self.batch.as_ref().is_some_and(|batch| lock(batch).step())
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
        let mut progress = lock(&self.shared.progress);
        let is_done = progress.done >= ticket;
        is_done.then(|| progress.faults.remove(&ticket).map_or(Ok(()), Err))
    }

    /// The last finished ticket.
    pub fn done(&self) -> u64 {
        lock(&self.shared.progress).done
    }

    /// Waits until a ticket is finished.
    pub fn wait(&self, ticket: u64) {
        while self.done() < ticket && self.step() {}
        let progress = lock(&self.shared.progress);
        let waited = self.shared.moved.wait_while(progress, |progress| progress.done < ticket);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits for all jobs.
    pub fn wait_for_all(&self) {
        self.wait(self.asked);
    }

    /// Whether a sync has failed.
    pub fn has_failed(&self) -> bool {
        lock(&self.shared.progress).has_failed
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

/// Running jobs: holes first, as they are quicker, and then one sync for all.
struct Batch {
    file: Arc<dyn Disk>,
    asked: Receiver<Job>,
    jobs: Vec<Job>,
    /// Jobs whose bytes are zeroed.
    zeroed: usize,
    faults: BTreeMap<u64, Fault>,
    /// Whether the sync has failed; `None` before it.
    has_failed: Option<bool>,
    shared: Arc<Shared>,
}

impl Batch {
    fn new(file: Arc<dyn Disk>, asked: Receiver<Job>, shared: Arc<Shared>) -> Batch {
        let (jobs, faults) = (Vec::new(), BTreeMap::new());
        Batch { file, asked, jobs, zeroed: 0, faults, has_failed: None, shared }
    }

    /// Executes the next step of the queued jobs; returns whether there was one.
    fn step(&mut self) -> bool {
        if self.zeroed == 0 {
            // One sync serves all jobs queued meanwhile.
            self.jobs.extend(self.asked.try_iter());
        }
        if self.jobs.is_empty() {
            return false;
        }
        if let Some(Job { ticket, zeroing, .. }) = self.jobs.get(self.zeroed) {
            let zeroed = zeroing.map_or(Ok(()), |zeroing| zero(&*self.file, zeroing));
            self.faults.extend(zeroed.err().map(|fault| (*ticket, fault)));
            self.zeroed += 1;
        } else if self.has_failed.is_none() {
            let syncs = self.jobs.iter().any(|job| job.syncs);
            self.has_failed = Some(syncs && self.file.sync_data().is_err());
        } else {
            self.finish();
        }
        true
    }

    fn finish(&mut self) {
        let mut progress = lock(&self.shared.progress);
        progress.has_failed |= self.has_failed.take() == Some(true);
        if progress.has_failed {
            let syncing = self.jobs.iter().filter(|job| job.syncs);
            self.faults.extend(syncing.map(|job| (job.ticket, Fault::Failed)));
        }
        progress.faults.append(&mut self.faults);
        progress.done = self.jobs.last().expect("there is one").ticket;
        drop(progress);
        (self.zeroed, self.jobs) = (0, Vec::new());
        self.shared.moved.notify_all();
        // It fails only when the counter is full, and then the signal is set.
        let _ = rustix::io::write(&self.shared.signal, &1u64.to_ne_bytes());
    }
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
