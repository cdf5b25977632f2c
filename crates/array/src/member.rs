//! One drive of an array, and all of them up to an instant on several threads.

use std::thread;

use reprieve_base::{SECTOR_BYTES, Time, UserError};
use reprieve_embed::{Ask, Drive, Error, LAST};

use crate::layout::Part;

/// Operations for which starting threads is worth its time.
const WORTH_THREADS: usize = 512;

/// An operation that is complete.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    pub at: Time,
    pub drive: usize,
    pub tag: u64,
}

/// The instant before which drives are simulated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Until {
    pub end: Time,
    /// Whether drives on which nothing is open are, too.
    pub even_idle: bool,
}

/// A drive and the operations that the array has sent to it.
pub(crate) struct Member {
    pub drive: Drive,
    number: usize,
    open: usize,
    /// Open reads of partial writes, whose completion can cause writes at other drives.
    pub causing: usize,
    /// Open writes.
    pub writes: usize,
    done: Vec<Done>,
}

impl Member {
    pub fn new(number: usize, drive: Drive) -> Member {
        Member { drive, number, open: 0, causing: 0, writes: 0, done: Vec::new() }
    }

    /// Sends an operation that arrives at `at`, an instant that the drive has not reached.
    pub fn send(&mut self, at: Time, ask: Ask) -> Result<(), UserError> {
        self.drive.submit(at, ask).map_err(sentence)?;
        self.open += 1;
        Ok(())
    }

    /// Starts or stops optional garbage collection on the drive.
    pub fn let_collect(&mut self, at: Time, lets: bool) -> Result<(), UserError> {
        self.drive.let_collect(at, lets).map_err(sentence)
    }

    /// Whether the drive collects where a read would go.
    pub fn collects(&self, part: &Part) -> bool {
        self.drive.collects(part.at_byte / SECTOR_BYTES, part.bytes as u32)
    }

    /// Simulates all before an instant, or until nothing is open.
    fn pass(&mut self, Until { end, even_idle }: Until) -> Result<(), UserError> {
        if self.open == 0 && !even_idle || self.drive.next() >= end {
            return Ok(());
        }
        let until = LAST.min(Time::from_ns(end.ns() - 1));
        self.drive.run(until, self.open + usize::from(even_idle)).map_err(sentence)?;
        while let Some(completion) = self.drive.poll() {
            let (at, tag) = (completion.completion, completion.tag);
            self.done.push(Done { at, drive: self.number, tag });
            self.open -= 1;
        }
        Ok(())
    }
}

fn sentence(error: Error) -> UserError {
    let (Error::User(error) | Error::Time(error)) = error;
    error
}

/// Simulates all drives before an instant, about `work` operations, and moves those that are
/// complete into `done`, in order of time, drive, and completion there.
pub(crate) fn pass(
    members: &mut [Member],
    until: Until,
    work: usize,
    threads: usize,
    done: &mut Vec<Done>,
) -> Result<(), UserError> {
    if threads > 1 && work >= WORTH_THREADS {
        let each = members.len().div_ceil(threads);
        thread::scope(|scope| {
            let all = |some: &mut [Member]| some.iter_mut().try_for_each(|each| each.pass(until));
            let some = members.chunks_mut(each).map(|some| scope.spawn(move || all(some)));
            let running: Vec<_> = some.collect();
            running.into_iter().try_for_each(|thread| match thread.join() {
                Ok(passed) => passed,
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })?;
    } else {
        members.iter_mut().try_for_each(|member| member.pass(until))?;
    }
    members.iter_mut().for_each(|member| done.append(&mut member.done));
    done.sort_by_key(|done| done.at);
    Ok(())
}
