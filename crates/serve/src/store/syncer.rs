//! Brings a file to safety on a thread of its own, as the disk below may take its time.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};

use rustix::event::{EventfdFlags, eventfd};

use super::Fault;

/// What the two threads share.
struct Shared {
    done: AtomicU64,
    failed: AtomicBool,
    signal: OwnedFd,
}

/// The thread, and what it was asked for. It ends when this is dropped.
pub struct Syncer {
    asked: u64,
    /// Taken when the thread is to end.
    tickets: Option<Sender<u64>>,
    thread: Option<JoinHandle<()>>,
    shared: Arc<Shared>,
}

impl Syncer {
    pub fn start(file: File) -> io::Result<Syncer> {
        let signal = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let done = AtomicU64::new(0);
        let shared = Arc::new(Shared { done, failed: AtomicBool::new(false), signal });
        let (tickets, asked) = mpsc::channel();
        let its = Arc::clone(&shared);
        let thread = thread::Builder::new().name("reprieve-sync".into()).spawn(move || {
            while let Ok(first) = asked.recv() {
                // Whoever asked meanwhile is served by the same call.
                let last = asked.try_iter().last().unwrap_or(first);
                if file.sync_data().is_err() {
                    its.failed.store(true, Ordering::Release);
                }
                its.done.store(last, Ordering::Release);
                // It only fails when the counter is full, and then the signal stands already.
                let _ = rustix::io::write(&its.signal, &1u64.to_ne_bytes());
            }
        })?;
        Ok(Syncer { asked: 0, tickets: Some(tickets), thread: Some(thread), shared })
    }

    pub fn begin(&mut self) -> u64 {
        self.asked += 1;
        let tickets = self.tickets.as_ref().expect("taken at the end");
        tickets.send(self.asked).expect("the thread ends after this");
        self.asked
    }

    pub fn done(&self) -> Result<u64, Fault> {
        let done = self.shared.done.load(Ordering::Acquire);
        if self.shared.failed.load(Ordering::Acquire) { Err(Fault::Failed) } else { Ok(done) }
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

impl Drop for Syncer {
    fn drop(&mut self) {
        self.tickets = None;
        if let Some(thread) = self.thread.take() {
            // A thread that has panicked has nothing more to say.
            let _ = thread.join();
        }
    }
}
